"""The learners in scikit-learn's and in River's clothes: thin shells over the cores that play the rounds.

A shell's parameters are its learner's settings, those of `fit` and, for classes, their weights. The regressors have a
default loss of their own.
"""

from __future__ import annotations

import os
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from noregret import learner, model
from noregret.errors import ModelFileError
from noregret.late.pending import Pending
from noregret.learner import settings
from noregret.loss import Loss
from noregret.sklearn.auto import Auto as Auto  # shells as those below are
from noregret.sklearn.auto import AutoRegressor as AutoRegressor
from noregret.sklearn.base import LinearEstimator, LinearRegressor, Vector, estimator, parameters
from noregret.sklearn.classifier import LinearClassifier
from noregret.sklearn.multiclass import MulticlassClassifier, MulticlassForecaster


class Unweighted:
    """What estimators share whose score is no ⟨w, x⟩."""

    @property
    def coef_(self) -> NoReturn:
        """There is none: the score is not linear."""
        raise AttributeError(f"{type(self).__name__} has no coef_: its score is not linear")

    @property
    def intercept_(self) -> NoReturn:
        """There is none: the score is not linear."""
        raise AttributeError(f"{type(self).__name__} has no intercept_: its score is not linear")


@estimator
class Perceptron(settings.Perceptron, LinearClassifier):
    """The perceptron: w ← w + η·y·x on a mistake.

    >>> Perceptron().fit([[1.0], [-1.0]], [1, -1]).predict([[3.0]])
    array([1])
    """


@estimator
class AveragedPerceptron(settings.AveragedPerceptron, LinearClassifier):
    """The perceptron that predicts, once learned, with the average of its weights.

    >>> AveragedPerceptron().fit([[1.0], [-1.0]], [1, -1]).predict([[3.0]])
    array([1])
    """


@estimator
class VotedPerceptron(settings.VotedPerceptron, LinearClassifier):
    """The voted perceptron: learns as the perceptron does and predicts by the vote of all its predictors.

    It keeps the rows of its mistakes; a prediction takes as much time as they have numbers. `decision_function` is the
    vote Σ_k c_k·sgn⟨w_k, x⟩, and there is no `coef_`: no one weight vector says what the vote says.

    >>> VotedPerceptron(passes=1, shuffle=None).fit([[1.0], [-1.0]], [1, -1]).decision_function([[3.0], [-3.0]])
    array([ 2., -2.])
    """

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


@estimator
class MulticlassPerceptron(settings.MulticlassPerceptron, MulticlassClassifier):
    """The perceptron of many classes, by the max-score update or one class against the rest.

    >>> model = MulticlassPerceptron().fit([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], ["a", "b", "c"])
    >>> model.predict([[0.1, 2.0]]).tolist(), model.decision_function([[0.1, 2.0]]).shape
    (['b'], (1, 3))
    >>> model.learn_one([5.0, 5.0], "d").predict_one([5.0, 5.0])
    'd'
    """


@estimator
class SoftmaxAdaGrad(settings.SoftmaxAdaGrad, MulticlassForecaster):
    """Softmax regression for many classes, with a step of its own for every weight.

    >>> model = SoftmaxAdaGrad(passes=1).fit([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], ["a", "b", "c"])
    >>> model.predict([[0.1, 2.0]]).tolist(), model.predict_proba([[0.1, 2.0]]).round(2).tolist()
    (['b'], [[0.32, 0.5, 0.18]])
    """


@estimator
class SoftmaxNewton(settings.SoftmaxNewton, MulticlassForecaster):
    """Softmax regression for many classes by Newton steps with one matrix for all, for up to a few hundred features.

    >>> model = SoftmaxNewton(passes=1, ridge=1.0).fit([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], ["a", "b", "c"])
    >>> model.predict([[0.1, 2.0]]).tolist()
    ['b']
    """


