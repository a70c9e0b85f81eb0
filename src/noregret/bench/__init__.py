"""Speed as ratios: noregret and every peer that is installed, side by side in one run, with what each reached.

`JOBS` is the list of jobs, `run` the one place that runs them. A new job adds one line.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from noregret._version import __version__
from noregret.bench.auto import auto
from noregret.bench.linear import accuracy, own_loss, passes, single
from noregret.bench.processes import cached, files, scaling, start, tables
from noregret.bench.streams import FULL, QUICK, TINY, Size
from noregret.bench.subjects import experts, finite, hindsight, kernel
from noregret.bench.timing import PEERS, Row, installed
from noregret.errors import SettingError

__all__ = ["FULL", "JOBS", "QUICK", "TINY", "Size", "facts", "run"]

JOBS: dict[str, Callable[[Size, Path], Iterator[Row]]] = {
    "start": start,
    "passes": passes,
    "own-loss": own_loss,
    "single": single,
    "files": files,
    "auto": auto,
    "cache": cached,
    "csv": tables,
    "accuracy": accuracy,
    "kernel": kernel,
    "experts": experts,
    "finite": finite,
    "hindsight": hindsight,
    "scaling": scaling,
}


def run(names: Sequence[str], size: Size, announce: Callable[[str], None] = lambda name: None) -> Iterator[Row]:
    """The rows of the jobs, as they come; generated files lie in a temporary folder that is removed."""
    for name in names:
        if name not in JOBS:
            raise SettingError(f"bench: job must be one of {', '.join(JOBS)}, got {name!r}")
    return _rows(names, size, announce)


def _rows(names: Sequence[str], size: Size, announce: Callable[[str], None]) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="noregret-bench-") as folder:
        for name in names:
            announce(name)
            for row in JOBS[name](size, Path(folder)):
                yield {"name": name, **row}


def facts() -> dict[str, str]:
    """The machine, the versions, and which peers there are."""
    versions = {name: installed(name) or "not installed" for name in PEERS}
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "noregret": __version__,
        "numpy": np.__version__,
        **versions,
    }


def processor() -> str:
    """The name that the processor gives itself."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
