"""Regret of the Vovk–Azoury–Warmuth forecaster: against every u at once, its ridge a‖u‖² included.

Σ k(ŷ − y)² ≤ min_u [Σ k(⟨u,x⟩ − y)² + a‖u‖²] + Σ k²y²·xᵀA_t⁻¹x. With a sample weight k the row counts as √k·x with the
label √k·y, and all of it stays true. The predictions of a float run are not quite those of exact arithmetic: how far
each may be off is known, and what that can have cost (`rounding`) is added to the bound.
"""

from __future__ import annotations

import numpy as np

from noregret.interval import Interval, total
from noregret.proof.facts import Facts
from noregret.proof.theorem import Claim, theorem
from noregret.proof.theorems.shared import compared

OWN = ("vaw",)
SOURCE = "Vovk 2001; Azoury & Warmuth 2001; Cesa-Bianchi & Lugosi 2006, Theorem 11.8"
EPS = 2.0**-50


def rounding(facts: Facts) -> Interval:
    """Σ k((|ŷ − y| + δ)² − (ŷ − y)²), δ being how far the prediction ŷ may lie from that of exact arithmetic."""
    found, scores, y = facts.matrices, facts.scores, facts.rounds.y
    off = np.abs(scores - found.scores) + found.errors
    with np.errstate(over="ignore"):  # of rows so large that nothing is known of the prediction
        cost = found.weights * off * (2.0 * np.abs(scores - y) + off) * (1.0 + EPS)
    return Interval(0.0, total(cost, cost).hi)


def label_square(facts: Facts) -> Interval:
    """Y² = max k·y²."""
    found = facts.matrices.weights * facts.rounds.y**2
    largest = float(found.max(initial=0.0))
    return Interval(largest * (1.0 - EPS), largest * (1.0 + EPS))


def _claim(facts: Facts, bound: Interval) -> Claim:
    lost = rounding(facts)
    return Claim(bound + lost, facts.regret, facts.ceiling, {"rounding": lost.hi}, facts.named("u", "alpha"))


@theorem(
    "vaw-steps",
    "regret, the comparator's ridge included",
    "Σ_t y_t²·x_tᵀA_t⁻¹x_t, A_t = aI + Σ_{s≤t} x·xᵀ",
    SOURCE,
    learners=OWN,
    applies=compared,
)
def vaw_steps(facts: Facts) -> Claim:
    """Σ(ŷ − y)² ≤ min_u [Σ(⟨u,x⟩ − y)² + a‖u‖²] + Σ y²·xᵀA_t⁻¹x, whatever the rows and the labels."""
    found = facts.matrices
    by = found.weights**2 * facts.rounds.y**2
    return _claim(facts, total(by * found.lo * (1.0 - EPS), by * found.hi * (1.0 + EPS)))


@theorem(
    "vaw-determinant",
    "regret, the comparator's ridge included",
    "Y²·ln det(A_T/a), Y = max|y|",
    SOURCE,
    learners=OWN,
    applies=compared,
)
def vaw_determinant(facts: Facts) -> Claim:
    """With every |y| at most Y the regret is at most Y²·ln det(A_T/a), as xᵀA_t⁻¹x ≤ ln(det A_t/det A_{t−1})."""
    return _claim(facts, label_square(facts) * facts.matrices.log_det)


@theorem(
    "vaw-dimension",
    "regret, the comparator's ridge included",
    "d·Y²·ln(1 + Σ_t ‖x_t‖²/(a·d)), Y = max|y|, d features",
    SOURCE,
    learners=OWN,
    applies=compared,
)
def vaw_dimension(facts: Facts) -> Claim:
    """det A_T ≤ (tr A_T/d)^d, so that the regret is at most d·Y²·ln(1 + Σ‖x‖²/(ad)): it grows like d·ln T."""
    found, d = facts.matrices, float(facts.rounds.width)
    growth = (found.trace / (Interval.of(found.ridge) * d) + 1.0).log() if d else Interval.of(0.0)
    return _claim(facts, label_square(facts) * growth * d)
