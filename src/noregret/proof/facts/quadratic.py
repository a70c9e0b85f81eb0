"""A quadratic below the logistic loss of every round, and what the sum of these proves of the regret, for any scores.

At the score z of a round, with s and ψ'' the slope and the curvature of its loss there and C ≥ |⟨u, x⟩|, let

    m(v) = ℓ(z) + s(v − z) + ½h(v − z)²,   h = ψ'' where |z| ≥ C, else ψ''/(1 + (|z| + C)/2);

then ℓ(⟨u, x⟩) ≥ m(⟨u, x⟩). With q(θ) = Σ k·m(⟨θ, x⟩) + (λ/2)‖θ‖², which is λ-strongly convex, every u has
q(u) ≥ q(θ) − ‖∇q(θ)‖²/(2λ), whatever the point θ. How θ was found does not matter: one that misses the minimum pays
for its gradient. In Σ k·ℓ(z) − q(θ) the losses cancel. A smaller h is as sound, so it is rounded down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.interval import Interval, total
from noregret.learner.core import Core
from noregret.loss import Loss, logistic
from noregret.proof import enclose
from noregret.proof.facts.gradients import slope_error
from noregret.rounds import Rounds

Vector = NDArray[np.float64]
EPS = 2.0**-52
TINY = 1e-300
SHORTEST = 1e-290  # below it squares lose digits
POINT = "v_quadratic"
WIDEST = 200  # features, the bias included, that a learner without a matrix of its own is given one of


def ridge_of(learner: Core, width: int) -> float | None:
    """λ: the ridge of a learner with a matrix, else 1; None where there are no minorants, or the rows are too wide."""
    if learner.loss != logistic():
        return None
    ridge = learner.settings.get("ridge")
    return float(ridge) if ridge is not None else 1.0 if width <= WIDEST else None


def _lengths(rounds: Rounds) -> Vector:
    """‖x‖ of every round from above; of one whose square is lost, at least so much."""
    return np.nextafter(np.sqrt(np.maximum(enclose.row_norms2(rounds)[1], SHORTEST)), np.inf)


def curvatures(rounds: Rounds, loss: Loss, radius: float) -> Vector:
    """h of every round for all ‖u‖ ≤ radius, rounded down."""
    assert rounds.scores is not None
    z, y = np.abs(rounds.scores), rounds.y
    with np.errstate(over="ignore", under="ignore"):
        reach = np.nextafter(_lengths(rounds) * radius, np.inf)
        own = np.abs(loss.gradients(rounds.scores, y)) * np.abs(loss.gradients(rounds.scores, -y))  # p(1 − p)
        h = np.where(z >= reach, own, own / (1.0 + 0.5 * (z + reach)))
        off = 2.0 * slope_error(loss) + 16.0 * EPS
        return np.where(h > TINY, h * (1.0 - off), 0.0)


@dataclass(frozen=True)
class Minorants:
    """The sum of the minorants beside a run's loss: Σ k(ℓ(z) − m(⟨θ, x⟩)), ‖θ‖ and ‖∇q(θ)‖ at a point θ."""

    above: Interval
    norm: Interval
    gradient: Interval
    ridge: float

    def bound(self, radius: float) -> Interval:
        """(λ/2)U² + Σ k·ℓ(z) − q(θ) + ‖∇q(θ)‖²/(2λ)."""
        half = Interval.of(self.ridge) * 0.5
        short = self.gradient.square() / (Interval.of(self.ridge) * 2.0)
        return self.above + half * Interval.of(radius).square() - half * self.norm.square() + short


def minorants(rounds: Rounds, loss: Loss, h: Vector, theta: Vector, ridge: float) -> Minorants:
    """The minorants with curvatures h, at θ."""
    assert rounds.scores is not None
    slopes = loss.gradients(rounds.scores, rounds.y)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        low, high = enclose.margins(rounds, theta)
        low, high = np.nextafter(low - rounds.scores, -np.inf), np.nextafter(high - rounds.scores, np.inf)
        above = _above(rounds, loss, slopes, h, low, high)
        gradient = _gradient(rounds, loss, slopes, h, low, high, ridge * theta)
    return Minorants(above, enclose.norm(theta), gradient, ridge)


def _above(rounds: Rounds, loss: Loss, slopes: Vector, h: Vector, low: Vector, high: Vector) -> Interval:
    """Σ k(−s·e − ½h·e²), e = ⟨θ, x⟩ − z between its ends."""
    a, b = slopes * low, slopes * high
    small = np.where((low <= 0.0) & (high >= 0.0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    large = np.maximum(np.abs(low), np.abs(high))
    least, most = 0.5 * h * (small * small), 0.5 * h * (large * large)
    off = (slope_error(loss) + 8.0 * EPS) * np.maximum(np.abs(a), np.abs(b)) + 8.0 * EPS * most + TINY
    lo, hi = -np.maximum(a, b) - most - off, -np.minimum(a, b) - least + off
    if rounds.weights is not None:
        lo, hi = np.nextafter(rounds.weights * lo, -np.inf), np.nextafter(rounds.weights * hi, np.inf)
    return total(np.where(np.isfinite(lo), lo, -np.inf), np.where(np.isfinite(hi), hi, np.inf))


def _gradient(
    rounds: Rounds, loss: Loss, slopes: Vector, h: Vector, low: Vector, high: Vector, pulled: Vector
) -> Interval:
    """‖Σ k(s + h·e)x + λθ‖; `pulled` is λθ to one rounding."""
    taken = slopes + h * (0.5 * low + 0.5 * high)
    size = np.maximum(np.abs(low), np.abs(high))
    off = (slope_error(loss) + 4.0 * EPS) * np.abs(slopes) + h * ((high - low) + 8.0 * EPS * size) + TINY
    if not np.isfinite(taken).all():
        return Interval(0.0, np.inf)
    lo, hi = enclose.combined(rounds, taken)
    lo = np.nextafter(lo + np.nextafter(pulled, -np.inf), -np.inf)
    hi = np.nextafter(hi + np.nextafter(pulled, np.inf), np.inf)
    k = 1.0 if rounds.weights is None else rounds.weights
    lost = 1.001 * arithmetic.total(k * off * _lengths(rounds))
    found = enclose.norm_between(lo, hi)
    return Interval.outward(found.lo - lost, found.hi + lost).positive()
