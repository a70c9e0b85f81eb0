"""The dimensions of finite classes: against the definition in plain Python, and classes that it cannot reach."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from noregret.bench.row import OURS, Row, row
from noregret.bench.size import Size
from noregret.bench.timing import best_of
from noregret.finite import HypothesisClass, dimensions, family

SIDE_BY_SIDE = ("thresholds:31", "cube:6", "intervals:10", "unions:2,7")
LARGE = ("intervals:200", "halfspaces:10", "conjunctions:8", "random 4096×24")


def finite(size: Size, folder: Path) -> Iterator[Row]:
    """Times of both, then the intervals that a limit of seconds leaves."""
    for name in SIDE_BY_SIDE:
        hypotheses = family(name)
        lines = tuple(tuple(line) for line in hypotheses.matrix.tolist())
        contestants: dict[str, Any] = {
            OURS: partial(dimensions, hypotheses),
            "plain Python": partial(by_definition, lines),
        }
        timed = best_of(contestants, size.turns)
        job, ours = f"dimensions of {name}", timed[OURS][0]
        yield row(job, OURS, ours, ours, Littlestone=timed[OURS][1].littlestone.lower)
        yield row(job, "plain Python", timed["plain Python"][0], ours, Littlestone=timed["plain Python"][1])
    for name in LARGE if size.large_classes else ():
        began = time.perf_counter()
        ends = dimensions(_large(name), seconds=size.finite_seconds)
        took = time.perf_counter() - began
        low, high = ends.littlestone.lower, ends.littlestone.upper
        yield row(f"dimensions of {name}", OURS, took, took, Littlestone=low, Littlestone_at_most=high)


def by_definition(hypotheses: tuple[tuple[int, ...], ...]) -> int:
    """1 + the larger side's worst: max over points of min over labels, version spaces remembered."""

    @cache
    def depth(space: tuple[tuple[int, ...], ...]) -> int:
        best = 0
        for point in range(len(space[0])):
            zero = tuple(h for h in space if not h[point])
            one = tuple(h for h in space if h[point])
            if zero and one:
                best = max(best, 1 + min(depth(zero), depth(one)))
        return best

    return depth(hypotheses)


def _large(name: str) -> HypothesisClass:
    if name.startswith("random"):
        return HypothesisClass(np.random.default_rng(0).integers(0, 2, (4096, 24)))
    return family(name)
