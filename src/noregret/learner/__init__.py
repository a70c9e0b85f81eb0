"""Learners: one algorithm a file. `LEARNERS` lists them by the name that the command line and model files use."""

from __future__ import annotations

from noregret.learner.averaged import AveragedPerceptron
from noregret.learner.coin import CoinBetting
from noregret.learner.coordinate import AdaGrad, FollowTheRegularisedLeader
from noregret.learner.core import Core
from noregret.learner.gradient import OnlineGradientDescent, StronglyConvexGradientDescent
from noregret.learner.linear import Linear
from noregret.learner.passive import PassiveAggressive, PassiveAggressiveI, PassiveAggressiveII
from noregret.learner.perceptron import Perceptron

__all__ = [
    "LEARNERS",
    "AdaGrad",
    "AveragedPerceptron",
    "CoinBetting",
    "Core",
    "FollowTheRegularisedLeader",
    "Linear",
    "OnlineGradientDescent",
    "PassiveAggressive",
    "PassiveAggressiveI",
    "PassiveAggressiveII",
    "Perceptron",
    "StronglyConvexGradientDescent",
]

LEARNERS: dict[str, type[Core]] = {
    learner.name: learner
    for learner in (
        Perceptron,
        OnlineGradientDescent,
        StronglyConvexGradientDescent,
        AveragedPerceptron,
        PassiveAggressive,
        PassiveAggressiveI,
        PassiveAggressiveII,
        AdaGrad,
        FollowTheRegularisedLeader,
        CoinBetting,
    )
}
