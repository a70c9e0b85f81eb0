"""What learners of many classes have in common: classes are numbered as they appear, and counted."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import norm2, score_classes
from noregret.learner.core import Arrays, Core, Vector, check_memory, fit
from noregret.stream.block import Rows
from noregret.stream.labels import Classes

TABLED = 50  # with more classes than this there is no confusion table


class Multiclass(Core):
    """Two classes or more; what `scores` gives is a column a class."""

    multiclass = True
    labels: Classes
    counters = 2  # how many numbers the clock holds, the first of them the classes known so far

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.labels = Classes()
        self.clock = np.zeros(self.counters, np.int64)
        self.counts: NDArray[np.int64] = np.zeros(0, np.int64)
        self.table: NDArray[np.int64] = np.zeros((0, 0), np.int64)
        self._make_room(2)

    def _make_room(self, classes: int) -> None:
        """Places for the classes, made up to a multiple of four: four are scored at once."""
        classes = -(-classes // 4) * 4
        self._make_columns(classes)
        self.counts = wider(self.counts, (classes,))
        side = min(classes, TABLED)
        self.table = wider(self.table, (side, side))

    @abstractmethod
    def _make_columns(self, classes: int) -> None:
        """The arrays of its own, for this number of classes."""

    @property
    def known(self) -> int:
        """How many classes there are: those met, and once a round was played those declared."""
        return int(self.clock[0])

    @property
    def class_biases(self) -> Vector:
        """The bias of each class; empty where a learner has none."""
        return np.zeros(0)

    @property
    def updates_by_class(self) -> NDArray[np.int64]:
        """How often the weights of each class moved."""
        return self.counts

    @property
    def unforeseen(self) -> int:
        """The mistakes in which a class first appeared and nothing was learned from it."""
        return 0

    def tally(self) -> dict[str, Any]:
        """Rounds, updates and predictions by class; no table of predictions where there are too many classes."""
        known = self.known
        return {
            "labels": list(self.labels.classes[:known]),
            "rounds": self.counts[:known].tolist(),
            "updates": self.updates_by_class[:known].tolist(),
            "table": self.table[:known, :known].tolist() if known <= TABLED else None,
            "unforeseen": self.unforeseen,
        }

    def missed(self, scores: Vector, y: Vector) -> NDArray[np.bool_]:
        """A margin of 0 or less, or a label that no class could be predicted for."""
        return np.asarray((scores[:, 0] <= 0.0) | ((scores[:, 1] != y) & (scores[:, 0] > 0.0)))

    def _classes(self, y: Vector) -> int:
        """How many classes there are after a block."""
        return max(int(y.max(initial=0.0)) + 1, self.known, self.labels.declared)

    def _meet(self, y: Vector) -> None:
        """Make room for the classes of a block, those declared among them."""
        classes = self._classes(y)
        if classes > len(self.counts):
            self._make_room(max(classes, 3 * len(self.counts) // 2))
        self.clock[0] = max(self.known, self.labels.declared)

    def arrays(self) -> Arrays:
        side = min(self.known, TABLED)
        return {"counts": self.counts[: self.known], "table": self.table[:side, :side], "clock": self.clock}

    def _restore_counts(self, arrays: Arrays) -> int:
        """What `arrays` above gave; the number of classes, for which there is room then."""
        classes = len(arrays["counts"])
        side = min(classes, TABLED)
        fit(arrays, {"counts": (classes,), "table": (side, side), "clock": (self.counters,)})
        self._make_room(max(classes, 2))
        self.counts[:classes] = arrays["counts"]
        self.table[:side, :side] = arrays["table"]
        self.clock[:] = arrays["clock"]
        if self.clock[0] != classes:
            raise ValueError("its number of classes is wrong")
        return classes


class Weighted(Multiclass):
    """One with tables of numbers, the first of them the weights: a row a feature, a column a class."""

    tables: tuple[str, ...] = ("z",)  # each with a line of as many classes in `lines`, for the bias
    lines: tuple[str, ...] = ("biases",)
    z: Vector
    biases: Vector

    def __init__(self, **given: Any) -> None:
        for name in self.tables:
            setattr(self, name, np.zeros((0, 0)))
        for name in self.lines:
            setattr(self, name, np.zeros(0))
        super().__init__(**given)

    def _make_columns(self, classes: int) -> None:
        check_memory(8 * classes * len(self.z) * len(self.tables), max(self.width, 1))
        for name in self.tables:
            table = getattr(self, name)
            setattr(self, name, wider(table, (len(table), classes)))
        for name in self.lines:
            setattr(self, name, wider(getattr(self, name), (classes,)))

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

    def _score(self, rows: Rows) -> Vector:
        """⟨w_k, x⟩ with the bias, for each row and each class."""
        z = self.z if rows.width <= len(self.z) else wider(self.z, (rows.width, self.z.shape[1]))
        out = np.empty((len(rows), len(self.biases)))
        score_classes(rows.native, z, self.biases, float(self.config["bias"][0]), self.known, out)
        return np.ascontiguousarray(out[:, : self.known])

    def grow(self, width: int, sparse: bool) -> None:
        self.width = max(self.width, width)
        if width > len(self.z):
            room = max(width, 3 * len(self.z) // 2)
            check_memory(8 * room * self.z.shape[1] * len(self.tables), width)
            for name in self.tables:
                setattr(self, name, wider(getattr(self, name), (room, self.z.shape[1])))

    def arrays(self) -> Arrays:
        tables = {name: getattr(self, name)[: self.width, : self.known] for name in self.tables}
        return {**tables, **{name: getattr(self, name)[: self.known] for name in self.lines}, **super().arrays()}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        classes = len(arrays["counts"])
        fit(arrays, dict.fromkeys(self.tables, (width, classes)) | dict.fromkeys(self.lines, (classes,)))
        self._restore_counts(arrays)
        self.grow(width, sparse=paired)
        for name in self.tables:
            getattr(self, name)[:width, :classes] = arrays[name]
        for name in self.lines:
            getattr(self, name)[:classes] = arrays[name]


def wider(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The array within a larger one of zeros."""
    if array.shape == shape:
        return array
    grown = np.zeros(tuple(map(max, shape, array.shape)), array.dtype)
    grown[tuple(slice(0, side) for side in array.shape)] = array
    return grown
