"""Games: adversaries that hear the prediction before they name the label, and learners that play against them.

An adversary shows a `point()`, None when it has no more, and gives an `answer(prediction)`: the label that the
prediction is not (1 against a probability below one half). Of a deterministic learner every answer is a mistake.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

from noregret.errors import InputError, SettingError
from noregret.finite.dimension import Depths, MistakeTree, mistake_tree, shatters_tree
from noregret.finite.hypotheses import HypothesisClass
from noregret.finite.learners import checked_label


class Adversary(Protocol):
    """The environment's side of a game."""

    def point(self) -> Hashable | None: ...

    def answer(self, prediction: float) -> int: ...


def contradiction(prediction: float) -> int:
    """The label against a prediction."""
    return 1 if prediction < 0.5 else 0


class TreeAdversary:
    """Walks down a shattered mistake tree, i ← 2i + y: it forces Ldim mistakes on any deterministic learner, and some
    hypothesis agrees with every label (Lemma 21.6).

    `beyond`: after the tree it continues with points on which the remaining hypotheses disagree, as long as there are
    any; against SOA there are none.
    """

    def __init__(self, hypotheses: HypothesisClass, tree: MistakeTree | None = None, beyond: bool = False) -> None:
        self.hypotheses = hypotheses
        self.tree = mistake_tree(Depths(hypotheses)) if tree is None else tree
        if not shatters_tree(hypotheses, self.tree):
            raise SettingError("TreeAdversary: the class must shatter the tree, so that some hypothesis agrees with it")
        self.beyond = beyond
        self.possible = hypotheses.everything
        self.node: int | None = 1 if self.tree.depth else None

    def point(self) -> Hashable | None:
        """The point of this round; None when the game is over."""
        if self.node is not None:
            return self.tree.point(self.node)
        return self._disputed() if self.beyond else None

    def _disputed(self) -> Hashable | None:
        for point, column in zip(self.hypotheses.points, self.hypotheses.columns, strict=True):
            if self.possible & column and self.possible & ~column:
                return point
        return None

    def answer(self, prediction: float) -> int:
        """The label of this round, against the prediction; the game goes on to the next node."""
        point = self.point()
        if point is None:
            raise SettingError("TreeAdversary: the game is over")
        label = contradiction(prediction)
        self.possible = self.hypotheses.agreeing(self.possible, point, label)
        if self.node is not None:
            below = 2 * self.node + label
            self.node = below if below <= len(self.tree.nodes) else None
        return label


class CoverAdversary:
    """Cover's game: one point, every label against the prediction. A deterministic learner errs in all T rounds, while
    the better one of the two constants errs in at most T/2."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.labels: list[int] = []

    def point(self) -> int | None:
        return 0 if len(self.labels) < self.rounds else None

    def answer(self, prediction: float) -> int:
        self.labels.append(contradiction(prediction))
        return self.labels[-1]

    @property
    def best_constant(self) -> int:
        """How often the better constant erred."""
        return min(sum(self.labels), len(self.labels) - sum(self.labels))


class ThresholdAdversary:
    """Thresholds 1[x < a], a in [0, 1]: their Littlestone dimension is infinite, and this tree is as deep as asked.

    The point is the middle of the interval where a may still lie; nothing is written down but its two ends, exactly.
    """

    def __init__(self, depth: int) -> None:
        self.left = depth
        self.low, self.high = Fraction(0), Fraction(1)

    def point(self) -> Hashable | None:
        return (self.low + self.high) / 2 if self.left else None

    def answer(self, prediction: float) -> int:
        label = contradiction(prediction)
        middle = (self.low + self.high) / 2
        self.low, self.high = (middle, self.high) if label else (self.low, middle)
        self.left -= 1
        return label

    @property
    def threshold(self) -> Fraction:
        """An a that agrees with every label: x < a for those with 1, a ≤ x for those with 0."""
        return self.high


class HalfspaceAdversary(ThresholdAdversary):
    """Homogeneous halfspaces 1[⟨w, x⟩ > 0] of the plane, as deep as asked: with w = (a, 1) and x = (1, −z) they are the
    thresholds 1[z < a]."""

    def point(self) -> Hashable | None:
        return (Fraction(1), -(self.low + self.high) / 2) if self.left else None

    @property
    def normal(self) -> tuple[Fraction, Fraction]:
        """A w that agrees with every label."""
        return self.threshold, Fraction(1)


def singleton_rounds(n: int) -> list[tuple[int, int]]:
    """Exercise 21.1: the singletons with the last one as target; Consistent that takes the first errs |H| − 1 times."""
    return [(i, int(i == n - 1)) for i in range(n)]


class Player(Protocol):
    """What can play: a prediction is 0 or 1, or the probability of 1."""

    def predict(self, point: Any) -> float: ...

    def learn(self, point: Any, label: int) -> None: ...


@dataclass(frozen=True)
class Round:
    """One round: the point, what was predicted, the label, the node of the adversary's tree, and what was left."""

    number: int
    point: Hashable
    prediction: float
    label: int
    node: int | None = None
    version_space: int | None = None  # its size after the round, of a learner that has one

    @property
    def loss(self) -> float:
        """|p − y|: 0 or 1 of a label, the probability of a mistake of a probability."""
        return abs(self.prediction - self.label)

    @property
    def mistake(self) -> bool:
        return self.prediction != self.label


