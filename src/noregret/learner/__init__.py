"""Learners: one algorithm a file. `LEARNERS` lists them by the name that the command line and model files use."""

from __future__ import annotations

from noregret.learner.core import Core
from noregret.learner.gradient import OnlineGradientDescent, StronglyConvexGradientDescent
from noregret.learner.linear import Linear
from noregret.learner.multiclass import MulticlassPerceptron
from noregret.learner.perceptron import Perceptron
from noregret.learner.voted import VotedPerceptron

__all__ = [
    "LEARNERS",
    "PERCEPTRONS",
    "Core",
    "Linear",
    "MulticlassPerceptron",
    "OnlineGradientDescent",
    "Perceptron",
    "StronglyConvexGradientDescent",
    "VotedPerceptron",
]

LEARNERS: dict[str, type[Core]] = {
    learner.name: learner
    for learner in (
        Perceptron,
        OnlineGradientDescent,
        StronglyConvexGradientDescent,
        VotedPerceptron,
        MulticlassPerceptron,
    )
}
PERCEPTRONS = ("perceptron", "voted")  # whose rounds are the perceptron's: its mistake theorems speak of them all
