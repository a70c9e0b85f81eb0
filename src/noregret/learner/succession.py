"""Forecasts from past labels alone: p(k) = (n_k + ½)/(n + K/2) for the K classes known (Krichevsky & Trofimov 1981).

Of order 0 n_k counts the class k so far, of order 1 those k that came right after the previous label. A class
never seen has the escape that all forecasters share. Memory is Θ(K), of order 1 Θ(K²).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret import arithmetic
from noregret._native import play_succession
from noregret.learner import settings
from noregret.learner.classes import wider
from noregret.learner.core import Arrays, NativeRows, Vector, check_memory, fit
from noregret.learner.forecaster import Forecaster
from noregret.stream.block import Rows


class MarkovClasses(Forecaster):
    """Counts: of order 0 one row, of order 1 a row for the start and then one for each label that may come before."""

    name = "markov-classes"
    declared = settings.MarkovClasses
    params: settings.MarkovClasses

    def __init__(self, **given: Any) -> None:
        self.seen, self.last = np.zeros((0, 0)), np.zeros(1, np.int64)
        super().__init__(**given)

    @property
    def contexts(self) -> int:
        """How many rows of counts there are."""
        return 1 + self.known * self.params.order

    @property
    def weight_norm(self) -> float:
        """0: it has no weights."""
        return 0.0

    def _make_columns(self, classes: int) -> None:
        Forecaster._make_columns(self, classes)
        rows = 1 + classes * self.params.order
        check_memory(8 * rows * classes, classes)
        self.seen = wider(self.seen, (rows, classes))

    @property
    def label_counts(self) -> Vector:
        return self.seen

    def grow(self, width: int, sparse: bool) -> None:
        self.width = max(self.width, width)

    def _rounds(self, rows: NativeRows, y: Vector, weights: Vector, *where: Any) -> int:
        return play_succession(rows, y, weights, self.seen, self.last, bool(self.params.order), *where)

    def _score(self, rows: Rows) -> Vector:
        """ln(n_k + ½), whatever the row: each is taken for the one that comes next."""
        counts = self.seen[int(self.last[0]), : self.known] + 0.5
        return np.tile(arithmetic.log(counts), (len(rows), 1))

    def arrays(self) -> Arrays:
        return {**super().arrays(), "seen": self.seen[: self.contexts, : self.known], "last": self.last}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        classes = len(arrays["counts"])
        fit(arrays, {"seen": (1 + classes * self.params.order, classes), "last": (1,)})
        self._restore_counts(arrays)
        self.width = width
        self.seen[: self.contexts, :classes] = arrays["seen"]
        self.last[:] = arrays["last"]
        if not 0 <= self.last[0] < self.contexts:
            raise ValueError("there is no such label")
