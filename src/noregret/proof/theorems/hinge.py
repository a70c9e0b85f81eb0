"""Mistakes of the perceptron against the hinge loss of any comparator v, h_t(v) = max(0, 1 − y⟨v,x⟩).

The losses are summed over **all** rounds: over the mistake rounds alone v = 0 would give M itself, and every such bound
would be a tautology. All lengths are in units of the step: a start w₁ counts as w₁/η.
"""

from __future__ import annotations

from collections.abc import Callable

from noregret.interval import Interval
from noregret.proof.facts import Facts
from noregret.proof.facts.steps import Comparator
from noregret.proof.theorem import Claim, theorem
from noregret.proof.theorems.shared import COMPARED, FROM_ZERO, ORDER_FREE, PERCEPTRONS, PREMISE, UNIT_WEIGHTS

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


def l2(a: Interval, penalty: Interval) -> Interval:
    """(a/2 + √(a²/4 + penalty))², the largest M with M ≤ a√M + penalty."""
    return (a * 0.5 + (a.square() * 0.25 + penalty.positive()).sqrt()).square()


def l2_sum(a: Interval, b: Interval) -> Interval:
    """(a + b)²."""
    return (a + b).square()


def reach(facts: Facts) -> Interval:
    """√(‖w₁‖²/η² + R_I²), which bounds ‖w₁/η + S‖."""
    found = facts.mistakes
    if facts.start.zero:
        return found.mistake_norm
    return (facts.start.norm.square() + found.mistake_norm2).sqrt()


def best(
    facts: Facts,
    bound: Callable[[Comparator], Interval],
    optimal: str | None = None,
    among: dict[str, Comparator] | None = None,
) -> Claim:
    """The least of the bounds at some comparators; `optimal` is the one whose dual point bounds them all."""
    found = facts.comparators if among is None else among
    name, least = min(((name, bound(one)) for name, one in found.items()), key=lambda pair: pair[1].hi)
    one = found[name]
    values = {"hinge": one.hinge.hi, "norm": one.norm.hi}
    points: tuple[str, ...] = (f"v_{name}",)
    if optimal in facts.lower_ends:
        values["no_comparator_below"] = facts.lower_ends[optimal]
        points += (f"beta_{optimal}",)
    return Claim(least, Interval.of(float(facts.mistakes.count)), len(facts.rounds), values, points)


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
def hinge_sum(facts: Facts) -> Claim:
    """M ≤ Σ_I [h(v) + y⟨v,x⟩] ≤ Σ_t h_t(v) + ‖v‖·‖S‖ for every v and for any set of rounds I.

    As it holds whatever I is, it is no evidence that the algorithm behaved; start, rate and rounding do not matter.
    """
    length = facts.mistakes.sum_norm
    return best(facts, lambda one: implicit(one.hinge, one.norm * length), "sum")


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
def hinge_mistakes(facts: Facts) -> Claim:
    """M ≤ Σ_t h_t(v) + ‖v‖·R_I for every v, from w₁ = 0; another start adds its own length and direction."""
    optimal = "mistakes" if facts.start.zero else None
    length = reach(facts)
    return best(facts, lambda one: implicit(one.hinge, one.norm * length - one.along_start), optimal)


@theorem(
    "hinge-radius",
    "mistakes",
    "M ≤ Σ_t h_t(v) + ‖v‖√(‖w₁‖²/η² + r²M) − ⟨v,w₁⟩/η, r = max‖x‖",
    "Cesa-Bianchi's notes 2023 (9), 2024 (1); Shalev-Shwartz & Ben-David ch. 21, (21.6)",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, COMPARED),
    erratum=TAUTOLOGY,
)
def hinge_radius(facts: Facts) -> Claim:
    """M ≤ Σ_t h_t(v) + ‖v‖·r·√M for every v, from w₁ = 0: an inequality that has M on both sides."""
    found = facts.mistakes
    inside = facts.start.norm.square() + found.max_norm2 * float(found.count)
    length = inside.sqrt() if found.count or not facts.start.zero else Interval.of(0.0)
    return best(facts, lambda one: implicit(one.hinge, one.norm * length - one.along_start))


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
def hinge_explicit(facts: Facts) -> Claim:
    """M ≤ c + b² + b√c for every v: the textbooks' closed form of M ≤ c + b√M."""
    r = facts.mistakes.radius
    return best(facts, lambda one: explicit(one.hinge, one.norm * r))


