"""Learners: one algorithm a file. `LEARNERS` lists them by the name that the command line and model files use."""

from __future__ import annotations

from noregret.learner.core import Core
from noregret.learner.gradient import OnlineGradientDescent, StronglyConvexGradientDescent
from noregret.learner.kernel import KernelPerceptron
from noregret.learner.linear import Linear
from noregret.learner.multiclass import MulticlassPerceptron
from noregret.learner.perceptron import Perceptron
from noregret.learner.second_order import SecondOrderPerceptron
from noregret.learner.selected import Selected
from noregret.learner.vaw import VovkAzouryWarmuth
from noregret.learner.voted import VotedPerceptron

__all__ = [
    "LEARNERS",
    "PERCEPTRONS",
    "Core",
    "KernelPerceptron",
    "Linear",
    "MulticlassPerceptron",
    "OnlineGradientDescent",
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
        VotedPerceptron,
        MulticlassPerceptron,
        KernelPerceptron,
        SecondOrderPerceptron,
        OnlineGradientDescent,
        StronglyConvexGradientDescent,
        VovkAzouryWarmuth,
    )
}
PERCEPTRONS = ("perceptron", "voted")  # whose rounds are the perceptron's: its mistake theorems speak of them all
