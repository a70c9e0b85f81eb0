"""Passive-Aggressive learners: what their steps gained, and what that says of mistakes and of squared losses.

u is any comparator and ℓ_t(u) its loss in round t, summed over **all** rounds. N is what rounding took from the gains
of the steps, next to nothing in most runs; with it the bounds are true of the run as it was computed.
"""

from __future__ import annotations

import math

import numpy as np

from noregret.interval import Interval, largest, total
from noregret.proof.facts import Facts
from noregret.proof.facts.steps import EPS, POINT, Against, Steps
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.shared import UNIT_WEIGHTS

OWN = ("pa", "pa1", "pa2")
CRAMMER = "Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006"
GIVEN = Need[Facts]("a comparator u is given", lambda e: e.against is not None)
NEEDS = (UNIT_WEIGHTS, GIVEN)
SHORTEST = 1e-290
LONG = Need[Facts]("no row other than 0 is so short that its square is lost: ‖x‖² ≥ 1e-290", lambda e: _long(e))


def _long(facts: Facts) -> bool:
    low, high = facts.row_squares
    return bool((low[high > 0.0] >= SHORTEST).all())


def steps_and_comparator(facts: Facts) -> tuple[Steps, Against]:
    assert facts.against is not None
    return facts.steps, facts.against


def _claim(bound: Interval, observed: Interval, ceiling: float, u: Against, lost: Interval, rounding: float) -> Claim:
    values = {"norm": u.norm.hi, "losses": lost.hi, "rounding": rounding}
    return Claim(bound, observed, ceiling, values, (POINT,))


@theorem(
    "pa-lemma",
    "the gain of the steps",
    "Σ τ_t(2ℓ_t − τ_t‖x_t‖²) ≤ ‖u‖² + 2Σ τ_t·ℓ_t(u)",
    f"{CRAMMER}, Lemma 1",
    learners=OWN,
    needs=NEEDS,
)
def pa_lemma(facts: Facts) -> Claim:
    """A step of any length τ ≥ 0 brings w nearer to u by at least τ(2ℓ − τ‖x‖² − 2ℓ(u)), from ‖u‖² at the start.

    ℓ_t is the loss of the steps replayed without rounding.
    """
    steps, u = steps_and_comparator(facts)
    lost = u.weighted(steps.tau)
    return _claim(u.norm.square() + lost * 2.0, total(*steps.gain()), math.inf, u, lost, 0.0)


@theorem(
    "pa-losses",
    "squared losses",
    "Σ ℓ_t²/‖x_t‖² ≤ (√(‖u‖² + N) + 2√Σ ℓ_t(u)²/‖x_t‖²)² over the rounds with x ≠ 0",
    f"{CRAMMER}, Theorem 3, for rows of any norm",
    learners=("pa",),
    needs=(*NEEDS, LONG),
)
def pa_losses(facts: Facts) -> Claim:
    """With ‖x‖ = 1: Σ ℓ_t² ≤ (‖u‖ + 2√Σ ℓ_t(u)²)²; it bounds the mistakes too, for a mistake has a loss of at least 1.

    From the lemma, with a_t = ℓ_t/‖x_t‖ and b_t = ℓ_t(u)/‖x_t‖: Σa² ≤ ‖u‖² + 2Σab, and Cauchy–Schwarz.
    """
    steps, u = steps_and_comparator(facts)
    low, high = (np.where(steps.moving, part, math.inf) for part in steps.row2)
    low = np.maximum(low, 1e-308)
    least, most = (own**2 for own in steps.own)
    least, most = least / high * (1.0 - 8.0 * EPS), most / low * (1.0 + 8.0 * EPS)
    rounding = steps.shortfall(most)
    lost = u.weighted(1.0 / low * (1.0 + 8.0 * EPS), 2)
    bound = ((u.norm.square() + rounding).sqrt() + lost.sqrt() * (2.0 + 2.0**-40)).square()
    return _claim(bound, total(least, most), math.inf, u, lost, rounding)


@theorem(
    "pa1-mistakes",
    "mistakes",
    "#{y⟨w,x⟩ ≤ 0} ≤ max(r², 1/C)(‖u‖² + 2Σ C_t·ℓ_t(u) + N), r = max‖x‖, C the least of the C_t",
    f"{CRAMMER}, Theorem 4",
    learners=("pa1",),
    needs=NEEDS,
    applies=lambda e: not e.learner.regression,
)
def pa1_mistakes(facts: Facts) -> Claim:
    """PA-I errs at most max(r², 1/C)(‖u‖² + 2C Σ_t ℓ_t(u)) times, u any comparator. Updates may be more: PA-I also
    updates at margins between 0 and 1.

    Every mistake gains at least min(C, 1/‖x‖²), and no step is longer than C. C_t = C where C was given, else
    1/max‖x‖² over the rows up to t.
    """
    steps, u = steps_and_comparator(facts)
    wrong = facts.rounds.y * facts.scores <= 0.0
    smallest = np.minimum(steps.cap, 1.0 / np.maximum(steps.row2[0], 1e-308))
    rounding = steps.shortfall(np.where(wrong & steps.moving, smallest, 0.0))
    lost = u.weighted(steps.cap)
    factor = largest(_row_max2(steps), 1.0 / Interval.of(float(steps.cap.min())))
    bound = factor * (u.norm.square() + lost * 2.0 + rounding)
    observed = Interval.of(float(np.count_nonzero(wrong)))
    return _claim(bound, observed, len(facts.rounds), u, lost, rounding)


@theorem(
    "pa2-losses",
    "squared losses",
    "Σ ℓ_t² ≤ (r² + 1/2C)(‖u‖² + 2Σ C_t·ℓ_t(u)² + N), r = max‖x‖, C the least of the C_t",
    f"{CRAMMER}, Theorem 5",
    learners=("pa2",),
    needs=NEEDS,
)
def pa2_losses(facts: Facts) -> Claim:
    """The squared losses of PA-II, over the rounds with x ≠ 0, are at most (r² + 1/2C)(‖u‖² + 2C Σ_t ℓ_t(u)²).

    From the lemma with 2τℓ(u) ≤ τ²/2C + 2Cℓ(u)². C_t = C where C was given, else 1/max‖x‖² over the rows up to t.
    """
    steps, u = steps_and_comparator(facts)
    factor = _row_max2(steps) + 0.5 / Interval.of(float(steps.cap.min()))
    least, most = (np.where(steps.moving, own**2, 0.0) for own in steps.own)
    rounding = steps.shortfall(most / factor.lo, 0.5 / steps.cap)
    lost = u.weighted(np.where(steps.moving, steps.cap, 0.0), 2)
    bound = factor * (u.norm.square() + lost * 2.0 + rounding)
    return _claim(bound, total(least * (1.0 - 4.0 * EPS), most * (1.0 + 4.0 * EPS)), math.inf, u, lost, rounding)


def _row_max2(steps: Steps) -> Interval:
    return Interval(float(steps.row2[0].max(initial=0.0)), float(steps.row2[1].max(initial=0.0)))
