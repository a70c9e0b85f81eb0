"""The learners in scikit-learn's and in River's clothes: thin shells over the cores that play the rounds."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

from noregret import learner as cores
from noregret import model
from noregret.errors import ModelFileError
from noregret.estimator.base import LinearEstimator
from noregret.estimator.batch import BatchPerceptron
from noregret.estimator.classifier import LinearClassifier
from noregret.estimator.regressor import LinearRegressor
from noregret.loss import Loss

__all__ = [
    "BatchPerceptron",
    "OnlineGradientDescent",
    "OnlineGradientDescentRegressor",
    "Perceptron",
    "StronglyConvexGradientDescent",
    "StronglyConvexGradientDescentRegressor",
    "load",
]


class Perceptron(LinearClassifier):
    """The perceptron: w ← w + η·y·x on a mistake.

    >>> Perceptron().fit([[1.0], [-1.0]], [1, -1]).predict([[3.0]])
    array([1])
    """

    _core_type = cores.Perceptron

    def __init__(
        self,
        *,
        rate: float = 1.0,
        tie: str = "mistake",
        bias: bool = False,
        start: Sequence[float] | None = None,
        unit_norm: bool = False,
        scale: str | None = None,
        passes: int = 1,
        shuffle: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
    ) -> None:
        self.rate = rate
        self.tie = tie
        self.bias = bias
        self.start = start
        self.unit_norm = unit_norm
        self.scale = scale
        self.passes = passes
        self.shuffle = shuffle
        self.class_weight = class_weight


class OnlineGradientDescent(LinearClassifier):
    """Projected online gradient descent for two classes, with any classification loss.

    >>> model = OnlineGradientDescent(loss="logistic", radius=5.0).fit([[1.0], [-1.0]], ["spam", "ham"])
    >>> model.predict_one({0: 2.0})
    'spam'
    """

    _core_type = cores.OnlineGradientDescent

    def __init__(
        self,
        *,
        loss: str | Loss = "hinge",
        radius: float = 10.0,
        domain: str = "ball",
        rate: str = "auto",
        tie: str = "mistake",
        bias: bool = False,
        start: Sequence[float] | None = None,
        unit_norm: bool = False,
        scale: str | None = None,
        passes: int = 1,
        shuffle: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
    ) -> None:
        self.loss = loss
        self.radius = radius
        self.domain = domain
        self.rate = rate
        self.tie = tie
        self.bias = bias
        self.start = start
        self.unit_norm = unit_norm
        self.scale = scale
        self.passes = passes
        self.shuffle = shuffle
        self.class_weight = class_weight


class StronglyConvexGradientDescent(LinearClassifier):
    """Gradient descent with step 1/(σt) on a Lipschitz loss + (σ/2)‖w‖², for two classes."""

    _core_type = cores.StronglyConvexGradientDescent

    def __init__(
        self,
        *,
        loss: str | Loss = "hinge",
        sigma: float = 0.1,
        radius: float = math.inf,
        tie: str = "mistake",
        bias: bool = False,
        unit_norm: bool = False,
        scale: str | None = None,
        passes: int = 1,
        shuffle: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
    ) -> None:
        self.loss = loss
        self.sigma = sigma
        self.radius = radius
        self.tie = tie
        self.bias = bias
        self.unit_norm = unit_norm
        self.scale = scale
        self.passes = passes
        self.shuffle = shuffle
        self.class_weight = class_weight


class OnlineGradientDescentRegressor(LinearRegressor):
    """Projected online gradient descent for numbers, with any regression loss.

    >>> float(OnlineGradientDescentRegressor(rate="constant:0.5").fit([[1.0], [1.0]], [3.0, 3.0]).coef_[0])
    3.0
    """

    _core_type = cores.OnlineGradientDescent

    def __init__(
        self,
        *,
        loss: str | Loss = "squared",
        radius: float = 10.0,
        domain: str = "ball",
        rate: str = "auto",
        bias: bool = False,
        start: Sequence[float] | None = None,
        unit_norm: bool = False,
        scale: str | None = None,
        passes: int = 1,
        shuffle: int | None = None,
    ) -> None:
        self.loss = loss
        self.radius = radius
        self.domain = domain
        self.rate = rate
        self.bias = bias
        self.start = start
        self.unit_norm = unit_norm
        self.scale = scale
        self.passes = passes
        self.shuffle = shuffle


class StronglyConvexGradientDescentRegressor(LinearRegressor):
    """Gradient descent with step 1/(σt) on a Lipschitz loss + (σ/2)‖w‖², for numbers."""

    _core_type = cores.StronglyConvexGradientDescent

    def __init__(
        self,
        *,
        loss: str | Loss = "absolute",
        sigma: float = 0.1,
        radius: float = math.inf,
        bias: bool = False,
        unit_norm: bool = False,
        scale: str | None = None,
        passes: int = 1,
        shuffle: int | None = None,
    ) -> None:
        self.loss = loss
        self.sigma = sigma
        self.radius = radius
        self.bias = bias
        self.unit_norm = unit_norm
        self.scale = scale
        self.passes = passes
        self.shuffle = shuffle


ESTIMATORS: dict[tuple[str, bool], type[LinearEstimator]] = {
    ("perceptron", False): Perceptron,
    ("ogd", False): OnlineGradientDescent,
    ("ogd", True): OnlineGradientDescentRegressor,
    ("ogd-strong", False): StronglyConvexGradientDescent,
    ("ogd-strong", True): StronglyConvexGradientDescentRegressor,
}


def load(path: str | os.PathLike[str], loss: Loss | None = None) -> LinearEstimator:
    """The model of a file written by `save` or by `noregret learn --save`, ready to go on.

    A loss of one's own is not in the file: give it again as `loss`.
    """
    core, shell = model.load(path, loss)
    settings = dict(core.settings)
    if core.regression:
        settings.pop("tie")
    try:
        estimator = ESTIMATORS[core.name, core.regression](**settings, **(shell["params"] if shell else {}))
        estimator._restore(core, shell)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"what the model file says of its estimator is damaged ({error})", str(path)) from error
    return estimator
