"""Losses strongly convex by themselves, (σ/2)‖w − a_t‖²: gradient descent with the step 1/(σt) is the mean so far."""

from __future__ import annotations

import numpy as np

from noregret.interval import Interval, total
from noregret.mean import MeanRun
from noregret.proof.theorem import Certificate, Claim, rows, theorem
from noregret.proof.theorems.strong import CB, harmonic, over_sigma
from noregret.rational import nearest


def certificates(run: MeanRun) -> list[Certificate]:
    """Both theorems, evaluated on a run."""
    return [one(run) for one in rows(globals())]


def _claim(run: MeanRun, bound: Interval, longest: Interval) -> Claim:
    ceiling = nearest(run.loss).hi
    return Claim(bound + Interval(0.0, run.rounding.hi), run.regret, ceiling, {"max_gradient": longest.hi})


def _longest(run: MeanRun) -> Interval:
    """G = max‖g_t‖ = σ·max‖w_t − a_t‖."""
    return nearest(max(run.distances2)).sqrt() * run.sigma


@theorem(
    "mean-gradients",
    "regret of the mean so far",
    "Σ‖g_t‖²/(2σt), g_t = σ(w_t − a_t)",
    CB,
    learners=("mean",),
)
def mean_gradients(run: MeanRun) -> Claim:
    """On the losses (σ/2)‖w − a_t‖² the step 1/(σt) has the regret Σ‖g_t‖²/(2σt) or less, against the mean of the rows
    or the point of the ball nearest to it. Without a ball the two are equal: w_{T+1} is the mean. What rounding may
    have added is measured, and stands in the bound."""
    squares = [nearest(one / t) for t, one in enumerate(run.distances2, 1)]
    summed = total(np.array([one.lo for one in squares]), np.array([one.hi for one in squares]))
    return _claim(run, summed * (0.5 * run.sigma), _longest(run))


@theorem(
    "mean-harmonic",
    "regret of the mean so far",
    "(G²/2σ)·H_T, G = max‖g_t‖",
    CB,
    learners=("mean",),
)
def mean_harmonic(run: MeanRun) -> Claim:
    """With every gradient at most G long the regret is at most (G²/2σ)·H_T, and the rows a_t = w_t ± G/σ attain it."""
    longest = _longest(run)
    return _claim(run, over_sigma(longest, run.sigma, harmonic(len(run))), longest)
