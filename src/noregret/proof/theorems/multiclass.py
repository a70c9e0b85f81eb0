"""Mistakes of a perceptron of many classes, against any comparator V with a row a class, over **all** rounds.

n counts the mistakes in which a class that nobody had declared first appeared and nothing was learned: without it the
theorems speak of the updates. It is 0 where the classes are known from the start.
"""

from __future__ import annotations

from collections.abc import Callable

from noregret.interval import Interval
from noregret.proof.facts import Facts
from noregret.proof.facts.classes import ComparatorOfClasses
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.hinge import TAUTOLOGY, exact_root
from noregret.proof.theorems.perceptron import ROUNDED
from noregret.proof.theorems.shared import UNIT_WEIGHTS

OWN = ("multiclass",)


def _max_score(facts: Facts) -> bool:
    return not _one_vs_rest(facts)


def _one_vs_rest(facts: Facts) -> bool:
    return facts.classes.alone


AHEAD = Need[Facts](
    "every update was made where a wrong class scored at least as high as the right one, in exact arithmetic",
    lambda e: e.classes.premise,
)
APART = Need[Facts]("every update of a class was made at y⟨w,x⟩ ≤ 0, in exact arithmetic", lambda e: e.classes.premise)
COMPARED = Need[Facts]("comparators V are given", lambda e: bool(e.classes.comparators))
EACH = Need[Facts](
    "a comparator for each class is given", lambda e: all(one.hinge is not None for one in e.classes.ones)
)
SEPARATED = Need[Facts](
    "a separator is known: ⟨v_y − v_r, x⟩ ≥ 1 on every round for every wrong class r",
    lambda e: e.classes.separator is not None,
)


def _best(facts: Facts, bound: Callable[[ComparatorOfClasses], Interval]) -> Claim:
    """The least of the bounds at the comparators given."""
    found = facts.classes
    name, least = min(((name, bound(one)) for name, one in found.comparators.items()), key=lambda pair: pair[1].hi)
    one = found.comparators[name]
    values = {"loss": one.loss.hi, "norm": one.norm.hi, "unforeseen": float(found.unforeseen)}
    return _claim(facts, least + float(found.unforeseen), values, (f"V_{name}",))


def _claim(facts: Facts, bound: Interval, values: dict[str, float], points: tuple[str, ...]) -> Claim:
    return Claim(bound, Interval.of(float(facts.classes.mistakes)), len(facts.rounds), values, points)


@theorem(
    "multiclass-norm",
    "the length of the weights",
    "‖S‖ ≤ √2·R_I, S = Σ_I (e_y − e_ŷ)⊗x, R_I² = Σ_I ‖x‖²",
    "Crammer & Singer 2003, proof of Theorem 1",
    learners=OWN,
    needs=(UNIT_WEIGHTS, AHEAD),
    applies=_max_score,
)
def multiclass_norm(facts: Facts) -> Claim:
    """Updates made only where a wrong class is not behind add at most 2‖x‖² each to ‖W‖²."""
    return Claim(facts.classes.reach * ROUNDED, facts.classes.sum_norm, float("inf"))


@theorem(
    "multiclass-sum",
    "mistakes",
    "M ≤ n + Σ_t ℓ_t(V) + ‖V‖·‖S‖, ℓ_t(V) = max(0, 1 − min_{r≠y} ⟨v_y − v_r, x_t⟩)",
    "Crammer & Singer 2003, proof of Theorem 2",
    learners=OWN,
    needs=(UNIT_WEIGHTS, COMPARED),
    applies=_max_score,
    erratum=TAUTOLOGY,
)
def multiclass_sum(facts: Facts) -> Claim:
    """|I| ≤ Σ_I [ℓ_t(V) + ⟨v_y − v_ŷ, x_t⟩] ≤ Σ_t ℓ_t(V) + ‖V‖·‖S‖: true of any updates, whatever made them."""
    length = facts.classes.sum_norm
    return _best(facts, lambda one: one.loss + one.norm * length)


