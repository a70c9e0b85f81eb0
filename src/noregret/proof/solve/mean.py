"""The best convex combination of experts in hindsight, as an interval: what its loss is at most and at least.

F(w) = Σ ℓ(⟨w, x_t⟩, y_t) over weights w ≥ 0, Σw = 1. A barrier method finds w; it is never trusted. The upper end is F
at w, the lower end what slopes α_t prove for every w; `noregret.experts.loss` evaluates both, rounded outward.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.errors import SettingError
from noregret.experts.loss import LOSSES, Absolute, Averaged, Log, Squared
from noregret.interval import Interval

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
EPS = 2.0**-52
TINY = 1e-300
STEPS = 40  # of Newton's method for each barrier; it needs ten
SHRINK = 0.2
STUCK = 3  # barriers without progress: rounding allows no more
COMBINED = tuple(name for name, one in LOSSES.items() if isinstance(one, Averaged))


@dataclass(frozen=True)
class Combination:
    """Weights, and between which two numbers the loss of the best weights lies; `slopes` α prove the lower one."""

    weights: Vector
    lower: float
    upper: float
    slopes: Vector

    @property
    def loss(self) -> Interval:
        return Interval(self.lower, self.upper)


def best_combination(x: Matrix, y: Vector, loss: str, gap: float = 1e-6) -> Combination:
    """The loss of the best fixed convex combination of the columns of x, to within `gap` of itself (or of 1).

    For the log loss a column holds what an expert gave the outcome that came, and y is not looked at.

    >>> x = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> found = best_combination(x, np.array([0.5, 0.5]), "squared")
    >>> found.weights.round(3).tolist(), found.lower <= 0.0 <= found.upper
    ([0.5, 0.5], True)
    """
    judge = LOSSES.get(loss)
    if not isinstance(judge, Averaged):
        raise SettingError(f"best_combination: loss must be one of {', '.join(COMBINED)}, got {loss!r}")
    x, y = np.ascontiguousarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 2 or not x.size or not np.isfinite(x).all():
        raise SettingError("best_combination: forecasts must be a matrix of finite numbers, without sleepers")
    if judge.chances and not (x > 0.0).any(axis=1).all():
        raise SettingError("best_combination: in some round every expert gave the outcome probability 0")
    smooth = SMOOTH[type(judge)]
    near = judge.residuals(x, y)  # Σw = 1, so ⟨w, x⟩ − y = ⟨w, x − y⟩
    w = np.full(x.shape[1], 1.0 / x.shape[1])
    found = _evaluated(x, y, judge, w, smooth.slopes(near @ w, 0.0)[0])
    width = max(float(np.abs(near @ w).max(initial=0.0)), 1e-6) if smooth.kinked else 0.0
    barrier, stuck = max(found.upper, 1e-6) / x.shape[1], 0
    while found.upper - found.lower > gap * max(found.upper, 1.0) and stuck < STUCK:
        w = _centred(near, smooth, w, barrier, width)
        before = found.upper - found.lower
        found = _better(found, _evaluated(x, y, judge, w, smooth.slopes(near @ w, width)[0]))
        stuck = 0 if found.upper - found.lower < 0.9 * before else stuck + 1
        barrier, width = barrier * SHRINK, width * SHRINK
    return found


def _better(a: Combination, b: Combination) -> Combination:
    weights = b.weights if b.upper < a.upper else a.weights
    slopes = b.slopes if b.lower > a.lower else a.slopes
    return Combination(weights, max(a.lower, b.lower), min(a.upper, b.upper), slopes)


@dataclass(frozen=True)
class Smooth:
    """A loss as it is solved for: of residuals r, with a kink rounded off over some width."""

    value: Callable[[Vector, float], float]
    slopes: Callable[[Vector, float], tuple[Vector, Vector]]  # first and second derivatives
    kinked: bool = False


def _hypot_slopes(r: Vector, width: float) -> tuple[Vector, Vector]:
    root = np.hypot(r, max(width, TINY))
    return r / root, (width / root) ** 2 / root


SMOOTH: dict[type[Averaged], Smooth] = {
    Squared: Smooth(lambda r, _: float((r**2).sum()), lambda r, _: (2.0 * r, np.full_like(r, 2.0))),
    Absolute: Smooth(lambda r, width: float(np.hypot(r, width).sum()), _hypot_slopes, kinked=True),
    Log: Smooth(
        lambda r, _: float(-np.log(r).sum()) if (r > 0.0).all() else math.inf, lambda r, _: (-1.0 / r, 1.0 / (r * r))
    ),
}


def _objective(x: Matrix, smooth: Smooth, w: Vector, barrier: float, width: float) -> float:
    if not (w > 0.0).all():
        return math.inf
    return smooth.value(x @ w, width) - float(barrier * np.log(w).sum())


def _centred(x: Matrix, smooth: Smooth, w: Vector, barrier: float, width: float) -> Vector:
    """The minimum of F(w) − barrier·Σ ln w over Σw = 1, by Newton's method from w."""
    value = _objective(x, smooth, w, barrier, width)
    for _ in range(STEPS):
        step, decrease = _newton_step(x, smooth, w, barrier, width)
        if not decrease > 1e-12 * barrier:
            break
        shrinking = step < 0.0
        size = min(1.0, 0.99 * float((w[shrinking] / -step[shrinking]).min(initial=math.inf)))
        while size > 1e-12:
            moved = w + size * step
            moved /= moved.sum()
            tried = _objective(x, smooth, moved, barrier, width)
            if tried <= value - 0.1 * size * decrease + 8.0 * EPS * abs(value):  # below that a value tells nothing
                break
            size *= 0.5
        else:
            break
        w, value = moved, tried
    return w


def _newton_step(x: Matrix, smooth: Smooth, w: Vector, barrier: float, width: float) -> tuple[Vector, float]:
    """The step to the minimum of the quadratic model on Σ step = 0, and how fast the value falls along it.

    In units of w the barrier's part of the matrix is the unit matrix: weights near 0 do no harm.
    """
    alpha, curvature = smooth.slopes(x @ w, width)
    scaled = x * w
    slope = scaled.T @ alpha - barrier
    slope -= w * (w @ slope) / (w @ w)  # that part no step with Σ = 0 sees, and at the minimum it is all there is
    H = (scaled * curvature[:, None]).T @ scaled + barrier * np.eye(len(w))
    try:
        solved = np.linalg.solve(H, np.column_stack([-slope, w]))
    except np.linalg.LinAlgError:
        return np.zeros_like(w), 0.0
    step = solved[:, 0] - solved[:, 1] * (w @ solved[:, 0]) / (w @ solved[:, 1])
    step -= w * (w @ step) / (w @ w)
    return w * step, float(-slope @ step)


def _evaluated(x: Matrix, y: Vector, judge: Averaged, w: Vector, alpha: Vector) -> Combination:
    """F at w/Σw from above, and what α proves from below."""
    w = np.maximum(w, 0.0)
    alpha = np.clip(alpha, -judge.steepest, judge.steepest)
    lower, upper = judge.proved_of_means(x, y, alpha), judge.lost_by_mean(x, y, w)
    return Combination(w / arithmetic.total(w), lower, upper, alpha)
