"""Learners that choose their own steps as estimators: AdaGrad, FTRL-Proximal and coin betting."""

from __future__ import annotations

from noregret import learner as cores
from noregret.estimator.classifier import LinearClassifier
from noregret.estimator.regressor import LinearRegressor
from noregret.estimator.settings import Classifying, Common, settings
from noregret.loss import Loss


@settings
class AdaGrad(Classifying, LinearClassifier):
    """A step for every coordinate, shorter the more it has been moved: for sparse rows, with defaults that do well.

    >>> print(AdaGrad().fit([[1.0], [-1.0]], ["ham", "spam"]).predict_one({0: -2.0}))
    spam
    """

    _core_type = cores.AdaGrad

    loss: str | Loss = "logistic"
    radius: float = 10.0
    rate: str = "constant:0.8"


@settings
class AdaGradRegressor(Common, LinearRegressor):
    """AdaGrad for numbers, with any regression loss."""

    _core_type = cores.AdaGrad

    loss: str | Loss = "squared"
    radius: float = 10.0
    rate: str = "constant:0.8"


@settings
class FollowTheRegularisedLeader(Classifying, LinearClassifier):
    """FTRL-Proximal: a step for every coordinate, and weights that `l1` makes exactly 0."""

    _core_type = cores.FollowTheRegularisedLeader

    loss: str | Loss = "logistic"
    radius: float = 10.0
    rate: str = "constant:0.8"
    beta: float = 0.0
    l1: float = 0.0
    l2: float = 0.0


@settings
class FollowTheRegularisedLeaderRegressor(Common, LinearRegressor):
    """FTRL-Proximal for numbers, with any regression loss."""

    _core_type = cores.FollowTheRegularisedLeader

    loss: str | Loss = "squared"
    radius: float = 10.0
    rate: str = "constant:0.8"
    beta: float = 0.0
    l1: float = 0.0
    l2: float = 0.0


@settings
class CoinBetting(Classifying, LinearClassifier):
    """No learning rate and no radius: bets on the next gradient. Rows are scaled to norm 1 unless G is given.

    >>> CoinBetting().fit([[1.0], [-1.0]], [1, -1]).predict([[3.0]])
    array([1])
    """

    _core_type = cores.CoinBetting

    loss: str | Loss = "logistic"
    gradient_bound: float | None = None
    wealth: float = 1.0
    unit_norm: bool = True


@settings
class CoinBettingRegressor(Common, LinearRegressor):
    """Coin betting for numbers: a loss whose slope has a bound, or a bound G on the gradients."""

    _core_type = cores.CoinBetting

    loss: str | Loss = "absolute"
    gradient_bound: float | None = None
    wealth: float = 1.0
    unit_norm: bool = True
