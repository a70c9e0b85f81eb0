"""The default learner in scikit-learn's and in River's clothes: one classifier for two classes and for many."""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from typing import Any, Self

import numpy as np

from noregret.learner import settings
from noregret.learner.core import Core
from noregret.sklearn.base import LinearRegressor, estimator
from noregret.sklearn.classifier import LinearClassifier
from noregret.sklearn.multiclass import MulticlassClassifier, MulticlassForecaster
from noregret.stream.task import Task


@estimator
class Auto(settings.Auto, LinearClassifier, MulticlassForecaster):
    """The default: a mixture of a pool of learners, for two classes and for many.

    `fit` makes one pass, because further passes reward members that memorise. `learn_one` expects two classes unless
    `task="multiclass"` is given.

    >>> Auto().fit([[1.0], [-1.0], [2.0], [-2.0]], [1, -1, 1, -1]).predict([[3.0]])
    array([1])
    """

    passes = 1
    loss = "logistic"

    @property
    def _classes_are_many(self) -> bool:
        core = self.__dict__.get("_core")
        return bool(self._task == Task.MULTICLASS) if core is None else core.multiclass

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.task != Task.BINARY
        return tags

    @property
    def _task(self) -> Any:
        """What is predicted, as far as it was said or seen."""
        return self.task if self.task is not None else self.__dict__.get("_seen")

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "task": self._task}

    def _look(self, classes: Any) -> None:
        """More than two classes make it a learner of many."""
        labels = np.asarray(classes)
        many = labels.ndim > 0 and len(np.unique(labels)) > 2
        self._seen = Task.MULTICLASS if many else Task.BINARY

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows, from nothing: once, in the order of the seed `shuffle`."""
        self.__dict__.pop("_core", None)
        self._look(y)
        way = MulticlassForecaster if self._classes_are_many else LinearClassifier
        way.fit(self, X, y, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning; `classes` names them beforehand, on the first call."""
        if not self._has("_core"):
            self._look(y if classes is None else classes)
        way = MulticlassForecaster if self._classes_are_many else LinearClassifier
        way.partial_fit(self, X, y, classes, sample_weight)
        return self

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The probability of each class; empty before any label was seen."""
        if self._classes_are_many:
            return MulticlassForecaster.predict_proba_one(self, x)
        return self._chances_one(x)  # which it always has

    def _restore(self, core: Core, shell: Mapping[str, Any] | None) -> None:
        self._core = core
        (MulticlassForecaster if self._classes_are_many else LinearClassifier)._restore(self, core, shell)


def _by_task(name: str) -> Any:
    """The method of the one or of the other, whichever the classes ask for."""
    two, many = getattr(LinearClassifier, name), getattr(MulticlassForecaster, name)

    @wraps(two)
    def either(self: Auto, *args: Any, **more: Any) -> Any:
        return (many if self._classes_are_many else two)(self, *args, **more)

    return either


for _name in vars(LinearClassifier).keys() & (vars(MulticlassClassifier).keys() | vars(MulticlassForecaster).keys()):
    if _name not in vars(Auto) and callable(getattr(LinearClassifier, _name)):
        setattr(Auto, _name, _by_task(_name))


@estimator
class AutoRegressor(settings.Auto, LinearRegressor):
    """The default for numbers: a mixture of a pool of learners.

    >>> AutoRegressor().fit([[1.0], [2.0], [3.0]] * 20, [2.0, 4.0, 6.0] * 20).predict([[2.0]]).round(1).tolist()
    [4.0]
    """

    passes = 1

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "task": Task.REGRESSION}
