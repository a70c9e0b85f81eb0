"""The learners in scikit-learn's and in River's clothes: thin shells over the cores that play the rounds."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from noregret.estimator.base import LinearEstimator, Vector
from noregret.estimator.batch import BatchPerceptron
from noregret.estimator.classifier import LinearClassifier
from noregret.estimator.many import ManyClassifier
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
from noregret.kernel import Kernel
from noregret.loss import Loss

__all__ = [
    "AdaGrad",
    "AdaGradRegressor",
    "AveragedPerceptron",
    "BatchPerceptron",
    "CoinBetting",
    "CoinBettingRegressor",
    "FollowTheRegularisedLeader",
    "FollowTheRegularisedLeaderRegressor",
    "KernelPerceptron",
    "MulticlassPerceptron",
    "OnlineGradientDescent",
    "OnlineGradientDescentRegressor",
    "PassiveAggressive",
    "PassiveAggressiveI",
    "PassiveAggressiveII",
    "PassiveAggressiveIIRegressor",
    "PassiveAggressiveIRegressor",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "SecondOrderPerceptron",
    "StronglyConvexGradientDescent",
    "StronglyConvexGradientDescentRegressor",
    "VotedPerceptron",
    "VovkAzouryWarmuth",
    "load",
]


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
    >>> print(model.predict_one({0: 2.0}))
    spam
    """

    _core_type = cores.OnlineGradientDescent

    loss: str | Loss = "hinge"
    radius: float = 10.0
    domain: str = "ball"
    rate: str = "auto"
    l1: float = 0.0
    l2: float = 0.0
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
    l1: float = 0.0
    l2: float = 0.0
    start: Sequence[float] | None = None


@settings
class StronglyConvexGradientDescentRegressor(Common, LinearRegressor):
    """Gradient descent with step 1/(σt) on a Lipschitz loss + (σ/2)‖w‖², for numbers."""

    _core_type = cores.StronglyConvexGradientDescent

    loss: str | Loss = "absolute"
    sigma: float = 0.1
    radius: float = math.inf


@settings
class SecondOrderPerceptron(Classifying, LinearClassifier):
    """The second-order perceptron: sgn⟨w, (aI + SᵀS + x·xᵀ)⁻¹x⟩, S the rows of its mistakes, a the `ridge`.

    >>> SecondOrderPerceptron().fit([[1.0], [-1.0]], [1, -1]).predict([[3.0]])
    array([1])
    """

    _core_type = cores.SecondOrderPerceptron

    ridge: float = 1.0


@settings
class VovkAzouryWarmuth(Common, LinearRegressor):
    """The forecaster of Vovk, Azoury & Warmuth for the squared loss: ⟨b, (A + x·xᵀ)⁻¹x⟩, A = aI + Σ x·xᵀ, b = Σ y·x.

    >>> round(float(VovkAzouryWarmuth(passes=1).fit([[1.0], [1.0]], [3.0, 3.0]).predict([[1.0]])[0]), 9)
    1.5
    """

    _core_type = cores.VovkAzouryWarmuth

    ridge: float = 1.0


@settings
class KernelPerceptron(Classifying, LinearClassifier):
    """The kernel perceptron: score Σ α·K(support, x), every mistake a new support with α = y.

    `kernel` is linear, poly, rbf, laplace, precomputed, or a plain Python function of two rows. With a `budget` it
    keeps at most so many supports and forgets the oldest, or a random one (`forget="random"`, with a `seed`).

    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> KernelPerceptron(kernel="rbf", passes=2).fit(X, [-1, 1, 1, -1]).predict(X).tolist()
    [-1, 1, 1, -1]
    """

    _core_type = cores.KernelPerceptron

    kernel: str | Kernel | Callable[..., float] = "rbf"
    degree: int | None = None
    coef0: float | None = None
    gamma: float | None = None
    budget: int | None = None
    forget: str | None = None
    seed: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.classifier_tags.poor_score = True  # a heavier class bends the boundary only where it errs
        return tags

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of a linear kernel, as one row; others have none."""
        if self._fitted().settings["kernel"] != "linear":
            raise AttributeError("coef_: only a linear kernel has weights")
        return super().coef_

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias of a linear kernel; 0 without one."""
        if self._fitted().settings["kernel"] != "linear":
            raise AttributeError("intercept_: only a linear kernel has weights")
        return super().intercept_

    @property
    def support_count_(self) -> int:
        """How many rows are kept."""
        return self._fitted().supports or 0


@settings
class VotedPerceptron(Classifying, LinearClassifier):
    """The voted perceptron: learns as the perceptron does and predicts by the vote of all its predictors.

    It keeps the rows of its mistakes; a prediction takes as much time as they have numbers. `decision_function` is the
    vote Σ_k c_k·sgn⟨w_k, x⟩, and there is no `coef_`: no one weight vector says what the vote says.

    >>> VotedPerceptron(passes=1, shuffle=None).fit([[1.0], [-1.0]], [1, -1]).decision_function([[3.0], [-3.0]])
    array([ 2., -2.])
    """

    _core_type = cores.VotedPerceptron

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # early predictors vote too, and few passes do not outvote them
        return tags

    @property
    def coef_(self) -> Vector:
        """There is none: the vote is not linear."""
        raise AttributeError("a voted perceptron has no coef_: the vote of all its predictors is not linear")

    @property
    def intercept_(self) -> Vector:
        """There is none: the vote is not linear."""
        raise AttributeError("a voted perceptron has no intercept_: the vote of all its predictors is not linear")


@settings
class MulticlassPerceptron(Common, ManyClassifier):
    """The perceptron of many classes, by the max-score update or one class against the rest.

    >>> model = MulticlassPerceptron().fit([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], ["a", "b", "c"])
    >>> model.predict([[0.1, 2.0]]).tolist(), model.decision_function([[0.1, 2.0]]).shape
    (['b'], (1, 3))
    >>> model.learn_one([5.0, 5.0], "d").predict_one([5.0, 5.0])
    'd'
    """

    _core_type = cores.MulticlassPerceptron

    update: str = "max-score"
    class_weight: dict[Any, float] | str | None = None


ESTIMATORS: dict[tuple[str, bool], type[LinearEstimator]] = {
    (shell._core_type.name, shell._regression): shell
    for shell in (
        Perceptron,
        OnlineGradientDescent,
        OnlineGradientDescentRegressor,
        StronglyConvexGradientDescent,
        StronglyConvexGradientDescentRegressor,
        SecondOrderPerceptron,
        VovkAzouryWarmuth,
        KernelPerceptron,
        VotedPerceptron,
        MulticlassPerceptron,
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


def load(path: str | os.PathLike[str], loss: Loss | None = None, kernel: Any = None) -> LinearEstimator:
    """The model of a file written by `save` or by `noregret learn --save`, ready to go on.

    A loss or a kernel of one's own is not in the file: give it again as `loss` or `kernel`.
    """
    core, shell = model.load(path, loss, kernel)
    told = dict(core.settings)
    if core.regression:
        told.pop("tie", None)
    try:
        estimator = ESTIMATORS[core.name, core.regression](**told, **(shell["params"] if shell else {}))
        estimator._restore(core, shell)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(f"what the model file says of its estimator is damaged ({error})", str(path)) from error
    return estimator
