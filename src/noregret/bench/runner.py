"""The list of jobs, and the one place that runs them. A new job adds one line."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from noregret._version import __version__
from noregret.bench.accuracy import accuracy
from noregret.bench.experts import experts
from noregret.bench.files import cached, files, tables
from noregret.bench.finite import finite
from noregret.bench.hindsight import hindsight
from noregret.bench.kernel import kernel
from noregret.bench.passes import own_loss, passes
from noregret.bench.row import PEERS, Row, installed
from noregret.bench.scaling import scaling
from noregret.bench.single import single
from noregret.bench.size import Size
from noregret.bench.start import start
from noregret.errors import SettingError

JOBS: dict[str, Callable[[Size, Path], Iterator[Row]]] = {
    "start": start,
    "passes": passes,
    "own-loss": own_loss,
    "single": single,
    "files": files,
    "cache": cached,
    "csv": tables,
    "accuracy": accuracy,
    "kernel": kernel,
    "experts": experts,
    "finite": finite,
    "hindsight": hindsight,
    "scaling": scaling,
}


def run(names: Sequence[str], size: Size, told: Callable[[str], None] = lambda name: None) -> Iterator[Row]:
    """The rows of the jobs, as they come; generated files lie in a temporary folder that is removed."""
    for name in names:
        if name not in JOBS:
            raise SettingError(f"bench: job must be one of {', '.join(JOBS)}, got {name!r}")
    return _rows(names, size, told)


def _rows(names: Sequence[str], size: Size, told: Callable[[str], None]) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="noregret-bench-") as folder:
        for name in names:
            told(name)
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
        **{name: _version(name) for name in ("numpy",)},
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


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)
