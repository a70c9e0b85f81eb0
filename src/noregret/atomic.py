"""Files that appear whole or not at all: written under a temporary name, synced, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO

from noregret.errors import InputError

_NUMBERS = count()


@contextmanager
def whole_file(path: str | os.PathLike[str], *, sync: bool = True) -> Iterator[IO[bytes]]:
    """A binary file to write that takes the place of `path` only once all of it is on the disk.

    Without `sync` it is there whole for every process, but may be lost or damaged if the machine itself goes down.
    """
    target = Path(os.path.realpath(path))  # what a link leads to, not the link
    device = os.path.abspath(path).startswith("/dev/")
    if device or (target.exists() and not target.is_file() and not target.is_dir()):  # there is no whole to it
        with Path(path).open("ab") as device_file:
            yield device_file
        return
    temporary = target.with_name(f".noregret-{os.getpid()}-{next(_NUMBERS)}.part")
    if target.is_dir():
        raise InputError("is a folder, a file was expected", str(path))
    try:
        file = temporary.open("xb")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from error
    try:
        with file:
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)
    if sync:
        _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """The rename itself on the disk, where the system lets a folder be opened."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
