"""The bounds of learners with a step for every coordinate once more: n_i = Σ_t g²_{t,i} from the rounds."""

from __future__ import annotations

import math

import numpy as np

from noregret._native import BOX
from noregret.enclose import EPS
from noregret.interval import Interval, up
from noregret.receipt.facts import Facts
from noregret.receipt.form import Vector
from noregret.receipt.found import Certificate, Condition, Formula, Found
from noregret.receipt.measure import LEAST
from noregret.rounds import as_sparse

CONVEX, IN_BOX = "the loss is convex in the score", "the weights are cut to the box of radius U"
INSIDE = "the comparators' ball lies in the learner's domain"
GIVEN = ()
NEEDS: dict[str, Condition] = {IN_BOX: lambda f: int(f.setting("domain")) == BOX}
STEPS = (CONVEX, IN_BOX, INSIDE)


def _squares(f: Facts) -> Vector:
    """n_i from above: a sum of T squares loses T units of its last place, and each what lies below all floats."""
    rows = as_sparse(f.rounds.rows)
    each = np.repeat(f.slopes, np.diff(rows.indptr)) * rows.values
    found = np.bincount(rows.indices, each * each, minlength=f.rounds.width).astype(np.float64)
    seen = np.bincount(rows.indices, each != 0.0, minlength=f.rounds.width) > 0.0
    return np.where(seen, found * (1.0 + (f.T + 8.0) * EPS) + f.T * LEAST, 0.0)


def _found(f: Facts, weight: Vector, flat: float, observed: Interval | None) -> Found:
    """Σ weight_i·√n_i + flat; the terms lose a few units of the last place."""
    roots = np.sqrt(_squares(f))
    bound = math.fsum(weight * roots) + flat
    values = {"rate": f.core.rate.eta, "sum_of_roots": math.fsum(roots) * (1.0 + 1e-12)}
    near = Interval(bound * (1.0 - 1e-12), bound * (1.0 + 1e-12))
    return Found(near, observed, f.ceiling, values, slack=abs(bound) * (f.allowance + 4e-16 * f.T))


def _weight(f: Facts, u: Vector) -> Vector:
    U, eta = f.core.domain.radius, f.core.rate.eta
    return np.asarray((U + np.abs(u)) ** 2 / (2.0 * eta) + eta)


def _flat(f: Facts, u: Vector) -> float:
    """Σ λ₁|u_i| + (λ₂ + β/α)u_i²/2 over the coordinates that saw a gradient."""
    size = np.abs(u) * (_squares(f) > 0.0)
    ridge = f.setting("l2") + f.setting("beta") / f.core.rate.eta
    return f.setting("l1") * math.fsum(size) + 0.5 * ridge * math.fsum(size * size)


def _box(f: Facts, certificate: Certificate) -> Found:
    corner = np.full(f.rounds.width, f.core.domain.radius)
    return _found(f, _weight(f, corner), _flat(f, corner), f.regret)


def _at(f: Facts, certificate: Certificate) -> Found:
    u = f.points["u"]
    return _found(f, _weight(f, u), _flat(f, u), f.regret_at)


def _linearised(f: Facts, certificate: Certificate) -> Found:
    low, high = f.gradient_sum
    size = up(math.fsum(np.maximum(np.abs(low), np.abs(high))))
    rows = as_sparse(f.rounds.rows)
    terms = math.fsum(np.abs(np.repeat(f.slopes, np.diff(rows.indptr)) * rows.values))
    each = 1e-13 * math.fsum(np.abs(f.slopes * np.asarray(f.rounds.scores)))
    bound = f.dot + Interval.of(size) * f.core.domain.radius
    values = {"dot_weights": f.dot.hi, "norm1_of_sum": size}
    slack = each + 1e-13 * terms * f.core.domain.radius
    return Found(bound, f.regret, f.ceiling, values, slack=slack, loose=each + 1e-13 * terms)


LEARNERS = {
    "box-linearised": ("ogd", "adagrad", "ftrl"),
    "adagrad-box": ("adagrad",),
    "adagrad-at-hindsight": ("adagrad",),
    "ftrl-box": ("ftrl",),
    "ftrl-at-hindsight": ("ftrl",),
}
PROMISES = ("box-linearised", "adagrad-box", "ftrl-box")
BOUNDS: dict[str, tuple[tuple[str, ...], Formula]] = {
    "box-linearised": ((CONVEX,), _linearised),
    "adagrad-box": (STEPS, _box),
    "adagrad-at-hindsight": (STEPS, _at),
    "ftrl-box": (STEPS, _box),
    "ftrl-at-hindsight": (STEPS, _at),
}


def speaks_of(name: str, f: Facts) -> bool:
    if f.core.name not in LEARNERS[name]:
        return False
    return int(f.setting("domain")) == BOX if name == "box-linearised" else f.entry is not None


def vectors_of(name: str, f: Facts, named: list[str]) -> bool:
    """None for what the pass proves, u where it is named, u and its proof elsewhere."""
    if name == "box-linearised":
        return not named
    return "u" in named if "at-hindsight" in name else set(named) <= {"u", "alpha"}
