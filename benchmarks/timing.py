"""Interleaved timing by the wall clock: every contestant once a turn, warm-up outside the clock, the best turn counts.

Not CPU time: threads that a library leaves spinning would count for or against somebody without any work being done.
Each contestant waits for those of the one before to calm down.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any


def best_of(contestants: Mapping[str, Callable[[], Any]], turns: int) -> dict[str, tuple[float, Any]]:
    """(best seconds, what it returned) for each contestant."""
    for run in contestants.values():
        run()
    best: dict[str, tuple[float, Any]] = {}
    for _ in range(turns):
        for name, run in contestants.items():
            time.sleep(0.3)
            began = time.perf_counter()
            result = run()
            took = time.perf_counter() - began
            if name not in best or took < best[name][0]:
                best[name] = (took, result)
    return best
