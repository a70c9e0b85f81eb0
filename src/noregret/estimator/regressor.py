"""A number for each row."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from noregret._native import OTHERWISE, PLAYED
from noregret.errors import InputError
from noregret.estimator.base import LinearEstimator, Vector, checked_weight, serialised


class LinearRegressor(RegressorMixin, LinearEstimator):  # type: ignore[misc]
    """A linear learner of numbers in scikit-learn's and in River's clothes."""

    _regression = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows, from nothing: `passes` times, in the order of the seed `shuffle`."""
        core = self._new_core()
        X, y = self._first_look(X, y, core, y_numeric=True)
        weights = self._sample_weights(sample_weight, X)
        self._learn(core, X, np.array(y, np.float64), weights, self.passes, self.shuffle)
        self._core = core
        return self

    @serialised
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go on learning."""
        X, y = self._next_look(X, y, y_numeric=True)
        self._learn(self.core, X, np.array(y, np.float64), self._sample_weights(sample_weight, X), 1, None)
        return self

    def predict(self, X: Any) -> Vector:
        """⟨w, x⟩ (+ b) for each row."""
        return self._scores(X)

    def learn_one(self, x: Any, y: float, w: float = 1.0) -> Self:
        """One round: a dict of features, an array, or a pair (indices, values), with its number."""
        target = float(y)
        if not math.isfinite(target):
            raise InputError(f"the label must be finite, got {y}")
        core = self.core
        if w == 1.0:
            answer = OTHERWISE if core.single is None else core.single.play(x, target)
            if answer == PLAYED or core.follow_up(answer, x, target):
                return self
        self._learn_one(x, target, w if w == 1.0 else checked_weight(w))
        return self

    def predict_one(self, x: Any) -> float:
        """The score of one example; 0 before anything was learned."""
        if not self._has("_core"):
            return 0.0
        score = None if self._core.single is None else self._core.single.score(x)
        return self._score_one(x) if score is None else score

    @property
    def coef_(self) -> Vector:
        """The weights."""
        return self._fitted().weights

    @property
    def intercept_(self) -> float:
        """The bias; 0 without one."""
        return self._fitted().bias
