"""Numbers forecast from past labels alone: the mean so far, the last label, or the last and the mean step to it.

Baselines, in the form of learners: they look at no feature, and start from 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret._native import CONSTANT, play_persistence
from noregret.domain import Domain
from noregret.learner import settings
from noregret.learner.core import EVERYWHERE, Arrays, Core, NativeRows, Vector, fit
from noregret.loss import Loss, squared
from noregret.rate import Rate
from noregret.stream.block import Rows

RULES = ("mean", "last", "drift")


class Persistence(Core):
    """`memory` holds of the labels so far: the rounds, the sum of their weights, the mean, the first and the last."""

    name = "persistence"
    declared = settings.Persistence
    params: settings.Persistence
    compared_only = True
    _grows = "the loss"
    _remedy = "use smaller labels"

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        return squared(), EVERYWHERE, Rate(CONSTANT, 1.0)

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.memory = np.zeros(5)

    @property
    def weights(self) -> Vector:
        """Of every feature 0."""
        return np.zeros(self.width)

    @property
    def weight_norm(self) -> float:
        return 0.0

    def grow(self, width: int, sparse: bool) -> None:
        self.width = max(self.width, width)

    def _play(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> None:
        if play_persistence(RULES.index(self.params.rule), rows, y, weights, self.memory, self.record, scores) < len(y):
            self._diverged()

    def _score(self, rows: Rows) -> Vector:
        """What comes next, whatever the row."""
        rounds, _, mean, first, last = self.memory.tolist()
        step = (last - first) / (rounds - 1.0) if self.params.rule == "drift" and rounds >= 2.0 else 0.0
        return np.full(len(rows), mean if self.params.rule == "mean" else last + step)

    def arrays(self) -> Arrays:
        return {"memory": self.memory}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        fit(arrays, {"memory": (5,)})
        self.width = width
        self.memory[:] = arrays["memory"]
