"""Softmax regression with AdaGrad: w_k ← w_k − η·g/√Σg² for every weight, g = (p_k − [k = y])·x_i.

p is the softmax of the scores ⟨w_k, x⟩, which is to say e^(s_k)/Σe^s. A class begins with weights 0 in the round in
which it appears, and learns from that round on.
"""

from __future__ import annotations

from typing import Any

from noregret._native import play_softmax
from noregret.learner import settings
from noregret.learner.classes import Weighted
from noregret.learner.core import NativeRows, Vector
from noregret.learner.forecaster import Forecaster


class SoftmaxAdaGrad(Weighted, Forecaster):
    """A weight and the sum of its squared gradients for each feature and class."""

    name = "softmax"
    declared = settings.SoftmaxAdaGrad
    params: settings.SoftmaxAdaGrad
    tables = ("z", "squares")
    lines = ("biases", "bias_squares")
    squares: Vector
    bias_squares: Vector

    def _make_columns(self, classes: int) -> None:
        Weighted._make_columns(self, classes)
        Forecaster._make_columns(self, classes)

    def _rounds(self, rows: NativeRows, y: Vector, weights: Vector, *where: Any) -> int:
        own = (self.z, self.biases, self.squares, self.bias_squares, self.params.rate)
        return play_softmax(rows, y, weights, *own, *where)
