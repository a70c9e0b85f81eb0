"""Following experts: Weighted Majority, Hedge, doubling, AdaHedge, Fixed-Share, and whom they are compared with."""

from noregret.experts.blender import Blender
from noregret.experts.combination import Combination, best_combination
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
from noregret.experts.switching import Switching, best_switching

__all__ = [
    "LEARNERS",
    "AdaHedge",
    "Blender",
    "Combination",
    "Contest",
    "Experts",
    "FixedShare",
    "Game",
    "Hedge",
    "HedgeDoubling",
    "Switching",
    "WeightedMajority",
    "best_combination",
    "best_switching",
    "load",
]
