"""Regret of scores of any kind in logistic loss, from a quadratic below the loss of every round.

Where `ogd-linearised` takes a tangent, this takes a parabola that touches there: for Newton's steps with the same
curvatures the bound grows like d·ln T and not like U√T. It needs neither a step rule nor a premise.
"""

from __future__ import annotations

import math

from noregret.proof.facts import Facts
from noregret.proof.facts.quadratic import POINT, curvatures, minorants, ridge_of
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.shared import compared

SOURCE = "Hazan, Agarwal & Kale 2007; the curvature as in Jézéquel, Gaillard & Rudi 2020"
GIVEN = Need[Facts]("a point θ near the minimum is given", lambda f: POINT in f.points)


def speaks(facts: Facts) -> bool:
    """Whether there is a ball of comparators, and there are minorants."""
    return compared(facts) and math.isfinite(facts.radius) and _ridge(facts) is not None


def _ridge(facts: Facts) -> float | None:
    return ridge_of(facts.learner, facts.rounds.width)


@theorem(
    "quadratic",
    "regret",
    "(λ/2)U² + Σℓ_t(z_t) − min_θ [Σ m_t(⟨θ,x_t⟩) + (λ/2)‖θ‖²], m_t(v) = ℓ_t(z_t) + s_t(v − z_t) + ½h_t(v − z_t)²",
    SOURCE,
    learners=("newton", "auto"),
    needs=(GIVEN,),
    applies=speaks,
)
def quadratic(facts: Facts) -> Claim:
    """For every ‖u‖ ≤ U each loss lies above a parabola m_t, and no u loses less than the minimum less (λ/2)U².

    h_t = ψ'' where |z_t| ≥ U‖x_t‖, else ψ''/(1 + (|z_t| + U‖x_t‖)/2), ψ'' and s_t being curvature and slope of the
    logistic loss at the score z_t, which may be of any kind. λ is the learner's ridge, or 1. The minimum is taken at a
    point θ; one that misses it adds ‖∇‖²/(2λ), ∇ the gradient there.
    """
    ridge = _ridge(facts)
    assert ridge is not None
    h = curvatures(facts.rounds, facts.learner.loss, facts.radius)
    found = minorants(facts.rounds, facts.learner.loss, h, facts.points[POINT], ridge)
    values = {"norm": found.norm.hi, "radius": facts.radius}
    return Claim(found.bound(facts.radius), facts.regret, facts.ceiling, values, (POINT,))
