"""Dual coordinate descent, for more features than a matrix can hold: one α_t at a time, each exactly.

For a ridge m the dual is Σ k·ℓ*(α) + ‖w‖²/(2m) with w = Σ k·α·x, and u = −w/m. A ball and a norm penalty are ridges
with an m of their own: U‖w‖ = min_m ‖w‖²/(2m) + mU²/2 and ρ‖u‖ = min_m m‖u‖²/2 + ρ²/(2m). Both are jointly convex (the
second in 1/m), so that m moves to its best value after every pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from noregret import _native
from noregret.proof.solve.design import Design, length_of, times_power
from noregret.proof.solve.region import Region
from noregret.proof.solve.result import Progress
from noregret.proof.solve.smoothing import Bent, Smooth
from noregret.rounds import Vector

EPOCHS = 2000
PATIENCE, SLOW = 25, 0.75  # passes that must leave less than this part of the gap
SETTLED = 0.5  # of the whole gap may be left when m moves
RUN = 4096  # rounds that stay together in a random order: neighbours on disk are read once


@dataclass
class Descent:
    """One problem in its scaled units; `run` moves α until `progress` is content."""

    design: Design
    shape: Bent | Smooth
    region: Region
    progress: Progress
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def run(self, u: Vector, alpha: Vector) -> bool:
        """Move α; returns False where that leads nowhere, as with a ball that does not bind."""
        alpha, before = alpha.copy(), math.inf
        raw = times_power(1.0, 2 * self.design.exponent)  # kernels read the rows as they are: ‖x‖² and m grow alike
        norms = raw * self.design.square_norms()
        w = self.design.combine(self.shape.weights * alpha) / self.design.scale
        m = self._first_multiplier(u)
        if not m > 0.0:
            return False
        for epoch in range(1, EPOCHS):
            self._epoch(norms, raw * m, alpha, w)
            g = w * self.design.scale
            settled = self._offer(g, m, alpha)
            size = length_of(g)
            if self.progress.content or size == 0.0:
                return self.progress.content
            if settled:
                m = self.region.multiplier(size / m, size)
            if epoch % PATIENCE == 0:
                left = self.progress.upper - self.progress.lower
                if left > SLOW * before:
                    return False
                before = left
        return False

    def _first_multiplier(self, u: Vector) -> float:
        """That of the point to start from; of the slopes at 0 where that is 0."""
        z = self.design.scores(u)
        size = length_of(self.design.combine(self.shape.weights * self.shape.slopes(z, 0.0)))
        length = length_of(u) or self.region.reach(self.shape.total(z))
        return self.region.multiplier(length, size)

    def _epoch(self, norms: Vector, m: float, alpha: Vector, w: Vector) -> None:
        order, shape = self._order(), self.shape
        if isinstance(shape, Bent):
            bend = (shape.kink, shape.lo, shape.hi, shape.width, shape.flat)
            _native.bent_epoch(self.design.rows, order, norms, *bend, shape.weights, m, alpha, w)
        else:
            assert shape.loss.dual_epoch is not None
            shape.loss.dual_epoch(self.design.rows, order, norms, shape.y, shape.weights, m, alpha, w)

    def _offer(self, g: Vector, m: float, alpha: Vector) -> bool:
        """Report u = −g/m and α; returns whether they are near the optimum for this m."""
        size = length_of(g)
        u = self.region.inside(-g / m)
        z = self.design.scores(u)
        total, factor = self.shape.total(z), self.region.fit(size)
        lower = -self.shape.conjugate(z, factor * alpha) - self.region.support(factor * size)
        upper = total + self.region.value(u)
        self.progress.offer(u, upper, alpha, lower)
        own = total + 0.5 * m * float(u @ u) + self.shape.conjugate(z, alpha) + 0.5 * size * size / m
        return own <= SETTLED * (upper - lower)

    def _order(self) -> NDArray[np.int64]:
        """A random order of runs of rounds, each in a random order."""
        starts = self.rng.permutation(np.arange(0, self.design.count, RUN))
        ends = np.minimum(starts + RUN, self.design.count)
        return np.concatenate([a + self.rng.permutation(b - a) for a, b in zip(starts, ends, strict=True)])
