"""The best comparator in hindsight: a point, its proof, and the two ends between which the optimum then lies.

Whatever a solver returns, or a receipt holds, is evaluated here, rounded outward. A point u bounds
the comparator's loss from above; from below a dual point α does, or, for a loss without a known dual, the tangents at
some scores. For the regret they swap: α proves its upper end, u its lower end (`regret.entry`). The bound of
the pass alone, without a comparator, is `Run.regret_upper`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from noregret.errors import SettingError
from noregret.loss import Loss
from noregret.proof import enclose
from noregret.rounds import Rounds, Vector


@dataclass(frozen=True)
class Hindsight:
    """The best comparator of norm at most `radius`: lower ≤ min Σ k·ℓ(⟨u, x⟩, y) + (σT/2)‖u‖² ≤ upper.

    `upper` is that sum at u. `lower` is D(α) = −Σ k·ℓ*(α) − max{‖Σ kαx‖·‖u‖ − (σT/2)‖u‖²}, or where no ℓ* is known
    the same with the tangents at the scores `tangent`, whose slopes are α: Σ k(ℓ(tangent) − α·tangent) − …
    """

    u: Vector = field(repr=False)
    alpha: Vector | None = field(repr=False)
    lower: float
    upper: float
    radius: float
    sigma: float
    method: str = ""
    iterations: int = 0
    seconds: float = 0.0
    finished: bool = False  # whether the gap asked for was reached
    tangent: Vector | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """The width of the interval as a share of the comparator's loss, or of 1 where that is smaller."""
        return relative_gap(self.lower, self.upper)

    @property
    def points(self) -> dict[str, Vector]:
        """What proves the interval, by name."""
        given = {"u": self.u, "alpha": None if self.tangent is not None else self.alpha, "tangent": self.tangent}
        return {name: point for name, point in given.items() if point is not None}


def relative_gap(lower: float, upper: float) -> float:
    """upper − lower as a share of upper, or of 1 where that is smaller."""
    return (upper - lower) / max(upper, 1.0)


def proved(rounds: Rounds, loss: Loss, points: dict[str, Vector], radius: float, sigma: float) -> Hindsight:
    """The interval that a point u with α, or with tangents, proves; ones that prove nothing are an error."""
    wanted = {"u", "tangent"} if loss.custom else {"u", "alpha"}
    if set(points) != wanted:
        raise SettingError(f"a regret is proved by the points {' and '.join(sorted(wanted))}")
    u = points["u"]
    if not radius > 0.0 or not enclose.norm(u).hi <= radius:
        raise SettingError(f"the comparator must lie in the ball of radius {radius:g}")
    upper = enclose.risk(rounds, loss, u, sigma).hi
    if loss.custom:
        tangent = points["tangent"]
        alpha = loss.gradients(tangent, rounds.y)
        lower = enclose.tangent_dual(rounds, loss, tangent, alpha, radius, sigma).lo
        return Hindsight(u, alpha, lower, upper, radius, sigma, tangent=tangent)
    lower = enclose.dual(rounds, loss, points["alpha"], radius, sigma).lo
    return Hindsight(u, points["alpha"], lower, upper, radius, sigma)


def shrunk(u: Vector, radius: float) -> Vector:
    """u, or the nearest multiple of it whose norm is at most the radius beyond any doubt."""
    u = np.where(np.isfinite(u), u, 0.0)
    slack = 1.0
    while enclose.norm(u).hi > radius:
        u = u * (radius / enclose.norm(u).hi * (1.0 - slack * enclose.EPS))
        slack *= 2.0
    return u
