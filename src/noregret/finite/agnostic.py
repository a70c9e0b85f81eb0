"""Learning a finite class from any labels: exponential weights over the experts of Theorem 21.10.

Expert(i₁ … i_L) plays SOA, predicts against it in the rounds i₁ < … < i_L, and believes its own predictions. With
L ≤ Ldim there are d = Σ_{L ≤ Ldim} C(T, L) experts, and every hypothesis of the class is one of them on any T points
(Lemma 21.13; its proof needs the same tie rule in SOA and in the experts, which the print has not).
"""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np

from noregret import arithmetic
from noregret.errors import InputError, SettingError
from noregret.finite.hypotheses import HypothesisClass
from noregret.finite.learners import checked_label
from noregret.finite.search import Depths

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
            label = self._soa(space, point)
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
            said = self._soa(space, point)
            for turned in range(min(self.dimension - turns, 1) + 1):
                own = said ^ turned
                state = (self.hypotheses.agreeing(space, point, own), turns + turned)
                charged = weight - self.rate * (own != label)
                after[state] = _log_of_sum(after[state], charged) if state in after else charged
        top = max(after.values())
        self._weights = {state: weight - top for state, weight in after.items()}
        self.rounds += 1

    def _soa(self, space: int, point: Hashable) -> int:
        """What SOA predicts from a version space, which a turn may have left empty."""
        zero, one = (self.depths.dimension(self.hypotheses.agreeing(space, point, label)) for label in (0, 1))
        return self.tie if zero == one else int(one > zero)
