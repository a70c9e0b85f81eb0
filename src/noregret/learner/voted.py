"""The voted perceptron (Freund & Schapire 1999): learns as the perceptron does, predicts by all its predictors.

Online it is the perceptron, round for round and mistake for mistake. It also keeps the rows of its M mistakes and how
many rounds each of the M + 1 predictors was in use, the one that would come next counting one more; a new row is
labelled by Σ_k c_k·sgn⟨w_k, x⟩. Memory: the non-zeros of the mistakes. A prediction costs as much time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret._native import votes_on
from noregret.learner import settings
from noregret.learner.core import Arrays, NativeRows, Vector
from noregret.learner.linear import Linear
from noregret.learner.log import UpdateLog, room
from noregret.stream.block import Rows, rows_of


class VotedPerceptron(Linear):
    """The perceptron's rounds, and the vote of all its predictors for what is asked of it between rounds."""

    name = "voted"
    selects = "voted"
    declared = settings.VotedPerceptron
    compared_only = True
    perceptron_rounds = True

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.log = UpdateLog()
        self._steps: Vector = np.zeros(0)  # y·k of each update, with room for more
        self._survived: Vector = np.zeros(1)  # how many rounds each predictor was in use, w₁ = 0 first

    @property
    def steps(self) -> Vector:
        """a_k = y·k of each update: w_k = Σ_{j≤k} a_j·x_j."""
        return self._steps[: self.log.count]

    @property
    def survived(self) -> Vector:
        """How many rounds each predictor was in use, w₁ = 0 first, the round of its mistake included."""
        return self._survived[: self.log.count + 1]

    @property
    def ballots(self) -> Vector:
        """c_k: the rounds each predictor was in use, and one more for the newest, which the next round would use."""
        counts = self.survived.copy()
        counts[-1] += 1.0
        return counts

    def about(self) -> dict[str, Any]:
        return {"predictors": self.log.count + 1, "kept_values": sum(part.size for part in self.log.arrays().values())}

    def _new_single(self) -> None:
        return None  # the rows of mistakes are kept by `_play`

    def _play(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> None:
        scores.fill(math.nan)
        before = self.rounds
        try:
            super()._play(rows, y, weights, scores)
        finally:  # also of the rounds before one that would overflow
            self._take_in(rows, y, weights, scores, self.rounds - before)

    def _take_in(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector, count: int) -> None:
        """Keep what the last `count` rounds add: the rows of mistakes, and how long each predictor lasted."""
        played = np.flatnonzero(~np.isnan(scores))[:count]
        wrong = self.missed(scores[played], y[played])
        places = np.flatnonzero(wrong)
        old, mistakes = self.log.count, played[places]
        self.log.add(rows_of(rows).take(mistakes))
        self._steps = room(self._steps, self.log.count)
        self._survived = room(self._survived, self.log.count + 1)
        self._steps[old : self.log.count] = y[mistakes] * (weights[mistakes] if len(weights) else 1.0)
        ends = np.append(places + 1, count)  # a predictor is in use up to its mistake, that round included
        self._survived[old : self.log.count + 1] += np.diff(ends, prepend=0)

    def _score(self, rows: Rows) -> Vector:
        log = self.log.native
        width = max(self.width, 1) if isinstance(log, tuple) else log.shape[1]
        bias, tie = float(self.config["bias"][0]), float(self.config["tie"][0])
        scores = np.empty(len(rows))
        votes_on(rows.native, log, self.steps, self.ballots, bias, tie, np.zeros(width), scores)
        return scores

    def arrays(self) -> Arrays:
        return {**super().arrays(), **self.log.arrays(), "steps": self.steps, "survived": self.survived}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        super().restore(arrays, width, paired)
        self.log = UpdateLog.of(arrays, width)
        self._steps, self._survived = (np.array(arrays[name], np.float64) for name in ("steps", "survived"))
        if not len(self._steps) == self.log.count == len(self._survived) - 1:
            raise ValueError("the mistakes of the voted perceptron do not fit together")
