"""Interleaved timing in CPU seconds: every contestant once a turn, warm-up outside the clock, the best turn counts.

A library whose threads go on spinning after it returned would have that counted against the next contestant: each waits
for them to calm down.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any


def best_of(contestants: Mapping[str, Callable[[], Any]], turns: int) -> dict[str, tuple[float, Any]]:
    """(best CPU seconds, what it returned) for each contestant."""
    for run in contestants.values():
        run()
    best: dict[str, tuple[float, Any]] = {}
    for _ in range(turns):
        for name, run in contestants.items():
            time.sleep(0.3)
            began = time.process_time()
            result = run()
            took = time.process_time() - began
            if name not in best or took < best[name][0]:
                best[name] = (took, result)
    return best
