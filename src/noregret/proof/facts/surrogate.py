"""A convex loss φ(y·z) that the user chose, beside a perceptron's run: its tangent at 0, and its sum over all rounds.

A mistake bound uses no more of φ than φ ≥ φ(0) + g·y·z, g its slope at 0. So a loss of the user's own, a function of
(z, y), needs to be one function of y·z at 0 alone: one value and one slope, whichever the label.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from noregret.interval import Interval, total
from noregret.loss import Loss
from noregret.proof import enclose
from noregret.proof.facts.gradients import slope_error
from noregret.proof.facts.steps import Start
from noregret.rounds import Rounds

Vector = NDArray[np.float64]
POINTS = ("u_surrogate", "u_surrogate_root")  # best for R_I, and for every order
BOTH = np.array([1.0, -1.0])


def why_not(loss: Loss) -> str | None:
    """What keeps a loss from bounding mistakes; None where nothing does."""
    if loss.regression or not loss.convex:
        return f"must be a convex loss of two labels, got {loss.name}"
    try:
        values = [loss(0.0, y) for y in BOTH]
        slopes = [y * loss.gradient(0.0, y) for y in BOTH]
    except (ArithmeticError, ValueError, TypeError) as error:
        return f"must have a value and a slope at 0, and {loss.name} has none: {error}"
    if not all(0.0 < value < math.inf for value in values):
        return f"must be above 0 at the score 0, and {loss.name} is {values[0] + 0.0:g} there"
    if values[0] != values[1] or slopes[0] != slopes[1] or not math.isfinite(slopes[0]):
        return (
            f"must be one function of label times score: at the score 0 {loss.name} has the values"
            f" {values[0]:g} and {values[1]:g} and the slopes {slopes[0]:g} and {-slopes[1]:g} for the labels 1 and -1"
        )
    return None


@dataclass(frozen=True)
class Tangent:
    """φ(0) and the slope g of φ at 0."""

    at_zero: Interval
    slope: Interval

    @classmethod
    def of(cls, loss: Loss) -> Tangent:
        """Of a loss that nothing keeps from bounding mistakes."""
        low, high = enclose.losses(loss, np.zeros(1), BOTH[:1])
        slope = loss.gradient(0.0, 1.0)
        return cls(Interval(float(low[0]), float(high[0])), Interval.around(slope, slope_error(loss) * abs(slope)))

    @property
    def steep(self) -> Interval:
        """|g|."""
        return self.slope if self.slope.lo >= 0.0 else -self.slope


@dataclass(frozen=True)
class Admitted:
    """φ at a comparator u: Σ_t max(φ(y⟨u,x⟩), 0) over **all** rounds, ‖u‖ and ⟨u, w₁⟩/η; and its tangent at 0."""

    tangent: Tangent
    losses: Interval
    norm: Interval
    along_start: Interval

    @classmethod
    def at(cls, rounds: Rounds, loss: Loss, u: Vector, start: Start) -> Admitted:
        """Evaluated with every rounding accounted for."""
        u = np.ascontiguousarray(u, dtype=np.float64)
        lo, hi = enclose.between(loss, *enclose.margins(replace(rounds, weights=None), u), rounds.y)
        lost = total(np.maximum(lo, 0.0), np.maximum(hi, 0.0))
        return cls(Tangent.of(loss), lost, enclose.norm(u), start.along(u))
