"""Mohri & Rostamizadeh's Theorem 2 for any convex loss φ(y⟨u,x⟩) with φ(0) > 0, the user's own too, over all rounds.

Only the tangent of φ at 0 is used: no Lipschitz constant, no ‖u‖ ≤ 1, no radius. As φ(m)/φ(0) ≥ (1 + g·m/φ(0))₊, the
hinge at v = −g·u/φ(0) never gives more: φ is asked for because it is the loss of interest, not for a smaller bound.
"""

from __future__ import annotations

from collections.abc import Callable

from noregret.interval import Interval
from noregret.proof.facts import Facts
from noregret.proof.facts.surrogate import Admitted, why_not
from noregret.proof.theorem import Claim, Need, Theorem, theorem
from noregret.proof.theorems.hinge import OWN, TAUTOLOGY, reach, root
from noregret.proof.theorems.shared import FROM_ZERO, PREMISE, UNIT_WEIGHTS

ADMISSIBLE = Need[Facts](
    "φ(0) > 0, with one slope g of φ at 0",
    lambda f: f.surrogate is not None and why_not(f.surrogate) is None,
)
CONVEX = Need[Facts]("φ is convex", lambda f: None if f.surrogate is None or f.surrogate.custom else f.surrogate.convex)
GIVEN = Need[Facts]("a comparator u for φ is given", lambda f: bool(f.admitted))


def _theorem(
    name: str, formula: str, source: str, *needs: Need[Facts], erratum: str
) -> Callable[[Callable[[Facts], Claim]], Theorem[Facts]]:
    return theorem(
        name,
        "mistakes",
        formula,
        source,
        learners=OWN,
        needs=(UNIT_WEIGHTS, PREMISE, *needs, ADMISSIBLE, CONVEX, GIVEN),
        erratum=erratum,
        applies=lambda facts: facts.surrogate is not None,
    )


def mistakes(one: Admitted, length: Interval) -> Interval:
    """(Σφ + |g|·‖u‖·length + g·⟨u, w₁⟩/η)/φ(0), length being at least ‖w₁/η + S‖."""
    tangent = one.tangent
    return (one.losses + tangent.steep * one.norm * length + tangent.slope * one.along_start) / tangent.at_zero


def in_any_order(one: Admitted, r: Interval) -> Interval:
    """Q(L, b), the largest M with M ≤ L + b√M, L = Σφ/φ(0), b = |g|·r‖u‖/φ(0)."""
    phi = one.tangent.at_zero
    return root(one.losses / phi, one.norm * r * one.tangent.steep / phi, Interval.of(0.0))


def _claim(facts: Facts, bound: Callable[[Admitted], Interval]) -> Claim:
    """The least of the bounds at the comparators given."""
    name, one = min(facts.admitted.items(), key=lambda pair: bound(pair[1]).hi)
    values = {
        "losses": one.losses.hi,
        "norm": one.norm.hi,
        "loss_at_zero": one.tangent.at_zero.hi,
        "slope_at_zero": one.tangent.steep.hi,
    }
    return Claim(bound(one), Interval.of(float(facts.mistakes.count)), len(facts.rounds), values, (name,))


@_theorem(
    "surrogate-mistakes",
    "M ≤ (Σ_t φ(y⟨u,x⟩) + |g|·‖u‖√(‖w₁‖²/η² + R_I²) + g⟨u,w₁⟩/η)/φ(0), g the slope of φ at 0",
    "Mohri & Rostamizadeh, Theorem 2 (1), with the slope at 0 for the Lipschitz constant",
    erratum="Definition 1 asks for a Lipschitz constant on the whole line, which the squared hinge and e^(−m) do not"
    " have; a subgradient at 0 is all that is used. " + TAUTOLOGY,
)
def surrogate_mistakes(facts: Facts) -> Claim:
    """M·φ(0) ≤ Σ_t φ(y⟨u,x_t⟩) + |g|·‖u‖·R_I for every convex φ and every u, from w₁ = 0; below 0 φ counts as 0."""
    length = reach(facts)
    return _claim(facts, lambda one: mistakes(one, length))


@_theorem(
    "surrogate-root",
    "M ≤ Q(L, b), L = Σ_t φ(y⟨u,x⟩)/φ(0), b = |g|·r‖u‖/φ(0)",
    "Mohri & Rostamizadeh, Theorem 2 (2), as the exact root",
    FROM_ZERO,
    erratum="Printed as (b + √L)², which is never less. In its proof the quadratic must read Mφ(0) − γr√M − L ≤ 0: γ is"
    " missing. " + TAUTOLOGY,
)
def surrogate_root(facts: Facts) -> Claim:
    """M is at most the largest root of M = L + b√M, for every convex φ and every u."""
    r = facts.mistakes.radius
    return _claim(facts, lambda one: in_any_order(one, r))
