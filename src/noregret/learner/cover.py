"""Sets whose coverage is tracked: intervals for numbers, sets of labels for classes (`native/cover.hpp`).

Every label y has a score a(y) ≥ 0, and the set holds those with a(y) ≤ q: of numbers |y − ŷ|, of classes 1 − p(y).
After each label q becomes q + η(err − α), err = 1 where the label was not in its set. So Σ(err − α) = (q_{T+1} − q_1)/η
on every stream, and with scores of at most B it lies between −(q_1 + ηα)/η and (B − q_1 + η(1 − α))/η (Gibbs & Candès
2021, here with the threshold itself as the state, which is never clipped).
"""

from __future__ import annotations

import math
import struct
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import _native
from noregret._native import BINS, COVER_COUNTS, COVER_NUMBERS, LOWEST, SIZES, WARM
from noregret.interval import Interval, largest

Vector = NDArray[np.float64]
State = tuple[Vector, NDArray[np.int64], Vector, NDArray[np.int64]]
ROUNDING = 2.0**-50  # what a threshold may be off by, as a share of q₁ and of η for each round
NUMBERS, COUNTS = (
    ("target", "alpha", "first", "step", "largest", "total"),
    ("unset", "rounds", "misses", "empty", "full", "between", "early"),
)
ARRAYS = {"cover.numbers": COVER_NUMBERS, "cover.counts": COVER_COUNTS, "cover.first": WARM, "cover.sizes": SIZES}


