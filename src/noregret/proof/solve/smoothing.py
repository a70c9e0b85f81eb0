"""A loss as a solver sees it: its total, its slopes and its curvature, widened by μ where it has a kink.

A loss with a `Bend` has the slope clip(r/width, lo, hi); smoothed, with width + μ, it never leaves the dual domain, so
that the bound D(α) is honest however wide μ is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from noregret import _native
from noregret.loss import Loss
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
    """Slope clip(shrunk(z − kink, flat)/width, lo, hi), of losses with a `Bend`; see `native/hindsight.hpp`."""

    kink: Vector
    lo: Vector
    hi: Vector
    width: float
    flat: float
    weights: Vector

    @property
    def kinked(self) -> bool:
        return bool(np.isfinite(self.lo).all() and np.isfinite(self.hi).all())

    def total(self, z: Vector) -> float:
        return float(_native.bent_total(z, self.kink, self.lo, self.hi, self.width, self.flat, self.weights))

    def slopes(self, z: Vector, mu: float) -> Vector:
        alpha = np.empty(len(z))
        _native.bent_slopes(z, self.kink, self.lo, self.hi, self.width + mu, self.flat, alpha)
        return alpha

    def curvatures(self, z: Vector, mu: float) -> Vector:
        width = self.width + mu
        r = self.beyond(z)
        bending = (r != 0.0) | (self.flat == 0.0)
        return np.where(bending & (r >= width * self.lo) & (r <= width * self.hi), self.weights / width, 0.0)

    def beyond(self, z: Vector) -> Vector:
        """shrunk(z − kink, flat): how far a score lies from where the slope is 0."""
        r = z - self.kink
        return r if self.flat == 0.0 else np.sign(r) * np.maximum(np.abs(r) - self.flat, 0.0)

    def along(self, z: Vector, step: Vector, tau: float, mu: float) -> float:
        width = self.width + mu
        return float(_native.bent_along(z, step, tau, self.kink, self.lo, self.hi, width, self.flat, self.weights))

    def conjugate(self, z: Vector, alpha: Vector) -> float:
        return float(
            self.weights @ (alpha * self.kink + self.flat * np.abs(alpha) + (0.5 * self.width) * alpha * alpha)
        )

    def steepest(self, mu: float) -> float:
        return 1.0 / (self.width + mu)

    def spread(self, z: Vector) -> float:
        r = np.abs(self.beyond(z))
        return float(np.median(r)) or float(r.mean()) or 1.0

    def narrower(self, mu: float) -> float:
        return SHRINK * mu if mu > NEGLIGIBLE * self.width else 0.0

    def ahead(self, z: Vector, mu: float, smaller: float) -> tuple[Vector, Vector]:
        bending = self.curvatures(z, mu) > 0.0
        width = self.width + smaller
        return np.where(bending, self.beyond(z) / width, self.slopes(z, mu)), bending * self.weights / width


@dataclass(frozen=True)
class Smooth:
    """A loss known by its values and slopes, and by ℓ'' or by how its slopes change: there is nothing to smooth."""

    loss: Loss
    y: Vector
    weights: Vector
    kinked: bool = field(default=False, init=False)

    def total(self, z: Vector) -> float:
        return float(self.weights @ self.loss.values(z, self.y))

    def slopes(self, z: Vector, mu: float) -> Vector:
        return self.loss.gradients(z, self.y)

    def curvatures(self, z: Vector, mu: float) -> Vector:
        if self.loss.second is not None:
            return self.weights * self.loss.second(z, self.y)
        reach = REACH * (1.0 + np.abs(z))
        rise = self.loss.gradients(z + reach, self.y) - self.loss.gradients(z - reach, self.y)
        return self.weights * np.maximum(rise, 0.0) / (2.0 * reach)

    def along(self, z: Vector, step: Vector, tau: float, mu: float) -> float:
        slopes = self.slopes(z + tau * step, mu)
        return float((self.weights * step) @ np.where(step == 0.0, 0.0, slopes))  # which keeps 0·∞ out

    def conjugate(self, z: Vector, alpha: Vector) -> float:
        """Where ℓ* is not known, the tangents at z stand in for it."""
        if self.loss.dual:
            return float(self.weights @ self.loss.conjugate(alpha, self.y))
        return float(self.weights @ (alpha * z)) - self.total(z)

    def steepest(self, mu: float) -> float:
        return self.loss.sharpest

    def spread(self, z: Vector) -> float:
        return 1.0

    def narrower(self, mu: float) -> float:
        return 0.0

    def ahead(self, z: Vector, mu: float, smaller: float) -> tuple[Vector, Vector]:
        return self.slopes(z, smaller), self.curvatures(z, smaller)


def shape_of(rounds: Rounds, loss: Loss) -> Bent | Smooth:
    """The loss over these rounds."""
    weights = np.ones(len(rounds)) if rounds.weights is None else rounds.weights
    if loss.bend is None:
        return Smooth(loss, rounds.y, weights)
    bend = loss.bend(rounds.y, loss.number)
    kink, lo, hi = (np.array(part, dtype=np.float64) for part in (bend.kink, bend.lo, bend.hi))
    return Bent(kink, lo, hi, bend.width, float(bend.flat), weights)
