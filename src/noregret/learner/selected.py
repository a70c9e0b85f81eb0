"""A predictor that was selected from a run: weights, or several that vote. It predicts and does not learn.

It keeps the name, the settings, the features, the labels and the figures of the run that it was selected from.
"""

from __future__ import annotations

import copy
import math
from typing import Any, NoReturn

import numpy as np

from noregret import _native, arithmetic
from noregret.errors import SettingError
from noregret.learner.core import Arrays, Core, Vector
from noregret.stream.block import Rows

REFUSAL = "a selected model predicts and does not go on learning: continue from the model of the run itself"

# what is kept of the run's learner
PLAYED_BY = ("settings", "loss", "domain", "rate", "preparation", "plain", "record")
LEARNED = ("extent", "features", "labels", "segments", "options", "paired")


class Selected(Core):
    """One row of weights, whose score is ⟨w, x⟩ + b, or voters, whose score is Σ votes·sgn(⟨w, x⟩ + b)/Σ votes."""

    learns = False

    def __init__(self, of: Core, selection: dict[str, Any]) -> None:
        vars(self).update(copy.deepcopy({key: vars(of)[key] for key in vars(of).keys() & {*PLAYED_BY, *LEARNED}}))
        self.__setstate__({})
        self.name = of.name
        self.selection = selection  # how it was selected, as the model file keeps it
        self.voters = np.zeros((1, of.width))  # without the bias
        self.biases = np.zeros(1)
        self.votes = np.ones(1)
        self._gradient_norm = of.gradient_norm

    def choose(self, weights: Vector, biases: Vector, votes: Vector) -> None:
        """Take these weights, a row each voter."""
        self.voters, self.biases, self.votes = np.ascontiguousarray(weights), biases.copy(), votes.copy()
        self.width = self.voters.shape[1]
        self.state["scale"], self.state["bias"] = 1.0, self.biases[0]

    @property
    def weights(self) -> Vector:
        """The weights without the bias; empty where several vote."""
        return self.voters[0] if len(self.votes) == 1 else super().weights

    @property
    def bias(self) -> float:
        return float(self.biases[0]) if len(self.votes) == 1 else 0.0

    @property
    def weight_norm(self) -> float:
        """‖w‖ with the bias; of several voters the largest."""
        squares = arithmetic.row_totals(self.voters * self.voters) + self.biases * self.biases
        return math.sqrt(float(squares.max()))

    @property
    def gradient_norm(self) -> float:
        """‖Σg‖ of the run."""
        return self._gradient_norm

    def arrays(self) -> Arrays:
        return {
            "voters": self.voters,
            "biases": self.biases,
            "votes": self.votes,
            "gradient_norm": np.array([self._gradient_norm]),
        }

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        voters, biases, votes = (np.array(arrays[name], dtype=np.float64) for name in ("voters", "biases", "votes"))
        if voters.shape != (len(votes), width) or biases.shape != votes.shape or not len(votes):
            raise ValueError("its voters do not fit together")
        self._gradient_norm = float(arrays["gradient_norm"][0])
        self.choose(voters, biases, votes)

    def _score(self, rows: Rows) -> Vector:
        found = self._of_voter(0, rows)
        if len(self.votes) > 1:
            found = self.votes[0] * np.sign(found)
            for j in range(1, len(self.votes)):
                found += self.votes[j] * np.sign(self._of_voter(j, rows))
            found /= arithmetic.total(self.votes)
        return found

    def _of_voter(self, j: int, rows: Rows) -> Vector:
        w = self.voters[j]
        if rows.width > self.width:
            w = np.concatenate([w, np.zeros(rows.width - self.width)])
        found = np.empty(len(rows))
        _native.score_linear(rows.native, w, 1.0, float(self.biases[j]), found)
        return found

    def grow(self, width: int, sparse: bool) -> None:
        """New features weigh 0."""
        if width > self.width:
            more = np.zeros((len(self.votes), width - self.width))
            self.choose(np.hstack([self.voters, more]), self.biases, self.votes)

    def _refuse(self, *asked: Any, **more: Any) -> NoReturn:
        raise SettingError(REFUSAL)

    reset = play = learn = play_one = _play = _refuse
