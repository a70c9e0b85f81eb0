"""Gradient descent with a constant step, and with the step that needs to know nothing but the radius.

With sample weights all of it is true of the weighted losses k·ℓ and their gradients.
"""

from __future__ import annotations

import math

from noregret._native import ADAPTIVE, CONSTANT
from noregret.interval import Interval, largest
from noregret.theorem.evidence import Evidence
from noregret.theorem.needs import BALL_DOMAIN, CONVEX, FROM_ZERO, INSIDE, gradient
from noregret.theorem.registry import Claim, Need, theorem
from noregret.theorem.regret import OWN, claim, exact_sqrt, plain_steps, radius, root_rounds

NEARLY = 1.0 + 2.0**-40  # closer than this two numbers are the same but for rounding
SS = "Shalev-Shwartz & Ben-David ch. 21, Theorem 21.15"


def constant_step(distance: Interval, eta: float, sum_norm2: Interval) -> Interval:
    """D²/2η + (η/2)Σ‖g‖², D bounding ‖w₁ − u‖."""
    return distance.square() * 0.5 / eta + sum_norm2 * eta * 0.5


def gradients_within(evidence: Evidence) -> bool:
    """No gradient longer than the G that the rate was made from."""
    G = evidence.run.learner.rate.gradient_bound
    return G is not None and gradient(evidence).max_norm.hi <= G * NEARLY


def gradient_parameter(evidence: Evidence) -> Interval:
    """G, or what rounding makes the longest gradient exceed it by."""
    return largest(evidence.run.learner.rate.gradient_bound or 0.0, gradient(evidence).max_norm)


def _constant(evidence: Evidence) -> bool:
    return plain_steps(evidence) and evidence.rate == CONSTANT


def _horizon(evidence: Evidence) -> int | None:
    return evidence.run.learner.rate.horizon


def _in_horizon(evidence: Evidence) -> bool:
    horizon = _horizon(evidence)
    return horizon is not None and len(evidence.rounds) <= horizon


def _is_inverse_root(evidence: Evidence) -> bool:
    """η = 1/√T but for rounding."""
    return abs(evidence.run.learner.rate.eta * math.sqrt(len(evidence.rounds)) - 1.0) <= 2.0**-50


@theorem(
    "ogd-constant",
    "regret",
    "(‖w₁‖ + U)²/2η + (η/2)Σ‖g_t‖²",
    SS,
    learners=OWN,
    needs=(CONVEX, INSIDE),
    applies=_constant,
)
def ogd_constant(evidence: Evidence) -> Claim:
    """With a constant step, from w₁ = 0, the regret against any u is at most ‖u‖²/2η + (η/2)Σ‖g_t‖², here ‖u‖ ≤ U.

    True in the whole space and with a projection on any closed convex set that holds u.
    """
    eta = evidence.run.learner.rate.eta
    distance = evidence.start.norm + evidence.radius
    return claim(evidence, constant_step(distance, eta, gradient(evidence).sum_norm2), rate=eta)


@theorem(
    "ogd-inverse-root",
    "regret",
    "½(U² + G²)√T, G = max‖g_t‖",
    SS,
    learners=OWN,
    needs=(CONVEX, INSIDE, FROM_ZERO, Need("the step is η = 1/√T for the T rounds played", _is_inverse_root)),
    applies=lambda e: _constant(e) and _horizon(e) is None and _is_inverse_root(e),
)
def ogd_inverse_root(evidence: Evidence) -> Claim:
    """With the step 1/√T and gradients of at most G the regret against any u, ‖u‖ ≤ U, is at most ½(U² + G²)√T."""
    U, G = Interval.of(evidence.radius), gradient(evidence).max_norm
    return claim(evidence, (U.square() + G.square()) * root_rounds(evidence) * 0.5)


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
        Need("no more rounds were played than the horizon", _in_horizon),
        Need("no gradient is longer than G", gradients_within),
    ),
    applies=lambda e: _constant(e) and _horizon(e) is not None,
)
def ogd_horizon(evidence: Evidence) -> Claim:
    """In a ball of radius U, with gradients of at most G and the step U/(G√T), T rounds have regret at most U·G√T."""
    horizon = _horizon(evidence)
    assert horizon is not None
    G = gradient_parameter(evidence)
    return claim(evidence, radius(evidence) * G * exact_sqrt(horizon), gradient_bound=G.hi)


@theorem(
    "ogd-adaptive",
    "regret",
    "2√2·U√Σ‖g_t‖²",
    "the norm form of AdaGrad; never above Cesa-Bianchi's U·G√(8T)",
    learners=OWN,
    needs=(CONVEX, BALL_DOMAIN, INSIDE),
    applies=lambda e: plain_steps(e) and e.rate == ADAPTIVE,
)
def ogd_adaptive(evidence: Evidence) -> Claim:
    """With the step √2·U/√Σ_{s≤t}‖g_s‖² in a ball of radius U the regret is at most 2√2·U√Σ‖g_t‖²; no G is needed."""
    bound = Interval.of(8.0).sqrt() * radius(evidence) * gradient(evidence).sum_norm2.sqrt()
    return claim(evidence, bound)
