"""Mistakes of the perceptron against the root of the summed squares of a comparator's hinge losses, over all rounds."""

from __future__ import annotations

from noregret.interval import Interval
from noregret.theorem.evidence import Evidence
from noregret.theorem.hinge import OWN, TAUTOLOGY, best, reach
from noregret.theorem.needs import COMPARED, FROM_ZERO, PREMISE, UNIT_WEIGHTS, mistakes
from noregret.theorem.registry import Claim, theorem


def l2(a: Interval, penalty: Interval) -> Interval:
    """(a/2 + √(a²/4 + penalty))², the largest M with M ≤ a√M + penalty."""
    return (a * 0.5 + (a.square() * 0.25 + penalty.positive()).sqrt()).square()


def l2_sum(a: Interval, b: Interval) -> Interval:
    """(a + b)²."""
    return (a + b).square()


@theorem(
    "l2-mistakes",
    "mistakes",
    "M ≤ (a/2 + √(a²/4 + ‖v‖√(‖w₁‖²/η² + R_I²) − ⟨v,w₁⟩/η))², a² = Σ_t h_t(v)²",
    "Mohri & Rostamizadeh, Theorem 3 (7)",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, COMPARED),
    erratum=TAUTOLOGY,
)
def l2_mistakes(evidence: Evidence) -> Claim:
    """By Cauchy–Schwarz Σ_I h ≤ a√M, so M ≤ a√M + ‖v‖·R_I from w₁ = 0: M is at most the square of the larger root."""
    length = reach(evidence)
    return best(evidence, lambda one: l2(one.hinge2.sqrt(), one.norm * length - one.along_start))


@theorem(
    "l2-radius",
    "mistakes",
    "M ≤ (r‖v‖ + a)², a² = Σ_t h_t(v)²",
    "Freund & Schapire; Mohri & Rostamizadeh, Theorem 3 (8)",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, FROM_ZERO, COMPARED),
    erratum=TAUTOLOGY,
)
def l2_radius(evidence: Evidence) -> Claim:
    """M ≤ (r‖v‖ + ‖h(v)‖₂)² for every v; at its best v never below the best v of the exact root."""
    r = mistakes(evidence).radius
    return best(evidence, lambda one: l2_sum(one.hinge2.sqrt(), one.norm * r))
