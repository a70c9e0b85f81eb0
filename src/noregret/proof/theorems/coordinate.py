"""Learners with a step for every coordinate, in the box |w_i| ≤ U: regret coordinate by coordinate.

n_i = Σ_t g²_{t,i}. The linearised regret Σ⟨g_t, w_t − u⟩ is a sum over coordinates, and each coordinate runs a learner
of its own, so that a bound in one dimension is a bound in all. With sample weights all of it is true of the weighted
losses k·ℓ and their gradients.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noregret._native import BOX
from noregret.interval import Interval, total
from noregret.proof.facts import Facts
from noregret.proof.facts.gradients import EPS
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.linearised import in_domain
from noregret.proof.theorems.shared import CONVEX, INSIDE, compared

Vector = NDArray[np.float64]
DUCHI = "Duchi, Hazan & Singer 2011, Theorem 5, with the projection coordinate by coordinate"
MCMAHAN = "McMahan 2017, Theorem 2 (FTRL-Proximal), in each coordinate; McMahan et al. 2013"
IN_BOX = Need[Facts]("the weights are cut to the box of radius U", lambda f: in_domain(f, BOX))
STEPS = (CONVEX, IN_BOX, INSIDE)
SLACK = Interval(1.0 - 32.0 * EPS, 1.0 + 32.0 * EPS)


def _roots(facts: Facts) -> tuple[Vector, Vector]:
    """Both ends of √n_i for every coordinate."""
    low, high = facts.coordinate_squares
    return np.sqrt(low) * (1.0 - 2.0 * EPS), np.sqrt(high) * (1.0 + 2.0 * EPS)


def _eta(facts: Facts) -> float:
    return facts.learner.rate.eta


def _own(facts: Facts, name: str) -> float:
    return float(facts.learner.config[name][0])


def _claim(facts: Facts, bound: Interval, regret: Interval | None, points: tuple[str, ...]) -> Claim:
    low, high = _roots(facts)
    values = {"rate": _eta(facts), "sum_of_roots": total(low, high).hi}
    return Claim(bound * facts.allowance, regret, facts.ceiling, values, points)


def _in_box(facts: Facts) -> Interval:
    """(2U²/η + η)·Σ√n_i."""
    U, eta = Interval.of(facts.learner.domain.radius), Interval.of(_eta(facts))
    return (U.square() * 2.0 / eta + eta) * total(*_roots(facts))


def _at(facts: Facts) -> Interval:
    """Σ((U + |u_i|)²/2η + η)√n_i at the comparator u that hindsight found."""
    assert facts.hindsight is not None
    eta, size = _eta(facts), np.abs(facts.hindsight.u)
    weight = (facts.learner.domain.radius + size) ** 2 / (2.0 * eta) + eta
    low, high = _roots(facts)
    return total(weight * low, weight * high).positive() * SLACK


@theorem(
    "adagrad-box",
    "regret",
    "(2U²/η + η)·Σ_i √n_i, n_i = Σ_t g²_{t,i}; 2√2·U·Σ_i √n_i at η = √2·U",
    DUCHI,
    learners=("adagrad",),
    needs=STEPS,
    applies=compared,
)
def adagrad_box(facts: Facts) -> Claim:
    """AdaGrad with the step η/√n_i, cut to the box: regret at most (2U²/η + η)·Σ_i √n_i against every |u_i| ≤ U."""
    return _claim(facts, _in_box(facts), facts.regret, facts.named("u", "alpha"))


@theorem(
    "adagrad-at-hindsight",
    "regret against u*",
    "Σ_i ((U + |u*_i|)²/2η + η)·√n_i",
    DUCHI,
    learners=("adagrad",),
    needs=STEPS,
    applies=compared,
)
def adagrad_at_hindsight(facts: Facts) -> Claim:
    """The same at the comparator u* that hindsight found: no weight is ever further from u*_i than U + |u*_i|."""
    return _claim(facts, _at(facts), facts.regret_at, ("u",))


@theorem(
    "ftrl-box",
    "regret",
    "Σ_{i: n_i > 0} [λ₁U + (λ₂ + β/α)U²/2 + (2U²/α + α)√n_i]; 2√2·U·Σ_i √n_i at α = √2·U, β = λ₁ = λ₂ = 0",
    MCMAHAN,
    learners=("ftrl",),
    needs=STEPS,
    applies=compared,
)
def ftrl_box(facts: Facts) -> Claim:
    """FTRL-Proximal in the box |w_i| ≤ U, for every |u_i| ≤ U; the regret is that of the losses without λ₁ and λ₂.

    One coordinate with the regularisers (σ_s/2)(w − w_s)², σ_1 + … + σ_t = √n/α, around the points played, and
    λ₁|w| + (λ₂ + β/α)w²/2 from the start. A coordinate without a gradient costs nothing.
    """
    U = Interval.of(facts.learner.domain.radius)
    touched = float(np.count_nonzero(facts.coordinate_squares[1]))
    flat = U * _own(facts, "l1") + U.square() * 0.5 * _ridge(facts)
    return _claim(facts, _in_box(facts) + flat * touched, facts.regret, facts.named("u", "alpha"))


@theorem(
    "ftrl-at-hindsight",
    "regret against u*",
    "Σ_{i: n_i > 0} [λ₁|u*_i| + (λ₂ + β/α)u*_i²/2 + ((U + |u*_i|)²/2α + α)√n_i]",
    MCMAHAN,
    learners=("ftrl",),
    needs=STEPS,
    applies=compared,
)
def ftrl_at_hindsight(facts: Facts) -> Claim:
    """The same at the comparator u* that hindsight found."""
    assert facts.hindsight is not None
    size = np.abs(facts.hindsight.u) * (facts.coordinate_squares[1] > 0.0)
    linear, square = total(size, size), total(size**2, size**2) * SLACK
    flat = linear * _own(facts, "l1") + square * 0.5 * _ridge(facts)
    return _claim(facts, _at(facts) + flat, facts.regret_at, ("u",))


def _ridge(facts: Facts) -> Interval:
    """λ₂ + β/α."""
    return Interval.of(_own(facts, "beta")) / _eta(facts) + _own(facts, "l2")
