"""Learners: one algorithm a file. `LEARNERS` lists them by the name that the command line and model files use.

A learner's file is read when it is first asked for: a process that plays one learner need not load them all. What each
can be given stands in settings.py, in a class of the learner's own name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from noregret.learner import settings
from noregret.setting import Setting, fields

if TYPE_CHECKING:
    from noregret.learner.auto import Auto
    from noregret.learner.averaged import AveragedPerceptron
    from noregret.learner.coin import CoinBetting
    from noregret.learner.coordinate import AdaGrad, DiagonalNewton, FollowTheRegularisedLeader, ScaleFree
    from noregret.learner.core import Core
    from noregret.learner.gradient import OnlineGradientDescent, StronglyConvexGradientDescent
    from noregret.learner.kernel import KernelPerceptron
    from noregret.learner.linear import Linear
    from noregret.learner.markov import MarkovLabels
    from noregret.learner.multiclass import MulticlassPerceptron
    from noregret.learner.nearest import NearestClasses, NearestNeighbours, NearestNumbers
    from noregret.learner.newton import LogisticNewton
    from noregret.learner.passive import PassiveAggressive, PassiveAggressiveI, PassiveAggressiveII
    from noregret.learner.perceptron import Perceptron
    from noregret.learner.persistence import Persistence
    from noregret.learner.ridge import RidgeForgetting
    from noregret.learner.second_order import SecondOrderPerceptron
    from noregret.learner.selected import Selected
    from noregret.learner.softmax import SoftmaxAdaGrad
    from noregret.learner.softmax_newton import SoftmaxNewton
    from noregret.learner.succession import MarkovClasses
    from noregret.learner.vaw import VovkAzouryWarmuth
    from noregret.learner.voted import VotedPerceptron
    from noregret.learner.words import NaiveBayes

__all__ = [
    "LEARNERS",
    "AdaGrad",
    "Auto",
    "AveragedPerceptron",
    "CoinBetting",
    "Core",
    "DiagonalNewton",
    "FollowTheRegularisedLeader",
    "KernelPerceptron",
    "Linear",
    "LogisticNewton",
    "MarkovClasses",
    "MarkovLabels",
    "MulticlassPerceptron",
    "NaiveBayes",
    "NearestClasses",
    "NearestNeighbours",
    "NearestNumbers",
    "OnlineGradientDescent",
    "PassiveAggressive",
    "PassiveAggressiveI",
    "PassiveAggressiveII",
    "Perceptron",
    "Persistence",
    "RidgeForgetting",
    "ScaleFree",
    "SecondOrderPerceptron",
    "Selected",
    "SoftmaxAdaGrad",
    "SoftmaxNewton",
    "StronglyConvexGradientDescent",
    "VotedPerceptron",
    "VovkAzouryWarmuth",
    "settings_of",
]

# the name of each learner, its class and the file that it is in
_NAMED = {
    "auto": ("Auto", "auto"),
    "perceptron": ("Perceptron", "perceptron"),
    "averaged": ("AveragedPerceptron", "averaged"),
    "voted": ("VotedPerceptron", "voted"),
    "multiclass": ("MulticlassPerceptron", "multiclass"),
    "softmax": ("SoftmaxAdaGrad", "softmax"),
    "softmax-newton": ("SoftmaxNewton", "softmax_newton"),
    "markov-classes": ("MarkovClasses", "succession"),
    "nearest-classes": ("NearestClasses", "nearest"),
    "kernel": ("KernelPerceptron", "kernel"),
    "second-order": ("SecondOrderPerceptron", "second_order"),
    "newton": ("LogisticNewton", "newton"),
    "pa": ("PassiveAggressive", "passive"),
    "pa1": ("PassiveAggressiveI", "passive"),
    "pa2": ("PassiveAggressiveII", "passive"),
    "ogd": ("OnlineGradientDescent", "gradient"),
    "ogd-strong": ("StronglyConvexGradientDescent", "gradient"),
    "adagrad": ("AdaGrad", "coordinate"),
    "ftrl": ("FollowTheRegularisedLeader", "coordinate"),
    "diagonal": ("DiagonalNewton", "coordinate"),
    "coin": ("CoinBetting", "coin"),
    "scale-free": ("ScaleFree", "coordinate"),
    "markov": ("MarkovLabels", "markov"),
    "ridge": ("RidgeForgetting", "ridge"),
    "persistence": ("Persistence", "persistence"),
    "naive-bayes": ("NaiveBayes", "words"),
    "nearest": ("NearestNeighbours", "nearest"),
    "nearest-numbers": ("NearestNumbers", "nearest"),
    "vaw": ("VovkAzouryWarmuth", "vaw"),
}
_HOME = dict(_NAMED.values()) | {"Core": "core", "Linear": "linear", "Selected": "selected"}


class _Learners(Mapping[str, "type[Core]"]):
    def __getitem__(self, name: str) -> type[Core]:
        found: type[Core] = __getattr__(_NAMED[name][0])
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMED)

    def __len__(self) -> int:
        return len(_NAMED)


LEARNERS: Mapping[str, type[Core]] = _Learners()


def settings_of(name: str) -> dict[str, Setting]:
    """The settings of a learner, without reading its file."""
    return fields(getattr(settings, _NAMED[name][0]))


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'noregret.learner' has no attribute {name!r}")
    return getattr(import_module(f"noregret.learner.{_HOME[name]}"), name)
