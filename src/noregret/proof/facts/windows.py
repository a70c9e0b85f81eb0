"""Facts of windows: what was played in each, in twice the precision, and whom it is compared with."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noregret.domain import Domain
from noregret.interval import Interval, total
from noregret.loss import Loss
from noregret.proof import enclose
from noregret.proof.facts.gradients import dots, slope_error, sums
from noregret.rounds import Rounds

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Sums:
    """L, P and both ends of G = Σ k·s·x of some rounds; of those with an infinite loss only how many there are."""

    rounds: int
    loss: Interval
    paid: Interval
    low: Vector
    high: Vector
    infinite: int = 0

    @classmethod
    def of(cls, rounds: Rounds, loss: Loss) -> Sums:
        """Those of rounds as they were played."""
        assert rounds.scores is not None
        scores, count, infinite = rounds.scores, len(rounds), 0
        sure = np.isinf(scores)
        if sure.any():
            infinite = int(np.count_nonzero(sure & (scores * rounds.y < 0.0)))
            some = np.flatnonzero(~sure).astype(np.int64)
            weights = None if rounds.weights is None else rounds.weights[some]
            rows, y, scores = rounds.rows.take(some), rounds.y[some], scores[some]
            rounds = replace(rounds, rows=rows, y=y, weights=weights, scores=scores)
        slopes = loss.gradients(scores, rounds.y)
        taken = slopes if rounds.weights is None else rounds.weights * slopes
        paid = dots(taken, scores, scores, slope_error(loss))
        lost = enclose.loss_total(loss, scores, rounds.y, rounds.weights)
        return cls(count, lost, paid, *sums(rounds, loss), infinite)

    def __add__(self, other: Sums) -> Sums:
        """Those of both parts together."""
        return Sums(
            self.rounds + other.rounds,
            self.loss + other.loss,
            self.paid + other.paid,
            np.nextafter(self.low + other.low, -np.inf),
            np.nextafter(self.high + other.high, np.inf),
            self.infinite + other.infinite,
        )


@dataclass(frozen=True)
class WindowFacts:
    """Some windows, one after another, the loss that they are judged by, and the comparators."""

    loss: Loss
    domain: Domain
    parts: tuple[Sums, ...]
    switches: int = 0

    @cached_property
    def whole(self) -> Sums:
        """All of them together."""
        return joined(self.parts)

    def reach(self, part: Sums) -> Interval:
        """max ⟨u, −G⟩ over the domain."""
        low, high, radius = part.low, part.high, self.domain.radius
        match self.domain.shape:
            case "box":
                size = total(_least(low, high), np.maximum(np.abs(low), np.abs(high)))
            case "l1":
                largest = float(np.maximum(np.abs(low), np.abs(high)).max(initial=0.0))
                size = Interval(float(_least(low, high).max(initial=0.0)), largest)
            case "simplex":
                size = Interval(float((-high).max(initial=0.0)), float((-low).max(initial=0.0)))
            case _:
                size = enclose.norm_between(low, high)
        return size.positive() * radius

    def bound(self, part: Sums) -> Interval:
        """P + max ⟨u, −G⟩; without an upper end where a loss is infinite."""
        found = part.paid + self.reach(part)
        return Interval(found.lo, math.inf) if part.infinite else found


def joined(parts: tuple[Sums, ...]) -> Sums:
    """Several parts as one."""
    found = parts[0]
    for part in parts[1:]:
        found = found + part
    return found


def _least(low: Vector, high: Vector) -> Vector:
    """The least that |x| can be for x between low and high."""
    return np.where((low <= 0.0) & (high >= 0.0), 0.0, np.minimum(np.abs(low), np.abs(high)))
