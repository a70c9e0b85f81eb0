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
    from noregret.adversary import LinearGame, linear_game
    from noregret.batch import BatchRun
    from noregret.cluster.learning import play_shards
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
    from noregret.late.pending import Pending
    from noregret.late.playing import play_late
    from noregret.live import follow
    from noregret.loss import LOSSES, Loss
    from noregret.loss import custom as custom_loss
    from noregret.mean import MeanRun, mean_estimation
    from noregret.picture.plotting import plot
    from noregret.proof.certify import certify
    from noregret.proof.ledger import LedgerReceipt, merge
    from noregret.proof.receipt import Receipt
    from noregret.proof.verify import verify
    from noregret.protocol import play
    from noregret.reporting import report
    from noregret.run import Run
    from noregret.sklearn import (
        AdaGrad,
        AdaGradRegressor,
        Auto,
        AutoRegressor,
        AveragedPerceptron,
        CoinBetting,
        CoinBettingRegressor,
        DiagonalNewton,
        FollowTheRegularisedLeader,
        FollowTheRegularisedLeaderRegressor,
        KernelPerceptron,
        LogisticNewton,
        MarkovClasses,
        MarkovLabels,
        MulticlassPerceptron,
        NaiveBayes,
        NearestClasses,
        NearestNeighbours,
        NearestNumbers,
        OnlineGradientDescent,
        OnlineGradientDescentRegressor,
        PassiveAggressive,
        PassiveAggressiveI,
        PassiveAggressiveII,
        PassiveAggressiveIIRegressor,
        PassiveAggressiveIRegressor,
        PassiveAggressiveRegressor,
        Perceptron,
        Persistence,
        RidgeForgetting,
        ScaleFree,
        ScaleFreeRegressor,
        SecondOrderPerceptron,
        SoftmaxAdaGrad,
        SoftmaxNewton,
        StronglyConvexGradientDescent,
        StronglyConvexGradientDescentRegressor,
        VotedPerceptron,
        VovkAzouryWarmuth,
        load,
    )
    from noregret.sklearn.batch import BatchPerceptron
    from noregret.stream import read
    from noregret.task.audit import Audit, Passed, audit, audit_pass
    from noregret.task.blend import Blend, blend
    from noregret.task.compare import Comparison, compare
    from noregret.task.select import Selection, select
    from noregret.task.separate import Separation, separate
    from noregret.watch.alarm import Alarm
    from noregret.watch.windows import Windows

