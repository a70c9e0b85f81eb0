"""The one loop of all experts: settings that never change, state in named arrays, rounds through one loop.

A rule says how weights are made; `Engine` plays it on plain costs or on forecasts. One round and a million run through
the same machine code, so that one at a time = any split = one block, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import RULE_ADAPTIVE as ADAPTIVE
from noregret._native import RULE_ANYTIME as ANYTIME
from noregret._native import RULE_CONSTANT as CONSTANT
from noregret._native import RULE_DOUBLING as DOUBLING
from noregret._native import RULE_GRADIENT as GRADIENT
from noregret._native import RULE_SHARING as SHARING
from noregret._native import expert_forecast, expert_weights, play_experts
from noregret.experts.loss import COSTS, ExpertLoss

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
State = dict[str, NDArray[Any]]

__all__ = ["ADAPTIVE", "ANYTIME", "CONSTANT", "DOUBLING", "GRADIENT", "SHARING", "Engine", "Played", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of weights, its rate (in units of one over a cost) and, where weight is shared, how much of it.

    `least` is what an adaptive rule takes for a rounding as long as it has gathered nothing.
    """

    kind: int
    rate: float
    share: float = 0.0
    least: float = 0.0


@dataclass(frozen=True, slots=True)
class Played:
    """What some rounds gave: losses, forecasts, the weights and Δ of each round; `rounds` may be fewer than asked."""

    rounds: int
    losses: Vector
    forecasts: Matrix
    weights: Matrix
    gaps: Vector


def fresh(experts: int) -> State:
    """Before the first round."""
    return {
        "totals": np.zeros((2, experts)),
        "since": np.zeros((2, experts)),
        "shared": np.full(experts, 1.0 / experts),
        "clock": np.array([0, 1], dtype=np.int64),
        "sums": np.zeros((2, 2)),
    }


class Engine:
    """Experts under a rule, judged by a loss; `classes` is how many labels there are to vote on."""

    def __init__(self, experts: int, rule: Rule, loss: ExpertLoss = COSTS, classes: int = 1) -> None:
        self.experts = experts
        self.rule = rule
        self.judged_by = loss
        self.state = fresh(experts)
        self.classes = classes

    @property
    def rounds(self) -> int:
        return int(self.state["clock"][0])

    @property
    def total(self) -> float:
        """The blend's own loss."""
        return float(self.state["sums"][0, 0] + self.state["sums"][1, 0])

    @property
    def gap(self) -> float:
        """Δ, what an adaptive rule has gathered."""
        return float(self.state["sums"][0, 1] + self.state["sums"][1, 1])

    @property
    def totals(self) -> Vector:
        """Every expert's loss; one that sleeps suffers the blend's own."""
        return np.asarray(self.state["totals"][0] + self.state["totals"][1])

    def weights(self, awake: NDArray[np.bool_] | None = None) -> Vector:
        """The weights of the next round over the experts awake: none negative, their sum 1. Nothing changes."""
        found = np.empty(self.experts)
        there = np.ones(self.experts, dtype=np.bool_) if awake is None else np.asarray(awake, dtype=np.bool_)
        expert_weights(self.rule.kind, self.rule.rate, self._held, there, found)
        return found

    def forecast(self, given: Matrix) -> Vector:
        """The blend of what the experts say of the next round, given[i, k]. Nothing changes."""
        found = np.empty(given.shape[1])
        settings = (self.rule.kind, self.rule.rate, self.judged_by.code, self.classes)
        expert_forecast(*settings, self._held, np.ascontiguousarray(given), found)
        return found

    @property
    def _held(self) -> tuple[NDArray[Any], ...]:
        """The state as the core takes it."""
        return tuple(self.state[name] for name in ("totals", "since", "shared", "clock", "sums"))

    def play(self, given: NDArray[np.float64], outcomes: Vector, keep: bool = False) -> Played:
        """Play given[t, i, k]; with `keep` the weights of every round are kept."""
        rounds, experts, width = given.shape
        kept = np.zeros((rounds if keep else 0, experts))
        forecasts = np.zeros((rounds if not self.judged_by.costs else 0, width))
        losses = np.zeros(rounds)
        gaps = np.zeros(rounds if self.rule.kind in (ADAPTIVE, GRADIENT) else 0)
        said, outcomes = np.ascontiguousarray(given).reshape(rounds * experts, width), np.ascontiguousarray(outcomes)
        settings = (self.rule.kind, self.rule.rate, self.rule.share, self.rule.least, self.judged_by.code, self.classes)
        done = play_experts(*settings, self._held, said, outcomes, kept, forecasts, losses, gaps)
        return Played(done, losses, forecasts, kept, gaps)
