"""What a forecast loses, how wide the range of a loss is, at which rate it can be mixed; each with its rounding.

`lo, hi` below are the declared range of outcomes and forecasts (of costs, for plain costs), B = hi − lo its width.

A loss with a slope can be linearised at the blend's own forecast p: slope(p)·(x − p).

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

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import EXPERT_LOSSES
from noregret.interval import total

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
CODES = EXPERT_LOSSES
RANGED = ("squared", "absolute", "costs")  # those for which a range is declared
MIXABLE = ("log", "squared", "brier")
LINEARISED = ("squared", "absolute")  # those that the gradient method takes
RANDOM = ("costs", "zero-one")  # those in which an expert is drawn by weight and the expected loss counts
EPS = 2.0**-52
TINY = 1e-300


def cost_range(loss: str, lo: float, hi: float) -> tuple[float, float]:
    """Between which two numbers every loss lies."""
    width = hi - lo
    ends = {
        "costs": (lo, hi),
        "squared": (0.0, width * width),
        "absolute": (0.0, width),
        "zero-one": (0.0, 1.0),
        "brier": (0.0, 2.0),
        "log": (0.0, math.inf),
    }
    return ends[loss]


def rounded_size(loss: str, lo: float, hi: float) -> float:
    """The size of the numbers whose rounding moves a loss: a mean far from 0 is rounded to the figures it has there."""
    width, reach = hi - lo, max(abs(lo), abs(hi))
    sizes = {"squared": width * (width + reach), "absolute": width + reach, "costs": reach, "brier": 2.0}
    return sizes.get(loss, 1.0)


def linear_size(loss: str, lo: float, hi: float) -> float:
    """The size of the numbers whose rounding moves a linearised loss."""
    return 2.0 * rounded_size(loss, lo, hi)


def linearised(loss: str, x: NDArray[np.float64], p: Vector, y: Vector) -> NDArray[np.float64]:
    """slope(p[t])·(x[t, i] − p[t]); 0 where an expert sleeps."""
    slope = np.sign(p - y) if loss == "absolute" else 2.0 * (p - y)
    return np.where(np.isnan(x), 0.0, slope[:, None] * (x - p[:, None]))


def mixing_rate(loss: str, lo: float, hi: float) -> float:
    """η at which exp(−η·loss) is concave in the forecast."""
    return {"log": 1.0, "brier": 0.25}.get(loss) or 1.0 / (2.0 * ((hi - lo) * (hi - lo)))


def values(loss: str, x: NDArray[np.float64], y: Vector) -> Vector:
    """The loss of the forecasts x[t, k] at the outcomes y[t]."""
    first = x[:, 0]
    match loss:
        case "costs":
            return first.copy()
        case "zero-one":
            return np.where(np.isnan(first), np.nan, (first != y).astype(np.float64))
        case "squared":
            return np.asarray((first - y) ** 2)
        case "absolute":
            return np.asarray(np.abs(first - y))
        case "log":
            return np.abs(arithmetic.log(_chance(x, y)))  # abs: −ln 1 is −0
        case _:
            if x.shape[1] == 1:
                return np.asarray(2.0 * (first - y) ** 2)
            return arithmetic.row_totals((x - np.eye(x.shape[1])[y.astype(np.int64)]) ** 2)


def _chance(x: NDArray[np.float64], y: Vector) -> Vector:
    if x.shape[1] == 1:
        return np.where(y == 1.0, x[:, 0], 1.0 - x[:, 0])
    return np.asarray(x[np.arange(len(x)), y.astype(np.int64)])


def slack(loss: str, value: Vector, outcomes: int = 1) -> Vector:
    """How far a loss, evaluated in float64 at a forecast that is exactly x, may lie from its true value."""
    if loss in ("costs", "zero-one"):
        return np.zeros_like(value)
    if loss == "log":
        return np.where(value == 0.0, 0.0, 4.0 * EPS * (1.0 + value))
    return 4.0 * (outcomes + 1.0) * EPS * value


def own_slack(loss: str, value: Vector, experts: int, below: float, outcomes: int = 1) -> Vector:
    """The same of the blend's own loss: an expected cost or a mixture's probability is a rounded sum.

    `below` is how far costs reach below 0, where terms of the sum may cancel.
    """
    if loss == "log":
        return 4.0 * EPS * (experts + value)
    if loss in RANDOM:
        return 2.0 * (experts + 2.0) * EPS * (np.abs(value) + 2.0 * below)
    return slack(loss, value, outcomes)


def lost_by_mean(loss: str, x: Matrix, y: Vector, w: Vector) -> float:
    """An upper end of what the mean with weights w/Σw loses; for log, x holds what experts gave the outcome."""
    experts = len(w)
    w = w / arithmetic.total(w)
    z = arithmetic.row_totals(x * w)
    off = 2.0 * (experts + 4.0) * EPS * arithmetic.row_totals(np.abs(x) * w) + TINY
    if loss == "log":
        low = z - off
        value = -arithmetic.log(low) if (low > 0.0).all() else np.full_like(z, math.inf)
        slack = 4.0 * EPS * (1.0 + np.abs(value))
    else:
        r = np.abs(z - y) + off + 2.0 * EPS * (np.abs(z) + np.abs(y))
        value = r * r if loss == "squared" else r
        slack = 4.0 * EPS * value
    top = np.nextafter(value + slack, math.inf)  # a square may vanish: 1e-200² is 0 to a float
    return total(top, top).hi


def proved_of_means(loss: str, x: Matrix, y: Vector, alpha: Vector) -> float:
    """A lower end of what every mean loses, by slopes α: −Σ ℓ*(α_t) + min_i Σ α_t·x_{t,i}, and no less than 0.

    | loss | α | −ℓ*(α) |
    |---|---|---|
    | squared (z − y)² | any | −αy − α²/4 |
    | absolute abs(z − y) | −1 ≤ α ≤ 1 | −αy |
    | log −ln z, z the probability of the outcome | α < 0 | 1 + ln(−α) |
    """
    if loss == "log":
        own = 1.0 + arithmetic.log(-alpha)
        size = 1.0 + np.abs(own)
    else:
        own = -alpha * y - (alpha * alpha / 4.0 if loss == "squared" else 0.0)
        size = np.abs(alpha * y) + alpha * alpha
    bottom = own - 8.0 * EPS * size - TINY
    least = math.inf
    for i in range(x.shape[1]):
        terms = alpha * x[:, i]
        low = np.concatenate([bottom, terms - EPS * np.abs(terms) - TINY])
        least = min(least, total(low, low).lo)
    return max(least, 0.0)
