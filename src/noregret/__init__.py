"""Online learning that shows its receipts: predict, suffer, update, one pass at compiled speed.

>>> import noregret as nr
>>> run = nr.play(nr.Perceptron(), nr.read(([[1.0, 0.0], [0.0, 1.0]], [1, -1])))
>>> run.rounds, run.mistakes
(2, 2)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from noregret._version import __version__

if TYPE_CHECKING:
    from noregret.auditing import Audit, audit
    from noregret.batch import BatchRun
    from noregret.blending import Blend, blend
    from noregret.comparison import Comparison, compare
    from noregret.domain import Domain
    from noregret.errors import (
        DivergedError,
        InputError,
        ModelFileError,
        NoregretError,
        OrderWarning,
        PlainPythonWarning,
        ReceiptError,
        SettingError,
    )
    from noregret.experts import AdaHedge, Blender, FixedShare, Hedge, HedgeDoubling, WeightedMajority
    from noregret.finite import (
        SOA,
        Agnostic,
        Consistent,
        Dimensions,
        Halving,
        HypothesisClass,
        TreeAdversary,
        dimensions,
        duel,
        family,
        load_class,
        play_finite,
    )
    from noregret.kernel import Kernel
    from noregret.kernel import custom as custom_kernel
    from noregret.loss import LOSSES, Loss
    from noregret.loss import custom as custom_loss
    from noregret.picture.plotting import plot
    from noregret.proof.certify import certify
    from noregret.proof.receipt import Receipt
    from noregret.proof.verify import verify
    from noregret.protocol import play
    from noregret.reporting import report
    from noregret.run import Run
    from noregret.selection import Selection, select
    from noregret.separation import Separation, separate
    from noregret.sklearn import (
        AdaGrad,
        AdaGradRegressor,
        AveragedPerceptron,
        CoinBetting,
        CoinBettingRegressor,
        FollowTheRegularisedLeader,
        FollowTheRegularisedLeaderRegressor,
        KernelPerceptron,
        MulticlassPerceptron,
        OnlineGradientDescent,
        OnlineGradientDescentRegressor,
        PassiveAggressive,
        PassiveAggressiveI,
        PassiveAggressiveII,
        PassiveAggressiveIIRegressor,
        PassiveAggressiveIRegressor,
        PassiveAggressiveRegressor,
        Perceptron,
        SecondOrderPerceptron,
        StronglyConvexGradientDescent,
        StronglyConvexGradientDescentRegressor,
        VotedPerceptron,
        VovkAzouryWarmuth,
        load,
    )
    from noregret.sklearn.batch import BatchPerceptron
    from noregret.stream import read

# Each name is imported when it is first asked for: scikit-learn alone takes a second.
_HOME = {
    "AdaGrad": "sklearn",
    "AdaGradRegressor": "sklearn",
    "AdaHedge": "experts",
    "Agnostic": "finite",
    "Audit": "auditing",
    "BatchPerceptron": "sklearn.batch",
    "BatchRun": "batch",
    "AveragedPerceptron": "sklearn",
    "Blend": "blending",
    "Blender": "experts",
    "CoinBetting": "sklearn",
    "CoinBettingRegressor": "sklearn",
    "Comparison": "comparison",
    "Consistent": "finite",
    "Dimensions": "finite",
    "DivergedError": "errors",
    "Domain": "domain",
    "FixedShare": "experts",
    "FollowTheRegularisedLeader": "sklearn",
    "FollowTheRegularisedLeaderRegressor": "sklearn",
    "Halving": "finite",
    "Hedge": "experts",
    "HedgeDoubling": "experts",
    "HypothesisClass": "finite",
    "InputError": "errors",
    "Kernel": "kernel",
    "KernelPerceptron": "sklearn",
    "LOSSES": "loss",
    "Loss": "loss",
    "ModelFileError": "errors",
    "MulticlassPerceptron": "sklearn",
    "NoregretError": "errors",
    "OnlineGradientDescent": "sklearn",
    "OnlineGradientDescentRegressor": "sklearn",
    "OrderWarning": "errors",
    "PassiveAggressive": "sklearn",
    "PassiveAggressiveI": "sklearn",
    "PassiveAggressiveII": "sklearn",
    "PassiveAggressiveIIRegressor": "sklearn",
    "PassiveAggressiveIRegressor": "sklearn",
    "PassiveAggressiveRegressor": "sklearn",
    "Perceptron": "sklearn",
    "PlainPythonWarning": "errors",
    "Receipt": "proof.receipt",
    "ReceiptError": "errors",
    "Run": "run",
    "SOA": "finite",
    "Separation": "separation",
    "Selection": "selection",
    "SecondOrderPerceptron": "sklearn",
    "SettingError": "errors",
    "StronglyConvexGradientDescent": "sklearn",
    "StronglyConvexGradientDescentRegressor": "sklearn",
    "TreeAdversary": "finite",
    "VovkAzouryWarmuth": "sklearn",
    "VotedPerceptron": "sklearn",
    "WeightedMajority": "experts",
    "audit": "auditing",
    "blend": "blending",
    "certify": "proof.certify",
    "compare": "comparison",
    "custom_kernel": "kernel",
    "custom_loss": "loss",
    "dimensions": "finite",
    "duel": "finite",
    "family": "finite",
    "load": "sklearn",
    "load_class": "finite",
    "play": "protocol",
    "play_finite": "finite",
    "plot": "picture.plotting",
    "read": "stream",
    "report": "reporting",
    "separate": "separation",
    "select": "selection",
    "verify": "proof.verify",
}

__all__ = [
    "LOSSES",
    "SOA",
    "AdaGrad",
    "AdaGradRegressor",
    "AdaHedge",
    "Agnostic",
    "Audit",
    "AveragedPerceptron",
    "BatchPerceptron",
    "BatchRun",
    "Blend",
    "Blender",
    "CoinBetting",
    "CoinBettingRegressor",
    "Comparison",
    "Consistent",
    "Dimensions",
    "DivergedError",
    "Domain",
    "FixedShare",
    "FollowTheRegularisedLeader",
    "FollowTheRegularisedLeaderRegressor",
    "Halving",
    "Hedge",
    "HedgeDoubling",
    "HypothesisClass",
    "InputError",
    "Kernel",
    "KernelPerceptron",
    "Loss",
    "ModelFileError",
    "MulticlassPerceptron",
    "NoregretError",
    "OnlineGradientDescent",
    "OnlineGradientDescentRegressor",
    "OrderWarning",
    "PassiveAggressive",
    "PassiveAggressiveI",
    "PassiveAggressiveII",
    "PassiveAggressiveIIRegressor",
    "PassiveAggressiveIRegressor",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "PlainPythonWarning",
    "Receipt",
    "ReceiptError",
    "Run",
    "SecondOrderPerceptron",
    "Selection",
    "Separation",
    "SettingError",
    "StronglyConvexGradientDescent",
    "StronglyConvexGradientDescentRegressor",
    "TreeAdversary",
    "VotedPerceptron",
    "VovkAzouryWarmuth",
    "WeightedMajority",
    "__version__",
    "audit",
    "blend",
    "certify",
    "compare",
    "custom_kernel",
    "custom_loss",
    "dimensions",
    "duel",
    "family",
    "load",
    "load_class",
    "play",
    "play_finite",
    "plot",
    "read",
    "report",
    "select",
    "separate",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'noregret' has no attribute {name!r}")
    module = import_module(f"noregret.{_HOME[name]}")
    value = getattr(module, {"custom_kernel": "custom", "custom_loss": "custom"}.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
