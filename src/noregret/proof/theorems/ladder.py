"""Projected gradient descent with the step η/√t in the ball ‖w‖ ≤ U: the proof of its regret bound, line by line.

Every line is a bound by itself and lies above the one before: from what the pass alone proves, through the telescoped
sum, to the closed form that textbooks print. The first two lines come twice, at the comparator for which the first is
largest ("at worst") and at the best one ("at hindsight"); each chain grows by itself, and they are never mixed.
With sample weights all of it is true of the weighted losses k·ℓ and their gradients.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import SQRT
from noregret.interval import Interval, largest
from noregret.loss import squared
from noregret.proof.facts import Facts
from noregret.proof.facts.steps import Path
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.shared import (
    BALL_DOMAIN,
    CONVEX,
    INSIDE,
    OWN,
    REPLAYED,
    UNIT_WEIGHTS,
    claim,
    plain_steps,
    radius,
    root_rounds,
)

Vector = NDArray[np.float64]
STEPS = (CONVEX, BALL_DOMAIN, INSIDE)
CB_OGD = "Cesa-Bianchi's notes, projected online gradient descent"


def in_the_ball(U: Interval, eta: float, root: Interval, gradients: Interval, from_zero: bool = True) -> Interval:
    """Line 4: (U²/η)(2√T − 3/2) + (η/2)Σ‖g‖²/√t, from w₁ = 0; without the 3/2 from elsewhere."""
    moved = root * 2.0 - (1.5 if from_zero else 0.0)
    return U.square() / eta * moved + gradients * eta * 0.5


def any_rate(U: Interval, eta: float, root: Interval, G: Interval) -> Interval:
    """Line 5: 2U²√T/η + G²η√T."""
    return U.square() * root * 2.0 / eta + G.square() * root * eta


def tuned(U: Interval, eta: float, root: Interval) -> Interval:
    """Line 6: U·G√(8T) with G = √2·U/η, which is 4U²√T/η."""
    return U.square() * root * 4.0 / eta


def _eta(facts: Facts) -> float:
    return facts.learner.rate.eta


def _path(facts: Facts) -> Path:
    assert facts.path is not None
    return facts.path


def _sqrt(facts: Facts) -> bool:
    return plain_steps(facts) and facts.rate == SQRT


def _stepped(facts: Facts) -> Interval:
    """½Σ η_t‖g_t‖²."""
    return facts.gradient.sum_norm2_over_sqrt_t * _eta(facts) * 0.5


def _worst(facts: Facts) -> Vector:
    """−U·Σg/‖Σg‖, where line 1 is largest; 0 if Σg = 0."""
    total = facts.gradient.total
    largest_part = float(np.abs(total).max(initial=0.0))
    if not 0.0 < largest_part < math.inf:
        return np.zeros_like(total)
    direction = total / largest_part
    return np.asarray(-direction * (facts.radius / arithmetic.norm(direction)))


def _line(facts: Facts, number: int) -> Interval:
    """Lines 4, 5 and 6."""
    U, eta, root = radius(facts), _eta(facts), root_rounds(facts)
    if number == 4:
        return in_the_ball(U, eta, root, facts.gradient.sum_norm2_over_sqrt_t, facts.start.zero)
    return any_rate(U, eta, root, facts.gradient.max_norm) if number == 5 else tuned(U, eta, root)


def _parameter_is_enough(facts: Facts) -> bool:
    """G ≥ max‖g‖ for the G that the rate stands for, or line 4 not above line 6 on this run."""
    G = Interval.of(2.0).sqrt() * radius(facts) / _eta(facts)
    return G.lo >= facts.gradient.max_norm.hi or _line(facts, 4).hi <= _line(facts, 6).hi


@theorem(
    "ogd-telescoped",
    "regret",
    "‖w₁−u‖²/2η₁ + ½Σ‖w_{t+1}−u‖²(1/η_{t+1} − 1/η_t) − ‖w_{T+1}−u‖²/2η_T + ½Ση_t‖g_t‖² at u = −UΣg/‖Σg‖",
    "Cesa-Bianchi's notes 2023 (6), 2024 (7)",
    learners=OWN,
    needs=(*STEPS, REPLAYED),
    applies=_sqrt,
)
def ogd_telescoped(facts: Facts) -> Claim:
    """Line 2 at worst: the steps' own inequality, summed, at the comparator for which line 1 is largest."""
    path, found = _path(facts), facts.gradient
    # The comparator is known to a few units in the last place: what that moves line 1 by is added.
    off = found.norm_of_sum * facts.radius * path.allowance
    bound = path.telescoped(_worst(facts), _stepped(facts)) + Interval(0.0, off.hi)
    return Claim(bound, facts.regret, facts.ceiling, {"rate": _eta(facts)})


