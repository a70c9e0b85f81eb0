"""The kernel perceptron: the perceptron's theorems in the space of the kernel, K(x,x) standing for ‖x‖².

S = Σ_I y·φ(x) over the update rounds I, R_I = √Tr K_I, and a comparator is v = Σ_s c_s·φ(x_s) for some rounds s, so
that ⟨v, φ(x)⟩ = Σ_s c_s·K(x_s, x) and ‖v‖² = Σ_s Σ_r c_s·c_r·K(x_s, x_r). Losses are summed over **all** rounds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from noregret import loss as losses
from noregret.interval import Interval, total
from noregret.kernel import Kernel
from noregret.learner.kernel import KernelPerceptron
from noregret.proof import enclose
from noregret.proof.facts import Facts
from noregret.proof.facts.steps import Comparator, shortest_separator
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.convex import LN2, LOGISTIC_SLOPE, admissible
from noregret.proof.theorems.hinge import TAUTOLOGY, exact_root, implicit, l2, l2_sum, root
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
SEPARATED = Need[Facts](
    "a separator in the span of the rounds is known: y⟨u,φ(x)⟩ ≥ 1 on every round", lambda e: bool(separators(e))
)
PLAYED = (UNIT_WEIGHTS, FEASIBLE, SEMIDEFINITE)  # what every row needs
PERCEPTRON = (*PLAYED, KEPT, SURE)  # and what those need that say something of the algorithm


def separators(facts: Facts) -> dict[str, Comparator]:
    """The comparators without any hinge loss."""
    return {name: one for name, one in facts.comparators.items() if one.hinge.hi == 0.0}


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
    needs=PERCEPTRON,
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
    needs=(*PLAYED, SPANNED),
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
    needs=(*PERCEPTRON, SPANNED),
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
    needs=(*PERCEPTRON, SPANNED),
    erratum=TAUTOLOGY,
)
def kernel_hinge_root(facts: Facts) -> Claim:
    """M is at most the largest root of M = c + b√M, for every v: in any order of the same rounds."""
    r = facts.mistakes.radius
    return best(facts, lambda one: exact_root(one.hinge, one.norm * r))


# -- separable rounds --------------------------------------------------------------------------------------------------


def _separated(facts: Facts, length: Callable[[Comparator], Interval], below: bool = False) -> Claim:
    """The bound at the shortest separator; if asked, what no separator's r²‖u‖² falls below."""
    name, u = min(separators(facts).items(), key=lambda found: found[1].norm.hi)
    values = {"separator_norm": u.norm.hi, "margin": (1.0 / u.norm).lo}
    points: tuple[str, ...] = (f"c_{name}",)
    if below and facts.gram is not None and "separator_weights" in facts.points:
        shortest = shortest_separator(facts.gram, facts.rounds.y, facts.points["separator_weights"])
        values["no_separator_below"] = max((facts.mistakes.max_norm2 * Interval.of(shortest).square()).lo, 0.0)
        points += ("separator_weights",)
    return Claim(length(u), Interval.of(float(facts.mistakes.count)), len(facts.rounds), values, points)


@theorem(
    "kernel-novikoff",
    "mistakes, separable",
    "M ≤ r²‖u‖², r = max √K(x,x)",
    SOURCE + ", Theorem 1 with a kernel",
    learners=OWN,
    needs=(*PERCEPTRON, SEPARATED),
)
def kernel_novikoff(facts: Facts) -> Claim:
    """A separator u, y⟨u,φ(x)⟩ ≥ 1 on every round, limits the kernel perceptron to r²‖u‖² = (r/ρ)² mistakes."""
    r2 = facts.mistakes.max_norm2
    return _separated(facts, lambda u: r2 * u.norm.square(), below=True)


@theorem(
    "kernel-novikoff-mistakes",
    "mistakes, separable",
    "M ≤ ‖u‖·√Tr K_I",
    SOURCE + ", proof of Theorem 1 with a kernel",
    learners=OWN,
    needs=(*PERCEPTRON, SEPARATED),
    erratum=TRACE.strip(),
)
def kernel_novikoff_mistakes(facts: Facts) -> Claim:
    """Novikoff with the rows that were mistakes in place of the longest row: M ≤ ‖u‖·√Σ_I K(x,x)."""
    length = facts.mistakes.mistake_norm
    return _separated(facts, lambda u: u.norm * length)


@theorem(
    "kernel-novikoff-sum",
    "mistakes, separable",
    "M ≤ ‖u‖·‖S‖",
    SOURCE + ", proof of Theorem 1 with a kernel",
    learners=OWN,
    needs=(*PLAYED, SEPARATED),
)
def kernel_novikoff_sum(facts: Facts) -> Claim:
    """M ≤ Σ_I y⟨u,φ(x)⟩ ≤ ‖u‖·‖S‖: true of any set of rounds, so no evidence that the algorithm behaved."""
    length = facts.mistakes.sum_norm
    return _separated(facts, lambda u: u.norm * length)


