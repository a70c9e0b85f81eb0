"""The learners of a finite class: Consistent, Halving, SOA; the experts of the agnostic bound, one or all of them.

Each keeps the version space, the hypotheses that agree with all labels so far, as a bitset.

`predict(point)` changes nothing; `learn(point, label)` takes away the hypotheses that said otherwise.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from typing import Any, ClassVar, Self

import numpy as np

from noregret import arithmetic
from noregret.errors import InputError, SettingError, spelled
from noregret.finite.dimension import Depths
from noregret.finite.hypotheses import HypothesisClass

Choice = Callable[[list[int]], int]


class VersionSpaceLearner(ABC):
    """What the learners share: the version space and its update."""

    name: ClassVar[str]

    def __init__(self, hypotheses: HypothesisClass) -> None:
        if not len(hypotheses):
            raise SettingError(f"{type(self).__name__}: the class must not be empty")
        self.hypotheses = hypotheses
        self.version_space = hypotheses.everything
        self.rounds = 0

    @property
    def size(self) -> int:
        """How many hypotheses are left."""
        return self.version_space.bit_count()

    def split(self, point: Hashable) -> tuple[int, int]:
        """The version space cut by what its hypotheses say at a point: (those with 0, those with 1)."""
        one = self.hypotheses.agreeing(self.version_space, point, 1)
        return self.version_space & ~one, one

    def turn_to(self, version_space: int) -> None:
        """Go on as one who has learned down to this version space, which must not be empty."""
        self.version_space = version_space

    @abstractmethod
    def predict(self, point: Hashable) -> int:
        """The label 0 or 1 predicted for a point."""

    def learn(self, point: Hashable, label: int) -> None:
        """Keep the hypotheses that give the point this label; there must be one."""
        left = self.split(point)[checked_label(label)]
        if not left:
            raise InputError(
                f"round {self.rounds + 1}: no hypothesis that agrees with all earlier labels gives point {point!r}"
                f" the label {int(label)} (SOA with agnostic=True learns from such labels too)"
            )
        self.version_space = left
        self.rounds += 1


class Consistent(VersionSpaceLearner):
    """Predicts with one hypothesis that agrees with all labels so far; at most |H| − 1 mistakes (Corollary 21.2).

    `choose` selects it: "first", "last", "random" (drawn with `rng` after every round that removed hypotheses), or a
    function from the list of remaining hypotheses to one of them.
    """

    name = "consistent"

    def __init__(
        self, hypotheses: HypothesisClass, choose: str | Choice = "first", rng: np.random.Generator | None = None
    ) -> None:
        super().__init__(hypotheses)
        if not callable(choose) and choose not in ("first", "last", "random"):
            raise SettingError(f"Consistent: choose must be first, last, random or a function, got {choose!r}")
        if (choose == "random") is not (rng is not None):
            raise SettingError("Consistent: choose='random' and rng must be used together")
        self._choose, self._rng = choose, rng
        self.chosen = self._chosen()

    def _chosen(self) -> int:
        if self._choose == "first":
            return (self.version_space & -self.version_space).bit_length() - 1
        if self._choose == "last":
            return self.version_space.bit_length() - 1
        left = members(self.version_space)
        if self._rng is not None:
            return left[int(self._rng.integers(len(left)))]
        assert callable(self._choose)
        chosen = int(self._choose(left))
        if not 0 <= chosen < len(self.hypotheses) or not self.version_space >> chosen & 1:
            raise SettingError(f"Consistent: choose must return one of the hypotheses left, got {chosen}")
        return chosen

    def predict(self, point: Hashable) -> int:
        return self.hypotheses.label(self.chosen, point)

    def turn_to(self, version_space: int) -> None:
        super().turn_to(version_space)
        self.chosen = self._chosen()

    def learn(self, point: Hashable, label: int) -> None:
        before = self.version_space
        super().learn(point, label)
        if self.version_space != before:
            self.chosen = self._chosen()


class _Tying(VersionSpaceLearner):
    """A learner that weighs the two parts of the version space; `tie` is its prediction where they weigh the same."""

    def __init__(self, hypotheses: HypothesisClass, tie: int = 1) -> None:
        super().__init__(hypotheses)
        if tie not in (0, 1):
            raise SettingError(f"{type(self).__name__}: tie must be 0 or 1, got {tie!r}")
        self.tie = int(tie)

    def predict(self, point: Hashable) -> int:
        zero, one = self.weights(point)
        return self.tie if zero == one else int(one > zero)

    @abstractmethod
    def weights(self, point: Hashable) -> tuple[int, int]:
        """What speaks for 0 and for 1 at a point."""


class Halving(_Tying):
    """Predicts with the majority of the version space; at most log2 |H| mistakes (Theorem 21.3)."""

    name = "halving"

    def weights(self, point: Hashable) -> tuple[int, int]:
        zero, one = self.split(point)
        return zero.bit_count(), one.bit_count()


class SOA(_Tying):
    """The standard optimal algorithm: predicts the label whose part has the larger Littlestone dimension.

    It makes exactly Ldim mistakes against the best adversary, and no deterministic learner makes fewer (Lemma 21.7).
    `depths` lets several learners of one class share what they know about its version spaces.

    Labels that no hypothesis explains are an error. With `agnostic=True` and the number of `rounds`, any labels are
    allowed: the result is then an `Agnostic`, which follows experts that play SOA with the same tie rule.
    """

    name = "soa"

    def __new__(
        cls,
        hypotheses: HypothesisClass,
        tie: int = 1,
        depths: Depths | None = None,
        *,
        agnostic: bool = False,
        rounds: int | None = None,
    ) -> Any:
        if agnostic is not (rounds is not None):
            raise SettingError("SOA: agnostic=True and rounds, the number of rounds, must be used together")
        if not agnostic:
            return super().__new__(cls)

        assert rounds is not None
        return Agnostic(hypotheses, rounds, tie, depths)

    def __init__(
        self,
        hypotheses: HypothesisClass,
        tie: int = 1,
        depths: Depths | None = None,
        *,
        agnostic: bool = False,
        rounds: int | None = None,
    ) -> None:
        super().__init__(hypotheses, tie)
        self.depths = depths or Depths(hypotheses)

    def weights(self, point: Hashable) -> tuple[int, int]:
        """(Ldim of the part with 0, Ldim of the part with 1); −1 where a part is empty."""
        zero, one = self.split(point)
        return self.depths.dimension(zero), self.depths.dimension(one)


LEARNERS: dict[str, type[VersionSpaceLearner]] = {one.name: one for one in (Consistent, Halving, SOA)}


def members(hypotheses: int) -> list[int]:
    """The numbers in a bitset, ascending."""
    return [i for i in range(hypotheses.bit_length()) if hypotheses >> i & 1]


def checked_label(label: int) -> int:
    if label not in (0, 1):
        raise InputError(f"a label must be 0 or 1, got {label!r}")
    return int(label)


def soa_label(depths: Depths, version_space: int, point: Hashable, tie: int) -> int:
    """What SOA predicts from a version space; `tie` where both parts have the same dimension, or the space is empty."""
    agreeing = depths.hypotheses.agreeing
    zero, one = (depths.dimension(agreeing(version_space, point, label)) for label in (0, 1))
    return tie if zero == one else int(one > zero)


class Expert:
    """Expert(i₁ … i_L): plays SOA, but predicts the opposite in the rounds `turns`, and believes itself, not labels.

    A label never reaches it, so any labels will do. For every hypothesis there is an expert with at most Ldim turns
    that predicts as the hypothesis does (Lemma 21.13); `like` finds it.

    >>> from noregret.finite import family
    >>> one = Expert(family("thresholds:7"), turns=[2])
    >>> [one.predict(3), one.learn(3, 0), one.predict(5), one.learn(5, 0), one.predict(4)]
    [1, None, 0, None, 1]
    """

    name = "expert"

    def __init__(
        self, hypotheses: HypothesisClass, turns: Iterable[int] = (), tie: int = 1, depths: Depths | None = None
    ) -> None:
        if not len(hypotheses):
            raise SettingError("Expert: the class must not be empty")
        if tie not in (0, 1):
            raise SettingError(f"Expert: tie must be 0 or 1, got {tie!r}")
        self.hypotheses, self.tie = hypotheses, int(tie)
        self.depths = depths or Depths(hypotheses)
        self.turns = tuple(sorted(turns))
        counted = all(isinstance(one, int) and one >= 1 for one in self.turns)
        if not counted or len(set(self.turns)) < len(self.turns):
            raise SettingError(f"{spelled('turns')} must be different rounds, counted from 1, got {list(self.turns)}")
        dimension = self.depths.dimension(hypotheses.everything)
        if len(self.turns) > dimension:
            raise SettingError(
                f"{spelled('turns')} must be at most as many as the Littlestone dimension, {dimension}, got"
                f" {len(self.turns)}"
            )
        self.version_space = hypotheses.everything
        self.rounds = 0

    @classmethod
    def like(
        cls,
        hypotheses: HypothesisClass,
        hypothesis: int,
        points: Iterable[Hashable],
        tie: int = 1,
        depths: Depths | None = None,
    ) -> Self:
        """The expert that predicts as a hypothesis does on these points: its turns are SOA's mistakes on that one.

        >>> from noregret.finite import family
        >>> Expert.like(family("thresholds:7"), 0, [3, 1, 0, 2]).turns
        (1, 2, 3)
        """
        soa, turns = SOA(hypotheses, tie, depths), []
        for number, point in enumerate(points, 1):
            label = hypotheses.label(hypothesis, point)
            if soa.predict(point) != label:
                turns.append(number)
            soa.learn(point, label)
        return cls(hypotheses, turns, tie, soa.depths)

    @property
    def size(self) -> int:
        """How many hypotheses agree with all that it predicted."""
        return self.version_space.bit_count()

    def predict(self, point: Hashable) -> int:
        """SOA's label, or in one of its turns the other one."""
        return soa_label(self.depths, self.version_space, point, self.tie) ^ (self.rounds + 1 in self.turns)

    def learn(self, point: Hashable, label: int) -> None:
        """Keep the hypotheses that agree with its own prediction; the label does not matter."""
        checked_label(label)
        self.version_space = self.hypotheses.agreeing(self.version_space, point, self.predict(point))
        self.rounds += 1


