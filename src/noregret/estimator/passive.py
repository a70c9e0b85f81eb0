"""The averaged perceptron and the Passive-Aggressive learners as estimators."""

from __future__ import annotations

from collections.abc import Sequence

from noregret import learner as cores
from noregret.estimator.classifier import LinearClassifier
from noregret.estimator.regressor import LinearRegressor
from noregret.estimator.settings import Classifying, Common, settings


@settings
class AveragedPerceptron(Classifying, LinearClassifier):
    """The perceptron that predicts, once learned, with the average of its weights.

    >>> AveragedPerceptron().fit([[1.0], [-1.0]], [1, -1]).predict([[3.0]])
    array([1])
    """

    _core_type = cores.AveragedPerceptron

    rate: float = 1.0
    start: Sequence[float] | None = None


@settings
class PassiveAggressive(Classifying, LinearClassifier):
    """The smallest step after which the round's hinge loss would have been 0.

    >>> float(PassiveAggressive().fit([[2.0], [-2.0]], [1, -1]).coef_[0, 0])
    0.5
    """

    _core_type = cores.PassiveAggressive

    loss: str = "hinge"


@settings
class PassiveAggressiveI(Classifying, LinearClassifier):
    """Passive-Aggressive with steps of at most C·‖x‖, C the aggressiveness (left out: 1/max‖x‖² so far)."""

    _core_type = cores.PassiveAggressiveI

    loss: str = "hinge"
    aggressiveness: float | None = None


@settings
class PassiveAggressiveII(Classifying, LinearClassifier):
    """Passive-Aggressive with steps shortened by 1/(2C), C the aggressiveness (left out: 1/max‖x‖² so far)."""

    _core_type = cores.PassiveAggressiveII

    loss: str = "hinge"
    aggressiveness: float | None = None


@settings
class PassiveAggressiveRegressor(Common, LinearRegressor):
    """The smallest step after which the round's absolute loss would have been 0, for numbers."""

    _core_type = cores.PassiveAggressive

    loss: str = "absolute"


@settings
class PassiveAggressiveIRegressor(Common, LinearRegressor):
    """Passive-Aggressive for numbers with steps of at most C·‖x‖."""

    _core_type = cores.PassiveAggressiveI

    loss: str = "absolute"
    aggressiveness: float | None = None


@settings
class PassiveAggressiveIIRegressor(Common, LinearRegressor):
    """Passive-Aggressive for numbers with steps shortened by 1/(2C)."""

    _core_type = cores.PassiveAggressiveII

    loss: str = "absolute"
    aggressiveness: float | None = None