@estimator
class MarkovClasses(settings.MarkovClasses, Unweighted, MulticlassForecaster):
    """Forecasts a class from past labels alone: by their counts, or by those after the previous label.

    >>> model = MarkovClasses(order=1, passes=1, shuffle=None).fit([[0.0]] * 5, ["a", "b", "a", "b", "a"])
    >>> model.predict([[0.0]]).tolist(), model.predict_proba([[0.0]]).tolist()
    (['b'], [[0.16666666666666666, 0.8333333333333334]])
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # it looks at no feature
        return tags


@estimator
class NearestClasses(settings.NearestClasses, Unweighted, MulticlassForecaster):
    """The nearest of the last `window` rows vote for their classes, with (d₁/d_i)⁴ at distance d_i; ≤ 100 features.

    >>> model = NearestClasses().fit([[0.0], [1.0], [2.0]] * 5, ["a", "b", "c"] * 5)
    >>> model.predict([[0.9], [2.2]]).tolist(), model.predict_proba([[0.1]]).round(2).tolist()
    (['b', 'c'], [[1.0, 0.0, 0.0]])
    """

    passes: int = 1


@estimator
class KernelPerceptron(settings.KernelPerceptron, LinearClassifier):
    """The kernel perceptron: score Σ α·K(support, x), every mistake a new support with α = y.

    `kernel` is linear, poly, rbf, laplace, precomputed, or a plain Python function of two rows. With a `budget` it
    keeps at most `budget` supports and forgets the oldest, or a random one (`forget="random"`, with a `seed`).

    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> KernelPerceptron(kernel="rbf", passes=2).fit(X, [-1, 1, 1, -1]).predict(X).tolist()
    [-1, 1, 1, -1]
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.classifier_tags.poor_score = True  # a heavier class bends the boundary only where it errs
        return tags

    def _linear(self) -> bool:
        core = self._fitted()
        return isinstance(core, learner.KernelPerceptron) and core.kernel.linear

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of a linear kernel, as one row; others have none."""
        if not self._linear():
            raise AttributeError("coef_: only a linear kernel has weights")
        return super().coef_

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias of a linear kernel; 0 without one."""
        if not self._linear():
            raise AttributeError("intercept_: only a linear kernel has weights")
        return super().intercept_

    @property
    def support_count_(self) -> int:
        """How many rows are kept."""
        return self._fitted().supports or 0


@estimator
class SecondOrderPerceptron(settings.SecondOrderPerceptron, LinearClassifier):
    """The second-order perceptron: sgn⟨w, (aI + SᵀS + x·xᵀ)⁻¹x⟩, S the rows of its mistakes, a the `ridge`.

    >>> SecondOrderPerceptron().fit([[1.0], [-1.0]], [1, -1]).predict([[3.0]])
    array([1])
    """


class Scored(Unweighted, LinearClassifier):
    """What classifiers share whose score is log-odds and no ⟨w, x⟩: probabilities, and no weights."""

    loss = "logistic"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # each is right for its own kind of rows
        return tags


@estimator
class MarkovLabels(settings.MarkovLabels, Scored):
    """Labels by the last `order` of their predecessors, one probability (n₁ + ½)/(n + 1) for each context of them.

    It uses no feature. Every row that is predicted counts as the next one after those that were learned.

    >>> model = MarkovLabels().fit([[0.0]] * 5, [1, -1, 1, -1, 1])
    >>> int(model.predict_one([0.0])), model.predict_proba([[0.0]]).round(3).tolist()
    (-1, [[0.833, 0.167]])
    """

    passes: int = 1
    shuffle: int | None = None


@estimator
class NaiveBayes(settings.NaiveBayes, Scored):
    """Naive Bayes for words and counts: the share of each feature in either class, tempered by Platt scaling.

    >>> model = NaiveBayes(passes=1).fit([[3.0, 0.0], [0.0, 2.0]] * 10, ["spam", "ham"] * 10)
    >>> print(model.predict_one({0: 1.0}))
    spam
    """

    passes: int = 1


@estimator
class NearestNeighbours(settings.NearestNeighbours, Scored):
    """The nearest of the last `window` rows vote, the i-th nearest with 1/√i; at most 100 features.

    >>> NearestNeighbours().fit([[0.0], [1.0]] * 10, [-1, 1] * 10).predict([[0.9], [0.2]])
    array([ 1, -1])
    """

    passes: int = 1


