"""Intervals and sets of labels, which estimators give that were made with `cover`; calibrated log-odds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from noregret.learner.core import Core
from noregret.learner.sure import intervals

Vector = NDArray[np.float64]


def covers(estimator: Any) -> bool:
    """Whether `cover` was given: without it there are no sets."""
    if estimator.cover is None:
        raise AttributeError("intervals and sets come with cover: give cover=0.9, the share that is to hold the label")
    return True


class Intervals:
    """What estimators of numbers say beside them."""

    core: Core
    predict: Callable[..., Vector]
    predict_one: Callable[..., float]

    @available_if(covers)  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Any) -> Vector:
        """The ends of the interval of each row: −∞ and ∞ before there are any, ∞ and −∞ of an empty one."""
        return self._around(self.predict(X))

    @available_if(covers)  # type: ignore[untyped-decorator]
    def predict_interval_one(self, x: Any) -> tuple[float, float]:
        """The interval of one example, as `predict_interval` has it."""
        lower, upper = self._around(np.array([self.predict_one(x)]))[0].tolist()
        return lower, upper

    def _around(self, said: Vector) -> Vector:
        sure = self.core.sure
        q = math.nan if sure is None else sure.q
        return intervals(said, np.full(len(said), math.inf if math.isnan(q) else q))


class Sets:
    """What estimators of classes say beside them."""

    core: Core
    _scores: Callable[..., Vector]
    _labelled_scores: Callable[..., tuple[Any, Vector]]  # the labels, and the scores of one example

    @available_if(covers)  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Any) -> NDArray[np.bool_]:
        """Which of the classes the set of each row holds, in the order of `classes_`; all before there are sets."""
        return self._within(self._scores(X))

    @available_if(covers)  # type: ignore[untyped-decorator]
    def predict_interval_one(self, x: Any) -> list[Any]:
        """The labels in the set of one example; all known before there are sets."""
        labels, scores = self._labelled_scores(x)
        held = self._within(scores)[0].tolist()
        return [label for label, inside in zip(labels, held, strict=True) if inside and label is not None]

    def _within(self, scores: Vector) -> NDArray[np.bool_]:
        sure = self.core.sure
        assert sure is not None
        q = sure.q
        return np.asarray(sure.all_others(self._odds(scores)) <= (1.0 if math.isnan(q) else q))

    def _odds(self, scores: Vector) -> Vector:
        """Scores, calibrated where that was asked for."""
        sure = self.core.sure
        return scores if sure is None else sure.chances(scores)
