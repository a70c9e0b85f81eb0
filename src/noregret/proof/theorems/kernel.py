"""The kernel perceptron: the perceptron's theorems in the space of the kernel, K(x,x) standing for ‖x‖².

S = Σ_I y·φ(x) over the update rounds I, R_I = √Tr K_I, and a comparator is v = Σ_s c_s·φ(x_s) for some rounds s, so
that ⟨v, φ(x)⟩ = Σ_s c_s·K(x_s, x) and ‖v‖² = Σ_s Σ_r c_s·c_r·K(x_s, x_r). Losses are summed over **all** rounds.
"""

from __future__ import annotations

from collections.abc import Callable

from noregret.interval import Interval
from noregret.kernel import Kernel
from noregret.learner.kernel import KernelPerceptron
from noregret.proof.facts import Facts
from noregret.proof.facts.steps import Comparator
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.hinge import TAUTOLOGY, exact_root, implicit
from noregret.proof.theorems.perceptron import ROUNDED
from noregret.proof.theorems.shared import UNIT_WEIGHTS

OWN = ("kernel",)
TRACE = (
    "Printed with Tr K_I for R_I; it is its root: with x = 0.1 and v = 10 there is one mistake, and the trace would"
    " allow 0.1. "
)
SOURCE = "Mohri & Rostamizadeh, section 5"


def kernel_of(facts: Facts) -> Kernel:
    assert isinstance(facts.learner, KernelPerceptron)
    return facts.learner.kernel


FEASIBLE = Need[Facts]("rounds × updates × entries of a row are at most 2·10⁹", lambda e: e.gram is not None)
SEMIDEFINITE = Need[Facts]("the kernel is symmetric and positive semi-definite", lambda e: kernel_of(e).semidefinite)
KEPT = Need[Facts]("no support was forgotten", lambda e: e.learner.supports == e.run.updates)
SURE = Need[Facts](
    "every update was made at y·score ≤ 0, in exact arithmetic",
    lambda e: None if e.gram is None else e.mistakes.premise,
)
SPANNED = Need[Facts]("a comparator v in the span of the rounds is given", lambda e: bool(e.comparators))


def best(facts: Facts, bound: Callable[[Comparator], Interval]) -> Claim:
    """The least of the bounds at the comparators given."""
    name, least = min(((name, bound(one)) for name, one in facts.comparators.items()), key=lambda found: found[1].hi)
    one = facts.comparators[name]
    values = {"hinge": one.hinge.hi, "norm": one.norm.hi}
    count = Interval.of(float(facts.mistakes.count))
    return Claim(least, count, len(facts.rounds), values, (f"c_{name}",))


@theorem(
    "kernel-norm-lemma",
    "the length of the weights",
    "√(Σ_I Σ_I y·y'·K(x,x')) = ‖S‖ ≤ √Tr K_I",
    SOURCE + ", Lemma 1 with a kernel",
    learners=OWN,
    needs=(UNIT_WEIGHTS, FEASIBLE, SEMIDEFINITE, KEPT, SURE),
    erratum=TRACE.strip(),
)
def kernel_norm_lemma(facts: Facts) -> Claim:
    """Updates made only at y·score ≤ 0 add at most K(x,x) each to ‖w‖², so that ‖Σ_I y·φ(x)‖ ≤ √Σ_I K(x,x)."""
    found = facts.mistakes
    return Claim(found.mistake_norm * ROUNDED, found.sum_norm, float("inf"))


@theorem(
    "kernel-hinge-sum",
    "mistakes",
    "M ≤ Σ_t h_t(v) + ‖v‖·‖S‖",
    SOURCE + ", proof of Theorem 2 with a kernel",
    learners=OWN,
    needs=(UNIT_WEIGHTS, FEASIBLE, SEMIDEFINITE, SPANNED),
    erratum=TAUTOLOGY,
)
def kernel_hinge_sum(facts: Facts) -> Claim:
    """M ≤ Σ_t h_t(v) + ‖v‖·‖S‖ for every v and for any set of rounds I, S = Σ_I y·φ(x).

    As it holds whatever I is, it is no evidence that the algorithm behaved; a forgetful learner has it too.
    """
    length = facts.mistakes.sum_norm
    return best(facts, lambda one: implicit(one.hinge, one.norm * length))


@theorem(
    "kernel-hinge-mistakes",
    "mistakes",
    "M ≤ Σ_t h_t(v) + ‖v‖·R_I, R_I = √Tr K_I",
    SOURCE + ", Corollary 1 (3) with a kernel",
    learners=OWN,
    needs=(UNIT_WEIGHTS, FEASIBLE, SEMIDEFINITE, KEPT, SURE, SPANNED),
    erratum=TRACE + TAUTOLOGY,
)
def kernel_hinge_mistakes(facts: Facts) -> Claim:
    """M ≤ Σ_t h_t(v) + ‖v‖·√Σ_I K(x,x) for every v."""
    length = facts.mistakes.mistake_norm
    return best(facts, lambda one: implicit(one.hinge, one.norm * length))


@theorem(
    "kernel-hinge-root",
    "mistakes",
    "M ≤ c + b²/2 + b√(c + b²/4), c = Σ_t h_t(v), b = r‖v‖, r = max √K(x,x)",
    "the exact root of Cesa-Bianchi's (9) and of Shalev-Shwartz & Ben-David's (21.6), with a kernel",
    learners=OWN,
    needs=(UNIT_WEIGHTS, FEASIBLE, SEMIDEFINITE, KEPT, SURE, SPANNED),
    erratum=TAUTOLOGY,
)
def kernel_hinge_root(facts: Facts) -> Claim:
    """M is at most the largest root of M = c + b√M, for every v: in any order of the same rounds."""
    r = facts.mistakes.radius
    return best(facts, lambda one: exact_root(one.hinge, one.norm * r))