# -- other losses ------------------------------------------------------------------------------------------------------


@theorem(
    "kernel-l2-mistakes",
    "mistakes",
    "M ≤ (a/2 + √(a²/4 + ‖v‖·√Tr K_I))², a² = Σ_t h_t(v)²",
    SOURCE + ", Theorem 3 (7) with a kernel",
    learners=OWN,
    needs=(*PERCEPTRON, SPANNED),
    erratum=TRACE + TAUTOLOGY,
)
def kernel_l2_mistakes(facts: Facts) -> Claim:
    """By Cauchy–Schwarz Σ_I h ≤ a√M, so M ≤ a√M + ‖v‖·√Tr K_I for every v."""
    length = facts.mistakes.mistake_norm
    return best(facts, lambda one: l2(one.hinge2.sqrt(), one.norm * length))


@theorem(
    "kernel-l2-radius",
    "mistakes",
    "M ≤ (r‖v‖ + a)², a² = Σ_t h_t(v)², r = max √K(x,x)",
    SOURCE + ", Theorem 3 (8) with a kernel; Freund & Schapire",
    learners=OWN,
    needs=(*PERCEPTRON, SPANNED),
    erratum=TAUTOLOGY,
)
def kernel_l2_radius(facts: Facts) -> Claim:
    """M ≤ (r‖v‖ + ‖h(v)‖₂)² for every v."""
    r = facts.mistakes.radius
    return best(facts, lambda one: l2_sum(one.hinge2.sqrt(), one.norm * r))


def _logistic(facts: Facts, bound: Callable[[Interval, Interval], Interval]) -> Claim:
    """The least of the bounds, of Σ log₂(1 + e^(−y⟨u,φ(x)⟩)) and ‖u‖, at the comparators u = v/|g|."""
    by = 1.0 / LOGISTIC_SLOPE.hi
    found = {}
    for name, one in facts.comparators.items():
        lost, norm = _log2_loss(facts, one, by), one.norm * by
        found[name] = bound(lost, norm), lost, norm
    name = min(found, key=lambda one: found[one][0].hi)
    least, lost, norm = found[name]
    values = {"losses": lost.hi, "norm": norm.hi, "scaled_by": by}
    return Claim(least, Interval.of(float(facts.mistakes.count)), len(facts.rounds), values, (f"c_{name}",))


def _log2_loss(facts: Facts, one: Comparator, by: float) -> Interval:
    """Σ_t log₂(1 + e^(−y·by·⟨v,φ(x)⟩))."""
    assert one.scores is not None
    lo, hi = np.nextafter(by * one.scores[0], -np.inf), np.nextafter(by * one.scores[1], np.inf)
    return total(*enclose.between(losses.logistic(), lo, hi, facts.rounds.y)) / LN2


@theorem(
    "kernel-logistic-mistakes",
    "mistakes",
    "M ≤ Σ_t log₂(1 + e^(−y⟨u,φ(x)⟩)) + ‖u‖·√Tr K_I/(2 ln 2)",
    SOURCE + ", Theorem 2 (1) with a kernel, with the slope at 0 for the Lipschitz constant",
    learners=OWN,
    needs=(*PERCEPTRON, SPANNED),
    erratum=TRACE + TAUTOLOGY,
)
def kernel_logistic_mistakes(facts: Facts) -> Claim:
    """M ≤ Σ_t log₂(1 + e^(−y⟨u,φ(x)⟩)) + ‖u‖·√Σ_I K(x,x)/(2 ln 2) for every u."""
    length = facts.mistakes.mistake_norm
    return _logistic(facts, lambda lost, norm: admissible(lost, norm * length, LOGISTIC_SLOPE))


@theorem(
    "kernel-logistic-root",
    "mistakes",
    "M ≤ Q(L, b), L = Σ_t log₂(1 + e^(−y⟨u,φ(x)⟩)), b = r‖u‖/(2 ln 2), r = max √K(x,x)",
    SOURCE + ", Theorem 2 (2) with a kernel, as the exact root",
    learners=OWN,
    needs=(*PERCEPTRON, SPANNED),
    erratum=TAUTOLOGY,
)
def kernel_logistic_root(facts: Facts) -> Claim:
    """M is at most the largest root of M = L + b√M, for every u."""
    r, zero = facts.mistakes.radius, Interval.of(0.0)
    return _logistic(facts, lambda lost, norm: root(lost, norm * r * LOGISTIC_SLOPE, zero))
