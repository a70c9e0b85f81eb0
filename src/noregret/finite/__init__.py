"""Finite hypothesis classes: their dimensions with witnesses, the learners for them, and the games against them."""

from __future__ import annotations

from noregret.finite.adversary import (
    Adversary,
    CoverAdversary,
    HalfspaceAdversary,
    ThresholdAdversary,
    TreeAdversary,
    singleton_rounds,
)
from noregret.finite.agnostic import Agnostic, expert_count
from noregret.finite.dimension import Bounds, Dimensions, deepest_tree, dimensions, mistake_tree
from noregret.finite.families import FAMILIES, family
from noregret.finite.files import load_class, read_class
from noregret.finite.hypotheses import HypothesisClass
from noregret.finite.learners import LEARNERS, SOA, Consistent, Halving, VersionSpaceLearner
from noregret.finite.playing import FiniteRun, Player, Round, duel, play_finite
from noregret.finite.search import Depths
from noregret.finite.tree import MistakeTree, shatters_set, shatters_tree

__all__ = [
    "FAMILIES",
    "LEARNERS",
    "SOA",
    "Adversary",
    "Agnostic",
    "Bounds",
    "Consistent",
    "CoverAdversary",
    "Depths",
    "Dimensions",
    "FiniteRun",
    "HalfspaceAdversary",
    "Halving",
    "HypothesisClass",
    "MistakeTree",
    "Player",
    "Round",
    "ThresholdAdversary",
    "TreeAdversary",
    "VersionSpaceLearner",
    "deepest_tree",
    "dimensions",
    "duel",
    "expert_count",
    "family",
    "load_class",
    "mistake_tree",
    "play_finite",
    "read_class",
    "shatters_set",
    "shatters_tree",
    "singleton_rounds",
]
