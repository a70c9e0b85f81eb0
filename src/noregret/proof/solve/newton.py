"""Newton's method on the smoothed loss, a quadratic model minimised exactly in the region, for some thousand features.

Every iterate carries a dual point, so the gap is known at every step. It has two parts: the *excess*
Σ k[ℓ(z) + ℓ*(α) − αz] that the smoothing leaves, and the rest, which Newton's method removes. As soon as the rest is
the smaller one, μ shrinks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from noregret.proof.solve.design import Design, Matrix, length_of
from noregret.proof.solve.region import Region
from noregret.proof.solve.result import Progress
from noregret.proof.solve.smoothing import Shape
from noregret.rounds import Vector

CAUGHT_UP = 0.3
FLAT = 0.1  # a step ends where the slope along it has fallen to this part
LEAST_WIDTH = 1e-15  # relative to the first
LEAST_DAMPING = 1e-13
WEAK = 1e-7  # with less damping a step that leads nowhere is tried again with more
MATRIX_WIDTH = 2000  # features up to which the matrix of their curvature is affordable
ITERATIONS = 400
IDLE_STEPS = 4
Image = Callable[[Vector], Vector]  # v ↦ H·v of a matrix that is known by its products alone


@dataclass
class Idle:
    """Steps at one μ that neither narrow the gap nor change the excess: rounding is all that they move."""

    least: float = math.inf
    excess: float = math.inf
    steps: int = 0

    def after(self, gap: float, excess: float) -> bool:
        """Whether there have been enough of them."""
        still = gap > 0.9 * self.least and abs(excess - self.excess) <= 1e-9 * excess
        self.steps = self.steps + 1 if still else 0
        self.least, self.excess = min(gap, self.least), excess
        return self.steps >= IDLE_STEPS


@dataclass
class Newton:
    """One problem in its scaled units; `run` moves from u until `progress` is content."""

    design: Design
    shape: Shape
    region: Region
    progress: Progress
    damping: float = 1e-10  # relative to the largest curvature that a feature can have
    ceiling: Vector = field(init=False)  # Σx² of every feature

    def __post_init__(self) -> None:
        self.ceiling = self.design.column_squares()

    def run(self, u: Vector) -> None:
        z = self.design.scores(u)
        first = mu = self._first_width(z)
        idle = Idle()
        for _ in range(ITERATIONS):
            alpha, g = self._dual(z, mu)
            gap, excess = self._offer(u, z, alpha, g)
            if self.progress.content:
                return
            if mu and (gap - excess <= CAUGHT_UP * excess or idle.after(gap, excess)):
                idle, smaller = Idle(), self.shape.narrower(mu)
                there, scores, falls = self._look_ahead(u, z, mu, smaller)
                u, z, mu = (there, scores, smaller) if falls else (u, z, smaller)
                continue
            there, scores, falls = self._step(u, z, mu, g)
            if falls or self._offer(there, scores, *self._dual(scores, mu))[0] < gap:
                u, z = there, scores
            elif self.damping > WEAK:
                if mu <= first * LEAST_WIDTH:
                    return
                idle, mu = Idle(), self.shape.narrower(mu)

    def _first_width(self, z: Vector) -> float:
        """As wide as half of the rounds need, and no wider than a tenth of the loss allows: a warm start stays warm."""
        if not self.shape.kinked:
            return 0.0
        mu, total = self.shape.spread(z), self.shape.total(z)
        while z.any() and self._excess(z, total, mu) > 0.1 * max(total, self.progress.floor):
            mu *= 0.25
        return mu

    def _excess(self, z: Vector, total: float, mu: float) -> float:
        alpha = self.shape.slopes(z, mu)
        return total + self.shape.conjugate(z, alpha) - float((self.shape.weights * alpha) @ z)

    def _dual(self, z: Vector, mu: float) -> tuple[Vector, Vector]:
        """The smoothed slopes α, and Σ kαx."""
        alpha = self.shape.slopes(z, mu)
        return alpha, self.design.combine(self.shape.weights * alpha)

    def _offer(self, u: Vector, z: Vector, alpha: Vector, g: Vector) -> tuple[float, float]:
        """Report the point; returns (gap, excess)."""
        total, size = self.shape.total(z), length_of(g)
        upper = total + self.region.value(u)
        factor = self.region.fit(size)
        lower = -self.shape.conjugate(z, factor * alpha) - self.region.support(factor * size)
        excess = total + self.shape.conjugate(z, alpha) - float(u @ g)
        self.progress.offer(u, upper, alpha, lower)
        return upper - lower, max(excess, 0.0)

    def _look_ahead(self, u: Vector, z: Vector, mu: float, smaller: float) -> tuple[Vector, Vector, bool]:
        """Where the minimiser goes when μ shrinks and no round leaves its bend: u is left far behind otherwise."""
        slopes, w = self.shape.ahead(z, mu, smaller)
        return self._move(u, z, smaller, w, self.design.combine(self.shape.weights * slopes))

    def _step(self, u: Vector, z: Vector, mu: float, g: Vector) -> tuple[Vector, Vector, bool]:
        """One step of Newton's method at width μ."""
        return self._move(u, z, mu, self.shape.curvatures(z, mu), g)

    def _move(self, u: Vector, z: Vector, mu: float, w: Vector, g: Vector) -> tuple[Vector, Vector, bool]:
        """To the least point on the way to the minimiser of the model with curvatures w and slope g.

        Where nothing falls on that way, as when rounding is all that is left of the slope, to its end, and False.
        """
        step = self._model_step(u, w, self.shape.steepest(mu) * self.ceiling, g)
        along = self.design.scores(step)
        tau = least_point(lambda t: self.shape.along(z, along, t, mu) + self.region.along(u, step, t))
        self._adapt(tau)
        far = tau or 1.0
        return u + far * step, z + far * along, tau > 0.0

    def _model_step(self, u: Vector, w: Vector, ceiling: Vector, g: Vector) -> Vector:
        """To the minimiser of the damped model; more damping where rounding has made it concave."""
        near = self.region.multiplier(length_of(u), length_of(g)) if u.any() else 0.0
        wide = self.design.width > MATRIX_WIDTH
        H = np.zeros((0, 0)) if wide else self.design.curvature(w)
        own = np.diag(H).copy()
        while True:
            damping = self.damping * ceiling
            try:
                if wide:
                    return step(self._image(w, damping), self.design.width, self.region, u, g, near)
                H.flat[:: len(u) + 1] = own + damping
                return self.region.step(H, g, u, near)
            except np.linalg.LinAlgError:
                if self.damping >= 1.0:
                    raise
                self.damping = min(10.0 * self.damping, 1.0)

    def _image(self, w: Vector, damping: Vector) -> Image:
        """v ↦ Σ w·⟨v, x⟩·x + damping·v."""
        return lambda v: self.design.combine(w * self.design.scores(v)) + damping * v

    def _adapt(self, tau: float) -> None:
        """Short steps mean that the model promises too much: damp it."""
        if tau == 0.0:
            self.damping = min(100.0 * self.damping, 1.0)
        elif tau < 0.1:
            self.damping = min(10.0 * self.damping, 1.0)
        elif tau > 0.5:
            self.damping = max(0.1 * self.damping, LEAST_DAMPING)


