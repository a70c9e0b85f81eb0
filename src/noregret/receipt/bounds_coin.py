"""The bounds of coin betting once more, from the rounds and the scores."""

from __future__ import annotations

import math

import numpy as np

from noregret import arithmetic
from noregret.enclose import norm
from noregret.interval import Interval
from noregret.receipt.facts import Facts
from noregret.receipt.found import Certificate, Condition, Formula, Found
from noregret.receipt.measure import middle

CONVEX, SHORT = "the loss is convex in the score", "no gradient is longer than G"
GIVEN = ()
NEEDS: dict[str, Condition] = {}


def _bets(f: Facts) -> int:
    return int(np.count_nonzero(f.slopes))


def _wealth(f: Facts) -> float:
    return float(f.core.settings["wealth"])


def _least(n: int, x: float) -> float:
    """The least wealth after n bets from 1: Π over the rounds of what the worst sequence with that sum leaves."""
    if n == 0:
        return 1.0
    x = min(x, float(n))
    logs = (n * arithmetic.log(2.0), arithmetic.log_gamma(0.5 * (n + 1 + x)), arithmetic.log_gamma(0.5 * (n + 1 - x)))
    exponent = math.fsum((*logs, -arithmetic.log(math.pi), -arithmetic.log_gamma(n + 1.0)))
    return math.inf if exponent >= 700.0 else arithmetic.exp(exponent)


def _lost(f: Facts, certificate: Certificate) -> Found:
    n, G, wealth = _bets(f), f.core.rate.eta, _wealth(f)
    least = _least(n, middle(f.sum_norm) / G)
    terms = np.abs(f.slopes * np.asarray(f.rounds.scores))
    size = math.fsum(terms) + G * wealth * (1.0 + least)
    # x is known to rounding, and the potential grows with it at most e-fold a unit
    sums = 1e-13 * math.fsum(np.abs(f.slopes) * np.sqrt(f.squares[1])) / G
    moved = arithmetic.expm1(min(sums * 2.0 * arithmetic.log(n + 2.0), 50.0))
    off = f.allowance + 1e-13 * (n + 4) * arithmetic.log(n + 4.0) + moved
    bound = G * wealth * (1.0 - least)
    values = {"bets": float(n), "norm_of_sum": f.sum_norm.hi, "gradient_bound": G}
    near = Interval(bound - off * size, bound + off * size)
    return Found(near, f.dot, math.inf, values, slack=off * size, loose=1e-13 * math.fsum(terms) + sums * G)


def _bound(f: Facts, size: Interval) -> Interval:
    n, wealth = float(_bets(f)), _wealth(f)
    inside = Interval.of(1.0) + (size * n / wealth).square() * 24.0
    return (Interval.of(wealth) + size * (inside.log().positive() * n).sqrt()) * f.core.rate.eta


def _ball(f: Facts, certificate: Certificate) -> Found:
    bound = _bound(f, Interval.of(f.U))
    values = {"max_gradient": f.G, "gradient_bound": f.core.rate.eta}
    return Found(bound, f.regret, f.ceiling, values, slack=bound.hi * f.allowance)


def _at(f: Facts, certificate: Certificate) -> Found:
    bound = _bound(f, norm(f.points["u"]))
    return Found(bound, f.regret_at, f.ceiling, {"gradient_bound": f.core.rate.eta}, slack=bound.hi * f.allowance)


PROMISES = ("coin-wealth", "coin-ball")
BOUNDS: dict[str, tuple[tuple[str, ...], Formula]] = {
    "coin-wealth": ((CONVEX, SHORT), _lost),
    "coin-ball": ((CONVEX, SHORT), _ball),
    "coin-at-hindsight": ((CONVEX, SHORT), _at),
}


def speaks_of(name: str, f: Facts) -> bool:
    return f.core.name == "coin" and (name == "coin-wealth" or f.entry is not None)


def vectors_of(name: str, f: Facts, named: list[str]) -> bool:
    if name == "coin-wealth":
        return not named
    return "u" in named if name == "coin-at-hindsight" else set(named) <= {"u", "alpha"}
