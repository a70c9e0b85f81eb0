"""Learners: one algorithm a file. `LEARNERS` lists them by the name that the command line and model files use."""

from __future__ import annotations

from noregret.learner.averaged import AveragedPerceptron
from noregret.learner.coin import CoinBetting
from noregret.learner.coordinate import AdaGrad, FollowTheRegularisedLeader
from noregret.learner.core import Core
from noregret.learner.gradient import OnlineGradientDescent, StronglyConvexGradientDescent
from noregret.learner.kernel import KernelPerceptron
from noregret.learner.linear import Linear
from noregret.learner.multiclass import MulticlassPerceptron
from noregret.learner.passive import PassiveAggressive, PassiveAggressiveI, PassiveAggressiveII
from noregret.learner.perceptron import Perceptron
from noregret.learner.second_order import SecondOrderPerceptron
from noregret.learner.selected import Selected
from noregret.learner.vaw import VovkAzouryWarmuth
from noregret.learner.voted import VotedPerceptron

__all__ = [
    "LEARNERS",
    "PERCEPTRONS",
    "AdaGrad",
    "AveragedPerceptron",
    "CoinBetting",
    "Core",
    "FollowTheRegularisedLeader",
    "KernelPerceptron",
    "Linear",
    "MulticlassPerceptron",
    "OnlineGradientDescent",
    "PassiveAggressive",
    "PassiveAggressiveI",
    "PassiveAggressiveII",
    "Perceptron",
    "SecondOrderPerceptron",
    "Selected",
    "StronglyConvexGradientDescent",
    "VotedPerceptron",
    "VovkAzouryWarmuth",
]

LEARNERS: dict[str, type[Core]] = {
    learner.name: learner
    for learner in (
        Perceptron,
        AveragedPerceptron,
        VotedPerceptron,
        MulticlassPerceptron,
        KernelPerceptron,
        SecondOrderPerceptron,
        PassiveAggressive,
        PassiveAggressiveI,
        PassiveAggressiveII,
        OnlineGradientDescent,
        StronglyConvexGradientDescent,
        AdaGrad,
        FollowTheRegularisedLeader,
        CoinBetting,
        VovkAzouryWarmuth,
    )
}
# whose rounds are the perceptron's: its mistake theorems speak of them all
PERCEPTRONS = ("perceptron", "averaged", "voted")
