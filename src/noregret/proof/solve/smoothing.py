"""A loss as a solver sees it: its total, its slopes and its curvature, widened by μ where it has a kink.

A piecewise linear loss is max(lo·r, hi·r) with r = z − kink. Its smoothed slope clip(r/μ, lo, hi) never leaves the dual
domain, so that the bound D(α) is honest however wide μ is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from noregret import _native
from noregret.loss import Loss, probability
from noregret.rounds import Rounds, Vector

SHRINK = 0.1  # the next μ
NEGLIGIBLE = 1e-2  # part of a loss's own width: there is no more need to smooth it
REACH = 1e-3  # how far apart a custom loss's slopes are compared for its curvature


class Shape(Protocol):
    """Σ k·ℓ over the rounds as a function of the scores z."""

    @property
    def weights(self) -> Vector:
        """k."""

    @property
    def kinked(self) -> bool:
        """Whether there is something to smooth."""

    def total(self, z: Vector) -> float:
        """Σ k·ℓ(z)."""

    def slopes(self, z: Vector, mu: float) -> Vector:
        """The slopes of the smoothed loss, without k."""

    def curvatures(self, z: Vector, mu: float) -> Vector:
        """k times their derivatives in z."""

    def along(self, z: Vector, step: Vector, tau: float, mu: float) -> float:
        """The derivative of the smoothed Σ k·ℓ(z + τ·step) in τ."""

    def conjugate(self, z: Vector, alpha: Vector) -> float:
        """Σ k·ℓ*(α); z is where the slopes α were taken."""

    def steepest(self, mu: float) -> float:
        """The largest curvature of one smoothed loss."""

    def spread(self, z: Vector) -> float:
        """A width that holds about half of the rounds in their bend."""

    def narrower(self, mu: float) -> float:
        """The next width to smooth with."""

    def ahead(self, z: Vector, mu: float, smaller: float) -> tuple[Vector, Vector]:
        """(slopes, curvatures) at a smaller μ if no round crossed the edge of its bend."""


@dataclass(frozen=True)
class Bent:
    """Slope clip((z − kink)/width, lo, hi): every built-in loss but two; see `native/hindsight.hpp`."""

    kink: Vector
    lo: Vector
    hi: Vector
    width: float
    weights: Vector

    @property
    def kinked(self) -> bool:
        return bool(np.isfinite(self.lo).all() and np.isfinite(self.hi).all())

    def total(self, z: Vector) -> float:
        return float(_native.bent_total(z, self.kink, self.lo, self.hi, self.width, self.weights))

    def slopes(self, z: Vector, mu: float) -> Vector:
        alpha = np.empty(len(z))
        _native.bent_slopes(z, self.kink, self.lo, self.hi, self.width + mu, alpha)
        return alpha

    def curvatures(self, z: Vector, mu: float) -> Vector:
        width = self.width + mu
        r = z - self.kink
        return np.where((r >= width * self.lo) & (r <= width * self.hi), self.weights / width, 0.0)

    def along(self, z: Vector, step: Vector, tau: float, mu: float) -> float:
        width = self.width + mu
        return float(_native.bent_along(z, step, tau, self.kink, self.lo, self.hi, width, self.weights))

    def conjugate(self, z: Vector, alpha: Vector) -> float:
        return float(self.weights @ (alpha * self.kink + (0.5 * self.width) * alpha * alpha))

    def steepest(self, mu: float) -> float:
        return 1.0 / (self.width + mu)

    def spread(self, z: Vector) -> float:
        r = np.abs(z - self.kink)
        return float(np.median(r)) or float(r.mean()) or 1.0

    def narrower(self, mu: float) -> float:
        return SHRINK * mu if mu > NEGLIGIBLE * self.width else 0.0

    def ahead(self, z: Vector, mu: float, smaller: float) -> tuple[Vector, Vector]:
        bending = self.curvatures(z, mu) > 0.0
        width = self.width + smaller
        return np.where(bending, (z - self.kink) / width, self.slopes(z, mu)), bending * self.weights / width


@dataclass(frozen=True)
class Logistic:
    """ln(1 + e^(−y·z))."""

    y: Vector
    weights: Vector
    kinked: bool = field(default=False, init=False)

    def total(self, z: Vector) -> float:
        m = self.y * z
        return float(self.weights @ (np.maximum(-m, 0.0) + np.log1p(np.exp(-np.abs(m)))))

    def slopes(self, z: Vector, mu: float) -> Vector:
        return -self.y * probability(-self.y * z)

    def curvatures(self, z: Vector, mu: float) -> Vector:
        p = probability(z)
        return self.weights * p * (1.0 - p)

    def along(self, z: Vector, step: Vector, tau: float, mu: float) -> float:
        return float((self.weights * step) @ self.slopes(z + tau * step, mu))

    def conjugate(self, z: Vector, alpha: Vector) -> float:
        q = np.abs(alpha)
        entropy = [p * np.log(np.where(p > 0.0, p, 1.0)) for p in (q, 1.0 - q)]
        return float(self.weights @ (entropy[0] + entropy[1]))

    def steepest(self, mu: float) -> float:
        return 0.25

    def spread(self, z: Vector) -> float:
        return 1.0

    def narrower(self, mu: float) -> float:
        return 0.0

    def ahead(self, z: Vector, mu: float, smaller: float) -> tuple[Vector, Vector]:
        return self.slopes(z, smaller), self.curvatures(z, smaller)


@dataclass(frozen=True)
class Exponential:
    """e^(−y·z); beyond what a float can hold it is infinite, which ends a step before it."""

    y: Vector
    weights: Vector
    kinked: bool = field(default=False, init=False)

    def total(self, z: Vector) -> float:
        return float(self.weights @ np.exp(-self.y * z))

    def slopes(self, z: Vector, mu: float) -> Vector:
        return np.asarray(-self.y * np.exp(-self.y * z))

    def curvatures(self, z: Vector, mu: float) -> Vector:
        return np.asarray(self.weights * np.exp(-self.y * z))

    def along(self, z: Vector, step: Vector, tau: float, mu: float) -> float:
        moving = step != 0.0  # which keeps 0·∞ out
        return float((self.weights * step)[moving] @ self.slopes(z + tau * step, mu)[moving])

    def conjugate(self, z: Vector, alpha: Vector) -> float:
        beta = np.abs(alpha)
        return float(self.weights @ (beta * np.log(np.where(beta > 0.0, beta, 1.0)) - beta))

    def steepest(self, mu: float) -> float:
        return 1.0

    def spread(self, z: Vector) -> float:
        return 1.0

    def narrower(self, mu: float) -> float:
        return 0.0

    def ahead(self, z: Vector, mu: float, smaller: float) -> tuple[Vector, Vector]:
        return self.slopes(z, smaller), self.curvatures(z, smaller)


@dataclass(frozen=True)
class Custom:
    """A loss known by its values and slopes alone; its tangents at z stand in for the conjugate."""

    loss: Loss
    y: Vector
    weights: Vector
    kinked: bool = field(default=False, init=False)

    def total(self, z: Vector) -> float:
        return float(self.weights @ self.loss.values(z, self.y))

    def slopes(self, z: Vector, mu: float) -> Vector:
        return self.loss.gradients(z, self.y)

    def curvatures(self, z: Vector, mu: float) -> Vector:
        reach = REACH * (1.0 + np.abs(z))
        rise = self.loss.gradients(z + reach, self.y) - self.loss.gradients(z - reach, self.y)
        return self.weights * np.maximum(rise, 0.0) / (2.0 * reach)

    def along(self, z: Vector, step: Vector, tau: float, mu: float) -> float:
        return float((self.weights * step) @ self.slopes(z + tau * step, mu))

    def conjugate(self, z: Vector, alpha: Vector) -> float:
        return float(self.weights @ (alpha * z)) - self.total(z)

    def steepest(self, mu: float) -> float:
        return 1.0

    def spread(self, z: Vector) -> float:
        return 1.0

    def narrower(self, mu: float) -> float:
        return 0.0

    def ahead(self, z: Vector, mu: float, smaller: float) -> tuple[Vector, Vector]:
        return self.slopes(z, smaller), self.curvatures(z, smaller)


def shape_of(rounds: Rounds, loss: Loss) -> Bent | Logistic | Exponential | Custom:
    """The loss over these rounds."""
    y, p, one = rounds.y, loss.number, np.ones(len(rounds))
    weights = one if rounds.weights is None else rounds.weights
    left, right = np.where(y > 0.0, -one, 0.0), np.where(y > 0.0, 0.0, one)
    match loss.name if loss.conjugate_of is not None else "":
        case "hinge":
            return Bent(y, left, right, 0.0, weights)
        case "margin-hinge":
            return Bent(p * y, left / p, right / p, 0.0, weights)
        case "perceptron":
            return Bent(0.0 * one, left, right, 0.0, weights)
        case "squared-hinge":
            return Bent(y, np.where(y > 0.0, -np.inf, 0.0), np.where(y > 0.0, 0.0, np.inf), 0.5, weights)
        case "absolute":
            return Bent(y, -one, one, 0.0, weights)
        case "pinball":
            return Bent(y, -p * one, (1.0 - p) * one, 0.0, weights)
        case "squared":
            return Bent(y, -np.inf * one, np.inf * one, 0.5, weights)
        case "huber":
            return Bent(y, -p * one, p * one, 1.0, weights)
        case "logistic":
            return Logistic(y, weights)
        case "exponential":
            return Exponential(y, weights)
        case _:
            return Custom(loss, y, weights)
