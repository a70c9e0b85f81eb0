"""Softmax regression by online Newton steps: w_k ← w_k − H⁻¹x·(p_k − [k = y]), with one matrix H for all classes.

H = aI + Σ h·x·xᵀ, the row that is learned among them, with h the mean over the classes of p_k(1 − p_k), at least 0.001.
The forecasts are the softmax of e^θ·⟨w_k, x⟩, where θ, between −3 and 3, steps by its own gradient: steps with too
small a curvature make scores that are too sure, and θ takes that back. A round costs Θ(d² + d·classes), and memory is
Θ(d²).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret._native import play_softmax_newton
from noregret.arithmetic import exp
from noregret.learner import settings
from noregret.learner.classes import Weighted
from noregret.learner.core import Arrays, NativeRows, Vector, fit
from noregret.learner.forecaster import Forecaster
from noregret.learner.matrix import room_for
from noregret.stream.block import Rows


class SoftmaxNewton(Weighted, Forecaster):
    """Weights of every class, the matrix A = H and its inverse B; with a bias, place 0 of both is the constant 1."""

    name = "softmax-newton"
    declared = settings.SoftmaxNewton
    params: settings.SoftmaxNewton
    _grows = "the matrix, the weights or the loss"
    _remedy = "use a larger ridge"

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.shift = int(self.params.bias)
        self.A, self.B = np.zeros((0, 0)), np.zeros((0, 0))
        self.heat = np.zeros(2)  # θ and the sum of its squared gradients
        self.steps = np.zeros(1, np.int64)
        self._make_places(self.shift)

    def _make_columns(self, classes: int) -> None:
        Weighted._make_columns(self, classes)
        Forecaster._make_columns(self, classes)
        self._raw = np.zeros(classes)

    def _make_places(self, size: int) -> None:
        """aI and its inverse for that many places, with what is known of the first of them."""
        n, eye = len(self.A), np.eye(size)
        A, B = float(self.params.ridge) * eye, eye / float(self.params.ridge)
        A[:n, :n], B[:n, :n] = self.A, self.B
        self.A, self.B, self._q = A, B, np.zeros(size)

    @property
    def places(self) -> int:
        """How many rows and columns of the matrices are in use."""
        return self.width + self.shift

    def grow(self, width: int, sparse: bool) -> None:
        places = max(self.width, width) + self.shift
        if places > len(self.A):
            self._make_places(room_for(self.name, places, len(self.A), 2))
        super().grow(width, sparse)

    def _rounds(self, rows: NativeRows, y: Vector, weights: Vector, *where: Any) -> int:
        matrices = (self.A, self.B, self._q, self.places, float(self.params.ridge))
        own = (self.z, self.biases, *matrices, self._raw, self.heat, self.steps)
        return play_softmax_newton(rows, y, weights, *own, *where)

    def _score(self, rows: Rows) -> Vector:
        """e^θ·⟨w_k, x⟩ for each row and each class."""
        return float(exp(self.heat[:1])[0]) * super()._score(rows)

    def arrays(self) -> Arrays:
        n = self.places
        return {**super().arrays(), "A": self.A[:n, :n], "B": self.B[:n, :n], "heat": self.heat, "steps": self.steps}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        n = width + self.shift
        fit(arrays, {"A": (n, n), "B": (n, n), "heat": (2,), "steps": (1,)})
        super().restore(arrays, width, paired)
        self.A[:n, :n], self.B[:n, :n] = arrays["A"], arrays["B"]
        self.heat[:], self.steps[:] = arrays["heat"], arrays["steps"]
