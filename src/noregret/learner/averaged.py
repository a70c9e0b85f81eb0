"""The averaged perceptron (Freund & Schapire 1999): it learns as the perceptron does and predicts with the average.

w̄ = (w_2 + … + w_{T+1})/T, the weights after each round. An update c·x in round t is in all but the first t − 1 of them,
so that w̄ = w − Σ(t − 1)·c·x/T: the sum is kept beside w and a round costs time in the row's non-zeros alone.
"""

from __future__ import annotations

import numpy as np

from noregret import _native, arithmetic
from noregret.learner import settings
from noregret.learner.core import Vector
from noregret.learner.perceptron import Perceptron
from noregret.stream.block import Rows


class AveragedPerceptron(Perceptron):
    """Its rounds and mistakes are the perceptron's; after them it predicts with the average of its weights."""

    name = "averaged"
    declared = settings.AveragedPerceptron
    gathers = _native.AVERAGE
    selects = "average"
    _kind = _native.MEAN

    @property
    def weights(self) -> Vector:
        """w̄, without the bias."""
        scale = float(self.state["scale"][0])
        return np.asarray(scale * (self.z[: self.width] - self.total[: self.width] / max(self.rounds, 1)))

    @property
    def bias(self) -> float:
        state = self.state[0]
        return float(state["scale"] * (state["bias"] - state["bias_gradient"] / max(self.rounds, 1)))

    @property
    def weight_norm(self) -> float:
        """‖w̄‖ with the bias."""
        return arithmetic.norm(np.append(self.weights, self.bias))

    @property
    def gradient_norm(self) -> float:
        return 0.0

    def _score(self, rows: Rows) -> Vector:
        z, late = self.z, self.total
        if rows.width > z.shape[0]:
            more = np.zeros(rows.width - z.shape[0])
            z, late = np.concatenate([z, more]), np.concatenate([late, more])
        scores = np.empty(len(rows))
        _native.score_mean(rows.native, z, late, self.record, scores)
        return scores
