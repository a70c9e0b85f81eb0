"""What the pass alone proves of the regret: no step rule, no projection and no solver is needed.

ℓ_t(w_t) − ℓ_t(u) ≤ ⟨g_t, w_t − u⟩ for every u; summed, Σ⟨g,w⟩ − ⟨Σg, u⟩ is largest at the point of the domain that lies
farthest against Σg. The cross-polytope ‖u‖₁ ≤ U and the simplex u ≥ 0, Σu ≤ U lie in the ball of radius U and hold no
ball of that radius: the best comparator of a ball is not theirs, and none is solved for.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from noregret._native import BOX, CROSS, SIMPLEX, STRONG
from noregret.interval import Interval, total
from noregret.proof.facts import Facts
from noregret.proof.theorem import Claim, theorem
from noregret.proof.theorems.shared import ANY_SCORES, ANY_STEPS, CONVEX, OWN, compared

Vector = NDArray[np.float64]
LEMMA = "Cesa-Bianchi's notes, Lemma 1, summed"


def linearised(dot_weights: Interval, norm_of_sum: Interval, U: float) -> Interval:
    """Σ⟨g,w⟩ + U‖Σg‖."""
    return dot_weights + norm_of_sum * U


def in_domain(facts: Facts, code: int) -> bool:
    return int(facts.learner.config["domain"][0]) == code


def _claim(facts: Facts, name: str, reach: Interval) -> Claim:
    """Σ⟨g,w⟩ + U·reach."""
    dot = facts.gradient.sum_dot_weights
    bound = linearised(dot, reach, facts.learner.domain.radius)
    return Claim(bound, facts.regret, facts.ceiling, {"dot_weights": dot.hi, name: reach.hi})


def _sizes(facts: Facts) -> tuple[Vector, Vector]:
    """Both ends of |Σg_i| for every coordinate."""
    low, high = facts.gradient_sum
    least = np.where((low <= 0.0) & (high >= 0.0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return least, np.maximum(np.abs(low), np.abs(high))


@theorem(
    "ogd-linearised",
    "regret",
    "Σ⟨g_t,w_t⟩ + U‖Σg_t‖",
    LEMMA,
    learners=(*ANY_STEPS, *ANY_SCORES),
    needs=(CONVEX,),
    applies=lambda f: f.rate != STRONG and math.isfinite(f.radius) and f.learner.domain.fits_ball,
)
def ogd_linearised(facts: Facts) -> Claim:
    """Line 1: ℓ_t(w_t) − ℓ_t(u) ≤ ⟨g_t, w_t − u⟩, and no u with ‖u‖ ≤ U gives more than Σ⟨g,w⟩ + U‖Σg‖.

    It needs neither the step rule nor the projection, and no solver: it is what the pass alone proves of the regret.
    Of scores z_t that are no ⟨w_t,x_t⟩ it is true as well, with the slope s_t: ⟨g_t,w_t⟩ is then s_t·z_t.
    """
    found = facts.gradient
    bound = linearised(found.sum_dot_weights, found.norm_of_sum, facts.radius)
    values = {"dot_weights": found.sum_dot_weights.hi, "norm_of_sum": found.norm_of_sum.hi, "radius": facts.radius}
    return Claim(bound, facts.regret, facts.ceiling, values)


@theorem(
    "ogd-linearised-at-hindsight",
    "regret against u*",
    "Σ⟨g_t, w_t − u*⟩",
    LEMMA,
    learners=(*ANY_STEPS, *ANY_SCORES),
    needs=(CONVEX,),
    applies=compared,
)
def ogd_linearised_at_hindsight(facts: Facts) -> Claim:
    """Line 1 at the comparator u* that hindsight found: the regret against it is at most Σ⟨g_t, w_t − u*⟩."""
    dot = facts.gradient.sum_dot_weights
    return Claim(dot - facts.along_hindsight, facts.regret_at, facts.ceiling, {"dot_weights": dot.hi}, ("u",))


@theorem(
    "box-linearised",
    "regret",
    "Σ⟨g_t,w_t⟩ + U‖Σg_t‖₁",
    f"{LEMMA}, over a box",
    learners=("ogd", "adagrad", "ftrl"),
    needs=(CONVEX,),
    applies=lambda f: in_domain(f, BOX),
)
def box_linearised(facts: Facts) -> Claim:
    """ℓ_t(w_t) − ℓ_t(u) ≤ ⟨g_t, w_t − u⟩, and no u in the box |u_i| ≤ U gives more than Σ⟨g,w⟩ + U‖Σg‖₁.

    It needs no step rule and no solver. What is observed is the regret against the ball that lies in the box.
    """
    return _claim(facts, "norm1_of_sum", total(*_sizes(facts)))


@theorem(
    "l1-linearised",
    "regret",
    "Σ⟨g_t,w_t⟩ + U·max_i|Σg_{t,i}|",
    f"{LEMMA}, over ‖u‖₁ ≤ U",
    learners=OWN,
    needs=(CONVEX,),
    applies=lambda f: in_domain(f, CROSS),
)
def l1_linearised(facts: Facts) -> Claim:
    """ℓ_t(w_t) − ℓ_t(u) ≤ ⟨g_t, w_t − u⟩, and no u with ‖u‖₁ ≤ U gives more than Σ⟨g,w⟩ + U·max|Σg_i|.

    It needs no step rule and no solver, and it bounds the regret against every such u.
    """
    least, most = _sizes(facts)
    return _claim(facts, "largest_of_sum", Interval(float(least.max(initial=0.0)), float(most.max(initial=0.0))))


@theorem(
    "simplex-linearised",
    "regret",
    "Σ⟨g_t,w_t⟩ + U·max(0, max_i(−Σg_{t,i}))",
    f"{LEMMA}, over u ≥ 0, Σu_i ≤ U",
    learners=OWN,
    needs=(CONVEX,),
    applies=lambda f: in_domain(f, SIMPLEX),
)
def simplex_linearised(facts: Facts) -> Claim:
    """ℓ_t(w_t) − ℓ_t(u) ≤ ⟨g_t, w_t − u⟩, and no u ≥ 0 with Σu_i ≤ U gives more than Σ⟨g,w⟩ + U·max(0, −Σg_i).

    It needs no step rule and no solver, and it bounds the regret against every such u.
    """
    low, high = facts.gradient_sum
    reach = Interval(float((-high).max(initial=0.0)), float((-low).max(initial=0.0)))
    return _claim(facts, "largest_descent_of_sum", reach)
