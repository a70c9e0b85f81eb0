"""Memory that cannot be had is a sentence, said before the machine is exhausted where that can be known."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from noregret.errors import MemoryShortError

_GROUP = Path("/sys/fs/cgroup")
_AMOUNT = re.compile(r"allocate ([\d.,]+ \w+)")


def free_memory() -> int | None:
    """How many bytes this process may still take: what the machine, its container and `ulimit -v` leave; None: unknown.

    Pages that the system holds only as copies of files count as free.
    """
    found = [part for part in (_of_machine(), _of_container(), _of_process()) if part is not None]
    return max(0, min(found)) if found else None


def _of_machine() -> int | None:
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(OSError, ValueError):
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _of_container() -> int | None:
    with suppress(OSError, ValueError):  # a limit that is not a number is `max`
        limit, used = (int((_GROUP / f"memory.{name}").read_text()) for name in ("max", "current"))
        files = dict(line.split() for line in (_GROUP / "memory.stat").read_text().splitlines()).get("file", "0")
        return limit - used + int(files)
    return None


def _of_process() -> int | None:
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            return limit - int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return None


def shortage(error: MemoryError) -> str:
    """What a library says of memory that it did not get, as a sentence.

    >>> shortage(MemoryError("Unable to allocate 3.99 GiB for an array with shape (535770178,)"))
    'there is not enough memory: 3.99 GiB could not be had'
    """
    if isinstance(error, MemoryShortError):
        return str(error)
    amount = _AMOUNT.search(str(error))
    return "there is not enough memory" + (f": {amount[1]} could not be had" if amount else "")
