"""Learners that follow experts: weights first, then the costs of all experts, round after round.

`weights()` is the distribution over the experts, `choose(rng)` draws from it, `learn(costs)` tells what each expert
cost and returns the expected cost, Σ weight·cost. A cost of NaN says that the expert sleeps: the weights are those of
the experts awake, and a sleeper suffers the expected cost.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noregret.errors import ModelFileError, SettingError
from noregret.experts import forecasts, rules
from noregret.experts.contest import Contest
from noregret.experts.engine import Engine, Rule
from noregret.experts.loss import COSTS
from noregret.interval import Interval

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Game:
    """A matrix of costs played: the expected cost and the weights of every round, and how the run compares."""

    losses: Vector
    weights: Matrix
    contest: Contest

    @property
    def best(self) -> int:
        return self.contest.best

    @property
    def loss(self) -> float:
        return 0.5 * (self.contest.loss.lo + self.contest.loss.hi)

    @property
    def regret(self) -> Interval:
        return self.contest.regret


class Experts:
    """What all of these learners do; a subclass names itself, checks its settings and gives its rule."""

    name: ClassVar[str]

    def __init__(self, rule: Rule, experts: int, range: tuple[float, float], **settings: Any) -> None:
        self.range = range
        self.settings: dict[str, Any] = {"experts": experts, **settings, "range": list(range)}
        self._engine = Engine(experts, rule)

    def __repr__(self) -> str:
        said = ", ".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{type(self).__name__}({said})"

    @property
    def experts(self) -> int:
        """How many experts there are."""
        return self._engine.experts

    @property
    def rounds(self) -> int:
        """The number of rounds played."""
        return self._engine.rounds

    @property
    def loss(self) -> float:
        """The sum of expected costs."""
        return self._engine.total

    @property
    def losses(self) -> Vector:
        """What each expert has cost; a sleeper suffers what the learner did."""
        return self._engine.totals

    @property
    def regret(self) -> float:
        """The learner's loss less that of the best expert."""
        return self.loss - float(self.losses.min())

    @property
    def gap(self) -> float:
        """Δ, the mixability gap that AdaHedge has gathered; 0 for the others."""
        return self._engine.gap

    @property
    def state(self) -> dict[str, NDArray[Any]]:
        """All that changes, by name."""
        return self._engine.state

    @property
    def rule(self) -> Rule:
        """The rule that makes the weights, with its numbers."""
        return self._engine.rule

    def weights(self, awake: ArrayLike | None = None) -> Vector:
        """The distribution over the experts (over those awake) in the next round."""
        there = None if awake is None else np.asarray(awake, dtype=np.bool_)
        if there is not None and (there.shape != (self.experts,) or not there.any()):
            raise SettingError(f"{self.name}: awake must have {self.experts} entries, at least one of them true")
        return self._engine.weights(there)

    predict = weights

    def choose(self, rng: np.random.Generator, awake: ArrayLike | None = None) -> int:
        """An expert drawn by weight; nothing but `rng` changes."""
        return int(rng.choice(self.experts, p=self.weights(awake)))

    def learn(self, costs: ArrayLike) -> float:
        """One round: the expected cost."""
        row = np.asarray(costs, dtype=np.float64)
        if row.shape != (self.experts,):
            raise SettingError(f"{self.name}: a round has {self.experts} costs, got {row.size}")
        return float(self._played(row[None, :], False)[0][0])

    def play(self, costs: ArrayLike, *, keep_weights: bool = True, switches: int | None = None) -> Game:
        """Play a matrix of costs, rounds × experts, from the first round on; `switches` asks for a comparator more."""
        if self.rounds:
            raise SettingError(
                f"{self.name}: play needs a new learner; this one has already learned {self.rounds} rounds"
            )
        matrix = np.ascontiguousarray(costs, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[1] != self.experts or not len(matrix):
            raise SettingError(
                f"{self.name}: costs must be a matrix of rounds × {self.experts} experts, got shape {matrix.shape}"
            )
        if switches is not None:
            rules.whole(self.name, "switches", switches, 0)
        own, weights = self._played(matrix, keep_weights)
        return Game(own, weights, self._contest(matrix, own, switches))

    def _played(self, costs: Matrix, keep: bool) -> tuple[Vector, Matrix]:
        self._check(costs)
        played = self._engine.play(costs[:, :, None], np.zeros(len(costs)), keep)
        return played.losses, played.weights

    def _check(self, costs: Matrix) -> None:
        lo, hi = self.range
        outside = ~((costs >= lo) & (costs <= hi) | np.isnan(costs))
        if outside.any():
            t, i = np.argwhere(outside)[0].tolist()
            round = self.rounds + t + 1
            raise SettingError(
                f"{self.name}: the cost of expert {i} in round {round} is {costs[t, i]:g}, outside [{lo:g}, {hi:g}]"
            )
        silent = np.isnan(costs).all(axis=1)
        if silent.any():
            raise SettingError(f"{self.name}: every expert sleeps in round {self.rounds + int(silent.argmax()) + 1}")

    def _contest(self, costs: Matrix, own: Vector, switches: int | None) -> Contest:
        return Contest(
            self.name,
            self.rule,
            COSTS,
            self.range,
            costs[:, :, None],
            np.zeros(len(costs)),
            own,
            np.zeros((len(costs), 1)),
            self.losses,
            self.gap,
            self.settings.get("rounds"),
            self.settings.get("rate"),
            self.settings.get("switches") if switches is None else switches,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write settings and state; `load` continues as if nothing had happened, bit for bit."""
        forecasts.save(path, self.name, self.settings, self.state)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The learner of a file."""
        stored, name = forecasts.load(path), os.fspath(path)
        if stored.kind != cls.name:
            raise ModelFileError(f"holds {stored.kind!r}, not {cls.name!r}", name)
        try:
            found = cls(**stored.settings)
        except (TypeError, SettingError) as error:
            raise ModelFileError(f"the settings in the experts file are invalid ({error})", name) from error
        found._engine.state = forecasts.state_of(stored, found.experts, name)
        return found


class WeightedMajority(Experts):
    """Weights ∝ exp(−η·loss so far) with η = √(2 ln N/T)/B for T rounds announced: regret ≤ B·√(2T ln N).

    Shalev-Shwartz & Ben-David, Theorem 21.11. Its assumption T > 2 ln N is not needed.

    >>> game = WeightedMajority(2, rounds=4).play([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> game.best, game.regret.hi < (2 * 4 * 0.6931471805599453) ** 0.5
    (0, True)
    """

    name = "weighted-majority"

    def __init__(self, experts: int, rounds: int, range: tuple[float, float] = (0.0, 1.0)) -> None:
        experts, rounds = rules.whole(self.name, "experts", experts, 1), rules.whole(self.name, "rounds", rounds, 1)
        lo, hi = rules.ends(self.name, range)
        super().__init__(rules.weighted_majority(experts, hi - lo, rounds), experts, (lo, hi), rounds=rounds)


class Hedge(Experts):
    """Weights ∝ exp(−η_t·loss so far), η_t = c·√(ln N/t)/B, for any number of rounds.

    The weights are recomputed from the losses so far in every round; multiplying them by e^{−η_t·cost} round after
    round is another algorithm, which has no such bound. `rate` is `one` (c = 1: regret ≤ 1.25·B√(T ln N)), `two` (c =
    2: B√(T ln N)) or `root-eight` (c = √8: B(2√(T ln N/2) + √(ln N/8))).
    """

    name = "hedge"

    def __init__(self, experts: int, rate: str = "two", range: tuple[float, float] = (0.0, 1.0)) -> None:
        experts = rules.whole(self.name, "experts", experts, 1)
        lo, hi = rules.ends(self.name, range)
        if rate not in rules.ANYTIME_RATES:
            raise SettingError(f"hedge: rate must be one of {', '.join(rules.ANYTIME_RATES)}, got {rate!r}")
        super().__init__(rules.hedge(experts, hi - lo, rate), experts, (lo, hi), rate=rate)


class HedgeDoubling(Experts):
    """Weighted Majority for 1, 2, 4, 8, … rounds, restarted each time: regret ≤ √2/(√2 − 1)·B√(2T ln N)."""

    name = "hedge-doubling"

    def __init__(self, experts: int, range: tuple[float, float] = (0.0, 1.0)) -> None:
        experts = rules.whole(self.name, "experts", experts, 1)
        lo, hi = rules.ends(self.name, range)
        super().__init__(rules.doubling(experts, hi - lo), experts, (lo, hi))


class AdaHedge(Experts):
    """Weights ∝ exp(−η_t·loss so far), η_t = ln N/Δ_{t−1}, Δ the mixability gap so far: regret ≤ 2Δ_T.

    While Δ = 0 the weight is spread evenly over the leaders, and Δ leaves 0 only by more than a rounding of the largest
    cost that the range allows. The weights use the range for nothing else.
    """

    name = "adahedge"

    def __init__(self, experts: int, range: tuple[float, float] = (0.0, 1.0)) -> None:
        experts = rules.whole(self.name, "experts", experts, 1)
        lo, hi = rules.ends(self.name, range)
        super().__init__(rules.adahedge(experts, lo, hi), experts, (lo, hi))


class FixedShare(Experts):
    """Weights p ← (1 − α)·(p·e^{−η·cost}, normalised) + α/N: regret against every sequence of at most m switches.

    `rounds` T and `switches` m give α = m/(T − 1) and the η that minimises the bound.
    """

    name = "fixed-share"

    def __init__(self, experts: int, rounds: int, switches: int = 1, range: tuple[float, float] = (0.0, 1.0)) -> None:
        experts, rounds = rules.whole(self.name, "experts", experts, 1), rules.whole(self.name, "rounds", rounds, 1)
        switches = rules.whole(self.name, "switches", switches, 0)
        lo, hi = rules.ends(self.name, range)
        rule = rules.fixed_share(experts, hi - lo, rounds, switches)
        super().__init__(rule, experts, (lo, hi), rounds=rounds, switches=switches)


LEARNERS: dict[str, type[Experts]] = {
    one.name: one for one in (WeightedMajority, Hedge, HedgeDoubling, AdaHedge, FixedShare)
}


def load(path: str | os.PathLike[str]) -> Experts:
    """The learner of a file, whichever it is."""
    kind = forecasts.load(path).kind
    if kind not in LEARNERS:
        raise ModelFileError(f"holds {kind!r}, which is not a learner of plain costs", os.fspath(path))
    return LEARNERS[kind].load(path)
