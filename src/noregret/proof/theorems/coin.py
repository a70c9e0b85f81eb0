"""Coin betting: what its wealth must at least be, and the regret that follows, without a learning rate.

G bounds the gradients, ε is the wealth at the start and n the number of rounds with a gradient other than 0: the others
change nothing. With sample weights all of it is true of the weighted losses k·ℓ and their gradients.
"""

from __future__ import annotations

import math

import numpy as np

from noregret import arithmetic
from noregret.arithmetic import log_gamma
from noregret.interval import Interval
from noregret.proof.enclose import norm
from noregret.proof.facts import Facts, gradients
from noregret.proof.theorem import Claim, theorem
from noregret.proof.theorems.constant import SHORT
from noregret.proof.theorems.shared import CONVEX, claim, compared

OWN = ("coin",)
ORABONA = "Orabona & Pál 2016, Krichevsky–Trofimov betting"
NEEDS = (CONVEX, SHORT)


def potential(n: int, x: float) -> float:
    """2ⁿ·Γ((n+1+x)/2)·Γ((n+1−x)/2)/(π·n!), the least that a wealth of 1 becomes after n bets whose sum has norm x.

    >>> potential(0, 0.0), round(potential(2, 2.0), 12)
    (1.0, 1.5)
    """
    x = min(x, float(n))
    log = n * arithmetic.LN2 + log_gamma((n + 1.0 + x) / 2.0) + log_gamma((n + 1.0 - x) / 2.0)
    log -= arithmetic.log(math.pi) + log_gamma(n + 1.0)
    return arithmetic.exp(log) if n and log < 700.0 else (math.inf if n else 1.0)


def regret_of(G: Interval, wealth: float, n: int, size: Interval) -> Interval:
    """G·(ε + ‖u‖√(n ln(1 + 24n²‖u‖²/ε²)))."""
    inside = (size * float(n) / wealth).square() * 24.0 + 1.0
    return G * (size * (inside.log().positive() * float(n)).sqrt() + wealth)


def _bets(facts: Facts) -> int:
    return int(np.count_nonzero(facts.gradient.slopes))


def _G(facts: Facts) -> Interval:
    return Interval.of(facts.learner.rate.eta)


def _wealth(facts: Facts) -> float:
    return float(facts.learner.settings["wealth"])


@theorem(
    "coin-wealth",
    "what the bets lost",
    "Σ⟨g_t,w_t⟩ ≤ G·ε(1 − 2ⁿΓ((n+1+x)/2)Γ((n+1−x)/2)/(π·n!)), x = ‖Σg_t‖/G",
    ORABONA,
    learners=OWN,
    needs=NEEDS,
)
def coin_wealth(facts: Facts) -> Claim:
    """Σ⟨g,w⟩ = G(ε − wealth), and the wealth is never below ε times the potential of x = ‖Σg‖/G after n bets.

    So Σ⟨g, w − u⟩ = Σ⟨g,w⟩ − ⟨Σg,u⟩ is bounded for every u, however long: the regret bounds are its largest value.
    """
    found, G, wealth = facts.gradient, _G(facts), _wealth(facts)
    n = _bets(facts)
    least = potential(n, max(found.norm_of_sum.lo / G.hi, 0.0)) * (1.0 - _off(n))
    bound = G.hi * wealth * (1.0 - least)
    size = arithmetic.total(np.abs(found.slopes * facts.scores)) + G.hi * wealth * (1.0 + least)
    bound += gradients.roundings(facts.rounds) * size
    values = {"bets": float(n), "norm_of_sum": found.norm_of_sum.hi, "gradient_bound": G.hi}
    return Claim(Interval.of(bound), Interval.of(found.sum_dot_weights.lo), math.inf, values)


def _off(n: int) -> float:
    """How far, relatively, the logarithms of factorials may have moved the potential."""
    return 2.0**-46 * (n + 4.0) * arithmetic.log(n + 4.0)


@theorem(
    "coin-ball",
    "regret",
    "G·(ε + U√(n ln(1 + 24n²U²/ε²))) against every ‖u‖ ≤ U",
    ORABONA,
    learners=OWN,
    needs=NEEDS,
    applies=lambda e: compared(e) and math.isfinite(e.radius),
)
def coin_ball(facts: Facts) -> Claim:
    """For every u at once the regret is at most G·(ε + ‖u‖√(n ln(1 + 24n²‖u‖²/ε²))); here for the longest, ‖u‖ = U.

    U is the radius that the run is compared with, of which the learner knows nothing.
    """
    bound = regret_of(_G(facts), _wealth(facts), _bets(facts), Interval.of(facts.radius))
    return claim(facts, bound, gradient_bound=_G(facts).hi)


@theorem(
    "coin-at-hindsight",
    "regret against u*",
    "G·(ε + ‖u*‖√(n ln(1 + 24n²‖u*‖²/ε²)))",
    ORABONA,
    learners=OWN,
    needs=NEEDS,
    applies=compared,
)
def coin_at_hindsight(facts: Facts) -> Claim:
    """The same at the comparator u* that hindsight found."""
    assert facts.hindsight is not None
    bound = regret_of(_G(facts), _wealth(facts), _bets(facts), norm(facts.hindsight.u))
    values = {"gradient_bound": _G(facts).hi}
    return Claim(bound * facts.allowance, facts.regret_at, facts.ceiling, values, ("u",))
