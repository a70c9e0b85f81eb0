"""Where a comparator may lie and what its size costs: R(u), its conjugate, and a quadratic model minimised in it.

The problem is min_u f(u) + R(u) with f(u) = Σ k·ℓ(⟨u, x⟩). A dual point α with g = Σ k·α·x proves
f + R ≥ −Σ k·ℓ*(α) − R*(−g).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from noregret.hindsight.design import Matrix, length_of
from noregret.rounds import Vector


class Region(Protocol):
    """R(u)."""

    def value(self, u: Vector) -> float:
        """R(u)."""

    def along(self, u: Vector, step: Vector, tau: float) -> float:
        """The derivative of R(u + τ·step) in τ."""

    def fit(self, a: float) -> float:
        """The largest factor up to 1 by which g of length a lies where R* is finite."""

    def support(self, a: float) -> float:
        """R*(−g) for a g of length a."""

    def minimise(self, H: Matrix, c: Vector) -> Vector:
        """argmin ½vᵀHv + cᵀv + R(v), H positive definite."""

    def inside(self, u: Vector) -> Vector:
        """The nearest point where R is finite."""

    def multiplier(self, length: float, a: float) -> float:
        """The ridge m that acts as R does at a u of this length with a g of length a."""

    def reach(self, value: float) -> float:
        """No minimiser of a problem worth `value` at 0 is longer."""

    def thinned(self, part: float) -> Region:
        """The same for a problem in which only this part of the rounds is left."""


@dataclass(frozen=True)
class Ball:
    """(ridge/2)‖u‖² where ‖u‖ ≤ radius, else +∞."""

    radius: float
    ridge: float = 0.0

    def value(self, u: Vector) -> float:
        return 0.5 * self.ridge * float(u @ u) if self.ridge else 0.0

    def along(self, u: Vector, step: Vector, tau: float) -> float:
        return self.ridge * float(u @ step + tau * (step @ step)) if self.ridge else 0.0

    def fit(self, a: float) -> float:
        return 1.0

    def support(self, a: float) -> float:
        if a == 0.0:
            return 0.0
        if a <= self.ridge * self.radius:
            return 0.5 * a / self.ridge * a
        return self.radius * (a - 0.5 * self.ridge * self.radius)

    def minimise(self, H: Matrix, c: Vector) -> Vector:
        h, Q = np.linalg.eigh(H)
        c = Q.T @ c
        h = np.maximum(h, 0.0) + self.ridge
        inside = -c / h
        if length_of(inside) <= self.radius:
            return np.asarray(Q @ inside)
        far = length_of(c) / self.radius
        multiplier = _zero(lambda m: self.radius / length_of(c / (h + m)) - 1.0, 0.0, far)
        found = Q @ (-c / (h + multiplier))
        return np.asarray(found * (self.radius / length_of(found)))

    def inside(self, u: Vector) -> Vector:
        size = length_of(u)
        return u if size <= self.radius else u * (self.radius / size)

    def multiplier(self, length: float, a: float) -> float:
        return max(self.ridge, a / self.radius)

    def reach(self, value: float) -> float:
        return min(self.radius, math.sqrt(2.0 * value / self.ridge)) if self.ridge else self.radius

    def thinned(self, part: float) -> Ball:
        return replace(self, ridge=self.ridge * part)


@dataclass(frozen=True)
class Penalty:
    """rho·‖u‖."""

    rho: float

    def value(self, u: Vector) -> float:
        return self.rho * length_of(u)

    def along(self, u: Vector, step: Vector, tau: float) -> float:
        there = u + tau * step
        size = length_of(there)
        if size == 0.0:  # at the kink: out of it at the start of a step, into it at its end
            return math.copysign(self.rho * length_of(step), 0.5 - tau)
        return self.rho * float(there @ step) / size

    def fit(self, a: float) -> float:
        return 1.0 if a <= self.rho else self.rho / a

    def support(self, a: float) -> float:
        return 0.0

    def minimise(self, H: Matrix, c: Vector) -> Vector:
        size = length_of(c)
        if size <= self.rho:
            return np.zeros_like(c)
        h, Q = np.linalg.eigh(H)
        c, h = Q.T @ c, np.maximum(h, 0.0)
        if self.rho == 0.0:
            return np.asarray(Q @ (-c / h))
        # the multiplier m has m‖v(m)‖ = rho, and m/(h + m) lies between its values at the ends of the spectrum
        ends = (self.rho * float(end) / (size - self.rho) for end in (h.min(), h.max()))
        least, most = (math.log(min(max(end, 1e-300), 1e300)) for end in ends)
        force = lambda log: 1.0 - self.rho / length_of(c / (h * math.exp(-log) + 1.0))  # noqa: E731
        m = math.exp(_zero(force, least - 1.0, most + 1.0))
        return np.asarray(Q @ (-c / (h + m)))

    def inside(self, u: Vector) -> Vector:
        return u

    def multiplier(self, length: float, a: float) -> float:
        return self.rho / length

    def reach(self, value: float) -> float:
        return value / self.rho if self.rho else math.inf

    def thinned(self, part: float) -> Penalty:
        return Penalty(self.rho * part)


def _zero(of: Callable[[float], float], low: float, high: float) -> float:
    """The root of an increasing function between two points, or the end that rounding left nearest to it."""
    from scipy.optimize import brentq

    if of(low) >= 0.0:
        return low
    if of(high) <= 0.0:
        return high
    return float(brentq(of, low, high, xtol=1e-300, rtol=1e-14))
