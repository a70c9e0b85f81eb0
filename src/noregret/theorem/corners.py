"""Gradient descent where ‖w‖₁ ≤ U and in the simplex w ≥ 0, Σw ≤ U: what the pass alone proves.

Both lie in the ball of radius U and hold no ball of that radius: the best comparator of a ball is not theirs, none is
solved for, and the theorems that compare with a whole ball are not evaluated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noregret._native import CROSS, SIMPLEX
from noregret.enclose import combined
from noregret.interval import Interval
from noregret.theorem.coordinate import magnitudes, scores
from noregret.theorem.evidence import Evidence
from noregret.theorem.gradients import slope_error
from noregret.theorem.needs import CONVEX, gradient
from noregret.theorem.registry import Claim, theorem
from noregret.theorem.regret import OWN

Vector = NDArray[np.float64]
LEMMA = "Cesa-Bianchi's notes, Lemma 1, summed, over"


def _in(evidence: Evidence, domain: int) -> bool:
    return int(evidence.run.learner.config["domain"][0]) == domain


def _sum(evidence: Evidence) -> tuple[Vector, Vector]:
    """Both ends of Σg_i for every coordinate."""
    loss = evidence.run.learner.loss
    low, high = combined(evidence.rounds, loss.gradients(scores(evidence), evidence.rounds.y))
    lost = slope_error(loss)
    if lost:  # a slope known to within a share of itself moves the sum by at most that share of Σ|g_i|
        reach = magnitudes(evidence) * (lost * 1.001)
        low, high = np.nextafter(low - reach, -np.inf), np.nextafter(high + reach, np.inf)
    return low, high


def _claim(evidence: Evidence, name: str, reach: Interval) -> Claim:
    """Σ⟨g,w⟩ + U·reach."""
    dot = gradient(evidence).sum_dot_weights
    assert dot is not None
    bound = dot + reach * evidence.run.learner.domain.radius
    return Claim(bound, evidence.regret, evidence.ceiling, {"dot_weights": dot.hi, name: reach.hi})


@theorem(
    "l1-linearised",
    "regret",
    "Σ⟨g_t,w_t⟩ + U·max_i|Σg_{t,i}|",
    f"{LEMMA} ‖u‖₁ ≤ U",
    learners=OWN,
    needs=(CONVEX,),
    applies=lambda e: _in(e, CROSS),
)
def l1_linearised(evidence: Evidence) -> Claim:
    """ℓ_t(w_t) − ℓ_t(u) ≤ ⟨g_t, w_t − u⟩, and no u with ‖u‖₁ ≤ U gives more than Σ⟨g,w⟩ + U·max|Σg_i|.

    It needs no step rule and no solver, and it bounds the regret against every such u.
    """
    low, high = _sum(evidence)
    least = np.where((low <= 0.0) & (high >= 0.0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    most = np.maximum(np.abs(low), np.abs(high))
    return _claim(evidence, "largest_of_sum", Interval(float(least.max(initial=0.0)), float(most.max(initial=0.0))))


@theorem(
    "simplex-linearised",
    "regret",
    "Σ⟨g_t,w_t⟩ + U·max(0, max_i(−Σg_{t,i}))",
    f"{LEMMA} u ≥ 0, Σu_i ≤ U",
    learners=OWN,
    needs=(CONVEX,),
    applies=lambda e: _in(e, SIMPLEX),
)
def simplex_linearised(evidence: Evidence) -> Claim:
    """ℓ_t(w_t) − ℓ_t(u) ≤ ⟨g_t, w_t − u⟩, and no u ≥ 0 with Σu_i ≤ U gives more than Σ⟨g,w⟩ + U·max(0, −Σg_i).

    It needs no step rule and no solver, and it bounds the regret against every such u.
    """
    low, high = _sum(evidence)
    reach = Interval(float((-high).max(initial=0.0)), float((-low).max(initial=0.0)))
    return _claim(evidence, "largest_descent_of_sum", reach)
