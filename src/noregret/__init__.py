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
    from noregret.estimator import (
        BatchPerceptron,
        KernelPerceptron,
        MulticlassPerceptron,
        OnlineGradientDescent,
        OnlineGradientDescentRegressor,
        Perceptron,
        SecondOrderPerceptron,
        StronglyConvexGradientDescent,
        StronglyConvexGradientDescentRegressor,
        VotedPerceptron,
        VovkAzouryWarmuth,
        load,
    )
    from noregret.estimator.adaptive import (
        AdaGrad,
        AdaGradRegressor,
        CoinBetting,
        CoinBettingRegressor,
        FollowTheRegularisedLeader,
        FollowTheRegularisedLeaderRegressor,
    )
    from noregret.estimator.passive import (
        AveragedPerceptron,
        PassiveAggressive,
        PassiveAggressiveI,
        PassiveAggressiveII,
        PassiveAggressiveIIRegressor,
        PassiveAggressiveIRegressor,
        PassiveAggressiveRegressor,
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
    from noregret.protocol import play
    from noregret.receipt import Receipt, certify, verify
    from noregret.report import report
    from noregret.run import Run
    from noregret.selection import Selection, select
    from noregret.separation import Separation, separate
    from noregret.stream.read import read

# Each name is imported when it is first asked for: scikit-learn alone takes a second.
_HOME = {
    "AdaGrad": "estimator.adaptive",
    "AdaGradRegressor": "estimator.adaptive",
    "AdaHedge": "experts",
    "Agnostic": "finite",
    "Audit": "auditing",
    "BatchPerceptron": "estimator",
    "BatchRun": "batch",
    "AveragedPerceptron": "estimator.passive",
    "Blend": "blending",
    "Blender": "experts",
    "CoinBetting": "estimator.adaptive",
    "CoinBettingRegressor": "estimator.adaptive",
    "Comparison": "comparison",
    "Consistent": "finite",
    "Dimensions": "finite",
    "DivergedError": "errors",
    "Domain": "domain",
    "FixedShare": "experts",
    "FollowTheRegularisedLeader": "estimator.adaptive",
    "FollowTheRegularisedLeaderRegressor": "estimator.adaptive",
    "Halving": "finite",
    "Hedge": "experts",
    "HedgeDoubling": "experts",
    "HypothesisClass": "finite",
    "InputError": "errors",
    "Kernel": "kernel",
    "KernelPerceptron": "estimator",
    "LOSSES": "loss",
    "Loss": "loss",
    "ModelFileError": "errors",
    "MulticlassPerceptron": "estimator",
    "NoregretError": "errors",
    "OnlineGradientDescent": "estimator",
    "OnlineGradientDescentRegressor": "estimator",
    "OrderWarning": "errors",
    "PassiveAggressive": "estimator.passive",
    "PassiveAggressiveI": "estimator.passive",
    "PassiveAggressiveII": "estimator.passive",
    "PassiveAggressiveIIRegressor": "estimator.passive",
    "PassiveAggressiveIRegressor": "estimator.passive",
    "PassiveAggressiveRegressor": "estimator.passive",
    "Perceptron": "estimator",
    "PlainPythonWarning": "errors",
    "Receipt": "receipt",
    "ReceiptError": "errors",
    "Run": "run",
    "SOA": "finite",
    "Separation": "separation",
    "Selection": "selection",
    "SecondOrderPerceptron": "estimator",
    "SettingError": "errors",
    "StronglyConvexGradientDescent": "estimator",
    "StronglyConvexGradientDescentRegressor": "estimator",
    "TreeAdversary": "finite",
    "VovkAzouryWarmuth": "estimator",
    "VotedPerceptron": "estimator",
    "WeightedMajority": "experts",
    "audit": "auditing",
    "blend": "blending",
    "certify": "receipt",
    "compare": "comparison",
    "custom_kernel": "kernel",
    "custom_loss": "loss",
    "dimensions": "finite",
    "duel": "finite",
    "family": "finite",
    "load": "estimator",
    "load_class": "finite",
    "play": "protocol",
    "play_finite": "finite",
    "plot": "picture.plotting",
    "read": "stream.read",
    "report": "report",
    "separate": "separation",
    "select": "selection",
    "verify": "receipt",
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