# Each name is imported when it is first asked for: scikit-learn alone takes a second.
_HOME = {
    "AdaGrad": "sklearn",
    "AdaGradRegressor": "sklearn",
    "Auto": "sklearn",
    "AutoRegressor": "sklearn",
    "AdaHedge": "experts",
    "Agnostic": "finite",
    "Alarm": "watch.alarm",
    "Audit": "task.audit",
    "BatchPerceptron": "sklearn.batch",
    "BatchRun": "batch",
    "AveragedPerceptron": "sklearn",
    "Blend": "task.blend",
    "Blender": "experts",
    "CoinBetting": "sklearn",
    "CoinBettingRegressor": "sklearn",
    "Comparison": "task.compare",
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
    "DiagonalNewton": "sklearn",
    "KernelPerceptron": "sklearn",
    "LogisticNewton": "sklearn",
    "LOSSES": "loss",
    "LedgerReceipt": "proof.ledger",
    "Loss": "loss",
    "LinearGame": "adversary",
    "MarkovLabels": "sklearn",
    "MeanRun": "mean",
    "ModelFileError": "errors",
    "MulticlassPerceptron": "sklearn",
    "NaiveBayes": "sklearn",
    "NearestClasses": "sklearn",
    "NearestNeighbours": "sklearn",
    "NearestNumbers": "sklearn",
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
    "Passed": "task.audit",
    "Pending": "late.pending",
    "Perceptron": "sklearn",
    "PlainPythonWarning": "errors",
    "Receipt": "proof.receipt",
    "ReceiptError": "errors",
    "Run": "run",
    "SOA": "finite",
    "Separation": "task.separate",
    "Selection": "task.select",
    "ScaleFree": "sklearn",
    "ScaleFreeRegressor": "sklearn",
    "SecondOrderPerceptron": "sklearn",
    "Persistence": "sklearn",
    "RidgeForgetting": "sklearn",
    "MarkovClasses": "sklearn",
    "SoftmaxNewton": "sklearn",
    "SoftmaxAdaGrad": "sklearn",
    "SettingError": "errors",
    "StronglyConvexGradientDescent": "sklearn",
    "StronglyConvexGradientDescentRegressor": "sklearn",
    "TreeAdversary": "finite",
    "VovkAzouryWarmuth": "sklearn",
    "VotedPerceptron": "sklearn",
    "WeightedMajority": "experts",
    "Windows": "watch.windows",
    "audit": "task.audit",
    "audit_pass": "task.audit",
    "blend": "task.blend",
    "certify": "proof.certify",
    "compare": "task.compare",
    "custom_kernel": "kernel",
    "custom_loss": "loss",
    "dimensions": "finite",
    "duel": "finite",
    "family": "finite",
    "follow": "live",
    "linear_game": "adversary",
    "load": "sklearn",
    "load_class": "finite",
    "mean_estimation": "mean",
    "merge": "proof.ledger",
    "play": "protocol",
    "play_late": "late.playing",
    "play_finite": "finite",
    "play_shards": "cluster.learning",
    "plot": "picture.plotting",
    "read": "stream",
    "report": "reporting",
    "separate": "task.separate",
    "select": "task.select",
    "verify": "proof.verify",
}

__all__ = [
    "LOSSES",
    "SOA",
    "AdaGrad",
    "AdaGradRegressor",
    "AdaHedge",
    "Agnostic",
    "Alarm",
    "Audit",
    "Auto",
    "AutoRegressor",
    "AveragedPerceptron",
    "BatchPerceptron",
    "BatchRun",
    "Blend",
    "Blender",
    "CoinBetting",
    "CoinBettingRegressor",
    "Comparison",
    "Consistent",
    "DiagonalNewton",
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
    "LedgerReceipt",
    "LinearGame",
    "LogisticNewton",
    "Loss",
    "MarkovClasses",
    "MarkovLabels",
    "MeanRun",
    "ModelFileError",
    "MulticlassPerceptron",
    "NaiveBayes",
    "NearestClasses",
    "NearestNeighbours",
    "NearestNumbers",
    "NoregretError",
    "OnlineGradientDescent",
    "OnlineGradientDescentRegressor",
    "OrderWarning",
    "Passed",
    "PassiveAggressive",
    "PassiveAggressiveI",
    "PassiveAggressiveII",
    "PassiveAggressiveIIRegressor",
    "PassiveAggressiveIRegressor",
    "PassiveAggressiveRegressor",
    "Pending",
    "Perceptron",
    "Persistence",
    "PlainPythonWarning",
    "Receipt",
    "ReceiptError",
    "RidgeForgetting",
    "Run",
    "ScaleFree",
    "ScaleFreeRegressor",
    "SecondOrderPerceptron",
    "Selection",
    "Separation",
    "SettingError",
    "SoftmaxAdaGrad",
    "SoftmaxNewton",
    "StronglyConvexGradientDescent",
    "StronglyConvexGradientDescentRegressor",
    "TreeAdversary",
    "VotedPerceptron",
    "VovkAzouryWarmuth",
    "WeightedMajority",
    "Windows",
    "__version__",
    "audit",
    "audit_pass",
    "blend",
    "certify",
    "compare",
    "custom_kernel",
    "custom_loss",
    "dimensions",
    "duel",
    "family",
    "follow",
    "linear_game",
    "load",
    "load_class",
    "mean_estimation",
    "merge",
    "play",
    "play_finite",
    "play_late",
    "play_shards",
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