def least_point(slope: Callable[[float], float]) -> float:
    """The τ in [0, 1] where a convex function of this slope is nearly least; 0 if it does not fall at all."""
    at_low, at_high = slope(0.0), slope(1.0)
    if not at_low < 0.0:
        return 0.0
    low, high, flat = 0.0, 1.0, -FLAT * at_low
    if at_high <= flat:
        return 1.0
    for turn in range(100):
        tau = low - at_low * (high - low) / (at_high - at_low)
        if turn % 2 or not low < tau < high:  # by turns, as the secant alone may creep; τ may be small by orders
            tau = math.sqrt(low * high) if low else 0.1 * high
        here = slope(tau)
        if abs(here) <= flat:
            return tau
        low, at_low, high, at_high = (tau, here, high, at_high) if here < 0.0 else (low, at_low, tau, here)
    return low


DIMENSIONS = 60
NOTHING_NEW = 1e-10  # what is left of a vector, relative to it, after the basis has been taken out


def step(image: Image, width: int, region: Region, u: Vector, g: Vector, near: float, most: int = DIMENSIONS) -> Vector:
    """About argmin ½pᵀHp + gᵀp + R(u + p), H being known by its products alone, `most` of them."""
    basis, images = _subspace(image, min(most, width), u, g)
    if not len(basis):  # g overflowed
        return np.zeros_like(u)
    H = basis @ images.T
    found = region.step(0.5 * (H + H.T), basis @ g, basis @ u, near)
    return np.asarray(found @ basis)


def _subspace(image: Image, limit: int, u: Vector, g: Vector) -> tuple[Matrix, Matrix]:
    """An orthonormal basis, one vector a row, and H times each."""
    basis, images = np.zeros((limit, len(u))), np.zeros((limit, len(u)))
    count = 0
    waiting = [u, g]
    while waiting and count < limit:
        fresh = _orthogonal(waiting.pop(0), basis[:count])
        if fresh is None:
            continue
        basis[count] = fresh
        images[count] = image(fresh)
        if not waiting:
            waiting.append(images[count])
        count += 1
    return basis[:count], images[:count]


def _orthogonal(a: Vector, basis: Matrix) -> Vector | None:
    """a without its part in the basis, of length 1; None where nothing is left. Twice, because once loses digits."""
    before = length_of(a)
    for _ in range(2):
        a = a - (basis @ a) @ basis
    size = length_of(a)
    return a / size if size > NOTHING_NEW * before else None
