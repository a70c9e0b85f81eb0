"""The learners in scikit-learn's and in River's clothes: thin shells over the cores that play the rounds."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from noregret import learner as cores
from noregret import model
from noregret.errors import ModelFileError
from noregret.estimator.adaptive import (
    AdaGrad,
    AdaGradRegressor,
    CoinBetting,
    CoinBettingRegressor,
    FollowTheRegularisedLeader,
    FollowTheRegularisedLeaderRegressor,
)
from noregret.estimator.base import LinearEstimator
from noregret.estimator.classifier import LinearClassifier
from noregret.estimator.passive import (
    AveragedPerceptron,
    PassiveAggressive,
    PassiveAggressiveI,
    PassiveAggressiveII,
    PassiveAggressiveIIRegressor,
    PassiveAggressiveIRegressor,
    PassiveAggressiveRegressor,
)
from noregret.estimator.regressor import LinearRegressor
from noregret.estimator.settings import Classifying, Common, settings
from noregret.loss import Loss


@settings
class Perceptron(Classifying, LinearClassifier):
    """The perceptron: w ← w + η·y·x on a mistake.

    >>> Perceptron().fit([[1.0], [-1.0]], [1, -1]).predict([[3.0]])
    array([1])
    """

    _core_type = cores.Perceptron

    rate: float = 1.0
    start: Sequence[float] | None = None


@settings
class OnlineGradientDescent(Classifying, LinearClassifier):
    """Projected online gradient descent for two classes, with any classification loss.

    >>> model = OnlineGradientDescent(loss="logistic", radius=5.0).fit([[1.0], [-1.0]], ["spam", "ham"])
    >>> model.predict_one({0: 2.0})
    'spam'
    """

    _core_type = cores.OnlineGradientDescent

    loss: str | Loss = "hinge"
    radius: float = 10.0
    domain: str = "ball"
    rate: str = "auto"
    start: Sequence[float] | None = None


@settings
class StronglyConvexGradientDescent(Classifying, LinearClassifier):
    """Gradient descent with step 1/(σt) on a Lipschitz loss + (σ/2)‖w‖², for two classes."""

    _core_type = cores.StronglyConvexGradientDescent

    loss: str | Loss = "hinge"
    sigma: float = 0.1
    radius: float = math.inf


@settings
class OnlineGradientDescentRegressor(Common, LinearRegressor):
    """Projected online gradient descent for numbers, with any regression loss.

    >>> float(OnlineGradientDescentRegressor(rate="constant:0.5").fit([[1.0], [1.0]], [3.0, 3.0]).coef_[0])
    3.0
    """

    _core_type = cores.OnlineGradientDescent

    loss: str | Loss = "squared"
    radius: float = 10.0
    domain: str = "ball"
    rate: str = "auto"
    start: Sequence[float] | None = None


@settings
class StronglyConvexGradientDescentRegressor(Common, LinearRegressor):
    """Gradient descent with step 1/(σt) on a Lipschitz loss + (σ/2)‖w‖², for numbers."""

    _core_type = cores.StronglyConvexGradientDescent

    loss: str | Loss = "absolute"
    sigma: float = 0.1
    radius: float = math.inf


ESTIMATORS: dict[tuple[str, bool], type[LinearEstimator]] = {
    (shell._core_type.name, shell._regression): shell
    for shell in (
        Perceptron,
        OnlineGradientDescent,
        OnlineGradientDescentRegressor,
        StronglyConvexGradientDescent,
        StronglyConvexGradientDescentRegressor,
        AveragedPerceptron,
        PassiveAggressive,
        PassiveAggressiveRegressor,
        PassiveAggressiveI,
        PassiveAggressiveIRegressor,
        PassiveAggressiveII,
        PassiveAggressiveIIRegressor,
        AdaGrad,
        AdaGradRegressor,
        CoinBetting,
        CoinBettingRegressor,
        FollowTheRegularisedLeader,
        FollowTheRegularisedLeaderRegressor,
    )
}


def load(path: str | os.PathLike[str], loss: Loss | None = None) -> LinearEstimator:
    """The model of a file written by `save` or by `noregret learn --save`, ready to go on.

    A loss of one's own is not in the file: give it again as `loss`.
    """
    core, shell = model.load(path, loss)
    told = dict(core.settings)
    if core.regression:
        told.pop("tie", None)
    try:
        estimator = ESTIMATORS[core.name, core.regression](**told, **(shell["params"] if shell else {}))
        estimator._restore(core, shell)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"what the model file says of its estimator is damaged ({error})", str(path)) from error
    return estimator
