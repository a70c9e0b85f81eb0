"""The dimensions of finite classes: against the same algorithm in plain Python, and classes that it cannot reach.

`python -m benchmarks.finite` prints the rows alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.oracle.finite import plain_ldim

from benchmarks.timing import best_of
from noregret.finite import HypothesisClass, dimensions, family

Row = dict[str, Any]
SIDE_BY_SIDE = ("thresholds:1023", "cube:12", "intervals:64", "unions:2,14")
LARGE = ("intervals:200", "halfspaces:10", "conjunctions:8", "random 4096×24")


def finite(turns: int, seconds: float) -> Iterator[Row]:
    """Rows with the time of both, then rows with the intervals that a limit of `seconds` leaves."""
    for name in SIDE_BY_SIDE:
        hypotheses = family(name)
        rows = hypotheses.matrix.tolist()
        found = best_of(
            {"ours": lambda h=hypotheses: dimensions(h), "plain": lambda r=rows: plain_ldim(r)},  # type: ignore[misc]
            turns,
        )
        (ours, ends), (plain, depth) = found["ours"], found["plain"]
        assert ends.littlestone.lower == ends.littlestone.upper == depth
        yield {"job": f"dimensions of {name}", "seconds": ours, "plain Python takes ×": plain / ours, "Ldim": depth}
    for name in LARGE:
        began = time.perf_counter()
        ends = dimensions(_large(name), seconds=seconds)
        yield {
            "job": f"dimensions of {name}",
            "seconds": time.perf_counter() - began,
            "Ldim from": ends.littlestone.lower,
            "Ldim to": ends.littlestone.upper,
            "VC from": ends.vc.lower,
            "VC to": ends.vc.upper,
        }


def _large(name: str) -> HypothesisClass:
    if name.startswith("random"):
        return HypothesisClass(np.random.default_rng(0).integers(0, 2, (4096, 24)))
    return family(name)


if __name__ == "__main__":
    for row in finite(3, 60.0):
        print(f"{row['job']:34s}", "  ".join(f"{key} {value:.3g}" for key, value in row.items() if key != "job"))
