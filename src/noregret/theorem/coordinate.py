"""Learners with a step for every coordinate, in the box |w_i| ≤ U: regret coordinate by coordinate.

n_i = Σ_t g²_{t,i}. The linearised regret Σ⟨g_t, w_t − u⟩ is a sum over coordinates, and each coordinate runs a learner
of its own, so that a bound in one dimension is a bound in all. With sample weights all of it is true of the weighted
losses k·ℓ and their gradients.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import BOX
from noregret.enclose import combined
from noregret.interval import Interval, total
from noregret.theorem.evidence import Evidence
from noregret.theorem.gradients import EPS, slope_error
from noregret.theorem.needs import CONVEX, INSIDE, gradient
from noregret.theorem.registry import Claim, Need, theorem
from noregret.theorem.regret import compared

Vector = NDArray[np.float64]
DUCHI = "Duchi, Hazan & Singer 2011, Theorem 5, with the projection coordinate by coordinate"
MCMAHAN = "McMahan 2017, Theorem 2 (FTRL-Proximal), in each coordinate; McMahan et al. 2013"
IN_BOX = Need("the weights are cut to the box of radius U", lambda e: _boxed(e))
STEPS = (CONVEX, IN_BOX, INSIDE)
SLACK = Interval(1.0 - 32.0 * EPS, 1.0 + 32.0 * EPS)


def _boxed(evidence: Evidence) -> bool:
    return int(evidence.run.learner.config["domain"][0]) == BOX


def _roots(evidence: Evidence) -> tuple[Vector, Vector]:
    """Both ends of √n_i for every coordinate."""
    assert evidence.squares is not None
    low, high = evidence.squares
    return np.sqrt(low) * (1.0 - 2.0 * EPS), np.sqrt(high) * (1.0 + 2.0 * EPS)


def _eta(evidence: Evidence) -> float:
    return evidence.run.learner.rate.eta


def _own(evidence: Evidence, name: str) -> float:
    return float(evidence.run.learner.config[name][0])


def _claim(evidence: Evidence, bound: Interval, regret: Interval | None, points: tuple[str, ...]) -> Claim:
    low, high = _roots(evidence)
    values = {"rate": _eta(evidence), "sum_of_roots": total(low, high).hi}
    return Claim(bound * evidence.allowance, regret, evidence.ceiling, values, points)


def _points(evidence: Evidence) -> tuple[str, ...]:
    return tuple(name for name in ("u", "alpha") if name in evidence.points)


def _in_box(evidence: Evidence) -> Interval:
    """(2U²/η + η)·Σ√n_i."""
    U, eta = Interval.of(evidence.run.learner.domain.radius), Interval.of(_eta(evidence))
    return (U.square() * 2.0 / eta + eta) * total(*_roots(evidence))


def _at(evidence: Evidence) -> Interval:
    """Σ((U + |u_i|)²/2η + η)√n_i at the comparator u that hindsight found."""
    assert evidence.hindsight is not None
    eta, size = _eta(evidence), np.abs(evidence.hindsight.u)
    weight = (evidence.run.learner.domain.radius + size) ** 2 / (2.0 * eta) + eta
    low, high = _roots(evidence)
    return total(weight * low, weight * high).positive() * SLACK


@theorem(
    "box-linearised",
    "regret",
    "Σ⟨g_t,w_t⟩ + U‖Σg_t‖₁",
    "Cesa-Bianchi's notes, Lemma 1, summed, over a box",
    learners=("ogd", "adagrad", "ftrl"),
    needs=(CONVEX,),
    applies=_boxed,
)
def box_linearised(evidence: Evidence) -> Claim:
    """ℓ_t(w_t) − ℓ_t(u) ≤ ⟨g_t, w_t − u⟩, and no u in the box |u_i| ≤ U gives more than Σ⟨g,w⟩ + U‖Σg‖₁.

    It needs no step rule and no solver. What is observed is the regret against the ball that lies in the box.
    """
    found = gradient(evidence)
    assert found.sum_dot_weights is not None
    assert found.slopes is not None
    low, high = combined(evidence.rounds, evidence.run.learner.loss.gradients(scores(evidence), evidence.rounds.y))
    lost = slope_error(evidence.run.learner.loss)
    size = np.maximum(np.abs(low), np.abs(high))
    norm = total(np.where((low <= 0.0) & (high >= 0.0), 0.0, np.minimum(np.abs(low), np.abs(high))), size)
    if lost:
        # a slope known to within a share of itself moves the sum by at most that share of Σ|g_i|
        reach = arithmetic.total(magnitudes(evidence)) * lost * 1.001
        norm = Interval.outward(norm.lo - reach, norm.hi + reach).positive()
    bound = found.sum_dot_weights + norm * evidence.run.learner.domain.radius
    values = {"dot_weights": found.sum_dot_weights.hi, "norm1_of_sum": norm.hi}
    return Claim(bound, evidence.regret, evidence.ceiling, values)


def scores(evidence: Evidence) -> Vector:
    """The scores that were predicted with."""
    assert evidence.rounds.scores is not None
    return evidence.rounds.scores


def magnitudes(evidence: Evidence) -> Vector:
    """Σ_t|g_{t,i}| for every coordinate."""
    slopes = gradient(evidence).slopes
    assert slopes is not None
    rows = evidence.rounds.rows.with_values(np.abs(evidence.rounds.rows.values))
    return combined(replace(evidence.rounds, rows=rows, weights=None), np.abs(slopes))[1]


@theorem(
    "adagrad-box",
    "regret",
    "(2U²/η + η)·Σ_i √n_i, n_i = Σ_t g²_{t,i}; 2√2·U·Σ_i √n_i at η = √2·U",
    DUCHI,
    learners=("adagrad",),
    needs=STEPS,
    applies=compared,
)
def adagrad_box(evidence: Evidence) -> Claim:
    """AdaGrad with the step η/√n_i, cut to the box: regret at most (2U²/η + η)·Σ_i √n_i against every |u_i| ≤ U."""
    return _claim(evidence, _in_box(evidence), evidence.regret, _points(evidence))


@theorem(
    "adagrad-at-hindsight",
    "regret against u*",
    "Σ_i ((U + |u*_i|)²/2η + η)·√n_i",
    DUCHI,
    learners=("adagrad",),
    needs=STEPS,
    applies=compared,
)
def adagrad_at_hindsight(evidence: Evidence) -> Claim:
    """The same at the comparator u* that hindsight found: no weight is ever further from u*_i than U + |u*_i|."""
    return _claim(evidence, _at(evidence), evidence.regret_at, ("u",))


@theorem(
    "ftrl-box",
    "regret",
    "Σ_{i: n_i > 0} [λ₁U + (λ₂ + β/α)U²/2 + (2U²/α + α)√n_i]; 2√2·U·Σ_i √n_i at α = √2·U, β = λ₁ = λ₂ = 0",
    MCMAHAN,
    learners=("ftrl",),
    needs=STEPS,
    applies=compared,
)
def ftrl_box(evidence: Evidence) -> Claim:
    """FTRL-Proximal in the box |w_i| ≤ U, for every |u_i| ≤ U; the regret is that of the losses without λ₁ and λ₂.

    One coordinate with the regularisers (σ_s/2)(w − w_s)², σ_1 + … + σ_t = √n/α, around the points played, and
    λ₁|w| + (λ₂ + β/α)w²/2 from the start. A coordinate without a gradient costs nothing.
    """
    assert evidence.squares is not None
    U = Interval.of(evidence.run.learner.domain.radius)
    touched = float(np.count_nonzero(evidence.squares[1]))
    flat = U * _own(evidence, "l1") + U.square() * 0.5 * _ridge(evidence)
    return _claim(evidence, _in_box(evidence) + flat * touched, evidence.regret, _points(evidence))


@theorem(
    "ftrl-at-hindsight",
    "regret against u*",
    "Σ_{i: n_i > 0} [λ₁|u*_i| + (λ₂ + β/α)u*_i²/2 + ((U + |u*_i|)²/2α + α)√n_i]",
    MCMAHAN,
    learners=("ftrl",),
    needs=STEPS,
    applies=compared,
)
def ftrl_at_hindsight(evidence: Evidence) -> Claim:
    """The same at the comparator u* that hindsight found."""
    assert evidence.hindsight is not None
    assert evidence.squares is not None
    size = np.abs(evidence.hindsight.u) * (evidence.squares[1] > 0.0)
    linear, square = total(size, size), total(size**2, size**2) * SLACK
    flat = linear * _own(evidence, "l1") + square * 0.5 * _ridge(evidence)
    return _claim(evidence, _at(evidence) + flat, evidence.regret_at, ("u",))


def _ridge(evidence: Evidence) -> Interval:
    """λ₂ + β/α."""
    return Interval.of(_own(evidence, "beta")) / _eta(evidence) + _own(evidence, "l2")
