"""L1 or L2: which of Mohri & Rostamizadeh's two bounds is the smaller on a run (their section 3.3).

Of the printed forms, (r‖v‖ + √Σh)² and (r‖v‖ + √Σh²)², the second is the smaller at a v with Σh² ≤ Σh, as where no
loss exceeds 1, and the first at any other. But M ≤ Σh + r‖v‖√M has a root that is below the first, and that root at its
best v is never above the second at its own: one optimisation is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from noregret.interval import Interval
from noregret.proof.facts import Facts
from noregret.proof.facts.steps import Comparator
from noregret.proof.theorem import Claim, theorem
from noregret.proof.theorems.hinge import OWN, TAUTOLOGY, exact_root, l2_sum, squared_sum
from noregret.proof.theorems.kernel import OWN as KERNEL
from noregret.proof.theorems.kernel import PERCEPTRON, SPANNED
from noregret.proof.theorems.perceptron import ROUNDED
from noregret.proof.theorems.shared import COMPARED, FROM_ZERO, PREMISE, UNIT_WEIGHTS

SOURCE = "Mohri & Rostamizadeh, section 3.3; by duality"
LOSSY = (
    "The text calls the two bounds not comparable. That is due to its closed form of the first, (r‖v‖ + √Σh)², which"
    " gives away what the exact root keeps. "
)


def _compared(facts: Facts, kind: str, below: float) -> Claim:
    """The best exact root, between what no comparator falls below and the best one known, and the best L2 bound."""
    r, found = facts.mistakes.radius, facts.comparators
    _, first = _least(found, lambda one: exact_root(one.hinge, one.norm * r))
    _, printed = _least(found, lambda one: squared_sum(one.hinge, one.norm * r))
    name, second = _least(found, lambda one: l2_sum(one.hinge2.sqrt(), one.norm * r))
    at = found[name]
    values = {"l1": at.hinge.hi, "l2_squared": at.hinge2.hi, "l1_printed": printed.hi, "l2_printed": second.hi}
    observed = Interval(min(below, first.lo), first.hi)
    return Claim(second * ROUNDED, observed, float("inf"), values, (f"{kind}_{name}",))


def _least(found: Mapping[str, Comparator], bound: Callable[[Comparator], Interval]) -> tuple[str, Interval]:
    """The comparator of the least bound, and the bound."""
    return min(((name, bound(one)) for name, one in found.items()), key=lambda pair: pair[1].hi)


@theorem(
    "l1-l2",
    "the best L1 bound",
    "inf_v Q(Σ_t h_t(v), r‖v‖) ≤ inf_v (r‖v‖ + a)², a² = Σ_t h_t(v)²",
    SOURCE,
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, FROM_ZERO, COMPARED),
    erratum=LOSSY + TAUTOLOGY,
)
def l1_l2(facts: Facts) -> Claim:
    """Whatever the rounds, the exact root of the L1 bound, at its best comparator, is at most the L2 bound at its own.

    What is observed is the best L1 bound; it is open where the two are nearer than the comparators are to the best.
    """
    return _compared(facts, "v", facts.lower_ends.get("root", 0.0))


@theorem(
    "kernel-l1-l2",
    "the best L1 bound",
    "inf_v Q(Σ_t h_t(v), r‖v‖) ≤ inf_v (r‖v‖ + a)², a² = Σ_t h_t(v)², r = max √K(x,x)",
    SOURCE + ", with a kernel",
    learners=KERNEL,
    needs=(*PERCEPTRON, SPANNED),
    erratum=LOSSY + TAUTOLOGY,
)
def kernel_l1_l2(facts: Facts) -> Claim:
    """With a kernel, too, the best exact root of the L1 bound is at most the best L2 bound."""
    return _compared(facts, "c", 0.0)
