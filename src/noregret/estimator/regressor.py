"""A number for each row."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy import ndarray
from sklearn.base import RegressorMixin

from noregret.errors import InputError
from noregret.estimator.base import LinearEstimator, Vector, checked_weight


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
        if not self._has("_core"):
            self._core = self._new_core()
        if not (type(x) is ndarray and w == 1.0 and self._core.play_array(x, target)):  # the short way, where it goes
            self._learn_one(x, target, w if w == 1.0 else checked_weight(w))
        return self

    def predict_one(self, x: Any) -> float:
        """The score of one example; 0 before anything was learned."""
        return self._score_one(x) if self._has("_core") else 0.0

    @property
    def coef_(self) -> Vector:
        """The weights."""
        return self._fitted().weights

    @property
    def intercept_(self) -> float:
        """The bias; 0 without one."""
        return self._fitted().bias