@dataclass(frozen=True)
class FiniteRun:
    """A finished game."""

    learner: Player
    rounds: tuple[Round, ...]
    adversary: Adversary | None = None

    @property
    def mistakes(self) -> int:
        """Rounds with a prediction other than the label."""
        return sum(one.mistake for one in self.rounds)

    @property
    def loss(self) -> float:
        """Σ|p − y|: the mistakes, or the expected number of them."""
        return sum(one.loss for one in self.rounds)

    @property
    def version_spaces(self) -> list[int | None]:
        """The number of hypotheses left after each round."""
        return [one.version_space for one in self.rounds]

    @property
    def hypotheses(self) -> HypothesisClass | None:
        """The class that the learner learns."""
        found = getattr(self.learner, "hypotheses", None)
        return found if isinstance(found, HypothesisClass) else None

    @cached_property
    def realizable(self) -> bool | None:
        """Whether one hypothesis of the class gives every label of the run; None where no class is known."""
        best = self.best
        return None if best is None else best == 0

    @cached_property
    def best(self) -> int | None:
        """The number of mistakes of the best hypothesis of the class on these rounds."""
        known = self.hypotheses
        if known is None:
            return None
        places = [known.place(one.point) for one in self.rounds]
        labels = [one.label for one in self.rounds]
        return int((known.matrix[:, places] != labels).sum(axis=1).min()) if labels else 0


def play_finite(learner: Player, rounds: Iterable[tuple[Any, int]]) -> FiniteRun:
    """Play the given rounds, each a point and its label.

    >>> from noregret.finite import Halving, family
    >>> run = play_finite(Halving(family("thresholds:7")), [(3, 1), (5, 0), (4, 1)])
    >>> run.mistakes, run.version_spaces
    (1, [4, 2, 1])
    """
    played: list[Round] = []
    for number, (point, label) in enumerate(rounds, 1):
        prediction = _checked(learner.predict(point), number)
        learner.learn(point, label)
        played.append(Round(number, point, prediction, checked_label(label), None, _size(learner)))
    return FiniteRun(learner, tuple(played))


def duel(learner: Player, adversary: Adversary, rounds: int | None = None) -> FiniteRun:
    """Play against an adversary until it has no point left, for at most that number of rounds."""
    played: list[Round] = []
    while (rounds is None or len(played) < rounds) and (point := adversary.point()) is not None:
        node: int | None = getattr(adversary, "node", None)  # of an adversary that walks down a tree
        prediction = _checked(learner.predict(point), len(played) + 1)
        label = adversary.answer(prediction)
        learner.learn(point, label)
        played.append(Round(len(played) + 1, point, prediction, label, node, _size(learner)))
    return FiniteRun(learner, tuple(played), adversary)


def _checked(prediction: Any, number: int) -> float:
    """A prediction as a number in [0, 1], or a sentence."""
    try:
        value = math.nan if isinstance(prediction, str) else float(prediction)
    except (TypeError, ValueError):
        value = math.nan
    if not 0.0 <= value <= 1.0:
        raise InputError(f"round {number}: a prediction must be 0, 1 or the probability of 1, got {prediction!r}")
    return int(value) if value in (0.0, 1.0) else value


def _size(learner: Player) -> int | None:
    found = getattr(learner, "size", None)
    return found if isinstance(found, int) else None
