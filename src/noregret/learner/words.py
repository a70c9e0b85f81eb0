"""Naive Bayes for words and counts: what share of all that was counted each feature has in either class.

The score of a row is Σ|x_j|·ln(share of j in +1 / share of j in −1), with the log-odds of the labels; a share is
(n_j + α)/(N + α(V + 1)) with V features met so far. Words that come together are counted as if each were news, so that
the log-odds are too large: they are tempered by Platt scaling.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret._native import COUNTED_NUMBERS, GRADIENTS, play_words, score_words
from noregret.learner import settings
from noregret.learner.core import Arrays, NativeRows, Vector, check_memory, fit
from noregret.learner.platt import unfitted
from noregret.learner.scored import Scored
from noregret.stream.block import Rows

SLOPE = 2.0  # where Platt scaling begins: log-odds of words are larger than other scores


class NaiveBayes(Scored):
    """Θ(non-zeros) a round, three numbers a feature. A value counts by its size, a negative one too."""

    name = "naive-bayes"
    declared = settings.NaiveBayes
    params: settings.NaiveBayes
    gathers = GRADIENTS
    scale_free = True
    _remedy = "use smaller sample weights or counts"

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.counts = np.zeros((0, 2))
        self.counted = np.zeros(COUNTED_NUMBERS)
        self.platt = unfitted(SLOPE)

    @property
    def _learned(self) -> tuple[Vector, Vector, Vector, float, bool]:
        return self.counts, self.counted, self.platt, self.params.smoothing, self.params.temper == "platt"

    def _play(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> None:
        if play_words(rows, y, weights, *self._learned, self.record, self.total, scores) < len(y):
            self._diverged()

    def _score(self, rows: Rows) -> Vector:
        scores = np.empty(len(rows))
        score_words(rows.native, *self._learned, scores)
        return scores

    def grow(self, width: int, sparse: bool) -> None:
        if width > len(self.counts):
            room = max(width, 3 * len(self.counts) // 2)
            check_memory(24 * room, width)
            self.counts = np.concatenate([self.counts, np.zeros((room - len(self.counts), 2))])
        super().grow(width, sparse)

    def about(self) -> dict[str, Any]:
        return {"vocabulary": int(self.counted[-1])}

    def arrays(self) -> Arrays:
        learned = {"counts": self.counts[: self.width], "counted": self.counted, "platt": self.platt}
        return {**super().arrays(), **learned}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        fit(arrays, {"counts": (width, 2), "counted": self.counted.shape, "platt": self.platt.shape})
        super().restore(arrays, width, paired)
        self.counts[:width] = arrays["counts"]
        self.counted[:], self.platt[:] = arrays["counted"], arrays["platt"]
        if not ((self.counts >= 0.0).all() and (self.counted >= 0.0).all() and np.isfinite(self.platt).all()):
            raise ValueError("the counts of the words are damaged")
