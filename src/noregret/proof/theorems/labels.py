"""What the estimator of the labels alone loses above the best fixed probability in each of its contexts.

The context of a round is made from the labels before it: the last `order`, and of the first rounds all there are. The
probabilities of a float run are not quite those of exact arithmetic: each log-odds z is within 2⁻⁵¹(1 + |z|) of its
exact value, and a round loses no more than that by it. The sum of 2⁻⁴⁶(1 + |z|) is added to the bound: it holds that,
and what is not known of the logarithms of the losses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noregret.interval import Interval, total
from noregret.proof.facts import Facts
from noregret.proof.theorem import Claim, theorem
from noregret.proof.theorems.shared import UNIT_WEIGHTS

OWN = ("markov",)
SOURCE = "Willems, Shtarkov & Tjalkens 1995"
LN_2 = Interval.of(2.0).log()


def counts(y: NDArray[np.float64], order: int) -> NDArray[np.int64]:
    """n₀ and n₁ of each context that was met; its number is a bit 1 and then the last labels."""
    labels = (y > 0.0).astype(np.int64)
    context = np.int64(1) << np.minimum(np.arange(len(y)), order)
    for back in range(1, order + 1):
        context[back:] += labels[:-back] << (back - 1)
    _, place = np.unique(context, return_inverse=True)
    found = np.bincount(2 * place + labels, minlength=2 * (int(place.max(initial=0)) + 1))
    return found.reshape(-1, 2)


def entropy(found: NDArray[np.int64]) -> Interval:
    """Σ n·ln n − n₀·ln n₀ − n₁·ln n₁ over the contexts: what the best fixed probabilities lose."""
    parts = [_n_ln_n(a + b) - _n_ln_n(a) - _n_ln_n(b) for a, b in found.tolist()]
    return sum(parts, start=Interval.of(0.0)).positive()


def price(found: NDArray[np.int64]) -> Interval:
    """Σ (½·ln n_c + ln 2) over the contexts: what estimating costs more than that."""
    parts = [Interval.of(float(a + b)).log() * 0.5 + LN_2 for a, b in found.tolist()]
    return sum(parts, start=Interval.of(0.0))


def _n_ln_n(n: int) -> Interval:
    return Interval.of(float(n)).log() * float(n) if n else Interval.of(0.0)


def _claim(facts: Facts) -> Claim:
    found, z = counts(facts.rounds.y, int(facts.learner.settings["order"])), np.abs(facts.scores)
    best = entropy(found)
    rounding = total(np.zeros(len(z)), (z + 1.0) * 2.0**-46)
    return Claim(price(found) + rounding, facts.loss - best, facts.ceiling, {"best": best.hi})


@theorem(
    "kt",
    "log-loss above the best fixed probability",
    "½·ln T + ln 2",
    f"{SOURCE}, Lemma 1",
    learners=OWN,
    needs=(UNIT_WEIGHTS,),
    applies=lambda f: f.learner.settings["order"] == 0,
)
def kt(facts: Facts) -> Claim:
    """Σ −ln p_t(y_t) ≤ T·H(n₁/T) + ½·ln T + ln 2, whatever the labels: T·H(n₁/T) is what the best fixed p loses."""
    return _claim(facts)


@theorem(
    "markov",
    "log-loss above the best fixed probability in each context",
    "Σ_c (½·ln n_c + ln 2) over the contexts c that were met",
    f"{SOURCE}, Lemma 1 in each context",
    learners=OWN,
    needs=(UNIT_WEIGHTS,),
    applies=lambda f: f.learner.settings["order"] > 0,
)
def markov(facts: Facts) -> Claim:
    """Σ −ln p_t(y_t) ≤ Σ_c n_c·H(n_{c,1}/n_c) + Σ_c (½·ln n_c + ln 2): the last labels are the context of a round.

    The first rounds have fewer labels before them and each its own context.
    """
    return _claim(facts)