@theorem(
    "hinge-root",
    "mistakes",
    "M ≤ Q(c,b) = c + b²/2 + b√(c + b²/4), c = Σ_t h_t(v), b = r‖v‖",
    "the exact root of Cesa-Bianchi's (9) and of Shalev-Shwartz & Ben-David's (21.6)",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, COMPARED),
    erratum=TAUTOLOGY,
)
def hinge_root(facts: Facts) -> Claim:
    """M is at most the largest root of M = c + b√M, for every v; never more than either closed form.

    From another start it is the largest root of M = c − ⟨v,w₁⟩/η + ‖v‖√(‖w₁‖²/η² + r²M).
    """
    r, start = facts.mistakes.radius, facts.start.norm
    if facts.start.zero:
        return best(facts, lambda one: exact_root(one.hinge, one.norm * r))
    return best(facts, lambda one: root(one.hinge - one.along_start, one.norm * r, one.norm * start))


@theorem(
    "hinge-squared-sum",
    "mistakes",
    "M ≤ (r‖v‖ + √Σ_t h_t(v))²",
    "Mohri & Rostamizadeh, Corollary 1 (4)",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, FROM_ZERO, COMPARED),
    erratum=TAUTOLOGY,
)
def hinge_squared_sum(facts: Facts) -> Claim:
    """M ≤ (b + √c)² for every v, c = Σ_t h_t(v) and b = r‖v‖: the loosest of the three closed forms."""
    r = facts.mistakes.radius
    return best(facts, lambda one: squared_sum(one.hinge, one.norm * r))


@theorem(
    "order-free",
    "mistakes, in any order",
    "M ≤ q* = inf_v Q(Σ_t h_t(v), r‖v‖)",
    "Cesa-Bianchi's (9) at its best comparator, by duality",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, FROM_ZERO, ORDER_FREE),
)
def order_free(facts: Facts) -> Claim:
    """The best comparator of the exact root bounds the mistakes on these rows in any order, tie rule and rate."""
    r = facts.mistakes.radius
    alone = {"root": facts.comparators["root"]}
    return best(facts, lambda one: exact_root(one.hinge, one.norm * r), "root", alone)


@theorem(
    "l2-mistakes",
    "mistakes",
    "M ≤ (a/2 + √(a²/4 + ‖v‖√(‖w₁‖²/η² + R_I²) − ⟨v,w₁⟩/η))², a² = Σ_t h_t(v)²",
    "Mohri & Rostamizadeh, Theorem 3 (7)",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, COMPARED),
    erratum=TAUTOLOGY,
)
def l2_mistakes(facts: Facts) -> Claim:
    """By Cauchy–Schwarz Σ_I h ≤ a√M, so M ≤ a√M + ‖v‖·R_I from w₁ = 0: M is at most the square of the larger root."""
    length = reach(facts)
    return best(facts, lambda one: l2(one.hinge2.sqrt(), one.norm * length - one.along_start))


@theorem(
    "l2-radius",
    "mistakes",
    "M ≤ (r‖v‖ + a)², a² = Σ_t h_t(v)²",
    "Freund & Schapire; Mohri & Rostamizadeh, Theorem 3 (8)",
    learners=OWN,
    needs=(UNIT_WEIGHTS, PREMISE, FROM_ZERO, COMPARED),
    erratum=TAUTOLOGY,
)
def l2_radius(facts: Facts) -> Claim:
    """M ≤ (r‖v‖ + ‖h(v)‖₂)² for every v; at its best v never below the best v of the exact root."""
    r = facts.mistakes.radius
    return best(facts, lambda one: l2_sum(one.hinge2.sqrt(), one.norm * r))
