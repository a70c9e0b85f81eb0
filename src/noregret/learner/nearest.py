"""Nearest neighbours among the last rows: log-odds, a probability for every class, or a number.

Of two classes the i-th nearest row votes for its label with 1/√i, and the log-odds are
ln((¼ + votes for +1)/(¼ + votes for −1)). Otherwise it votes with (d₁/d_i)⁴, its distance being d_i: a class k has the
probability (α + votes for k)/(Kα + all votes) of the K that are known, and a number is the mean that the votes make.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from noregret._native import (
    CONSTANT,
    GRADIENTS,
    play_nearest,
    play_nearest_classes,
    play_nearest_numbers,
    score_nearest,
    score_nearest_classes,
    score_nearest_numbers,
)
from noregret.domain import Domain
from noregret.learner import settings
from noregret.learner.core import EVERYWHERE, Arrays, NativeRows, Vector
from noregret.learner.forecaster import Forecaster
from noregret.learner.scored import Scored
from noregret.learner.window import Window
from noregret.loss import Loss, squared
from noregret.rate import Rate
from noregret.stream.block import Rows


class Neighbours(Scored):
    """One that scores by the rows of a window, and keeps `stored` of each."""

    params: settings.NearestNeighbours | settings.NearestNumbers
    gathers = GRADIENTS
    stored: ClassVar[tuple[str, ...]]

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.window = Window(self.name, self.params.window, self.params.neighbours, *self.stored)

    def grow(self, width: int, sparse: bool) -> None:
        self.window.grow(width)
        super().grow(width, sparse)

    def about(self) -> dict[str, Any]:
        return {"kept_rows": self.window.rows}

    def arrays(self) -> Arrays:
        return {**super().arrays(), **self.window.arrays()}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        self.window.check(arrays, width)
        super().restore(arrays, width, paired)
        self.window.restore(arrays)


class NearestNeighbours(Neighbours):
    """Of each row of the window the vote is kept: its label, times its weight."""

    name = "nearest"
    declared = settings.NearestNeighbours
    stored = ("votes",)

    def _play(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> None:
        own = (*self.window.native, self.record, self.total[: self.width], scores)
        if play_nearest(rows, y, weights, *own) < len(y):
            self._diverged()

    def _score(self, rows: Rows) -> Vector:
        scores = np.empty(len(rows))
        own = (*self.window.native, scores)
        score_nearest(rows.native, *own)
        return scores


class NearestNumbers(Neighbours):
    """Of each row of the window its label and its weight are kept; without any the forecast is 0."""

    name = "nearest-numbers"
    declared = settings.NearestNumbers
    stored = ("numbers", "votes")
    _remedy = "use smaller labels"

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        return squared(), EVERYWHERE, Rate(CONSTANT, 1.0)

    def _play(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> None:
        own = (*self.window.native, self.record, self.total[: self.width], scores)
        if play_nearest_numbers(rows, y, weights, *own) < len(y):
            self._diverged()

    def _score(self, rows: Rows) -> Vector:
        scores = np.empty(len(rows))
        own = (*self.window.native, scores)
        score_nearest_numbers(rows.native, *own)
        return scores


class NearestClasses(Forecaster):
    """Of each row of the window its class and its weight are kept."""

    name = "nearest-classes"
    declared = settings.NearestClasses
    params: settings.NearestClasses

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.window = Window(self.name, self.params.window, self.params.neighbours, "classes", "votes")

    @property
    def weight_norm(self) -> float:
        """0: it has no weights."""
        return 0.0

    def _rounds(self, rows: NativeRows, y: Vector, weights: Vector, *where: Any) -> int:
        own = (*self.window.native, self.params.smoothing, *where)
        return play_nearest_classes(rows, y, weights, *own)

    def _score(self, rows: Rows) -> Vector:
        """ln(α + votes) for each row and each class."""
        scores = np.empty((len(rows), self.known))
        own = (*self.window.native, self.params.smoothing, scores)
        score_nearest_classes(rows.native, *own)
        return scores

    def grow(self, width: int, sparse: bool) -> None:
        self.window.grow(width)
        self.width = max(self.width, width)

    def about(self) -> dict[str, Any]:
        return {"kept_rows": self.window.rows}

    def arrays(self) -> Arrays:
        return {**super().arrays(), **self.window.arrays()}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        self.window.check(arrays, width)
        known = self._restore_counts(arrays)
        self.grow(width, sparse=paired)
        self.window.restore(arrays)
        classes = self.window.line("classes")
        if not np.isin(classes, np.arange(known)).all():
            raise ValueError("a kept row has no class")
