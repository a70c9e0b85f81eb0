"""Forecasts of classes, against the best fixed shares or weights in hindsight."""

from __future__ import annotations

import math

from noregret.interval import Interval
from noregret.proof.facts import Facts
from noregret.proof.theorem import Claim, theorem
from noregret.proof.theorems.shared import UNIT_WEIGHTS

OWN = ("markov-classes",)
UNITS = 2.0**-48  # by how much a float forecast's loss may be off, for each class and each unit of ln T


def logarithm(n: int) -> Interval:
    """ln n; that of 1 is 0, without a step outward."""
    return Interval.of(0.0) if n == 1 else Interval.of(float(n)).log()


def estimated(counts: list[int], classes: int) -> Interval:
    """Σ n_k ln(n/n_k) + ((K−1)/2)·ln n + ln K."""
    whole = sum(counts)
    found = logarithm(whole) * (0.5 * (classes - 1)) + logarithm(classes)
    for n in counts:
        if 0 < n < whole:
            found += (Interval.of(float(whole)) / float(n)).log() * float(n)
    return found


@theorem(
    "succession-counts",
    "log loss",
    "L ≤ Σ_c [Σ_k n_ck ln(n_c/n_ck) + ((K−1)/2)·ln n_c + ln K] + Σ_e n_e ln(r/n_e) + ½ ln r + ln 2",
    "Krichevsky & Trofimov 1981; Tjalkens, Shtarkov & Willems 1993, for each context and for the escape",
    learners=OWN,
    needs=(UNIT_WEIGHTS,),
)
def succession_counts(facts: Facts) -> Claim:
    """The loss exceeds that of the best fixed shares of K classes in each context, and of new labels, by logarithms.

    n_ck counts the rounds with label k in the context c, which is the label before, or the same for all of order 0;
    r counts the rounds in which some class was known, n_e those of them with a known label, and with a new one.
    """
    many, T = facts.classes, len(facts.rounds)
    bound = Interval.of(0.0)
    for counts in many.successions(int(facts.learner.settings["order"])):
        bound += estimated(counts, many.count)
    escapes = many.escapes
    if sum(escapes):
        bound += estimated(escapes, 2)
    spare = UNITS * T * (many.count + 8.0) * (1.0 + logarithm(T + 1).hi)
    return Claim(bound + Interval(0.0, spare), many.paid, math.inf, {"classes": float(many.count)})


@theorem(
    "softmax-linearised",
    "regret against any W of this norm",
    "Σ_t [ℓ_t + Σ_k p_tk ln p_tk] + U‖G‖, G = Σ_t (p_t − e_y)⊗x_t, over the rounds with a known label",
    "weak duality at the forecasts p_t (Fenchel & Young, summed)",
    learners=("softmax", "softmax-newton", "nearest-classes"),
)
def softmax_linearised(facts: Facts) -> Claim:
    """No W with ‖W‖ ≤ U, its rows weights of the classes, loses less than the run's own loss less this bound.

    W forecasts by the softmax of ⟨w_k, x⟩ over the classes known, with the run's own escape for new ones. It holds for
    any steps, and for every U: the norm of the last weights is put in, and values give what makes the others.
    """
    many, U = facts.classes, facts.run.weight_norm
    dot, norm = many.linearised, many.slope_sum_norm
    values = {"dot_weights": dot.hi, "norm_of_sum": norm.hi, "radius": U}
    return Claim(dot + norm * U, None, many.paid.hi, values)
