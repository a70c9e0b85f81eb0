"""What a mixture promises: a loss never far above that of any member, of any sequence of them, or of two baselines.

π_i is what member i weighs at first. Its probabilities count as p' = (1 − ε)p + ε/K with ε = 1/(t + 2)², which costs it
at most ln(3/2) in all. At the top five experts on the members are mixed, Bayes with prior ½, each other with ⅛. Of many
classes all members share the escape for new ones, and L is what was lost on the classes known.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from noregret.interval import Interval, largest
from noregret.proof.facts import Facts
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.labels import counts, entropy, price
from noregret.proof.theorems.linearised import linearised
from noregret.proof.theorems.shared import UNIT_WEIGHTS, compared

OWN = ("auto",)
BAYES = "Bayes' rule for log-loss (Vovk 1990; Cesa-Bianchi & Lugosi 2006, section 9.2)"
SHARE = "Herbster & Warmuth 1998, sharing 1/t"
KT = "Willems, Shtarkov & Tjalkens 1995, and the mixture's own"
LIGHT = Need[Facts](
    "no round weighs more than 1", lambda f: f.rounds.weights is None or bool((f.rounds.weights <= 1.0).all())
)
IN_TIME = Need[Facts]("no round was predicted while others waited for their labels", lambda f: not f.learner.waited)


def _ln(x: float) -> Interval:
    return Interval.of(x).log() if x != 1.0 else Interval.of(0.0)


def _slack(facts: Facts) -> Interval:
    """What rounding may have cost."""
    return Interval(0.0, facts.pool.rounding)


def _lost(facts: Facts) -> Interval:
    """L, of many classes on those known."""
    return facts.loss if facts.run.tally is None else facts.classes.paid_of_known


def _speaks_of(member: str) -> Callable[[Facts], bool]:
    """Runs on two classes with this member."""
    return lambda f: f.run.tally is None and not f.pool.numbers and member in f.pool.losses


@theorem(
    "mixture",
    "log-loss above the best member, its prior paid",
    "max_i (L − L_i − ln(1/π_i)) ≤ ln 2",
    BAYES,
    learners=OWN,
    needs=(LIGHT,),
    applies=lambda f: not f.pool.numbers,
)
def mixture(facts: Facts) -> Claim:
    """The total log-loss L is at most ln(1/π_i) + ln 2 above that of every member i, on every stream.

    Bayes' mixture of the members loses −ln Σ π_i·e^(−L_i) ≤ L_i + ln(1/π_i), and it has the prior ½ at the top.
    Where labels come late L_i is of what member i said when the row came, and what Bayes' mixture lost more for having
    spoken then is added.
    """
    pool, lost = facts.pool, _lost(facts)
    above = [lost - pool.losses[name] - pool.priors[name] for name in pool.losses]
    bound = _ln(2.0) + _slack(facts) + pool.lag(0)
    return Claim(bound, largest(*above), math.inf, {"members": float(len(above))})


@theorem(
    "tracking",
    "log-loss above the best sequence of members with at most 8 switches",
    "L − L_{sequence} ≤ ln 8 + ln(1/min π) + 8 ln(n − 1) + 9 ln T",
    SHARE,
    learners=OWN,
    needs=(UNIT_WEIGHTS,),
    applies=lambda f: not f.pool.numbers,
)
def tracking(facts: Facts) -> Claim:
    """Sharing 1/t of the weights loses at most ln(1/π) + k·ln(n − 1) + (k + 1)·ln T more than k switches of members.

    It is Bayes' rule over all sequences of members, and it has the prior ⅛ at the top. The best sequence is found by
    dynamic programming; it goes through members only while they are awake.
    """
    pool, lost, T = facts.pool, _lost(facts), float(len(facts.rounds))
    n = len(pool.losses)
    switches = _ln(float(max(n - 1, 1))) * 8.0 + _ln(T) * 9.0
    bound = _ln(8.0) + largest(*pool.priors.values()) + switches + _slack(facts) + pool.lag(1)
    return Claim(bound, lost - pool.sequence, lost.hi, {"members": float(n)})


@theorem(
    "aggregating",
    "squared loss above the best member, its prior paid",
    "max_i (L − L_i − ½ℓ² ln(1/π_i)) ≤ ℓ²/3",
    "Vovk 1990; Haussler, Kivinen & Warmuth 1998, for a range that is not known",
    learners=OWN,
    needs=(LIGHT,),
    applies=lambda f: f.pool.numbers,
)
def aggregating(facts: Facts) -> Claim:
    """The squared loss L is at most ℓ²(½ ln(1/π_i) + ⅓) above that of every member i, on every stream.

    ℓ is the length of the range at the end: it begins with what the members say of the first row, and doubles where a
    label lies outside of it.
    """
    pool = facts.pool
    square = pool.width.square()
    above = [facts.loss - pool.losses[name] - square * pool.priors[name] * 0.5 for name in pool.losses]
    values = {"members": float(len(above)), "range": pool.width.hi}
    return Claim(square / 3.0 + _slack(facts), largest(*above), math.inf, values)


@theorem(
    "composition",
    "regret",
    "Σ s_t·z_t + U‖Σ s_t·x_t‖",
    "Lemma 1 of Cesa-Bianchi's notes, for any plays",
    learners=OWN,
    applies=lambda f: compared(f) and math.isfinite(f.radius),
)
def composition(facts: Facts) -> Claim:
    """For the scores z_t of the mixture and their slopes s_t no fixed weights ‖u‖ ≤ U lose less by more than this.

    ℓ(z) − ℓ(⟨u,x⟩) ≤ s·(z − ⟨u,x⟩), whatever the scores came from; rows as they were read, with the bias.
    """
    found = facts.gradient
    bound = linearised(found.sum_dot_weights, found.norm_of_sum, facts.radius)
    values = {"dot_weights": found.sum_dot_weights.hi, "norm_of_sum": found.norm_of_sum.hi, "radius": facts.radius}
    return Claim(bound, facts.regret, facts.ceiling, values)


@theorem(
    "baseline-frequency",
    "log-loss above the best fixed probability of the labels",
    "L − n·H(n₁/n) ≤ ln(1/π) + ln 2 + ½ ln n + ln 2 + ln(3/2)",
    KT,
    learners=OWN,
    needs=(UNIT_WEIGHTS, IN_TIME),
    applies=_speaks_of("labels"),
)
def baseline_frequency(facts: Facts) -> Claim:
    """Never more than this behind the most frequent label with its frequency known in hindsight.

    The member `labels` says (n₁ + ½)/(n + 1) and loses at most ½ ln n + ln 2 more than that.
    """
    return _above_labels(facts, "labels", 0)


@theorem(
    "baseline-previous",
    "log-loss above the best fixed probability of a label after each label",
    "L − Σ_c n_c·H(c) ≤ ln(1/π) + ln 2 + ln(3/2) + Σ_c (½ ln n_c + ln 2)",
    KT,
    learners=OWN,
    needs=(UNIT_WEIGHTS, IN_TIME),
    applies=_speaks_of("labels-1"),
)
def baseline_previous(facts: Facts) -> Claim:
    """Never more than this behind the best probabilities after each label, or of "the same as the previous label".

    The member `labels-1` has an estimator for each previous label, and one for the first round.
    """
    return _above_labels(facts, "labels-1", 1)


def _above_labels(facts: Facts, member: str, order: int) -> Claim:
    """What the estimator pays, and the mixture for having it as a member."""
    found = counts(facts.rounds.y, order)
    bound = facts.pool.priors[member] + _ln(2.0) + _ln(1.5) + price(found) + _slack(facts)
    return Claim(bound, facts.loss - entropy(found), facts.loss.hi)
