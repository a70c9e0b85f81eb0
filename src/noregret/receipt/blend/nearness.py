"""How far a number of a receipt may lie from the one that comes out again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noregret.receipt.blend.reading import names_of
from noregret.receipt.check import Verification

CLOSE = 1e-11  # what a replay may differ by: sums in another order, weights to other last figures


def grain(reading: Mapping[str, Any]) -> float:
    """What the loss of one round may be off by in float64, whatever its own size: the numbers' size counts."""
    lo, hi = reading["range"] or (0.0, 1.0)
    width, reach = float(hi) - float(lo), max(abs(float(lo)), abs(float(hi)))
    sizes = {"squared": width * (width + reach), "absolute": width + reach, "costs": reach, "brier": 2.0}
    twice = 2.0 if reading["method"] == "gradient" else 1.0  # the slope of a square is twice as large
    return (len(names_of(reading)) + 16) * 2.0**-48 * twice * sizes.get(reading["loss"], 1.0)


def near(done: Verification, what: str, claimed: Any, found: float, scale: float) -> None:
    """A number that is what it was found to be, to within a part of the size of what it was summed from."""
    there = isinstance(claimed, int | float) and not isinstance(claimed, bool)
    stands = there and (claimed == found or abs(claimed - found) <= CLOSE * max(scale, abs(found)))
    done.same(what, claimed, claimed if stands else found)
