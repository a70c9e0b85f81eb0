"""Mistakes of the second-order perceptron against the hinge loss of any comparator v, over **all** rounds.

With A = aI + Σ_I x·xᵀ over the update rounds I and w = Σ_I y·x: M − Σ h(v) ≤ ⟨v, w⟩ ≤ √(vᵀAv)·√(wᵀA⁻¹w). A round of I
adds 2y⟨w, A_t⁻¹x⟩ + ⟨x, A_t⁻¹x⟩ to wᵀA⁻¹w at the most, and the first of the two is not above 0 where the sign was wrong
or the score was 0, whatever the tie rule. A float run may see a sign that exact arithmetic does not: what could have
come from that is bounded round by round and added (`excess`), so that no premise has to be taken on trust.
"""

from __future__ import annotations

import numpy as np

from noregret.interval import Interval, least, total
from noregret.proof import enclose
from noregret.proof.facts import Facts
from noregret.proof.facts.steps import Comparator
from noregret.proof.theorem import Claim, theorem
from noregret.proof.theorems.shared import COMPARED, UNIT_WEIGHTS

OWN = ("second-order",)
TAUTOLOGY = (
    "Printed with the losses of the mistake rounds alone, where v = 0 gives M itself. Here the losses of all rounds are"
    " summed."
)


def excess(facts: Facts) -> Interval:
    """Σ_I 2·max(0, y⟨w, A_t⁻¹x⟩): 0 in exact arithmetic, and at most this where a score was near 0."""
    found = facts.matrices
    above = facts.rounds.y[found.chosen] * found.scores + found.errors
    return Interval(0.0, total(above, np.maximum(above, 0.0)).hi) * 2.0


def stretched(facts: Facts, v: Comparator) -> Interval:
    """a‖v‖² + Σ_I ⟨v, x⟩²."""
    found = facts.matrices
    lo, hi = (ends[found.chosen] for ends in enclose.margins(facts.rounds, v.v))
    low = np.where((lo <= 0.0) & (hi >= 0.0), 0.0, np.minimum(np.abs(lo), np.abs(hi)))
    high = np.maximum(np.abs(lo), np.abs(hi))
    squares = total(np.nextafter(low * low, 0.0), np.nextafter(high * high, np.inf))
    return v.norm.square() * found.ridge + squares


def _claim(facts: Facts, growth: Interval) -> Claim:
    """M ≤ Σ h(v) + √((a‖v‖² + Σ_I ⟨v,x⟩²)·growth) at the best of the comparators given."""

    def bound(one: Comparator) -> Interval:
        return one.hinge + (stretched(facts, one) * growth).sqrt()

    name, found = min(((name, bound(one)) for name, one in facts.comparators.items()), key=lambda pair: pair[1].hi)
    one = facts.comparators[name]
    values = {"hinge": one.hinge.hi, "norm": one.norm.hi, "growth": growth.hi}
    count = Interval.of(float(len(facts.matrices.chosen)))
    return Claim(found, count, len(facts.rounds), values, (f"v_{name}",))


@theorem(
    "second-order-steps",
    "mistakes",
    "M ≤ Σ_t h_t(v) + √((a‖v‖² + Σ_I ⟨v,x⟩²)·Σ_I xᵀA_t⁻¹x), A_t = aI + Σ_{s∈I, s≤t} x·xᵀ",
    "Cesa-Bianchi, Conconi & Gentile 2005, proof of Theorem 3.1",
    learners=OWN,
    needs=(UNIT_WEIGHTS, COMPARED),
    erratum=TAUTOLOGY,
)
def second_order_steps(facts: Facts) -> Claim:
    """M ≤ Σ_t h_t(v) + √((a‖v‖² + Σ_I ⟨v,x⟩²)·Σ_I xᵀA_t⁻¹x) for every v, A_t with the row of round t.

    It holds for every tie rule, since a score of 0 adds nothing. What rounding could have added is in the bound.
    """
    growth = least(facts.matrices.steps, float(len(facts.matrices.chosen)))
    return _claim(facts, growth + excess(facts))


@theorem(
    "second-order",
    "mistakes",
    "M ≤ Σ_t h_t(v) + √((a‖v‖² + vᵀA_I v)·ln det(I + A_I/a)), A_I = Σ_I x·xᵀ",
    "Cesa-Bianchi, Conconi & Gentile 2005, Theorem 3.1",
    learners=OWN,
    needs=(UNIT_WEIGHTS, COMPARED),
    erratum=TAUTOLOGY,
)
def second_order(facts: Facts) -> Claim:
    """M ≤ Σ_t h_t(v) + √((a‖v‖² + vᵀA_I v)·ln det(I + A_I/a)) for every v, as xᵀA_t⁻¹x ≤ ln(det A_t/det A_{t−1}).

    The determinant is Π(1 + λ_i/a) over the eigenvalues of A_I: directions in which the mistakes lie close together
    cost next to nothing.
    """
    return _claim(facts, facts.matrices.log_det + excess(facts))
