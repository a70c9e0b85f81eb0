"""The steps of a Passive-Aggressive learner, replayed in twice the precision, and what one comparator lost.

The reference run takes w ← w + τ_t·s_t·x_t with the τ that follow from the losses of the run. Its gain in a round,
τ(2ℓ − τ‖x‖²), is enclosed at the exact loss of the reference weights; what a theorem asks of a gain and rounding took
away is added up as `shortfall`, which makes its bound true of the run itself, whatever its roundings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret._native import PASSIVE, PASSIVE_SOFT, exact_steps
from noregret.interval import Interval, ends, total
from noregret.loss import Loss
from noregret.proof import enclose
from noregret.rounds import Rounds
from noregret.run import Run

Vector = NDArray[np.float64]
EPS = 2.0**-52
TINY = 1e-300
POINT = "v_passive"


@dataclass(frozen=True)
class Steps:
    """Each round's step τ, cap C, ‖x‖² and own loss ℓ, and the ends of the exact loss at the replayed weights."""

    tau: Vector
    cap: Vector
    row2: tuple[Vector, Vector]
    loss: Vector  # the run's own
    exact: tuple[Vector, Vector]

    @property
    def moving(self) -> NDArray[np.bool_]:
        """The rounds with x ≠ 0."""
        return np.asarray(self.row2[1] > 0.0)

    def gain(self, extra: Vector | float = 0.0) -> tuple[Vector, Vector]:
        """Both ends of τ(2ℓ − τ(‖x‖² + extra)) for every round."""
        found = []
        for way, loss, row2 in ((-1.0, self.exact[0], self.row2[1]), (1.0, self.exact[1], self.row2[0])):
            first, second = 2.0 * self.tau * loss, self.tau * (self.tau * (row2 + extra))  # τ² alone may underflow
            slack = np.where(self.tau > 0.0, 8.0 * EPS * (np.abs(first) + second) + TINY, 0.0)
            found.append(first - second + way * slack)
        return found[0], found[1]

    def shortfall(self, floor: Vector, extra: Vector | float = 0.0) -> float:
        """Σ (floor − gain)₊, rounded up: what the gains lack of what the theorem has them be."""
        lack = np.maximum(floor * (1.0 + 8.0 * EPS) - self.gain(extra)[0], 0.0)
        return total(lack, lack).hi


@dataclass(frozen=True)
class Against:
    """A comparator u: ‖u‖ and both ends of its loss in every round."""

    u: Vector
    norm: Interval
    losses: tuple[Vector, Vector]

    @classmethod
    def at(cls, rounds: Rounds, loss: Loss, u: Vector) -> Against:
        lo, hi = enclose.margins(rounds, u)
        low, high = enclose.losses(loss, lo, rounds.y), enclose.losses(loss, hi, rounds.y)
        # Both losses are 1-Lipschitz: between the ends of a score they fall by no more than its width.
        drop = (hi - lo) * (1.0 + 4.0 * EPS)
        return cls(u, enclose.norm(u), (np.maximum(low[0] - drop, 0.0), np.maximum(low[1], high[1])))

    def weighted(self, weights: Vector, power: int = 1) -> Interval:
        """Σ weights·ℓ(u)^power."""
        lo, hi = (weights * (part if power == 1 else part * part) for part in self.losses)
        slack = 4.0 * EPS
        return total(lo * (1.0 - slack), hi * (1.0 + slack)).positive()


def replayed(run: Run, rounds: Rounds) -> Steps:
    """The steps that follow from the scores of the run, and the exact losses along them."""
    assert rounds.scores is not None
    loss, y = run.learner.loss, rounds.y
    own, towards = loss.values(rounds.scores, y), -loss.gradients(rounds.scores, y)
    lo, hi = enclose.row_norms2(rounds)
    cap = caps(run, 0.5 * lo + 0.5 * hi)
    tau = step_lengths(run.learner.rate.code, own, 0.5 * lo + 0.5 * hi, cap)
    scores = np.zeros((len(rounds), 3))
    exact_steps(rounds.given, tau * towards, np.zeros((rounds.width, 3)), scores)
    low, high = ends(scores)
    reached = np.where(towards > 0.0, y - high, low - y), np.where(towards > 0.0, y - low, high - y)
    return Steps(tau, cap, (lo, hi), own, (np.nextafter(reached[0], -np.inf), np.nextafter(reached[1], np.inf)))


def caps(run: Run, row2: Vector) -> Vector:
    """C in every round: as it was set, or 1/max‖x‖² so far; before the first x ≠ 0 as at the end."""
    given = run.learner.rate.eta
    if given > 0.0:
        return np.full(len(row2), given)
    longest = np.maximum.accumulate(row2)
    last = float(longest[-1]) if len(row2) and longest[-1] > 0.0 else 1.0
    return np.asarray(1.0 / np.where(longest > 0.0, longest, last))


def step_lengths(rule: int, loss: Vector, row2: Vector, cap: Vector) -> Vector:
    """τ of every round; 0 where x = 0."""
    if rule == PASSIVE_SOFT:
        return np.where(row2 > 0.0, loss / (row2 + 0.5 / cap), 0.0)
    tau = np.where(row2 > 0.0, loss / np.where(row2 > 0.0, row2, 1.0), 0.0)
    return tau if rule == PASSIVE else np.minimum(tau, np.where(row2 > 0.0, cap, 0.0))