@theorem(
    "ogd-telescoped-at-hindsight",
    "regret against u*",
    "the same at u*",
    "Cesa-Bianchi's notes 2023 (6), 2024 (7)",
    learners=OWN,
    needs=(*STEPS, REPLAYED),
    applies=_sqrt,
)
def ogd_telescoped_at_hindsight(facts: Facts) -> Claim:
    """Line 2 at the comparator u* that hindsight found: it bounds the regret against u*."""
    assert facts.hindsight is not None
    bound = _path(facts).telescoped(facts.hindsight.u, _stepped(facts))
    return Claim(bound, facts.regret_at, facts.ceiling, {"rate": _eta(facts)}, ("u",))


@theorem(
    "ogd-triangle",
    "regret",
    "(‖w₁‖+U)²/2η₁ + ½Σ(‖w_{t+1}‖+U)²(1/η_{t+1} − 1/η_t) + ½Ση_t‖g_t‖²",
    CB_OGD,
    learners=OWN,
    needs=(*STEPS, REPLAYED),
    applies=_sqrt,
)
def ogd_triangle(facts: Facts) -> Claim:
    """Line 3: line 2 with ‖w−u‖ ≤ ‖w‖ + ‖u‖ and without its negative term."""
    size = facts.radius if _worst(facts).any() else 0.0
    bound = _path(facts).triangle(size, _stepped(facts))
    return Claim(bound, facts.regret, facts.ceiling, {"rate": _eta(facts)})


@theorem(
    "ogd-ball",
    "regret",
    "(U²/η)(2√T − 3/2) + (η/2)Σ‖g_t‖²/√t from w₁ = 0; without the 3/2 from another start",
    CB_OGD,
    learners=OWN,
    needs=STEPS,
    applies=_sqrt,
)
def ogd_ball(facts: Facts) -> Claim:
    """Line 4: no two points of the ball are further apart than 2U, and the differences 1/η_{t+1} − 1/η_t telescope."""
    return claim(facts, _line(facts, 4), rate=_eta(facts))


@theorem(
    "ogd-any-rate",
    "regret",
    "2U²√T/η + G²η√T, G = max‖g_t‖",
    CB_OGD,
    learners=OWN,
    needs=STEPS,
    applies=_sqrt,
)
def ogd_any_rate(facts: Facts) -> Claim:
    """Line 5: every gradient is at most G long, and Σ1/√t ≤ 2√T; true for every η."""
    return claim(facts, _line(facts, 5), rate=_eta(facts))


@theorem(
    "ogd-tuned",
    "regret",
    "U·G√(8T), G = √2·U/η",
    "Cesa-Bianchi's notes 2023 (7), 2024 (8)",
    learners=OWN,
    needs=(
        *STEPS,
        Need[Facts]("G = √2·U/η is at least max‖g_t‖, or line 4 is not above this bound", _parameter_is_enough),
    ),
    applies=_sqrt,
    erratum="False with G = the largest gradient seen where η was made from another: ℓ_t(w) = −w, U = 1, η = √2/1000"
    " has after 9 rounds the regret 8.967, and U·G√(8T) = 8.485.",
)
def ogd_tuned(facts: Facts) -> Claim:
    """Line 6: with η = √2·U/G for a G that no gradient exceeds, the regret is at most U·G√(8T)."""
    return claim(facts, _line(facts, 6), rate=_eta(facts))


@theorem(
    "ogd-square-loss",
    "regret",
    "2U²√T/η + G²η√T, G = 2X(UX + Y), X = max‖x‖, Y = max|y|; U·G√(8T) at η = √2·U/G",
    "Cesa-Bianchi's notes, corollary for the square loss",
    learners=OWN,
    needs=(UNIT_WEIGHTS, *STEPS),
    applies=lambda e: _sqrt(e) and e.learner.loss == squared(),
)
def ogd_square_loss(facts: Facts) -> Claim:
    """In the ball the square loss has gradients of at most 2X(UX + Y), known before the run; 4UX² where Y ≤ UX."""
    U, eta = radius(facts), _eta(facts)
    X, Y = row_bound(facts), Interval.of(float(np.abs(facts.rounds.y).max(initial=0.0)))
    G = X * (U * X + Y) * 2.0
    return claim(facts, any_rate(U, eta, root_rounds(facts), largest(G, 0.0)), a_priori_gradient=G.hi)


def row_bound(facts: Facts) -> Interval:
    """max‖x‖."""
    lo, hi = facts.row_squares
    return Interval(float(lo.max(initial=0.0)), float(hi.max(initial=0.0))).sqrt()
