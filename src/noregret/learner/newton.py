"""Newton steps on the logistic loss: weights θ and B = (aI + Σ k·h·x·xᵀ)⁻¹, h the curvature of the loss at the score.

A row is scored by z0 = ⟨θ, x⟩, or by the z of z = z0 − ⟨x, Bx⟩·tanh(z/2), as if it had been learned with both labels
(AIOLI; Jézéquel, Gaillard & Rudi 2020), which keeps scores moderate where little is known. θ then moves to the minimum
of the round's loss and ½(θ − θ_t)ᵀB⁻¹(θ − θ_t). With a `walk` the rounds are forgotten as others come. A round costs
Θ(d²) and so does memory: B is kept as a root S, B = S·Sᵀ.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret import loss as losses
from noregret._native import CONSTANT, GRADIENTS, norm2, play_newton, score_newton
from noregret.domain import Domain
from noregret.learner import settings
from noregret.learner.core import EVERYWHERE, Arrays, Core, NativeRows, Vector, fit
from noregret.learner.matrix import Square, below, room_for
from noregret.loss import Loss
from noregret.rate import Rate
from noregret.stream.block import Rows


class LogisticNewton(Core):
    """Learns from every round; a sample weight k multiplies the round's loss, its slope and its curvature."""

    name = "newton"
    declared = settings.LogisticNewton
    params: settings.LogisticNewton
    gathers = GRADIENTS
    compared_only = True
    _grows = "the weights or the loss"
    _remedy = "use a larger ridge"

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.shift = int(self.params.bias)  # with a bias, place 0 is the constant 1
        self.S, self.theta, self.total, self.f = self._fresh(self.shift)

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        return losses.logistic(), EVERYWHERE, Rate(CONSTANT, self.params.ridge)

    @property
    def places(self) -> int:
        """How many rows and columns of the matrix are in use."""
        return self.width + self.shift

    @property
    def weights(self) -> Vector:
        """θ, without the bias."""
        return self.theta[self.shift : self.places].copy()

    @property
    def bias(self) -> float:
        return float(self.theta[0]) if self.shift else 0.0

    @property
    def weight_norm(self) -> float:
        """‖θ‖ with the bias."""
        return math.sqrt(norm2(self.theta[: self.places]))

    @property
    def gradient_sum(self) -> Vector:
        """Σg without the bias."""
        return self.total[self.shift : self.places].copy()

    @property
    def gradient_norm(self) -> float:
        """‖Σg‖ with the bias."""
        return math.sqrt(norm2(self.total[: self.places]))

    def arrays(self) -> Arrays:
        n = self.places
        return {"S": self.S[:n, :n], "theta": self.theta[:n], "total": self.total[:n]}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        n = width + self.shift
        fit(arrays, {"S": (n, n), "theta": (n,), "total": (n,)})
        self.grow(width, sparse=paired)
        for name, mine in self.arrays().items():
            mine[:] = arrays[name]

    def grow(self, width: int, sparse: bool) -> None:
        """Make room for features below `width`."""
        needed = max(self.width, width)
        if needed + self.shift > len(self.theta):
            n, old = self.places, self.arrays()
            self.S, self.theta, self.total, self.f = self._fresh(
                room_for(self.name, needed + self.shift, len(self.theta), 1)
            )
            self.S[:n, :n], self.theta[:n], self.total[:n] = old["S"], old["theta"], old["total"]
        self.width = needed

    def _fresh(self, size: int) -> tuple[Square, Vector, Vector, Vector]:
        """The root of I/a, θ, Σg and room to work in, before the first round."""
        root = math.sqrt(1.0 / self.params.ridge)
        return root * np.eye(size), np.zeros(size), np.zeros(size), np.zeros(size)

    def _play(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> None:
        state, params = (self.S, self.theta, self.total, self.f, self.places), self.params
        rules = params.ridge, params.walk, params.play == "two-label"
        if play_newton(rows, y, weights, *state, *rules, self.record, scores) < len(y):
            self._diverged()

    def _score(self, rows: Rows) -> Vector:
        if rows.width > self.width:
            rows = below(rows, self.width)
        scores, f = np.empty(len(rows)), np.empty(self.places)
        two_label = self.params.play == "two-label"
        score_newton(rows.native, bool(self.shift), self.S, self.theta, self.places, two_label, f, scores)
        return scores
