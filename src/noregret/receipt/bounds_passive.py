"""The bounds of Passive-Aggressive learners once more, from the rounds, the scores and the comparator v_passive.

The steps are replayed as the learner's definition gives them from the scores; ℓ, τ, C and N are as in the theorems.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret._native import PASSIVE, PASSIVE_CAPPED, exact_steps
from noregret.enclose import EPS, losses, margins, norm
from noregret.interval import Interval, ends, total
from noregret.receipt.facts import Facts
from noregret.receipt.form import Vector
from noregret.receipt.found import Certificate, Condition, Formula, Found

NAMES = ("pa", "pa1", "pa2")
UNIT, COMPARED = "every round weighs 1", "a comparator u is given"
POINT = "v_passive"
GIVEN = (COMPARED,)
PROMISES = ()
LONG = "no row other than 0 is so short that its square is lost: ‖x‖² ≥ 1e-290"
NEEDS: dict[str, Condition] = {
    COMPARED: lambda f: POINT in f.points,
    LONG: lambda f: bool((f.squares[0][f.squares[1] > 0.0] >= 1e-290).all()),
}
LEAST, ROUNDED = 1e-308, 1e-15


class Steps:
    """The replay of one run: τ_t, C_t, ℓ_t as played, and ℓ_t in exact arithmetic from below and from above."""

    def __init__(self, f: Facts) -> None:
        loss, scores, y = f.core.loss, np.asarray(f.rounds.scores), f.rounds.y
        self.low2, self.high2 = f.squares
        middle = 0.5 * self.low2 + 0.5 * self.high2
        self.own = loss.values(scores, y)
        self.seen = self.high2 > 0.0
        self.C = self._caps(f, middle)
        with np.errstate(divide="ignore", invalid="ignore"):
            if f.core.rate.code == PASSIVE:
                tau = self.own / middle
            elif f.core.rate.code == PASSIVE_CAPPED:
                tau = np.minimum(self.C, self.own / middle)
            else:
                tau = self.own / (middle + 0.5 / self.C)
        self.tau = np.where(middle > 0.0, tau, 0.0)
        toward = -loss.gradients(scores, y)
        at = np.zeros((f.T, 3))
        exact_steps(f.rounds.given, self.tau * toward, np.zeros((f.rounds.width, 3)), at)
        lo, hi = ends(at)
        self.least = np.nextafter(np.where(toward > 0.0, y - hi, lo - y), -np.inf)
        self.most = np.nextafter(np.where(toward > 0.0, y - lo, hi - y), np.inf)

    @staticmethod
    def _caps(f: Facts, row2: Vector) -> Vector:
        if f.core.rate.eta > 0.0:
            return np.full(f.T, f.core.rate.eta)
        top = np.maximum.accumulate(row2)
        return np.asarray(1.0 / np.where(top > 0.0, top, top[-1] if top[-1] > 0.0 else 1.0))

    def gains(self, more: Any = 0.0) -> tuple[Vector, Vector]:
        """τ(2ℓ − τ(‖x‖² + more)) from below and from above."""
        ends = []
        for way, loss, row2 in ((-1.0, self.least, self.high2), (1.0, self.most, self.low2)):
            up, down = 2.0 * self.tau * loss, (row2 + more) * self.tau * self.tau
            ends.append(up - down + way * np.where(self.tau > 0.0, 8.0 * EPS * (np.abs(up) + down) + 1e-300, 0.0))
        return ends[0], ends[1]

    def lacking(self, floor: Vector, more: Any = 0.0) -> Interval:
        """N: what the gains lack of the floor; rounding through and through, so that it is known between two ends."""
        low, high = self.gains(more)
        off = 8.0 * ROUNDED * (np.abs(low) + floor + 2.0 * self.tau * np.abs(self.own))
        least = math.fsum(np.maximum(floor - high, 0.0))
        return Interval(least, math.fsum(np.maximum(floor - low + off, 0.0)))

    @property
    def r2(self) -> float:
        return float(self.high2.max(initial=0.0))


def _against(f: Facts) -> tuple[Interval, Vector, Vector]:
    """‖u‖ and both ends of ℓ_t(u)."""
    u = f.points[POINT]
    lo, hi = margins(f.rounds, u)
    at_lo, at_hi = losses(f.core.loss, lo, f.rounds.y), losses(f.core.loss, hi, f.rounds.y)
    return norm(u), np.maximum(at_lo[0] - (hi - lo), 0.0), np.maximum(at_lo[1], at_hi[1])


def _added(weights: Vector, lo: Vector, hi: Vector) -> Interval:
    """Σ weights·ℓ for ℓ between lo and hi, none below 0: each term may be off by a few units of its last place."""
    return total(weights * lo * (1.0 - 8.0 * EPS), weights * hi * (1.0 + 8.0 * EPS)).positive()


def _found(f: Facts, bound: Interval, observed: Interval, ceiling: float, lost: float, rounding: Interval) -> Found:
    size = norm(f.points[POINT])
    values = {"norm": size.hi, "losses": lost, "rounding": rounding.hi}
    loose = 1e-12 * (lost + size.hi) + rounding.hi
    return Found(bound, observed, ceiling, values, slack=1e-9 * abs(bound.hi), loose=loose)


def _lemma(f: Facts, certificate: Certificate) -> Found:
    steps, (size, lo, hi) = Steps(f), _against(f)
    lost = _added(steps.tau, lo, hi)
    bound = size.square() + lost * 2.0
    return _found(f, bound, total(*steps.gains()), math.inf, lost.hi, Interval.of(0.0))


def _losses(f: Facts, certificate: Certificate) -> Found:
    steps, (size, lo, hi) = Steps(f), _against(f)
    over = np.where(steps.seen, 1.0 / np.maximum(np.where(steps.seen, steps.low2, 1.0), LEAST), 0.0)
    own = steps.own**2 * over
    rounding = steps.lacking(own)
    lost = _added(over, lo**2, hi**2)
    bound = ((size.square() + rounding).sqrt() + lost.sqrt() * 2.0).square()
    return _found(f, bound, _added(over, steps.own**2, steps.own**2), math.inf, lost.hi, rounding)


def _mistakes(f: Facts, certificate: Certificate) -> Found:
    steps, (size, lo, hi) = Steps(f), _against(f)
    wrong = f.rounds.y * np.asarray(f.rounds.scores) <= 0.0
    least = np.minimum(steps.C, 1.0 / np.maximum(steps.low2, LEAST))
    rounding = steps.lacking(np.where(wrong & steps.seen, least, 0.0))
    lost = _added(steps.C, lo, hi)
    factor = max(steps.r2, 1.0 / float(steps.C.min()))
    bound = (size.square() + lost * 2.0 + rounding) * factor
    return _found(f, bound, Interval.of(float(np.count_nonzero(wrong))), f.T, lost.hi, rounding)


def _soft(f: Facts, certificate: Certificate) -> Found:
    steps, (size, lo, hi) = Steps(f), _against(f)
    factor = steps.r2 + 0.5 / float(steps.C.min())
    own = np.where(steps.seen, steps.own**2, 0.0)
    rounding = steps.lacking(own / factor, 0.5 / steps.C)
    caps = np.where(steps.seen, steps.C, 0.0)
    lost = _added(caps, lo**2, hi**2)
    bound = (size.square() + lost * 2.0 + rounding) * factor
    seen = np.where(steps.seen, 1.0, 0.0)
    return _found(f, bound, _added(seen, steps.own**2, steps.own**2), math.inf, lost.hi, rounding)


LEARNERS = {"pa-lemma": NAMES, "pa-losses": ("pa",), "pa1-mistakes": ("pa1",), "pa2-losses": ("pa2",)}
BOUNDS: dict[str, tuple[tuple[str, ...], Formula]] = {
    "pa-lemma": ((UNIT, COMPARED), _lemma),
    "pa-losses": ((UNIT, COMPARED, LONG), _losses),
    "pa1-mistakes": ((UNIT, COMPARED), _mistakes),
    "pa2-losses": ((UNIT, COMPARED), _soft),
}


def speaks_of(name: str, f: Facts) -> bool:
    return f.core.name in LEARNERS[name] and not (name == "pa1-mistakes" and f.core.regression)


def vectors_of(name: str, f: Facts, named: list[str]) -> bool:
    return named == [POINT]