@estimator
class NearestNumbers(settings.NearestNumbers, Unweighted, LinearRegressor):
    """The mean label of the nearest of the last `window` rows, weighed (d₁/d_i)⁴ at distance d_i; ≤ 100 features.

    >>> NearestNumbers(neighbours=2).fit([[0.0], [1.0], [2.0]], [0.0, 10.0, 20.0]).predict([[1.5]])
    array([15.])
    """

    passes: int = 1


@estimator
class PassiveAggressive(settings.PassiveAggressive, LinearClassifier):
    """The smallest step after which the round's hinge loss would have been 0.

    >>> float(PassiveAggressive().fit([[2.0], [-2.0]], [1, -1]).coef_[0, 0])
    0.5
    """


@estimator
class PassiveAggressiveRegressor(settings.PassiveAggressive, LinearRegressor):
    """The smallest step after which the round's absolute loss would have been 0, for numbers."""

    loss: str | Loss = "absolute"


@estimator
class PassiveAggressiveI(settings.PassiveAggressiveI, LinearClassifier):
    """Passive-Aggressive with steps of at most C·‖x‖, C the aggressiveness (left out: 1/max‖x‖² so far)."""


@estimator
class PassiveAggressiveIRegressor(settings.PassiveAggressiveI, LinearRegressor):
    """Passive-Aggressive for numbers with steps of at most C·‖x‖."""

    loss: str | Loss = "absolute"


@estimator
class PassiveAggressiveII(settings.PassiveAggressiveII, LinearClassifier):
    """Passive-Aggressive with steps shortened by 1/(2C), C the aggressiveness (left out: 1/max‖x‖² so far)."""


@estimator
class PassiveAggressiveIIRegressor(settings.PassiveAggressiveII, LinearRegressor):
    """Passive-Aggressive for numbers with steps shortened by 1/(2C)."""

    loss: str | Loss = "absolute"


@estimator
class OnlineGradientDescent(settings.OnlineGradientDescent, LinearClassifier):
    """Projected online gradient descent for two classes, with any classification loss.

    >>> model = OnlineGradientDescent(loss="logistic", radius=5.0).fit([[1.0], [-1.0]], ["spam", "ham"])
    >>> print(model.predict_one({0: 2.0}))
    spam
    """


@estimator
class OnlineGradientDescentRegressor(settings.OnlineGradientDescent, LinearRegressor):
    """Projected online gradient descent for numbers, with any regression loss.

    >>> float(OnlineGradientDescentRegressor(rate="constant:0.5").fit([[1.0], [1.0]], [3.0, 3.0]).coef_[0])
    3.0
    """

    loss: str | Loss = "squared"


@estimator
class StronglyConvexGradientDescent(settings.StronglyConvexGradientDescent, LinearClassifier):
    """Gradient descent with step 1/(σt) on a Lipschitz loss + (σ/2)‖w‖², for two classes."""


@estimator
class StronglyConvexGradientDescentRegressor(settings.StronglyConvexGradientDescent, LinearRegressor):
    """Gradient descent with step 1/(σt) on a Lipschitz loss + (σ/2)‖w‖², for numbers."""

    loss: str | Loss = "absolute"


@estimator
class LogisticNewton(settings.LogisticNewton, LinearClassifier):
    """Newton steps on the logistic loss: no rate to choose, columns of any scale, a matrix with a row for each feature.

    >>> LogisticNewton().fit([[1.0], [-1.0]], [1, -1]).predict([[3.0]])
    array([1])
    """


@estimator
class DiagonalNewton(settings.DiagonalNewton, LinearClassifier):
    """Newton steps on the logistic loss, a number for each feature in place of a matrix: for wide sparse rows.

    >>> DiagonalNewton().fit([[1.0], [-1.0]], [1, -1]).predict([[3.0]])
    array([1])
    """


@estimator
class AdaGrad(settings.AdaGrad, LinearClassifier):
    """A step for every coordinate, shorter the more it has been moved: for sparse rows, with defaults that do well.

    >>> print(AdaGrad().fit([[1.0], [-1.0]], ["ham", "spam"]).predict_one({0: -2.0}))
    spam
    """


