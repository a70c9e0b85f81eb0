"""What a forecast loses, how wide the range of a loss is, at which rate it can be mixed; each with its rounding.

`lo, hi` below are the declared range of outcomes and forecasts (of costs, for plain costs), B = hi − lo its width.

A loss of numbers can be linearised at the blend's own forecast p: slope(p)·(x − p).

| loss | of a forecast x at outcome y | range | mixed at η | regret of the mixture |
|---|---|---|---|---|
| log | −ln of the probability of y | unbounded | 1 | ln N |
| squared | (x − y)² | B² | 1/(2B²) | 2B² ln N |
| brier | Σ_k (x_k − 1[k = y])² | 2 | 1/4 | 4 ln N |
| absolute | abs(x − y) | B | – | – |
| zero-one | 1[x ≠ y] | 1 | – | – |
| costs | the cost itself | B | – | – |
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import EXPERT_LOSSES
from noregret.interval import total

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
EPS = 2.0**-52
TINY = 1e-300


class ExpertLoss(ABC):
    """A loss by which experts and their blend are judged."""

    name: ClassVar[str]
    ranged: ClassVar[bool] = False  # whether a range is declared
    drawn: ClassVar[bool] = False  # whether an expert is drawn by weight, and the expected loss counts
    costs: ClassVar[bool] = False  # whether what an expert says is what it costs, and no outcome comes
    labels: ClassVar[bool] = False  # whether forecasts are labels
    chances: ClassVar[bool] = False  # whether forecasts are probabilities
    numbers: ClassVar[bool] = False  # whether forecasts are numbers, as outcomes are
    bounded: ClassVar[bool] = True  # whether nothing loses more than some number
    mixable: ClassVar[bool] = False  # whether exp(−η·loss) is concave in the forecast for some η

    @property
    def code(self) -> int:
        """What the native loop knows it by."""
        return EXPERT_LOSSES[self.name]

    @abstractmethod
    def cost_range(self, lo: float, hi: float) -> tuple[float, float]:
        """Between which two numbers every loss lies."""

    def rounded_size(self, lo: float, hi: float) -> float:
        """The size of numbers whose rounding moves a loss: a mean far from 0 is rounded to the figures it has there."""
        return 1.0

    def mixing_rate(self, lo: float, hi: float) -> float:
        """η at which exp(−η·loss) is concave in the forecast."""
        raise NotImplementedError

    @abstractmethod
    def values(self, x: NDArray[np.float64], y: Vector) -> Vector:
        """The loss of the forecasts x[t, k] at the outcomes y[t]."""

    def slack(self, value: Vector, outcomes: int = 1) -> Vector:
        """How far a loss, evaluated in float64 at a forecast that is exactly x, may lie from its true value."""
        return 4.0 * (outcomes + 1.0) * EPS * value

    def own_slack(self, value: Vector, experts: int, below: float, outcomes: int = 1) -> Vector:
        """The same of the blend's own loss: an expected cost or a mixture's probability is a rounded sum.

        `below` is how far costs reach below 0, where terms of the sum may cancel.
        """
        if self.drawn:
            return 2.0 * (experts + 2.0) * EPS * (np.abs(value) + 2.0 * below)
        return self.slack(value, outcomes)


class Costs(ExpertLoss):
    """The cost of each expert, whatever it is a cost of."""

    name = "costs"
    ranged = drawn = costs = True

    def cost_range(self, lo: float, hi: float) -> tuple[float, float]:
        return lo, hi

    def rounded_size(self, lo: float, hi: float) -> float:
        return max(abs(lo), abs(hi))

    def values(self, x: NDArray[np.float64], y: Vector) -> Vector:
        return x[:, 0].copy()

    def slack(self, value: Vector, outcomes: int = 1) -> Vector:
        return np.zeros_like(value)


class ZeroOne(ExpertLoss):
    """1 where the label is another one."""

    name = "zero-one"
    drawn = labels = True

    def cost_range(self, lo: float, hi: float) -> tuple[float, float]:
        return 0.0, 1.0

    def values(self, x: NDArray[np.float64], y: Vector) -> Vector:
        first = x[:, 0]
        return np.where(np.isnan(first), np.nan, (first != y).astype(np.float64))

    def slack(self, value: Vector, outcomes: int = 1) -> Vector:
        return np.zeros_like(value)


class Averaged(ExpertLoss):
    """A loss for which the best fixed mean of the experts is solved.

    It is a function of a residual r; slopes α prove what every mean loses, by −ℓ*(α):

    | loss | r | α | −ℓ*(α) |
    |---|---|---|---|
    | squared (z − y)² | z − y | any | −αy − α²/4 |
    | absolute abs(z − y) | z − y | −1 ≤ α ≤ 1 | −αy |
    | log −ln z, z the probability of the outcome | z | α < 0 | 1 + ln(−α) |
    """

    steepest: ClassVar[float] = math.inf  # no slope is larger

    @abstractmethod
    def residuals(self, x: Matrix, y: Vector) -> Matrix:
        """Of each expert, so that of the mean with weights w it is their mean: near numbers are subtracted first."""

    @abstractmethod
    def at_most(self, z: Vector, off: Vector, y: Vector) -> Vector:
        """What forecasts lose at most that lie within `off` of z."""

    @abstractmethod
    def minus_conjugate(self, alpha: Vector, y: Vector) -> tuple[Vector, Vector]:
        """−ℓ*(α), and the size of what was rounded on the way."""

    def lost_by_mean(self, x: Matrix, y: Vector, w: Vector) -> float:
        """An upper end of what the mean with weights w/Σw loses; for log, x holds what experts gave the outcome."""
        w = w / arithmetic.total(w)
        z = arithmetic.row_totals(x * w)
        off = 2.0 * (len(w) + 4.0) * EPS * arithmetic.row_totals(np.abs(x) * w) + TINY
        top = np.nextafter(self.at_most(z, off, y), math.inf)  # a square may vanish: 1e-200² is 0 to a float
        return total(top, top).hi

    def proved_of_means(self, x: Matrix, y: Vector, alpha: Vector) -> float:
        """A lower end of what every mean loses: −Σ ℓ*(α_t) + min_i Σ α_t·x_{t,i}, and no less than 0."""
        own, size = self.minus_conjugate(alpha, y)
        bottom = own - 8.0 * EPS * size - TINY
        least = math.inf
        for i in range(x.shape[1]):
            terms = alpha * x[:, i]
            low = np.concatenate([bottom, terms - EPS * np.abs(terms) - TINY])
            least = min(least, total(low, low).lo)
        return max(least, 0.0)


class Numbers(Averaged):
    """A loss of the difference z − y of two numbers."""

    ranged = numbers = True

    @abstractmethod
    def slope(self, r: Vector) -> Vector:
        """At the differences r."""

    def linear_size(self, lo: float, hi: float) -> float:
        """The size of the numbers whose rounding moves a linearised loss."""
        return 2.0 * self.rounded_size(lo, hi)

    def linearised(self, x: NDArray[np.float64], p: Vector, y: Vector) -> NDArray[np.float64]:
        """slope(p[t])·(x[t, i] − p[t]); 0 where an expert sleeps."""
        return np.where(np.isnan(x), 0.0, self.slope(p - y)[:, None] * (x - p[:, None]))

    def residuals(self, x: Matrix, y: Vector) -> Matrix:
        return x - y[:, None]

    @abstractmethod
    def of_size(self, r: Vector) -> Vector:
        """The loss of a difference of the size r ≥ 0."""

    def at_most(self, z: Vector, off: Vector, y: Vector) -> Vector:
        value = self.of_size(np.abs(z - y) + off + 2.0 * EPS * (np.abs(z) + np.abs(y)))
        return value + 4.0 * EPS * value


class Squared(Numbers):
    """(x − y)²."""

    name = "squared"
    mixable = True

    def cost_range(self, lo: float, hi: float) -> tuple[float, float]:
        return 0.0, (hi - lo) * (hi - lo)

    def rounded_size(self, lo: float, hi: float) -> float:
        return (hi - lo) * (hi - lo + max(abs(lo), abs(hi)))

    def mixing_rate(self, lo: float, hi: float) -> float:
        return 1.0 / (2.0 * ((hi - lo) * (hi - lo)))

    def values(self, x: NDArray[np.float64], y: Vector) -> Vector:
        return np.asarray((x[:, 0] - y) ** 2)

    def slope(self, r: Vector) -> Vector:
        return 2.0 * r

    def of_size(self, r: Vector) -> Vector:
        return r * r

    def minus_conjugate(self, alpha: Vector, y: Vector) -> tuple[Vector, Vector]:
        return -alpha * y - alpha * alpha / 4.0, np.abs(alpha * y) + alpha * alpha


class Absolute(Numbers):
    """abs(x − y)."""

    name = "absolute"
    steepest = 1.0

    def cost_range(self, lo: float, hi: float) -> tuple[float, float]:
        return 0.0, hi - lo

    def rounded_size(self, lo: float, hi: float) -> float:
        return hi - lo + max(abs(lo), abs(hi))

    def values(self, x: NDArray[np.float64], y: Vector) -> Vector:
        return np.asarray(np.abs(x[:, 0] - y))

    def slope(self, r: Vector) -> Vector:
        return np.sign(r)

    def of_size(self, r: Vector) -> Vector:
        return r

    def minus_conjugate(self, alpha: Vector, y: Vector) -> tuple[Vector, Vector]:
        return -alpha * y, np.abs(alpha * y) + alpha * alpha


class Log(Averaged):
    """−ln of the probability of what came."""

    name = "log"
    chances = mixable = True
    bounded = False

    def cost_range(self, lo: float, hi: float) -> tuple[float, float]:
        return 0.0, math.inf

    def mixing_rate(self, lo: float, hi: float) -> float:
        return 1.0

    def values(self, x: NDArray[np.float64], y: Vector) -> Vector:
        return np.abs(arithmetic.log(chance(x, y)))  # abs: −ln 1 is −0

    def slack(self, value: Vector, outcomes: int = 1) -> Vector:
        return np.where(value == 0.0, 0.0, 4.0 * EPS * (1.0 + value))

    def own_slack(self, value: Vector, experts: int, below: float, outcomes: int = 1) -> Vector:
        return 4.0 * EPS * (experts + value)

    def residuals(self, x: Matrix, y: Vector) -> Matrix:
        return x

    def at_most(self, z: Vector, off: Vector, y: Vector) -> Vector:
        low = z - off
        value = -arithmetic.log(low) if (low > 0.0).all() else np.full_like(z, math.inf)
        return value + 4.0 * EPS * (1.0 + np.abs(value))

    def minus_conjugate(self, alpha: Vector, y: Vector) -> tuple[Vector, Vector]:
        own = 1.0 + arithmetic.log(-alpha)
        return own, 1.0 + np.abs(own)


class Brier(ExpertLoss):
    """Σ (x_k − 1[k = y])² over all outcomes."""

    name = "brier"
    chances = mixable = True

    def cost_range(self, lo: float, hi: float) -> tuple[float, float]:
        return 0.0, 2.0

    def rounded_size(self, lo: float, hi: float) -> float:
        return 2.0

    def mixing_rate(self, lo: float, hi: float) -> float:
        return 0.25

    def values(self, x: NDArray[np.float64], y: Vector) -> Vector:
        if x.shape[1] == 1:
            return np.asarray(2.0 * (x[:, 0] - y) ** 2)
        return arithmetic.row_totals((x - np.eye(x.shape[1])[y.astype(np.int64)]) ** 2)


def chance(x: NDArray[np.float64], y: Vector) -> Vector:
    """The probability that each forecast x[t] gave the outcome y[t]."""
    if x.shape[1] == 1:
        return np.where(y == 1.0, x[:, 0], 1.0 - x[:, 0])
    return np.asarray(x[np.arange(len(x)), y.astype(np.int64)])


COSTS = Costs()
LOSSES: dict[str, ExpertLoss] = {one.name: one for one in (Squared(), Absolute(), Log(), ZeroOne(), Brier())}
JUDGES: dict[str, ExpertLoss] = {**LOSSES, COSTS.name: COSTS}
