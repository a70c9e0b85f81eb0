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

from noregret.proof.solve.design import Matrix, length_of
from noregret.rounds import Vector

LEAST = 1e-290  # a curvature below is none: its column is as good as zeros
STEPS = 60  # of Newton's method in one number; it needs five
NOISE = 1e-2  # relative changes below this that do not shrink are rounding
CLOSE = 1e-7  # its square is what rounding leaves


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

    def step(self, H: Matrix, g: Vector, u: Vector, near: float = 0.0) -> Vector:
        """argmin ½pᵀHp + gᵀp + R(u + p), H positive definite; the ridge that acts as R is looked for near `near`."""

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

    def step(self, H: Matrix, g: Vector, u: Vector, near: float = 0.0) -> Vector:
        model = Shifted(H, g, u)

        def after(m: float) -> tuple[bool, float]:
            """1/‖v(m)‖ is concave in m: its tangent never leads beyond the m with ‖v(m)‖ = radius."""
            size, fall = model.at(m)
            return size > self.radius, m + (size / fall) * size * (size / self.radius - 1.0) if fall else m

        p = model.near(_closed_in(after, self.ridge, self.ridge + length_of(g - H @ u) / self.radius, near))
        size = length_of(u + p)
        return p if size <= self.radius else p + (self.radius / size - 1.0) * (u + p)

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

    def step(self, H: Matrix, g: Vector, u: Vector, near: float = 0.0) -> Vector:
        pull = length_of(g - H @ u)
        if pull <= self.rho:
            return -u
        model = Shifted(H, g, u)

        def after(m: float) -> tuple[bool, float]:
            """The root of 1/‖v(m)‖ − m/rho, which is concave in m."""
            size, fall = model.at(m)
            slope = fall / size / size / size - 1.0 / self.rho
            return m * size < self.rho, m - (1.0 / size - m / self.rho) / slope

        if self.rho == 0.0:
            model.at(0.0)
            return model.p
        # m/(h + m) lies between its values at the ends of the spectrum
        return model.near(_closed_in(after, 0.0, 2.0 * self.rho * float(np.trace(H)) / (pull - self.rho), near))

    def inside(self, u: Vector) -> Vector:
        return u

    def multiplier(self, length: float, a: float) -> float:
        return self.rho / length if length else 0.0  # from 0 there is no better place to begin

    def reach(self, value: float) -> float:
        return value / self.rho if self.rho else math.inf

    def thinned(self, part: float) -> Penalty:
        return Penalty(self.rho * part)


class Shifted:
    """p(m) = −(H + mI)⁻¹(g + mu), the least point of a model whose region acts as a ridge m; v(m) = u + p(m).

    Every matrix is brought to a diagonal of ones first, so that columns of a million and of a thousandth are
    solved for alike: the eigenvectors of H would forget the small ones. Steps are solved for and not points, for what
    rounding does to a step the next one undoes.
    """

    def __init__(self, H: Matrix, g: Vector, u: Vector) -> None:
        self.H, self.g, self.u = H, g, u
        self.p = self.fall = np.zeros_like(g)

    def at(self, m: float) -> tuple[float, float]:
        """Sets p = p(m) and fall = −dp/dm = (H + mI)⁻¹v; returns ‖v‖ and ⟨v, fall⟩ = −‖v‖·d‖v‖/dm."""
        from scipy.linalg.lapack import dpotrf, dpotrs

        s = 1.0 / np.sqrt(np.maximum(np.diag(self.H) + m, LEAST))
        A = self.H * s[:, None] * s
        A.flat[:: len(s) + 1] = 1.0
        U, failed = dpotrf(A.T, clean=0, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("the model is not convex")
        self.p = -s * dpotrs(U, s * (self.g + m * self.u))[0]
        v = self.u + self.p
        self.fall = s * dpotrs(U, s * v)[0]
        return length_of(v), float(v @ self.fall)

    def near(self, change: float) -> Vector:
        """p at the last m and a little more."""
        return self.p - change * self.fall


def _closed_in(after: Callable[[float], tuple[bool, float]], low: float, high: float, m: float) -> float:
    """Newton's method for the m between two numbers; `after` tells whether m is too small, and the next m.

    Where that leads out of the bracket the order of magnitude is halved instead. Returns how far the root lies from the
    last m that was asked for: so little that a tangent is exact. If m = low is not too small, it is the last.
    """
    tried, before = False, math.inf  # whether m = low was; the last change
    for _ in range(STEPS):
        if m <= low and not tried:
            m = low
        elif not low < m < high:
            m = math.sqrt(low) * math.sqrt(high) if low else 1e-3 * high
        small, there = after(m)
        change = there - m
        if abs(change) <= CLOSE * m or before <= 2.0 * abs(change) <= NOISE * m:
            return change
        if m == low and not small:
            break
        tried, before = tried or small, abs(change)
        low, high = (m, high) if small else (low, m)
        m = there
    return 0.0
