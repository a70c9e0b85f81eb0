"""How a run compares with its experts: losses and regret as intervals, and all that a theorem asks of the run.

Regret against expert i is counted over the rounds in which i was awake: Σ (own loss − loss of i). The best expert is
the one against whom it is largest; without sleepers that is the one with the least loss.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.experts import loss as losses
from noregret.experts.engine import Rule
from noregret.experts.switching import Switching
from noregret.interval import Interval, down, largest, total, up

Vector = NDArray[np.float64]
NEAR = 1e-12  # experts this near to the best are looked at without rounding too
ROUNDING = 2.0**-48


@dataclass(frozen=True)
class Contest:
    """What is known of one run of experts."""

    learner: str
    rule: Rule
    rounds: int
    experts: int
    loss_name: str
    range: tuple[float, float]  # declared: of forecasts and outcomes, or of costs
    inside: bool | None  # whether every cost lay in the range; None where nobody looked
    loss: Interval
    regret: Interval  # against the best expert
    gap: float = 0.0  # Δ of AdaHedge
    horizon: int | None = None  # T, if it was announced
    rate_name: str | None = None  # which of Hedge's rates
    switching: Switching | None = None
    switching_regret: Interval | None = None
    mean_regret: Interval | None = None  # against the best fixed mean of the experts, of the gradient method
    linear: Interval | None = None  # the largest linearised regret against any expert
    spreads: Vector | None = None  # how far apart the linearised losses of each round lie

    @property
    def costs(self) -> tuple[float, float]:
        """Between which two numbers every cost lies."""
        return losses.cost_range(self.loss_name, *self.range)

    @property
    def width(self) -> float:
        """B, that of the costs."""
        return self.costs[1] - self.costs[0]

    @property
    def coin(self) -> bool:
        """Whether an expert is drawn, so that the loss is an expected one."""
        return self.loss_name in losses.RANDOM

    @property
    def spare(self) -> float:
        """What rounding may add to the regret of exact weights and means: T·(N + 16)·2⁻⁴⁸ of the largest size."""
        size = losses.linear_size if self.learner == "gradient" else losses.rounded_size
        return self.rounds * (self.experts + 16) * ROUNDING * size(self.loss_name, *self.range)

    @property
    def below(self) -> float:
        """How far costs reach below 0."""
        return max(-self.costs[0], 0.0)

    @property
    def ceiling(self) -> float:
        """No regret is larger than the run's own loss above the least that costs can be."""
        return (self.loss - Interval.of(self.costs[0]) * float(self.rounds)).hi


def summed(values: Vector, slack: Vector) -> Interval:
    """Σ values, each known to within its slack; without any slack the sum is rounded once, or not at all."""
    if not slack.any():
        return total(values, values)
    middle, error = math.fsum(values.tolist()), arithmetic.total(slack) * (1.0 + 1e-9)
    return Interval.outward(down(middle - error), up(middle + error))


def own_total(loss: str, own: Vector, experts: int, below: float, outcomes: int) -> Interval:
    """The blend's own loss."""
    return summed(own, losses.own_slack(loss, own, experts, below, outcomes))


def regret_against(
    loss: str, own: Vector, given: NDArray[np.float64], outcomes: Vector, i: int, below: float
) -> Interval:
    """Σ (own loss − loss of expert i) over the rounds in which i was awake."""
    if given.shape[1] == 1:
        return Interval.of(0.0)  # it is the blend
    there = ~np.isnan(given[:, i, 0])
    own, cost = own[there], losses.values(loss, given[there, i], outcomes[there])
    width = given.shape[2]
    slack = losses.own_slack(loss, own, given.shape[1], below, width) + losses.slack(loss, cost, width)
    if not slack.any():
        return summed(np.concatenate([own, -cost]), slack)
    return summed(own - cost, slack + losses.EPS * np.abs(own - cost))


def linearised_regret(
    loss: str, given: NDArray[np.float64], forecasts: Vector, outcomes: Vector
) -> tuple[Interval, Vector]:
    """max over the experts of Σ slope(p)·(p − x), never below the regret against any mean of them, and the spreads."""
    terms = -losses.linearised(loss, given[:, :, 0], forecasts, outcomes)
    spreads = np.asarray(terms.max(axis=1) - terms.min(axis=1))
    if given.shape[1] == 1:
        return Interval.of(0.0), spreads
    found = largest(*(summed(terms[:, i], 4.0 * losses.EPS * np.abs(terms[:, i])) for i in range(given.shape[1])))
    return found, spreads


def best_experts(totals: Vector) -> list[int]:
    """The experts that may be the best, the best by the running sums first."""
    best = int(np.argmin(totals))
    limit = totals[best] + NEAR * abs(totals[best]) + 1e-300
    return [best, *(i for i in np.flatnonzero(totals <= limit).tolist() if i != best)]


def regret_of_best(
    loss: str, own: Vector, given: NDArray[np.float64], outcomes: Vector, totals: Vector, below: float
) -> tuple[int, Interval]:
    """(who, regret): the largest regret against any expert."""
    near = best_experts(totals)
    found = [regret_against(loss, own, given, outcomes, i, below) for i in near]
    return near[int(np.argmax([one.hi for one in found]))], largest(*found)