@estimator
class AdaGradRegressor(settings.AdaGrad, LinearRegressor):
    """AdaGrad for numbers, with any regression loss."""

    loss: str | Loss = "squared"


@estimator
class FollowTheRegularisedLeader(settings.FollowTheRegularisedLeader, LinearClassifier):
    """FTRL-Proximal: a step for every coordinate, and weights that `l1` makes exactly 0."""


@estimator
class FollowTheRegularisedLeaderRegressor(settings.FollowTheRegularisedLeader, LinearRegressor):
    """FTRL-Proximal for numbers, with any regression loss."""

    loss: str | Loss = "squared"


@estimator
class ScaleFree(settings.ScaleFree, LinearClassifier):
    """Coordinate betting: no rate, no radius and no scaling of features, whatever their units.

    >>> print(ScaleFree().fit([[1e-6, 1.0], [-1e-6, 1.0]], ["ham", "spam"]).predict_one([-2e-6, 1.0]))
    spam
    """


@estimator
class ScaleFreeRegressor(settings.ScaleFree, LinearRegressor):
    """Coordinate betting for numbers: any loss whose slope has a bound."""

    loss: str | Loss = "absolute"


@estimator
class CoinBetting(settings.CoinBetting, LinearClassifier):
    """No learning rate and no radius: bets on the next gradient. Rows are scaled to norm 1 unless G is given.

    >>> CoinBetting().fit([[1.0], [-1.0]], [1, -1]).predict([[3.0]])
    array([1])
    """

    unit_norm: bool = True


@estimator
class CoinBettingRegressor(settings.CoinBetting, LinearRegressor):
    """Coin betting for numbers: a loss whose slope has a bound, or a bound G on the gradients."""

    loss: str | Loss = "absolute"
    unit_norm: bool = True


@estimator
class VovkAzouryWarmuth(settings.VovkAzouryWarmuth, LinearRegressor):
    """The forecaster of Vovk, Azoury & Warmuth for the squared loss: ⟨b, (A + x·xᵀ)⁻¹x⟩, A = aI + Σ x·xᵀ, b = Σ y·x.

    >>> round(float(VovkAzouryWarmuth(passes=1).fit([[1.0], [1.0]], [3.0, 3.0]).predict([[1.0]])[0]), 9)
    1.5
    """


@estimator
class RidgeForgetting(settings.RidgeForgetting, LinearRegressor):
    """Ridge regression that forgets: past rounds count 1 − `forgetting` times as much after every round.

    >>> model = RidgeForgetting(forgetting=0.5, passes=1, shuffle=None).fit([[1.0]] * 20, [0.0] * 10 + [4.0] * 10)
    >>> round(float(model.predict([[1.0]])[0]), 3)
    1.998
    """


@estimator
class Persistence(settings.Persistence, LinearRegressor):
    """Forecasts numbers from past labels alone: their mean, the last one, or the last one and the mean step to it.

    >>> Persistence(rule="drift", passes=1, shuffle=None).fit([[0.0]] * 3, [1.0, 2.0, 5.0]).predict([[0.0]])
    array([7.])
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # it looks at no feature
        return tags


ESTIMATORS: dict[tuple[str, bool], type[LinearEstimator]] = {
    (shell._core_type.name, shell._regression): shell
    for shell in globals().copy().values()
    if isinstance(shell, type) and issubclass(shell, LinearEstimator) and "_core_type" in vars(shell)
}


def load(path: str | os.PathLike[str], loss: Loss | None = None, kernel: Any = None) -> Any:
    """The model of a file written by `save` or by `noregret learn --save`, ready to go on.

    Where rounds wait for their labels it is a `Pending`.

    Your own loss or kernel is not in the file: give it again as `loss` or `kernel`.
    """
    core, shell = model.load(path, loss, kernel)
    try:
        shell_of = ESTIMATORS[core.name, core.regression]
        told = {name: value for name, value in core.settings.items() if name in parameters(shell_of)}
        made = shell_of(**told, **(shell["params"] if shell else {}))
        made._restore(core, shell)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(f"what the model file says of its estimator is damaged ({error})", str(path)) from error
    return made if core.late is None else Pending(made)
