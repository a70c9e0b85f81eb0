"""The perceptron of many classes: a weight vector a class, the class of the highest score is predicted.

`max-score` (Crammer & Singer 2003): where some wrong class scores at least as high as the right one,
w_y ← w_y + x and w_r ← w_r − x for the best wrong class r, the first of them on a tie. `one-vs-rest`: a perceptron a
class, each of which says "mine" or "not mine" and learns from its own mistakes, a score of 0 among them.

A round is a mistake where a wrong class scores at least as high as the right one, or where the label was never seen
before and never declared. Such a class begins with weights 0 in the round in which it appears.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import norm2, play_classes, score_classes
from noregret.learner import settings
from noregret.learner.core import NO_WEIGHTS, Arrays, Core, Given, Vector, check_memory, fit
from noregret.rounds import Gathering
from noregret.stream.block import Rows
from noregret.stream.labels import Classes

TABLED = 50  # with more classes than this there is no confusion table
NO_MOVES = np.zeros((0, 0), np.int8)


class MulticlassPerceptron(Core):
    """Two classes or more; what `scores` gives is a column a class."""

    name = "multiclass"
    declared = settings.MulticlassPerceptron
    told: settings.MulticlassPerceptron
    outputs = 3  # of a round: the margin, the class predicted and its score
    labels: Classes

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.labels = Classes()
        self.one_vs_rest = self.told.update == "one-vs-rest"
        self.z = np.zeros((0, 0))  # a row a feature, a column a class, with room for more of both
        self.clock = np.zeros(2, np.int64)  # classes known so far; first rounds of a class that taught nothing
        self._make_room(2)

    def _make_room(self, classes: int) -> None:
        """Columns for so many classes, made up to a multiple of four: so many are scored at once."""
        classes = -(-classes // 4) * 4
        check_memory(8 * classes * len(self.z), max(self.width, 1))
        self.z = _wider(self.z, (len(self.z), classes))
        before = {} if not hasattr(self, "biases") else vars(self)
        self.biases: Vector = _wider(before.get("biases", np.zeros(0)), (classes,))
        self.counts: NDArray[np.int64] = _wider(before.get("counts", np.zeros(0, np.int64)), (classes,))
        self.moved: NDArray[np.int64] = _wider(before.get("moved", np.zeros(0, np.int64)), (classes,))
        side = min(classes, TABLED)
        self.table: NDArray[np.int64] = _wider(before.get("table", np.zeros((0, 0), np.int64)), (side, side))
        self._buffer = np.zeros(classes)

    @property
    def known(self) -> int:
        """How many classes there are: those met, and once a round was played those declared."""
        return int(self.clock[0])

    @property
    def weights(self) -> Vector:
        """W, a row a class, without the biases."""
        return np.ascontiguousarray(self.z[: self.width, : self.known].T)

    @property
    def class_biases(self) -> Vector:
        """The bias of each class."""
        return self.biases[: self.known].copy()

    @property
    def weight_norm(self) -> float:
        """‖W‖ over all classes, biases included."""
        return math.sqrt(norm2(self.weights.reshape(-1)) + norm2(self.class_biases))

    @property
    def unforeseen(self) -> int:
        """The mistakes in which a class first appeared and nothing was learned from it, for no other scored as high."""
        return int(self.clock[1])

    def tally(self) -> dict[str, Any]:
        """Rounds, updates and predictions by class; no table of predictions where there are too many classes."""
        known = self.known
        return {
            "labels": list(self.labels.classes[:known]),
            "rounds": self.counts[:known].tolist(),
            "updates": self.moved[:known].tolist(),
            "table": self.table[:known, :known].tolist() if known <= TABLED else None,
            "unforeseen": self.unforeseen,
        }

    def missed(self, scores: Vector, y: Vector) -> NDArray[np.bool_]:
        """A margin of 0 or less, or a label that no class could be predicted for."""
        return np.asarray((scores[:, 0] <= 0.0) | ((scores[:, 1] != y) & (scores[:, 0] > 0.0)))

    def _play(self, rows: Given, y: Vector, weights: Vector, scores: Vector) -> None:
        self._rounds(rows, y, weights, scores, NO_MOVES)

    def _play_kept(self, rows: Rows, y: Vector, weights: Vector | None, scores: Vector, keep: Gathering) -> None:
        moves = np.zeros((len(rows), self._classes(y)), np.int8)
        self._rounds(rows.given, y, NO_WEIGHTS if weights is None else weights, scores, moves)
        keep.add(rows, y, weights, scores, moves)

    def _classes(self, y: Vector) -> int:
        """How many classes there are after a block."""
        return max(int(y.max(initial=0.0)) + 1, self.known, self.labels.declared)

    def _rounds(self, rows: Given, y: Vector, weights: Vector, scores: Vector, moves: NDArray[np.int8]) -> None:
        classes = self._classes(y)
        if classes > len(self.biases):
            self._make_room(max(classes, 3 * len(self.biases) // 2))
        self.clock[0] = max(self.known, self.labels.declared)
        state = (self.z, self.biases, self.record, self.clock, self.counts, self.moved, self.table, self._buffer)
        wide = scores.reshape(-1, self.outputs)
        if play_classes(rows, y, weights, self.one_vs_rest, *state, wide, moves) < len(y):
            self._diverged()

    def _score(self, rows: Rows) -> Vector:
        """The score of each row for each class."""
        z = self.z if rows.width <= len(self.z) else _wider(self.z, (rows.width, self.z.shape[1]))
        out = np.empty((len(rows), len(self.biases)))
        score_classes(rows.given, z, self.biases, float(self.config["bias"][0]), self.known, out)
        return np.ascontiguousarray(out[:, : self.known])

    def grow(self, width: int, sparse: bool) -> None:
        self.width = max(self.width, width)
        if width > len(self.z):
            room = max(width, 3 * len(self.z) // 2)
            check_memory(8 * room * self.z.shape[1], width)
            self.z = _wider(self.z, (room, self.z.shape[1]))

    def arrays(self) -> Arrays:
        known, side = self.known, min(self.known, TABLED)
        return {
            "z": self.z[: self.width, :known],
            "biases": self.biases[:known],
            "counts": self.counts[:known],
            "moved": self.moved[:known],
            "table": self.table[:side, :side],
            "clock": self.clock,
        }

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        classes = len(arrays["biases"])
        side = min(classes, TABLED)
        fit(arrays, {"z": (width, classes), "counts": (classes,), "moved": (classes,), "table": (side, side)})
        fit(arrays, {"biases": (classes,), "clock": (2,)})
        self._make_room(max(classes, 2))
        self.grow(width, sparse=paired)
        self.z[:width, :classes] = arrays["z"]
        for name in ("biases", "counts", "moved"):
            getattr(self, name)[:classes] = arrays[name]
        self.table[:side, :side] = arrays["table"]
        self.clock[:] = arrays["clock"]
        if self.clock[0] != classes:
            raise ValueError("its number of classes is wrong")


def _wider(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The array within a larger one of zeros."""
    if array.shape == shape:
        return array
    grown = np.zeros(tuple(map(max, shape, array.shape)), array.dtype)
    grown[tuple(slice(0, side) for side in array.shape)] = array
    return grown
