"""Learners: one algorithm a file. `LEARNERS` lists them by the name that the command line and model files use.

A learner's file is read when it is first asked for: a process that plays one learner need not load them all. What each
can be told stands in settings.py, in a class of the learner's own name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from noregret.learner import settings
from noregret.setting import Setting, fields

if TYPE_CHECKING:
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
    "settings_of",
]

# the name of each learner, its class and the file that it is in
_NAMED = {
    "perceptron": ("Perceptron", "perceptron"),
    "averaged": ("AveragedPerceptron", "averaged"),
    "voted": ("VotedPerceptron", "voted"),
    "multiclass": ("MulticlassPerceptron", "multiclass"),
    "kernel": ("KernelPerceptron", "kernel"),
    "second-order": ("SecondOrderPerceptron", "second_order"),
    "pa": ("PassiveAggressive", "passive"),
    "pa1": ("PassiveAggressiveI", "passive"),
    "pa2": ("PassiveAggressiveII", "passive"),
    "ogd": ("OnlineGradientDescent", "gradient"),
    "ogd-strong": ("StronglyConvexGradientDescent", "gradient"),
    "adagrad": ("AdaGrad", "coordinate"),
    "ftrl": ("FollowTheRegularisedLeader", "coordinate"),
    "coin": ("CoinBetting", "coin"),
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
# whose rounds are the perceptron's: its mistake theorems speak of them all
PERCEPTRONS = ("perceptron", "averaged", "voted")


def settings_of(name: str) -> dict[str, Setting]:
    """What a learner can be told, without reading its file."""
    return fields(getattr(settings, _NAMED[name][0]))


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'noregret.learner' has no attribute {name!r}")
    return getattr(import_module(f"noregret.learner.{_HOME[name]}"), name)
