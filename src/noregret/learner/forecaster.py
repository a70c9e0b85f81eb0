"""Learners that forecast a probability for every class, and are judged by −ln p of the class that comes.

They share one escape: of r rounds played since some class was known n had a class never seen before, and the next has
one with probability p(new) = (n + ½)/(r + 1). A class k that is known has (1 − p(new))·e^(s_k)/Σe^s, with s_k its
score. So no loss is infinite, and learners that play the same labels differ by what they know of the classes alone.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import loss
from noregret._native import CONSTANT
from noregret.domain import Domain
from noregret.learner.classes import Multiclass
from noregret.learner.core import EVERYWHERE, NativeRows, Vector
from noregret.loss import Loss
from noregret.rate import Rate
from noregret.stream.block import Rows

NO_FORECASTS = np.zeros((0, 0))


class Forecaster(Multiclass):
    """The clock counts the classes known, the rounds since there was one, and those of them that had a new class."""

    counters = 3
    outputs = 4  # of a round: ln p(y) − max ln p(others), the class predicted, its ln p, ln p(y)
    _forecasts: NDArray[np.float64] = NO_FORECASTS  # where the forecasts of the block go that is being played

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        return loss.log(), EVERYWHERE, Rate(CONSTANT, 1.0)

    def _make_columns(self, classes: int) -> None:
        self._buffers = np.zeros((3, classes))

    def play_all(self, rows: Rows, y: Vector, weights: Vector | None = None) -> tuple[Vector, Vector]:
        """As `play`; beside its scores ln p of every class, as it was forecast before each row was learned from.

        A row a round and a column a class, as many as are known after the block. In a round in which a class was not
        known yet it has ln p(new), so that in column y_t there always stands what was paid. Rows of weight 0 are NaN.
        """
        with self.lock:
            forecasts = np.full((len(rows), self._classes(y)), np.nan)
            if weights is not None and not weights.all():
                scores, some = self._blank(len(rows)), np.flatnonzero(weights)
                scores[some], played = self.play_all(rows.take(some), y[some], weights[some])
                forecasts[some, : played.shape[1]] = played
                return scores, forecasts
            self._forecasts = forecasts
            try:
                return self.play_rows(rows, y, weights), forecasts
            finally:
                self._forecasts = NO_FORECASTS

    def _play(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> None:
        self._meet(y)
        counted = (self.record, self.clock, self.counts, self.table, self._buffers)
        if self._rounds(rows, y, weights, *counted, scores.reshape(-1, self.outputs), self._forecasts) < len(y):
            self._diverged()

    @abstractmethod
    def _rounds(self, rows: NativeRows, y: Vector, weights: Vector, *where: Any) -> int:
        """Play the rounds natively: how many could be; `where` is what is counted, and what is said of each."""
