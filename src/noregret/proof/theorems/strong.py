"""Gradient descent on ℓ_t(w) + (σ/2)‖w‖² with the step 1/(σt); the regulariser counts in both losses and in g_t.

With sample weights all of it is true of the weighted losses k·ℓ: the sum is still σ-strongly convex.
"""

from __future__ import annotations

import math

import numpy as np

from noregret.interval import Interval, total
from noregret.proof.facts import Facts
from noregret.proof.facts.gradients import roundings
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.ladder import row_bound
from noregret.proof.theorems.shared import CONVEX, INSIDE, UNIT_WEIGHTS, compared

OWN = ("ogd-strong",)
CB = "Cesa-Bianchi's notes, strongly convex losses"
LIPSCHITZ = Need[Facts]("the slope of the loss is bounded by L", lambda e: math.isfinite(e.learner.loss.lipschitz))


def harmonic(rounds: int) -> Interval:
    """H_T = 1 + 1/2 + … + 1/T."""
    t = 1.0 / np.arange(1.0, rounds + 1.0)
    return total(np.nextafter(t, 0.0), np.nextafter(t, 2.0))


def log_rounds(rounds: int) -> Interval:
    """1 + ln T."""
    return Interval.of(float(rounds)).log() + 1.0 if rounds > 1 else Interval.of(1.0)


def over_sigma(G: Interval, sigma: float, growth: Interval) -> Interval:
    """(G²/2σ)·growth."""
    return G.square() / (2.0 * sigma) * growth


def _sigma(facts: Facts) -> float:
    return facts.sigma


def _claim(facts: Facts, bound: Interval, G: Interval) -> Claim:
    """The bound for the steps of a float run: what they lost is measured by G²/σ, not by the bound."""
    size = (facts.gradient.max_norm.square() / _sigma(facts)).hi
    moved = Interval(0.0, size * roundings(facts.rounds))
    return Claim(bound + moved, facts.regret, facts.ceiling, {"max_gradient": G.hi}, facts.named("u", "alpha"))


@theorem(
    "strong-gradients",
    "regret, regulariser included",
    "Σ‖g_t‖²/(2σt)",
    CB,
    learners=OWN,
    needs=(CONVEX, INSIDE),
    applies=compared,
)
def strong_gradients(facts: Facts) -> Claim:
    """R(u) ≤ Σ‖g_t‖²/(2σt) − (σT/2)‖w_{T+1} − u‖² for every u of the domain: the first term bounds the regret."""
    found = facts.gradient
    return _claim(facts, found.sum_norm2_over_t * 0.5 / _sigma(facts), found.max_norm)


@theorem(
    "strong-harmonic",
    "regret, regulariser included",
    "(G²/2σ)·H_T, G = max‖g_t‖, H_T = 1 + 1/2 + … + 1/T",
    CB,
    learners=OWN,
    needs=(CONVEX, INSIDE),
    applies=compared,
    erratum="The notes of 2023 print ln(T+1) for H_T, which is smaller for every T and false: ½(w−a_t)² with"
    " a_t = w_t ± 1 has exactly the regret ½H_T; at T = 10 that is 1.464 and ½ln 11 = 1.199.",
)
def strong_harmonic(facts: Facts) -> Claim:
    """With every gradient at most G long the regret is at most (G²/2σ)·H_T, and that is attained."""
    G = facts.gradient.max_norm
    return _claim(facts, over_sigma(G, _sigma(facts), harmonic(len(facts.rounds))), G)


@theorem(
    "strong-log",
    "regret, regulariser included",
    "(G²/2σ)(1 + ln T), G = max‖g_t‖",
    "Cesa-Bianchi's notes 2024, strongly convex losses",
    learners=OWN,
    needs=(CONVEX, INSIDE),
    applies=compared,
)
def strong_log(facts: Facts) -> Claim:
    """H_T ≤ 1 + ln T: the closed form."""
    G = facts.gradient.max_norm
    return _claim(facts, over_sigma(G, _sigma(facts), log_rounds(len(facts.rounds))), G)


@theorem(
    "strong-lipschitz",
    "regret, regulariser included",
    "((2LX)²/2σ)(1 + ln T), L the loss's Lipschitz constant, X = max‖x‖",
    CB,
    learners=OWN,
    needs=(UNIT_WEIGHTS, CONVEX, INSIDE, LIPSCHITZ),
    applies=compared,
    erratum="“No projection is needed” is true of the proof, but a loss whose slope grows has no G known beforehand:"
    " with the square loss the first steps can overflow.",
)
def strong_lipschitz(facts: Facts) -> Claim:
    """An L-Lipschitz loss keeps σ‖w_t‖ ≤ LX by itself, so that ‖g_t‖ ≤ 2LX is known before the run."""
    G = row_bound(facts) * facts.learner.loss.lipschitz * 2.0
    return _claim(facts, over_sigma(G, _sigma(facts), log_rounds(len(facts.rounds))), G)
