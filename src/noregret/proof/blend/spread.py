"""How far the sums of a blend may lie from those of exact arithmetic, and so how wide its claims are.

A verifier plays the blend again and finds the same bits. What they sum to is known within `spare`; what is claimed is
wider by `margin`, so that it contains what a verifier finds by its own formulas.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from noregret.interval import Interval
from noregret.proof.blend.reading import names_of

CLOSE = 1e-11  # what two derivations of one sum may differ by
NEARLY = 1e-9  # a bound this close to where it says nothing counts as vacuous


def grain(reading: Mapping[str, Any]) -> float:
    """What the loss of one round may be off by in float64, whatever its own size: the numbers' size counts."""
    lo, hi = reading["range"] or (0.0, 1.0)
    width, reach = float(hi) - float(lo), max(abs(float(lo)), abs(float(hi)))
    sizes = {"squared": width * (width + reach), "absolute": width + reach, "costs": reach, "brier": 2.0}
    twice = 2.0 if reading["method"] == "gradient" else 1.0  # the slope of a square is twice as large
    return (len(names_of(reading)) + 16) * 2.0**-48 * twice * sizes.get(reading["loss"], 1.0)


def spare(reading: Mapping[str, Any], rounds: int) -> float:
    """What a sum of losses over all rounds may be off by."""
    return rounds * grain(reading)


def margin(reading: Mapping[str, Any], rounds: int, size: float) -> float:
    """By how much a claim is wider than what it was made from, whose terms have that size in all."""
    return CLOSE * size + 8.0 * spare(reading, rounds)


def about(value: float, off: float) -> Interval:
    """value ± off; an infinite loss is infinite."""
    return Interval(value, value) if math.isinf(value) else Interval.around(value, off)


def around(found: Interval, off: float) -> Interval:
    """An interval, wider by off at both ends."""
    return Interval(about(found.lo, off).lo, about(found.hi, off).hi)
