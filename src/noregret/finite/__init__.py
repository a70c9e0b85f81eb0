"""Finite hypothesis classes: their dimensions with witnesses, the learners for them, and the games against them."""

from __future__ import annotations

from noregret.finite.dimension import (
    Bounds,
    Depths,
    Dimensions,
    MistakeTree,
    deepest_tree,
    dimensions,
    mistake_tree,
    shatters_set,
    shatters_tree,
)
from noregret.finite.families import FAMILIES, family, load_class, read_class
from noregret.finite.hypotheses import HypothesisClass
from noregret.finite.learners import LEARNERS, SOA, Agnostic, Consistent, Halving, VersionSpaceLearner, expert_count
from noregret.finite.playing import (
    Adversary,
    CoverAdversary,
    FiniteRun,
    HalfspaceAdversary,
    Player,
    Round,
    ThresholdAdversary,
    TreeAdversary,
    duel,
    play_finite,
    singleton_rounds,
)

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
