"""Finite hypothesis classes: their dimensions with witnesses, the learners for them, and the games against them."""

from __future__ import annotations

from noregret.finite.coins import CoinAdversary, CoinGames, coin_games
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
from noregret.finite.exercises import EXERCISES, Exercise, WorstCase, exercise, play_exercise, worst_case
from noregret.finite.families import FAMILIES, family, load_class, read_class
from noregret.finite.hypotheses import HypothesisClass
from noregret.finite.learners import (
    LEARNERS,
    SOA,
    Agnostic,
    Consistent,
    Expert,
    Halving,
    VersionSpaceLearner,
    expert_count,
)
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
    "EXERCISES",
    "FAMILIES",
    "LEARNERS",
    "SOA",
    "Adversary",
    "Agnostic",
    "Bounds",
    "CoinAdversary",
    "CoinGames",
    "Consistent",
    "CoverAdversary",
    "Depths",
    "Dimensions",
    "Exercise",
    "Expert",
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
    "WorstCase",
    "coin_games",
    "deepest_tree",
    "dimensions",
    "duel",
    "exercise",
    "expert_count",
    "family",
    "load_class",
    "mistake_tree",
    "play_exercise",
    "play_finite",
    "read_class",
    "shatters_set",
    "shatters_tree",
    "singleton_rounds",
    "worst_case",
]
