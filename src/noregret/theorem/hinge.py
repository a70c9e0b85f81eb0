"""Mistakes of the perceptron against the hinge loss of any comparator v, h_t(v) = max(0, 1 − y⟨v,x⟩).

The losses are summed over **all** rounds: over the mistake rounds alone v = 0 would give M itself, and every such bound
would be a tautology. All lengths are in units of the step: a start w₁ counts as w₁/η.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from noregret.interval import Interval
from noregret.theorem.comparator import Comparator
from noregret.theorem.evidence import PERCEPTRONS, Evidence
from noregret.theorem.needs import COMPARED, FROM_ZERO, ORDER_FREE, PREMISE, UNIT_WEIGHTS, mistakes
from noregret.theorem.registry import Claim, theorem

OWN = PERCEPTRONS
TAUTOLOGY = (
    "Printed with the losses of the mistake rounds alone: v = 0 then gives M and no v gives less, so that the best"
    " comparator says nothing. Here the losses of all rounds are summed."
)


def implicit(c: Interval, penalty: Interval) -> Interval:
    """c + penalty, c being Σh(v) and the penalty ‖v‖ times the length of Σ_I y·x, or what bounds it."""
    return c + penalty


def explicit(c: Interval, b: Interval) -> Interval:
    """c + b² + b√c, b being r‖v‖."""
    return c + b.square() + b * c.sqrt()


def exact_root(c: Interval, b: Interval) -> Interval:
    """Q(c, b) = c + b²/2 + b√(c + b²/4), the largest M with M ≤ c + b√M."""
    return root(c, b, Interval.of(0.0))


def squared_sum(c: Interval, b: Interval) -> Interval:
    """(b + √c)²."""
    return (b + c.sqrt()).square()


def root(k: Interval, b: Interval, n: Interval) -> Interval:
    """The largest M with M ≤ k + √(n² + b²M): k + b²/2 + √(b²(k + b²/4) + n²)."""
    b2 = b.square()
    under = k + b2 * 0.25
    if n.hi == 0.0:
        return k + b2 * 0.5 + b * under.positive().sqrt()
    return k + b2 * 0.5 + (b2 * under + n.square()).positive().sqrt()


def reach(evidence: Evidence) -> Interval:
    """√(‖w₁‖²/η² + R_I²), which bounds ‖w₁/η + S‖."""
    found = mistakes(evidence)
    if evidence.start.zero:
        return found.mistake_norm
    return (evidence.start.norm.square() + found.mistake_norm2).sqrt()


def best(evidence: Evidence, bound: Callable[[Comparator], Interval], optimal: str | None = None) -> Claim:
    """The least of the bounds at the comparators given; `optimal` is the one whose dual point bounds them all."""
    name, least = min(((name, bound(one)) for name, one in evidence.comparators.items()), key=lambda found: found[1].hi)
    one = evidence.comparators[name]
    values = {"hinge": one.hinge.hi, "norm": one.norm.hi}
    points: tuple[str, ...] = (f"v_{name}",)
    if optimal in evidence.lower_ends:
        values["no_comparator_below"] = evidence.lower_ends[optimal]
        points += (f"beta_{optimal}",)
    return Claim(least, Interval.of(float(mistakes(evidence).count)), len(evidence.rounds), values, points)


@theorem(
    "hinge-sum",
    "mistakes",
    "M ≤ Σ_t h_t(v) + ‖v‖·‖S‖, S = Σ_I y·x",
    "Cesa-Bianchi's notes, proof of the perceptron theorem; Mohri & Rostamizadeh, proof of Theorem 2",
    learners=OWN,
    needs=(UNIT_WEIGHTS, COMPARED),
    erratum="Cesa-Bianchi's notes print ‖w‖‖u‖ ≥ M + Σh in the line before; it is M − Σh: on x = y = 1 with u = ½ the"
    " left side is ½ and M + Σh = 1.5. " + TAUTOLOGY,
)
def hinge_sum(evidence: Evidence) -> Claim:
    """M ≤ Σ_I [h(v) + y⟨v,x⟩] ≤ Σ_t h_t(v) + ‖v‖·‖S‖ for every v and for any set of rounds I.

    As it holds whatever I is, it is no evidence that the algorithm behaved; start, rate and rounding do not matter.
    """
    length = mistakes(evidence).sum_norm
    return best(evidence, lambda one: implicit(one.hinge, one.norm * length), "sum")


@theorem(
    "hinge-mistakes",
    "mistakes",
    "M ≤ Σ_t h_t(v) + ‖v‖√(‖w₁‖²/η² + R_I²) − ⟨v,w₁⟩/η, R_I² = Σ_I ‖x‖²",
    "Mohri & Rostamizadeh, Corollary 1 (3)",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, COMPARED),
    erratum="The kernel form prints the trace of the Gram matrix for R_I; it is its root: with x = 0.1 and v = 10 there"
    " is one mistake, and the trace would allow 0.1. " + TAUTOLOGY,
)
def hinge_mistakes(evidence: Evidence) -> Claim:
    """M ≤ Σ_t h_t(v) + ‖v‖·R_I for every v, from w₁ = 0; another start adds its own length and direction."""
    optimal = "mistakes" if evidence.start.zero else None
    length = reach(evidence)
    return best(evidence, lambda one: implicit(one.hinge, one.norm * length - one.along_start), optimal)


@theorem(
    "hinge-radius",
    "mistakes",
    "M ≤ Σ_t h_t(v) + ‖v‖√(‖w₁‖²/η² + r²M) − ⟨v,w₁⟩/η, r = max‖x‖",
    "Cesa-Bianchi's notes 2023 (9), 2024 (1); Shalev-Shwartz & Ben-David ch. 21, (21.6)",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, COMPARED),
    erratum=TAUTOLOGY,
)
def hinge_radius(evidence: Evidence) -> Claim:
    """M ≤ Σ_t h_t(v) + ‖v‖·r·√M for every v, from w₁ = 0: an inequality that has M on both sides."""
    found = mistakes(evidence)
    inside = evidence.start.norm.square() + found.max_norm2 * float(found.count)
    length = inside.sqrt() if found.count or not evidence.start.zero else Interval.of(0.0)
    return best(evidence, lambda one: implicit(one.hinge, one.norm * length - one.along_start))


@theorem(
    "hinge-explicit",
    "mistakes",
    "M ≤ c + b² + b√c, c = Σ_t h_t(v), b = r‖v‖",
    "Cesa-Bianchi's notes; Shalev-Shwartz & Ben-David ch. 21, Theorem 21.16",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, FROM_ZERO, COMPARED),
    erratum="A transcription of Theorem 21.16 has c + b√(c + b²), which is false: on x = y = 1 with v = ½ it allows"
    " 0.933 and there is 1 mistake. " + TAUTOLOGY,
)
def hinge_explicit(evidence: Evidence) -> Claim:
    """M ≤ c + b² + b√c for every v: the textbooks' closed form of M ≤ c + b√M."""
    r = mistakes(evidence).radius
    return best(evidence, lambda one: explicit(one.hinge, one.norm * r))


