"""Mistakes of the perceptron against any convex loss φ(y⟨u,x⟩) ≥ 0 with φ(0) = 1 and slope g < 0 at 0, over all rounds.

M ≤ Σ_t φ(y⟨u,x_t⟩) + |g|·‖u‖·R_I: Jensen and the tangent at 0; neither a Lipschitz constant nor ‖u‖ ≤ 1 is needed. As
φ lies above its tangent, the plain hinge bound at v = |g|·u is never worse; so u is taken as v/|g|.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from noregret import loss as losses
from noregret.interval import Interval
from noregret.proof import enclose
from noregret.proof.facts import Facts
from noregret.proof.facts.steps import Comparator
from noregret.proof.theorem import Claim, theorem
from noregret.proof.theorems.hinge import OWN, TAUTOLOGY, best, reach, root
from noregret.proof.theorems.shared import COMPARED, FROM_ZERO, PREMISE, UNIT_WEIGHTS

LN2 = Interval.of(2.0).log()
LOGISTIC_SLOPE = 0.5 / LN2  # |g| of log₂(1 + e^(−m))
SQUARED_HINGE_SLOPE = Interval.of(2.0)
MR_COR_2 = (
    "Printed as Σh² + 2rR_I‖v‖² and (2r²‖v‖² + √Σh²)², which are false: on x = y = u = 1 there is one mistake, and with"
    " ρ = 3 the first allows 2/3, with ρ = 4 the second 0.7656. The slope of (1 − m)² at 0 is 2, whatever r."
)


def admissible(loss: Interval, penalty: Interval, slope: Interval) -> Interval:
    """Σφ + |g|·penalty."""
    return loss + slope * penalty


def squared_hinge_root(loss: Interval, b: Interval) -> Interval:
    """(b + √(b² + loss))², the largest M with M ≤ loss + 2b√M."""
    return (b + (b.square() + loss).sqrt()).square()


def log2_loss(facts: Facts, u: Comparator) -> Interval:
    """Σ_t log₂(1 + e^(−y⟨u,x⟩))."""
    return enclose.risk(replace(facts.rounds, weights=None), losses.logistic(), u.v) / LN2


def _at_best(facts: Facts, slope: Interval, bound: Callable[[Comparator], Interval]) -> Claim:
    """The least bound at the comparators v/|g|, with the name of v and what it was multiplied by."""
    by = 1.0 / slope.hi
    scaled = {name: Comparator.at(facts.rounds, one.v * by, facts.start) for name, one in facts.comparators.items()}
    claim = best(facts, bound, among=scaled)
    return replace(claim, values={**claim.values, "scaled_by": by})


@theorem(
    "logistic-mistakes",
    "mistakes",
    "M ≤ Σ_t log₂(1 + e^(−y⟨u,x⟩)) + (‖u‖√(‖w₁‖²/η² + R_I²) − ⟨u,w₁⟩/η)/(2 ln 2)",
    "Mohri & Rostamizadeh, Theorem 2 (1), with the slope at 0 for the Lipschitz constant",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, COMPARED),
    erratum="Definition 1 asks for a Lipschitz constant on the whole line; a subgradient at 0 is all that is used. "
    + TAUTOLOGY,
)
def logistic_mistakes(facts: Facts) -> Claim:
    """M ≤ Σ_t log₂(1 + e^(−y⟨u,x⟩)) + ‖u‖·R_I/(2 ln 2) for every u, from w₁ = 0."""
    length = reach(facts)
    return _at_best(
        facts,
        LOGISTIC_SLOPE,
        lambda u: admissible(log2_loss(facts, u), u.norm * length - u.along_start, LOGISTIC_SLOPE),
    )


@theorem(
    "logistic-root",
    "mistakes",
    "M ≤ Q(L, b), L = Σ_t log₂(1 + e^(−y⟨u,x⟩)), b = r‖u‖/(2 ln 2)",
    "Mohri & Rostamizadeh, Theorem 2 (2), as the exact root",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, FROM_ZERO, COMPARED),
    erratum=TAUTOLOGY,
)
def logistic_root(facts: Facts) -> Claim:
    """M is at most the largest root of M = L + b√M, for every u."""
    r, zero = facts.mistakes.radius, Interval.of(0.0)
    return _at_best(facts, LOGISTIC_SLOPE, lambda u: root(log2_loss(facts, u), u.norm * r * LOGISTIC_SLOPE, zero))


@theorem(
    "squared-hinge-mistakes",
    "mistakes",
    "M ≤ Σ_t h_t(u)² + 2(‖u‖√(‖w₁‖²/η² + R_I²) − ⟨u,w₁⟩/η)",
    "Mohri & Rostamizadeh, Corollary 2 (5), repaired",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, COMPARED),
    erratum=MR_COR_2 + " " + TAUTOLOGY,
)
def squared_hinge_mistakes(facts: Facts) -> Claim:
    """M ≤ Σ_t h_t(u)² + 2‖u‖·R_I for every u, from w₁ = 0."""
    length = reach(facts)
    return _at_best(
        facts,
        SQUARED_HINGE_SLOPE,
        lambda u: admissible(u.hinge2, u.norm * length - u.along_start, SQUARED_HINGE_SLOPE),
    )


@theorem(
    "squared-hinge-radius",
    "mistakes",
    "M ≤ (r‖u‖ + √(r²‖u‖² + Σ_t h_t(u)²))²",
    "Mohri & Rostamizadeh, Corollary 2 (6), repaired",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, FROM_ZERO, COMPARED),
    erratum=MR_COR_2 + " " + TAUTOLOGY,
)
def squared_hinge_radius(facts: Facts) -> Claim:
    """M is at most the largest root of M = Σ_t h_t(u)² + 2r‖u‖√M, for every u."""
    r = facts.mistakes.radius
    return _at_best(facts, SQUARED_HINGE_SLOPE, lambda u: squared_hinge_root(u.hinge2, u.norm * r))