class Cover:
    """The threshold of a run and what became of its sets; memory O(1).

    `between` is the most labels that were learned between a prediction and its own label: 0 where none come late.

    >>> sets = Cover(0.9)
    >>> sets.play_numbers(np.zeros(60), np.tile([1.0, -2.0], 30), np.zeros(0))[[49, 50]].round(9).tolist()
    [nan, 2.0]
    """

    def __init__(self, target: float) -> None:
        self.numbers = np.zeros(COVER_NUMBERS)
        self.numbers[:2] = target, 1.0 - target
        self.counts = np.zeros(COVER_COUNTS, np.int64)
        self.first = np.zeros(WARM)
        self.sizes = np.zeros(SIZES, np.int64)

    @property
    def _state(self) -> State:
        return self.numbers, self.counts, self.first, self.sizes

    @property
    def q(self) -> float:
        """The threshold of the next set; NaN before there is one."""
        return _native.threshold(self.numbers, self.counts)

    @property
    def rounds(self) -> int:
        """How many labels came for which there was a set."""
        return int(self.counts[1])

    def play_numbers(self, said: Vector, y: Vector, weights: Vector) -> Vector:
        """The threshold before each round; each label is then learned from. A round of weight 0 is none."""
        out = np.empty(len(said))
        _native.cover_numbers(said, y, weights, *self._state, out)
        return out

    def play_two(self, odds: Vector, y: Vector, weights: Vector) -> Vector:
        """The same for two classes, −1 and +1, by their log-odds."""
        out = np.empty(len(odds))
        _native.cover_two(odds, y, weights, *self._state, out)
        return out

    def number(self, said: float, y: float, q: float, since: int) -> None:
        """A label of a round that had the threshold q after `since` labels."""
        _native.cover_late_number(said, y, *self._state, q, since)

    def two(self, odds: float, y: float, q: float, since: int) -> None:
        """The same for two classes."""
        _native.cover_late_two(odds, y, *self._state, q, since)

    def classes(self, others: Vector, y: float, q: float, since: int) -> None:
        """The same for many, with 1 − p of each class that was known."""
        _native.cover_classes(others, int(y), *self._state, q, since)

    def leave_out(self) -> None:
        """A label that says nothing of the next ones."""
        self.counts[-1] += 1

    # -- the model file ----------------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is kept, by name."""
        return dict(zip(ARRAYS, self._state, strict=True))

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from what was kept; a ValueError for what no run can have left."""
        asked = self.numbers[:2].tolist()
        for mine, (name, length) in zip(self._state, ARRAYS.items(), strict=True):
            if arrays[name].shape != (length,) or arrays[name].dtype != mine.dtype:
                raise ValueError(f"the array {name!r} does not fit")
            mine[:] = arrays[name]
        number, count = (
            dict(zip(names, kept.tolist(), strict=True))
            for names, kept in zip((NUMBERS, COUNTS), self._state[:2], strict=True)
        )
        if self.numbers[:2].tolist() != asked:
            raise ValueError("the target of its sets is wrong")
        finite = all(map(math.isfinite, (number["first"], number["step"], number["largest"], *self.first.tolist())))
        if not finite or min(number["first"], number["step"], number["largest"], number["total"]) < 0.0:
            raise ValueError("the thresholds of its sets are wrong")
        parts = max(count["misses"], count["empty"] + count["full"], count["between"])
        if min(count.values()) < 0 or parts > count["rounds"] or int(self.sizes.min()) < 0:
            raise ValueError("the counts of its sets are wrong")
        if sum(self.sizes.tolist()) != count["rounds"] or (count["rounds"] and not number["step"]):
            raise ValueError("the sizes of its sets are wrong")

    # -- what became of the sets -------------------------------------------------------------------------------------

    def figures(self, widths: bool) -> dict[str, Any]:
        """All that a run says of its sets, as plain numbers; `widths` where they are intervals."""
        number, count = (
            dict(zip(NUMBERS, self.numbers.tolist(), strict=True)),
            dict(zip(COUNTS, self.counts.tolist(), strict=True)),
        )
        rounds, q = count["rounds"], self.q
        found: dict[str, Any] = {
            "target": number["target"],
            "coverage": 1.0 - count["misses"] / rounds if rounds else None,
            "rounds": rounds,
            "misses": count["misses"],
            "without": count["unset"] + count["early"],
            "empty": count["empty"] / rounds if rounds else None,
            "q": None if math.isnan(q) else q,
            "first_q": number["first"] if number["step"] else None,
            "step": number["step"] or None,
            "largest": number["largest"],
            "between": count["between"],
        }
        if not widths:
            found["everything"] = count["full"] / rounds if rounds else None
        found["width" if widths else "size"] = self._spread(widths, rounds, number["total"])
        return found | self._certificate(found)

    def _certificate(self, found: dict[str, Any]) -> dict[str, Any]:
        """The bounds on the misses that the threshold alone proves, rounded outward."""
        if not found["rounds"]:
            return {"least_misses": None, "most_misses": None}
        least = Interval.of(float(found["rounds"])) - most_covered(found)
        return {"least_misses": max(least.lo, 0.0), "most_misses": most_missed(found).hi}

    def _spread(self, widths: bool, rounds: int, total: float) -> dict[str, Any] | None:
        if not rounds:
            return None
        below = list(accumulate(self.sizes.tolist()))

        def quantile(parts: int) -> Any:
            """The least that `parts` twentieths of them do not exceed."""
            rank = -(-parts * rounds // 20)
            place = next(place for place, count in enumerate(below) if count >= rank)
            return edges(place) if widths else place

        mean = total / rounds
        return {"mean": mean if math.isfinite(mean) else None, "median": quantile(10), "p95": quantile(19)}


def edges(place: int) -> dict[str, float | None]:
    """Between which numbers the widths of a bin lie.

    >>> edges(0), edges(1)["lower"], edges(SIZES - 1)["upper"]
    ({'lower': 0.0, 'upper': 0.0}, 0.0, None)
    >>> lower, upper = edges(1 + 32 * 64).values()
    >>> lower, upper
    (1.0, 1.015625)
    """
    if place == 0:
        return {"lower": 0.0, "upper": 0.0}
    lower = 0.0 if place == 1 else _number(LOWEST + place - 1)
    return {"lower": lower, "upper": None if place == SIZES - 1 else _number(LOWEST + place)}


def _number(pattern: int) -> float:
    """The float whose first eighteen bits are these."""
    found: float = struct.unpack("<d", struct.pack("<q", pattern << 46))[0]
    return found


def _rounding(found: dict[str, Any]) -> Interval:
    """By how many labels a threshold may be off that was computed in floats."""
    off: Interval = (Interval.of(found["first_q"]) / found["step"] + (found["rounds"] + 1.0)) * ROUNDING
    return off


def most_missed(found: dict[str, Any]) -> Interval:
    """The bound on the labels outside of their sets, from above.

    αT + max(0, B − q_1 + η(1 − α))/η; where labels come late αT + max(0, B − q_1)/η + (1 + τ)(1 − α).
    """
    alpha, step, late = _alpha(found), Interval.of(found["step"]), float(found["between"])
    above = Interval.of(found["largest"]) - found["first_q"]
    if late:
        slack = above.positive() / step + (1.0 - alpha) * (1.0 + late)
    else:
        slack = (above + step * (1.0 - alpha)).positive() / step
    bound: Interval = alpha * float(found["rounds"]) + slack + _rounding(found)
    return bound


def most_covered(found: dict[str, Any]) -> Interval:
    """The bound on the labels within their sets, from above: (1 − α)T + q_1/η + (1 + τ)α."""
    alpha = _alpha(found)
    slack = Interval.of(found["first_q"]) / found["step"] + alpha * (1.0 + float(found["between"]))
    bound: Interval = (1.0 - alpha) * float(found["rounds"]) + slack + _rounding(found)
    return bound


def last_threshold(found: dict[str, Any]) -> Interval:
    """q_{T+1} between two ends, as exact arithmetic would have it."""
    off = (_rounding(found) * found["step"]).hi
    return Interval.outward(found["q"] - off, found["q"] + off)


def by_identity(found: dict[str, Any]) -> Interval:
    """αT + (q_{T+1} − q_1)/η, which the misses are."""
    moved: Interval = (last_threshold(found) - found["first_q"]) / found["step"]
    return largest(_alpha(found) * float(found["rounds"]) + moved, 0.0)


def _alpha(found: dict[str, Any]) -> Interval:
    """α as the run had it: a float."""
    return Interval.of(1.0 - found["target"])


assert BINS == 2 * SIZES - 1