@theorem(
    "hinge-root",
    "mistakes",
    "M ≤ Q(c,b) = c + b²/2 + b√(c + b²/4), c = Σ_t h_t(v), b = r‖v‖",
    "the exact root of Cesa-Bianchi's (9) and of Shalev-Shwartz & Ben-David's (21.6)",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, COMPARED),
    erratum=TAUTOLOGY,
)
def hinge_root(evidence: Evidence) -> Claim:
    """M is at most the largest root of M = c + b√M, for every v; never more than either closed form.

    From another start it is the largest root of M = c − ⟨v,w₁⟩/η + ‖v‖√(‖w₁‖²/η² + r²M).
    """
    r, start = mistakes(evidence).radius, evidence.start.norm
    if evidence.start.zero:
        return best(evidence, lambda one: exact_root(one.hinge, one.norm * r))
    return best(evidence, lambda one: root(one.hinge - one.along_start, one.norm * r, one.norm * start))


@theorem(
    "hinge-squared-sum",
    "mistakes",
    "M ≤ (r‖v‖ + √Σ_t h_t(v))²",
    "Mohri & Rostamizadeh, Corollary 1 (4)",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, FROM_ZERO, COMPARED),
    erratum=TAUTOLOGY,
)
def hinge_squared_sum(evidence: Evidence) -> Claim:
    """M ≤ (b + √c)² for every v, c = Σ_t h_t(v) and b = r‖v‖: the loosest of the three closed forms."""
    r = mistakes(evidence).radius
    return best(evidence, lambda one: squared_sum(one.hinge, one.norm * r))


@theorem(
    "order-free",
    "mistakes, in any order",
    "M ≤ q* = inf_v Q(Σ_t h_t(v), r‖v‖)",
    "Cesa-Bianchi's (9) at its best comparator, by duality",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, FROM_ZERO, ORDER_FREE),
)
def order_free(evidence: Evidence) -> Claim:
    """The best comparator of the exact root bounds the mistakes on these rows in any order, tie rule and rate."""
    r = mistakes(evidence).radius
    alone = replace(evidence, comparators={"root": evidence.comparators["root"]})
    return best(alone, lambda one: exact_root(one.hinge, one.norm * r), "root")
