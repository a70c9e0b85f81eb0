"""The rounds of a finite game: predict, hear the label, learn; the labels given, or chosen by an adversary."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from noregret.errors import InputError
from noregret.finite.adversary import Adversary, TreeAdversary
from noregret.finite.hypotheses import HypothesisClass
from noregret.finite.learners import checked_label


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
        node = adversary.node if isinstance(adversary, TreeAdversary) else None
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
