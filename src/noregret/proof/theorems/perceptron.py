"""The perceptron: how long its weights can grow, and how often it errs where a separator exists.

All in units of the step η: N = ‖w₁‖/η for the start w₁, and S = Σ_I y·x is the sum over the update rounds I.
"""

from __future__ import annotations

from noregret.interval import Interval
from noregret.proof.facts import Facts, Separator
from noregret.proof.theorem import Claim, theorem
from noregret.proof.theorems.hinge import reach, root
from noregret.proof.theorems.shared import PERCEPTRONS, PREMISE, SEPARATED, UNIT_WEIGHTS

OWN = PERCEPTRONS
ROUNDED = Interval(1.0, 1.0 + 2.0**-46)  # equality is common here: both sides are norms, each rounded its own way


@theorem(
    "norm-lemma",
    "the length of the weights",
    "‖w₁/η + S‖ ≤ √(‖w₁‖²/η² + R_I²), R_I² = Σ_I ‖x‖²",
    "Mohri & Rostamizadeh, Lemma 1",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE),
    erratum="Printed without w₁ = 0 as ‖S‖ ≤ R_I, which is false: from w₁ = −10 on x = y = 1 there are 11 mistakes,"
    " and 11 > √11.",
)
def norm_lemma(facts: Facts) -> Claim:
    """Updates made only at y⟨w,x⟩ ≤ 0 add at most ‖x‖² each to ‖w‖²: from w₁ = 0, ‖Σ_I y·x‖ ≤ √Σ_I ‖x‖²."""
    found = facts.mistakes
    bound = reach(facts) * ROUNDED
    return Claim(bound, found.end_norm, float("inf"), {"sum_norm": found.sum_norm.hi})


@theorem(
    "novikoff",
    "mistakes, separable",
    "M ≤ r²‖u‖² from w₁ = 0, r = max‖x‖",
    "Novikoff 1962; Mohri & Rostamizadeh, Theorem 1; Shalev-Shwartz & Ben-David ch. 21, Theorem 21.16",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, SEPARATED),
)
def novikoff(facts: Facts) -> Claim:
    """A separator u, y⟨u,x⟩ ≥ 1 on every round, limits the perceptron to r²‖u‖² = (r/ρ)² mistakes, ρ = 1/‖u‖.

    From another start the bound is the largest M with M ≤ ‖u‖√(N² + r²M) − ⟨u, w₁⟩/η.
    """
    found, u = facts.mistakes, _separator(facts)
    bound = found.max_norm2 * u.norm.square()
    if not facts.start.zero:
        bound = root(-u.along_start, u.norm * found.radius, u.norm * facts.start.norm)
    values = _values(u)
    if facts.start.zero:
        values["no_separator_below"] = max((found.max_norm2 * Interval.of(u.least_norm).square()).lo, 0.0)
    return _claim(facts, bound, values)


@theorem(
    "novikoff-mistakes",
    "mistakes, separable",
    "M ≤ ‖u‖·R_I from w₁ = 0, R_I² = Σ_I ‖x‖²",
    "Mohri & Rostamizadeh, proof of Theorem 1",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, SEPARATED),
)
def novikoff_mistakes(facts: Facts) -> Claim:
    """Novikoff with the rows that were mistakes in place of the longest row: M ≤ ‖u‖√(N² + R_I²) − ⟨u, w₁⟩/η."""
    u = _separator(facts)
    return _claim(facts, u.norm * reach(facts) - u.along_start, _values(u))


@theorem(
    "novikoff-sum",
    "mistakes, separable",
    "M ≤ ‖u‖·‖S‖, S = Σ_I y·x",
    "Mohri & Rostamizadeh, proof of Theorem 1",
    learners=OWN,
    needs=(UNIT_WEIGHTS, SEPARATED),
)
def novikoff_sum(facts: Facts) -> Claim:
    """M ≤ Σ_I y⟨u,x⟩ = ⟨u,S⟩ ≤ ‖u‖·‖S‖: true of any set of rounds, so no evidence that the algorithm behaved."""
    u = _separator(facts)
    return _claim(facts, u.norm * facts.mistakes.sum_norm, _values(u))


def _separator(facts: Facts) -> Separator:
    assert facts.separator is not None
    return facts.separator


def _values(u: Separator) -> dict[str, float]:
    return {"separator_norm": u.norm.hi, "margin": (1.0 / u.norm).lo}


def _claim(facts: Facts, bound: Interval, values: dict[str, float]) -> Claim:
    count = Interval.of(float(facts.mistakes.count))
    points = facts.named("separator", "separator_weights")
    return Claim(bound, count, len(facts.rounds), values, points)
