"""Learners: one algorithm a file. `LEARNERS` lists them by the name that the command line and model files use."""

from __future__ import annotations

from noregret.learner.core import Core
from noregret.learner.gradient import OnlineGradientDescent, StronglyConvexGradientDescent
from noregret.learner.kernel import KernelPerceptron
from noregret.learner.linear import Linear
from noregret.learner.perceptron import Perceptron
from noregret.learner.second_order import SecondOrderPerceptron
from noregret.learner.selected import Selected
from noregret.learner.vaw import VovkAzouryWarmuth

__all__ = [
    "LEARNERS",
    "Core",
    "KernelPerceptron",
    "Linear",
    "OnlineGradientDescent",
    "Perceptron",
    "SecondOrderPerceptron",
    "Selected",
    "StronglyConvexGradientDescent",
    "VovkAzouryWarmuth",
]

LEARNERS: dict[str, type[Core]] = {
    learner.name: learner
    for learner in (
        Perceptron,
        OnlineGradientDescent,
        StronglyConvexGradientDescent,
        KernelPerceptron,
        SecondOrderPerceptron,
        VovkAzouryWarmuth,
    )
}
