"""Gradient descent with a constant step, and with the step that needs to know nothing but the radius.

With sample weights all of it is true of the weighted losses k·ℓ and their gradients.
"""

from __future__ import annotations

import math

from noregret._native import ADAPTIVE, CONSTANT, DOUBLING
from noregret.interval import Interval, largest
from noregret.proof.facts import Facts
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.shared import (
    BALL_DOMAIN,
    CONVEX,
    FROM_ZERO,
    INSIDE,
    OWN,
    claim,
    exact_sqrt,
    plain_steps,
    radius,
    root_rounds,
)

NEARLY = 1.0 + 2.0**-40  # closer than this two numbers are the same but for rounding
SS = "Shalev-Shwartz & Ben-David ch. 21, Theorem 21.15"


def constant_step(distance: Interval, eta: float, sum_norm2: Interval) -> Interval:
    """D²/2η + (η/2)Σ‖g‖², D bounding ‖w₁ − u‖."""
    return distance.square() * 0.5 / eta + sum_norm2 * eta * 0.5


def gradients_within(facts: Facts) -> bool:
    """No gradient longer than the G that the rate was made from."""
    G = facts.learner.rate.gradient_bound
    return G is not None and facts.gradient.max_norm.hi <= G * NEARLY


SHORT = Need[Facts]("no gradient is longer than G", gradients_within)


def gradient_parameter(facts: Facts) -> Interval:
    """G, or what rounding makes the longest gradient exceed it by."""
    return largest(facts.learner.rate.gradient_bound or 0.0, facts.gradient.max_norm)


def _constant(facts: Facts) -> bool:
    return plain_steps(facts) and facts.rate == CONSTANT


def _horizon(facts: Facts) -> int | None:
    return facts.learner.rate.horizon


def _in_horizon(facts: Facts) -> bool:
    horizon = _horizon(facts)
    return horizon is not None and len(facts.rounds) <= horizon


def _is_inverse_root(facts: Facts) -> bool:
    """η = 1/√T but for rounding."""
    return abs(facts.learner.rate.eta * math.sqrt(len(facts.rounds)) - 1.0) <= 2.0**-50


@theorem(
    "ogd-constant",
    "regret",
    "(‖w₁‖ + U)²/2η + (η/2)Σ‖g_t‖²",
    SS,
    learners=OWN,
    needs=(CONVEX, INSIDE),
    applies=_constant,
)
def ogd_constant(facts: Facts) -> Claim:
    """With a constant step, from w₁ = 0, the regret against any u is at most ‖u‖²/2η + (η/2)Σ‖g_t‖², here ‖u‖ ≤ U.

    True in the whole space and with a projection on any closed convex set that holds u.
    """
    eta = facts.learner.rate.eta
    distance = facts.start.norm + facts.radius
    return claim(facts, constant_step(distance, eta, facts.gradient.sum_norm2), rate=eta)


@theorem(
    "ogd-inverse-root",
    "regret",
    "½(U² + G²)√T, G = max‖g_t‖",
    SS,
    learners=OWN,
    needs=(CONVEX, INSIDE, FROM_ZERO, Need[Facts]("the step is η = 1/√T for the T rounds played", _is_inverse_root)),
    applies=lambda e: _constant(e) and _horizon(e) is None and _is_inverse_root(e),
)
def ogd_inverse_root(facts: Facts) -> Claim:
    """With the step 1/√T and gradients of at most G the regret against any u, ‖u‖ ≤ U, is at most ½(U² + G²)√T."""
    U, G = Interval.of(facts.radius), facts.gradient.max_norm
    return claim(facts, (U.square() + G.square()) * root_rounds(facts) * 0.5)


@theorem(
    "ogd-horizon",
    "regret",
    "U·G√T, T the horizon and G the bound on gradients that the rate was made from",
    SS,
    learners=OWN,
    needs=(
        CONVEX,
        BALL_DOMAIN,
        INSIDE,
        FROM_ZERO,
        Need[Facts]("no more rounds were played than the horizon", _in_horizon),
        SHORT,
    ),
    applies=lambda e: _constant(e) and _horizon(e) is not None,
)
def ogd_horizon(facts: Facts) -> Claim:
    """In a ball of radius U, with gradients of at most G and the step U/(G√T), T rounds have regret at most U·G√T."""
    horizon = _horizon(facts)
    assert horizon is not None
    G = gradient_parameter(facts)
    return claim(facts, radius(facts) * G * exact_sqrt(horizon), gradient_bound=G.hi)


@theorem(
    "ogd-adaptive",
    "regret",
    "2√2·U√Σ‖g_t‖²",
    "the norm form of AdaGrad; never above Cesa-Bianchi's U·G√(8T)",
    learners=OWN,
    needs=(CONVEX, BALL_DOMAIN, INSIDE),
    applies=lambda e: plain_steps(e) and e.rate == ADAPTIVE,
)
def ogd_adaptive(facts: Facts) -> Claim:
    """With the step √2·U/√Σ_{s≤t}‖g_s‖² in a ball of radius U the regret is at most 2√2·U√Σ‖g_t‖²; no G is needed."""
    bound = Interval.of(8.0).sqrt() * radius(facts) * facts.gradient.sum_norm2.sqrt()
    return claim(facts, bound)


# -- the doubling trick: the learner for a known horizon, restarted at rounds 1, 2, 4, 8, … ---------------------------

EXERCISE = "Shalev-Shwartz & Ben-David ch. 21, exercise 4"
DOUBLED = (CONVEX, BALL_DOMAIN, INSIDE, SHORT)
LAST_PERIOD = (
    "The last period may be incomplete, and then its learner must keep its promise at every round of it: a constant"
    " step does, another learner need not."
)


def period_roots(rounds: int) -> Interval:
    """Σ√P over the periods P = 1, 2, 4, … begun within the rounds."""
    found = Interval.of(0.0)
    for m in range(rounds.bit_length()):
        found = found + exact_sqrt(2**m)
    return found


def closed(root: Interval) -> Interval:
    """√2/(√2 − 1)·√T."""
    two = Interval.of(2.0).sqrt()
    return two / (two - 1.0) * root


def _doubling(facts: Facts) -> bool:
    return plain_steps(facts) and facts.rate == DOUBLING


@theorem(
    "ogd-doubling",
    "regret",
    "U·G·Σ√P over the periods P = 1, 2, 4, … that were begun",
    EXERCISE,
    learners=OWN,
    needs=DOUBLED,
    applies=_doubling,
    erratum=LAST_PERIOD,
)
def ogd_doubling(facts: Facts) -> Claim:
    """Each period of P rounds has the step U/(G√P) and regret at most U·G√P; the regrets of the periods add up."""
    G = gradient_parameter(facts)
    bound = radius(facts) * G * period_roots(len(facts.rounds))
    return claim(facts, bound, gradient_bound=G.hi)


@theorem(
    "ogd-doubling-closed",
    "regret",
    "√2/(√2 − 1)·U·G√T",
    EXERCISE,
    learners=OWN,
    needs=DOUBLED,
    applies=_doubling,
    erratum=LAST_PERIOD,
)
def ogd_doubling_closed(facts: Facts) -> Claim:
    """The sum of the periods' bounds is at most √2/(√2 − 1) ≈ 3.41 times that of a learner told T beforehand."""
    G = gradient_parameter(facts)
    return claim(facts, closed(root_rounds(facts)) * radius(facts) * G, gradient_bound=G.hi)
