"""The perceptron of many classes: a weight vector a class, the class of the highest score is predicted.

`max-score` (Crammer & Singer 2003): where some wrong class scores at least as high as the right one,
w_y ← w_y + x and w_r ← w_r − x for the best wrong class r, the first of them on a tie. `one-vs-rest`: a perceptron a
class, each of which says "mine" or "not mine" and learns from its own mistakes, a score of 0 among them.

A round is a mistake where a wrong class scores at least as high as the right one, or where the label was never seen
before and never declared. Such a class begins with weights 0 in the round in which it appears.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import play_classes
from noregret.learner import settings
from noregret.learner.classes import Weighted, wider
from noregret.learner.core import NO_WEIGHTS, Arrays, NativeRows, Vector, fit
from noregret.rounds import Keeper
from noregret.stream.block import Rows

NO_MOVES = np.zeros((0, 0), np.int8)


class MulticlassPerceptron(Weighted):
    """Two classes or more; the clock's second number counts first rounds of a class that taught nothing."""

    name = "multiclass"
    declared = settings.MulticlassPerceptron
    params: settings.MulticlassPerceptron
    outputs = 3  # of a round: the margin, the class predicted and its score

    def __init__(self, **given: Any) -> None:
        self.moved: NDArray[np.int64] = np.zeros(0, np.int64)
        super().__init__(**given)
        self.one_vs_rest = self.params.update == "one-vs-rest"

    def _make_columns(self, classes: int) -> None:
        super()._make_columns(classes)
        self.moved = wider(self.moved, (classes,))
        self._buffer = np.zeros(classes)

    @property
    def updates_by_class(self) -> NDArray[np.int64]:
        return self.moved

    @property
    def unforeseen(self) -> int:
        """The mistakes in which a class first appeared and nothing was learned from it, for no other scored as high."""
        return int(self.clock[1])

    def _play(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> None:
        self._rounds(rows, y, weights, scores, NO_MOVES)

    def _play_gathered(self, rows: Rows, y: Vector, weights: Vector | None, scores: Vector, keep: Keeper) -> None:
        moves = np.zeros((len(rows), self._classes(y)), np.int8)
        self._rounds(rows.native, y, NO_WEIGHTS if weights is None else weights, scores, moves)
        keep.add(rows, y, weights, scores, moves)

    def _rounds(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector, moves: NDArray[np.int8]) -> None:
        self._meet(y)
        state = (self.z, self.biases, self.record, self.clock, self.counts, self.moved, self.table, self._buffer)
        wide = scores.reshape(-1, self.outputs)
        if play_classes(rows, y, weights, self.one_vs_rest, *state, wide, moves) < len(y):
            self._diverged()

    def arrays(self) -> Arrays:
        return {**super().arrays(), "moved": self.moved[: self.known]}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        fit(arrays, {"moved": (len(arrays["counts"]),)})
        super().restore(arrays, width, paired)
        self.moved[: self.known] = arrays["moved"]