State = tuple[int, int]  # the version space of an expert, and how often it went against SOA so far


def expert_count(rounds: int, dimension: int) -> int:
    """d = Σ_{L ≤ Ldim} C(T, L), exactly.

    >>> expert_count(10, 2), expert_count(100, 2)
    (56, 5051)
    """
    return sum(math.comb(rounds, length) for length in range(min(dimension, rounds) + 1))


def _log_of_sum(a: float, b: float) -> float:
    """ln(eᵃ + eᵇ)."""
    return max(a, b) + arithmetic.log1p(arithmetic.exp(-abs(a - b)))


class Agnostic:
    """Weighted majority over the experts: expected regret at most √(2T ln d) over T rounds, whatever the labels.

    Experts with the same version space and the same number of deviations left behave alike from there on, so they form
    one state: its weight is the sum of theirs, and their number is a binomial sum. The d experts are never listed; a
    round costs two Littlestone dimensions per state. There are at most Σ_{L ≤ Ldim} C(t, L) states, and at most as many
    as pairs of a reachable version space and a number up to Ldim. Up to some ten thousand states, a round takes less
    than a second.
    """

    name = "agnostic"

    def __init__(self, hypotheses: HypothesisClass, rounds: int, tie: int = 1, depths: Depths | None = None) -> None:
        if not len(hypotheses):
            raise SettingError("Agnostic: the class must not be empty")
        if rounds < 1:
            raise SettingError(f"Agnostic: rounds must be at least 1, got {rounds}")
        if tie not in (0, 1):
            raise SettingError(f"Agnostic: tie must be 0 or 1, got {tie!r}")
        self.hypotheses, self.horizon, self.tie = hypotheses, int(rounds), int(tie)
        self.depths = depths or Depths(hypotheses)
        self.dimension = self.depths.dimension(hypotheses.everything)
        self.experts = expert_count(self.horizon, self.dimension)
        self.rate = math.sqrt(2.0 * arithmetic.log_of_whole(self.experts) / self.horizon)
        self.rounds = 0
        self._weights: dict[State, float] = {(hypotheses.everything, 0): 0.0}  # logarithms

    @property
    def states(self) -> int:
        """How many states stand for all the experts."""
        return len(self._weights)

    def predict(self, point: Hashable) -> float:
        """The probability with which 1 is predicted."""
        if self.rounds == self.horizon:
            rounds = "1 round, and it is" if self.horizon == 1 else f"{self.horizon} rounds, and they are"
            raise InputError(f"Agnostic: it was set up for {rounds} over")
        left = self.horizon - self.rounds - 1
        logs, says = [], []
        for (space, turns), weight in self._weights.items():
            label = soa_label(self.depths, space, point, self.tie)
            for turned in range(min(self.dimension - turns, 1) + 1):
                logs.append(weight + arithmetic.log_of_whole(expert_count(left, self.dimension - turns - turned)))
                says.append(label ^ turned)
        shares = arithmetic.exp(np.array(logs) - max(logs))
        return arithmetic.inner(shares, np.array(says)) / arithmetic.total(shares)

    def learn(self, point: Hashable, label: int) -> None:
        """Charge every expert for its prediction, and let it believe it."""
        label = checked_label(label)
        after: dict[State, float] = {}
        for (space, turns), weight in self._weights.items():
            said = soa_label(self.depths, space, point, self.tie)
            for turned in range(min(self.dimension - turns, 1) + 1):
                own = said ^ turned
                state = (self.hypotheses.agreeing(space, point, own), turns + turned)
                charged = weight - self.rate * (own != label)
                after[state] = _log_of_sum(after[state], charged) if state in after else charged
        top = max(after.values())
        self._weights = {state: weight - top for state, weight in after.items()}
        self.rounds += 1