@theorem(
    "multiclass-mistakes",
    "mistakes",
    "M ≤ n + Σ_t ℓ_t(V) + ‖V‖·√(2·Σ_I ‖x‖²)",
    "Crammer & Singer 2003, Theorem 2, in the form of the hinge loss",
    learners=OWN,
    needs=(UNIT_WEIGHTS, AHEAD, COMPARED),
    applies=_max_score,
    erratum=TAUTOLOGY,
)
def multiclass_mistakes(facts: Facts) -> Claim:
    """The mistakes are at most n + Σ_t ℓ_t(V) + ‖V‖√(2Σ_I‖x‖²) for every V."""
    length = facts.classes.reach
    return _best(facts, lambda one: one.loss + one.norm * length)


@theorem(
    "multiclass-root",
    "mistakes",
    "M ≤ n + Q(c,b), c = Σ_t ℓ_t(V), b = √2·r‖V‖, Q(c,b) = c + b²/2 + b√(c + b²/4)",
    "multiclass-mistakes with R_I ≤ r√N for N updates, as the exact root",
    learners=OWN,
    needs=(UNIT_WEIGHTS, AHEAD, COMPARED),
    applies=_max_score,
    erratum=TAUTOLOGY,
)
def multiclass_root(facts: Facts) -> Claim:
    """R_I ≤ r√N leaves N ≤ c + b√N for the N updates: they are at most its largest root, for every V."""
    length = facts.classes.radius * Interval.of(2.0).sqrt()
    return _best(facts, lambda one: exact_root(one.loss, one.norm * length))


@theorem(
    "multiclass-novikoff",
    "mistakes, separable",
    "M ≤ n + 2r²‖V‖² = n + 2(r/γ)²",
    "Crammer & Singer 2003, Theorem 1",
    learners=OWN,
    needs=(UNIT_WEIGHTS, AHEAD, SEPARATED),
    applies=_max_score,
)
def multiclass_novikoff(facts: Facts) -> Claim:
    """A V with ⟨v_y − v_r, x⟩ ≥ 1 everywhere, of margin γ = 1/‖V‖, limits the updates to 2(r/γ)²."""
    found = facts.classes
    assert found.separator is not None
    bound = found.max_norm2 * 2.0 * found.separator.square() + float(found.unforeseen)
    values = {"separator_norm": found.separator.hi, "unforeseen": float(found.unforeseen)}
    return _claim(facts, bound, values, ("V_apart",))


def _each(facts: Facts) -> Interval:
    """Σ_k Σ_t h_t(v_k) + ‖v_k‖·R_k."""
    return sum((one.bound for one in facts.classes.ones), Interval.of(0.0))


@theorem(
    "one-vs-rest-updates",
    "updates of all classes",
    "Σ_k M_k ≤ Σ_k [Σ_t h_t(v_k) + ‖v_k‖·R_k], R_k² = Σ_{I_k} ‖x‖²",
    "Mohri & Rostamizadeh, Corollary 1 (3), for each class",
    learners=OWN,
    needs=(UNIT_WEIGHTS, APART, EACH),
    applies=_one_vs_rest,
    erratum=TAUTOLOGY,
)
def one_vs_rest_updates(facts: Facts) -> Claim:
    """Each class's perceptron errs M_k ≤ Σ_t h_t(v_k) + ‖v_k‖·R_k times, the sum over all its rounds; all together."""
    ones = facts.classes.ones
    values = {f"bound_{k}": one.bound.hi for k, one in enumerate(ones)}
    values |= {f"updates_{k}": float(one.count) for k, one in enumerate(ones)}
    rounds = float(sum(len(facts.rounds) - one.first for one in ones))
    return Claim(_each(facts), Interval.of(float(sum(one.count for one in ones))), rounds, values, ("V_each",))


@theorem(
    "one-vs-rest",
    "mistakes",
    "M ≤ Σ_k M_k ≤ Σ_k [Σ_t h_t(v_k) + ‖v_k‖·R_k]",
    "one-vs-rest-updates, as a wrong prediction takes a wrong class's perceptron",
    learners=OWN,
    needs=(UNIT_WEIGHTS, APART, EACH),
    applies=_one_vs_rest,
    erratum=TAUTOLOGY,
)
def one_vs_rest(facts: Facts) -> Claim:
    """Where the right class is not ahead, its own perceptron says no, or that of a class not behind it says yes."""
    return _claim(facts, _each(facts), {}, ("V_each",))
