"""Following experts: Weighted Majority, Hedge, doubling, AdaHedge, Fixed-Share, and whom they are compared with."""

from noregret.experts.blender import Blender
from noregret.experts.contest import Contest
from noregret.experts.learner import (
    LEARNERS,
    AdaHedge,
    Experts,
    FixedShare,
    Game,
    Hedge,
    HedgeDoubling,
    WeightedMajority,
    load,
)
from noregret.experts.rules import Switching, best_switching

__all__ = [
    "LEARNERS",
    "AdaHedge",
    "Blender",
    "Contest",
    "Experts",
    "FixedShare",
    "Game",
    "Hedge",
    "HedgeDoubling",
    "Switching",
    "WeightedMajority",
    "best_switching",
    "load",
]
