"""Interleaved timing by the wall clock: every contestant once a turn, warm-up outside the clock, the best turn counts.

Not CPU time: threads that a library leaves spinning would count for or against somebody without any work being done.
Each contestant waits for those of the one before to calm down. Whole processes are timed with all that they start with;
the system reports their CPU time and peak memory. A row of the answer says who did which job in what time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

Row = dict[str, Any]
OURS = "noregret"
PEERS = {  # as people call them, and as they are installed
    "scikit-learn": "scikit-learn",
    "River": "river",
    "Vowpal Wabbit": "vowpalwabbit",
    "polars": "polars",
    "pyarrow": "pyarrow",
    "cvxpy": "cvxpy",
}


def installed(peer: str) -> str | None:
    """The version of a peer; None where it is not installed."""
    try:
        return version(PEERS[peer])
    except PackageNotFoundError:
        return None


def row(job: str, who: str, seconds: float, ours: float, **figures: float | None) -> Row:
    """`ours` is our own time for the same job; figures that nobody has are left out."""
    kept = {key.replace("_", " "): _plain(value) for key, value in figures.items() if value is not None}
    return {"job": job, "who": who, "seconds": seconds, "times ours": seconds / ours, **kept}


def _plain(figure: Any) -> Any:
    """A number of Python's own, as files of JSON take it: peers may answer in numbers of numpy's."""
    return figure.item() if isinstance(figure, np.generic) else figure


def missing(job: str, who: str) -> Row:
    """A peer that is not installed is named, never passed over in silence."""
    return {"job": job, "who": who, "missing": True}


CALM = 0.1  # seconds between two contestants


def best_of(contestants: Mapping[str, Callable[[], Any]], turns: int) -> dict[str, tuple[float, Any]]:
    """(best seconds, what it returned) for each contestant."""
    for run in contestants.values():
        run()
    best: dict[str, tuple[float, Any]] = {}
    for _ in range(turns):
        for name, run in contestants.items():
            time.sleep(CALM)
            began = time.perf_counter()
            result = run()
            took = time.perf_counter() - began
            if name not in best or took < best[name][0]:
                best[name] = (took, result)
    return best


@dataclass(frozen=True)
class Process:
    """What a whole process took and said."""

    seconds: float
    cpu: float
    megabytes: float  # at most, in memory
    out: str
    err: str


# A small process starts the one that is measured: a child's peak memory is at least what its parent held.
LAUNCH = """
import json, os, sys, time
began = time.perf_counter()
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(pid, 0)
took = time.perf_counter() - began
with open(sys.argv[1], "w") as file:
    json.dump([took, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)], file)
"""


def process(command: Sequence[str], report: str) -> Process:
    """Run a command to its end; `report` is a file for what it took. Python may keep what it compiles, as it does."""
    launched = [sys.executable, "-I", "-S", "-c", LAUNCH, report, *command]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(launched, capture_output=True, text=True, check=True, env=environment)
    with open(report) as file:
        seconds, cpu, megabytes, code = json.load(file)
    if code:
        raise RuntimeError(f"{' '.join(command)} left with exit code {code}: {done.stderr[-500:]}")
    return Process(seconds, cpu, megabytes, done.stdout, done.stderr)


def best_process(commands: Mapping[str, Sequence[str]], turns: Mapping[str, int], report: str) -> dict[str, Process]:
    """The quickest run of each command, interleaved; one that is run more than once has a first turn not counted."""
    best: dict[str, Process] = {}
    for turn in range(-1, max(turns.values())):
        for name, command in commands.items():
            if turn >= turns[name] or (turn < 0 and turns[name] == 1):
                continue
            found = process(command, report)
            if turn >= 0 and (name not in best or found.seconds < best[name].seconds):
                best[name] = found
    return best
