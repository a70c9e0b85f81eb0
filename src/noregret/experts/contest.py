"""A run of experts, and facts of it: each computed when it is asked for, from what was said and lost, rounded outward.

Regret against expert i is counted over the rounds in which i was awake: Σ (own loss − loss of i). The best expert is
the one against whom it is largest; without sleepers that is the one with the least loss. Maker and verifier of a
receipt evaluate theorems on contests that each has played for itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.experts.engine import GRADIENT, Rule
from noregret.experts.loss import EPS, Averaged, ExpertLoss, Numbers
from noregret.experts.rules import Switching, best_switching
from noregret.interval import Interval, down, largest, total, up

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
NEAR = 1e-12  # of running sums: experts this near to the best are looked at without rounding too
ROUNDING = 2.0**-48
LARGEST = 1e300  # a probability of 0 costs an infinity; this is avoided just as well, and can be added


@dataclass(frozen=True)
class Contest:
    """One run: values[t, i, k] is what expert i said (NaN asleep), `own` and `forecasts` are the run's."""

    learner: str
    rule: Rule
    judged_by: ExpertLoss
    range: tuple[float, float]  # declared: of forecasts and outcomes, or of costs
    values: NDArray[np.float64]
    outcomes: Vector
    own: Vector
    forecasts: Matrix
    totals: Vector  # running sums of the experts' losses, a sleeper suffering the run's own
    gap: float = 0.0  # Δ of AdaHedge
    horizon: int | None = None  # T, if it was announced
    rate_name: str | None = None  # which of Hedge's rates
    switches: int | None = None  # as many as the best sequence may have, if one is asked for
    mean: tuple[Vector, Vector] | None = None  # weights of the best fixed mean, and the slopes that prove its loss

    @property
    def rounds(self) -> int:
        return len(self.values)

    @property
    def experts(self) -> int:
        return int(self.values.shape[1])

    @property
    def cost_range(self) -> tuple[float, float]:
        """Between which two numbers every cost lies."""
        return self.judged_by.cost_range(*self.range)

    @property
    def width(self) -> float:
        """B, that of the costs."""
        return self.cost_range[1] - self.cost_range[0]

    @property
    def coin(self) -> bool:
        """Whether an expert is drawn, so that the loss is an expected one."""
        return self.judged_by.drawn

    @property
    def against_mean(self) -> bool:
        """Whether it competes with the best fixed mean of the experts, not with the best of them."""
        return self.rule.kind == GRADIENT

    @property
    def spare(self) -> float:
        """What rounding may add to the regret of exact weights and means: T·(N + 16)·2⁻⁴⁸ of the largest size."""
        judge = self.judged_by
        size = judge.rounded_size(*self.range)
        if self.against_mean and isinstance(judge, Numbers):
            size = judge.linear_size(*self.range)
        return self.rounds * (self.experts + 16) * ROUNDING * size

    @property
    def ceiling(self) -> float:
        """No regret is larger than the run's own loss above the least that costs can be."""
        return (self.loss - Interval.of(self.cost_range[0]) * float(self.rounds)).hi

    @cached_property
    def inside(self) -> bool:
        """Whether forecasts, costs and outcomes lie in the declared range."""
        (lo, hi), y, outcomes = self.range, self.outcomes, np.arange(max(self.values.shape[2], 2))
        if self.judged_by.labels:
            return True
        if self.judged_by.numbers and not ((y >= lo) & (y <= hi)).all():
            return False
        if self.judged_by.chances and not np.isin(y, outcomes).all():
            return False
        return not ((self.values < lo).any() or (self.values > hi).any())  # of NaN, asleep, neither is true

    @cached_property
    def awake(self) -> NDArray[np.bool_]:
        """Who gave a forecast in which round."""
        return np.asarray(~np.isnan(self.values[:, :, 0]))

    @cached_property
    def costs(self) -> Matrix:
        """The loss of each expert in each round; a sleeper suffers the run's own."""
        columns = [self.judged_by.values(self.values[:, i], self.outcomes) for i in range(self.experts)]
        return np.where(self.awake, np.column_stack(columns), self.own[:, None])

    @cached_property
    def loss(self) -> Interval:
        """The run's own loss."""
        return summed(self.own, self._own_slack(self.own))

    def loss_of(self, i: int) -> Interval:
        """What expert i lost while awake."""
        cost = self.costs[self.awake[:, i], i]
        return summed(cost, self._slack(cost))

    def regret_against(self, i: int) -> Interval:
        """Σ (own loss − loss of expert i) over the rounds in which i was awake."""
        if self.experts == 1:
            return Interval.of(0.0)  # it is the run
        own, cost, slack = self._beside(i)
        return summed(np.concatenate([own, -cost]) if not slack.any() else own - cost, slack)

    @cached_property
    def _best(self) -> tuple[int, Interval]:
        """(who, regret) of the best expert: those who cannot be it, by their running sums, are not looked at."""
        if self.experts == 1:
            return 0, Interval.of(0.0)
        slack = np.array([arithmetic.total(self._beside(i)[2]) for i in range(self.experts)])
        slack = 2.0 * slack + NEAR * np.abs(self.totals)
        with np.errstate(invalid="ignore"):  # a loss may be infinite: that expert is not the best
            near = np.flatnonzero(self.totals - slack <= np.min(self.totals + slack)).tolist()
        near.sort(key=lambda i: (self.totals[i], i))
        found = [self.regret_against(i) for i in near]
        return near[int(np.argmax([one.hi for one in found]))], largest(*found)

    @property
    def best(self) -> int:
        """The expert against whom the regret is largest."""
        return self._best[0]

    @property
    def regret(self) -> Interval:
        """Against the best expert."""
        return self._best[1]

    # -- against sequences and means ---------------------------------------------------------------------------------

    @cached_property
    def switching(self) -> Switching | None:
        """The best sequence of experts with as many switches as were asked for."""
        return None if self.switches is None else best_switching(np.minimum(self.costs, LARGEST), self.switches)

    @cached_property
    def switching_loss(self) -> Interval | None:
        """What the best sequence loses.

        What a loss may be off by grows with it, and slower than itself: a sequence with a larger sum of rounded losses
        has no smaller lower end than this one. Of costs and labels only a sleeper's can be off.
        """
        if self.switching is None:
            return None
        taken = self.costs[np.arange(self.rounds), self.switching.path()]
        slack = self._own_slack(taken)
        if self.coin:
            slack = np.where(self.awake.all(axis=1), 0.0, self._own_slack(self.own))
        return summed(taken, slack)

    @property
    def switching_regret(self) -> Interval | None:
        return None if self.switching_loss is None else self.loss - self.switching_loss

    @cached_property
    def said(self) -> Matrix:
        """The forecasts of the experts where each is a number; a sleeper says what the run said."""
        return np.where(self.awake, self.values[:, :, 0], self.forecasts[:, :1])

    @cached_property
    def mean_loss(self) -> Interval | None:
        """The loss of the best fixed mean: between what the weights lose and what the slopes prove."""
        judge = self.judged_by
        if self.mean is None or not isinstance(judge, Averaged):
            return None
        weights, slopes = self.mean
        lower = judge.proved_of_means(self.said, self.outcomes, slopes)
        return Interval(lower, judge.lost_by_mean(self.said, self.outcomes, weights))

    @property
    def mean_regret(self) -> Interval | None:
        """Against the best fixed mean of the experts."""
        if self.mean_loss is None or self.experts == 1:
            return None if self.mean_loss is None else Interval.of(0.0)
        return self.loss - self.mean_loss

    @cached_property
    def _linearised(self) -> Matrix:
        """slope(p)·(p − x) of every round and expert."""
        assert isinstance(self.judged_by, Numbers)
        return -self.judged_by.linearised(self.values[:, :, 0], self.forecasts[:, 0], self.outcomes)

    @cached_property
    def linear(self) -> Interval:
        """The largest linearised regret against any expert, never below the regret against any mean of them."""
        if self.experts == 1:
            return Interval.of(0.0)
        columns = self._linearised.T
        return largest(*(summed(terms, 4.0 * EPS * np.abs(terms)) for terms in columns))

    @cached_property
    def spreads(self) -> Vector:
        """How far apart the linearised losses of each round lie."""
        return np.asarray(self._linearised.max(axis=1) - self._linearised.min(axis=1))

    # -- rounding ----------------------------------------------------------------------------------------------------

    def _own_slack(self, value: Vector) -> Vector:
        """How far losses of the run's own may be off."""
        below = max(-self.cost_range[0], 0.0)
        return self.judged_by.own_slack(value, self.experts, below, self.values.shape[2])

    def _slack(self, value: Vector) -> Vector:
        """How far losses of experts may be off."""
        return self.judged_by.slack(value, self.values.shape[2])

    def _beside(self, i: int) -> tuple[Vector, Vector, Vector]:
        """Own losses and those of expert i while it was awake, and how far each difference may be off."""
        there = self.awake[:, i]
        own, cost = self.own[there], self.costs[there, i]
        slack = self._own_slack(own) + self._slack(cost)
        return own, cost, slack + EPS * np.abs(own - cost) if slack.any() else slack


def summed(values: Vector, slack: Vector) -> Interval:
    """Σ values, each known to within its slack; without any slack the sum is rounded once, or not at all."""
    if not slack.any():
        return total(values, values)
    middle = math.fsum(values.tolist())
    if math.isinf(middle):  # a probability of 0 was given to what came
        return Interval(middle, middle)
    error = arithmetic.total(slack) * (1.0 + 1e-9)
    return Interval.outward(down(middle - error), up(middle + error))
