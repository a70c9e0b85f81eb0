"""What a pass proves where ‖w‖₁ ≤ U and in the simplex, once more: Σg feature by feature from the rounds."""

from __future__ import annotations

import math

import numpy as np

from noregret._native import CROSS, SIMPLEX
from noregret.interval import Interval
from noregret.receipt.facts import Facts
from noregret.receipt.form import Vector
from noregret.receipt.found import Certificate, Condition, Formula, Found
from noregret.rounds import as_sparse

CONVEX = "the loss is convex in the score"
GIVEN = ()
NEEDS: dict[str, Condition] = {}
DOMAIN = {"l1-linearised": CROSS, "simplex-linearised": SIMPLEX}


def _found(f: Facts, name: str, sizes: Vector) -> Found:
    """Σ⟨g,w⟩ + U·max(0, sizes), from above; each sum loses a few units in the last place of its terms."""
    reach = float(sizes.max(initial=0.0))
    rows = as_sparse(f.rounds.rows)
    terms = math.fsum(np.abs(np.repeat(f.slopes, np.diff(rows.indptr)) * rows.values))
    each = 1e-13 * math.fsum(np.abs(f.slopes * np.asarray(f.rounds.scores)))
    bound = f.dot + Interval.of(reach) * f.core.domain.radius
    slack = each + 1e-13 * terms * f.core.domain.radius
    values = {"dot_weights": f.dot.hi, name: reach}
    return Found(bound, f.regret, f.ceiling, values, slack=slack, loose=each + 1e-13 * terms)


def _l1(f: Facts, certificate: Certificate) -> Found:
    low, high = f.gradient_sum
    return _found(f, "largest_of_sum", np.maximum(np.abs(low), np.abs(high)))


def _simplex(f: Facts, certificate: Certificate) -> Found:
    return _found(f, "largest_descent_of_sum", -f.gradient_sum[0])


PROMISES = tuple(DOMAIN)
BOUNDS: dict[str, tuple[tuple[str, ...], Formula]] = {
    "l1-linearised": ((CONVEX,), _l1),
    "simplex-linearised": ((CONVEX,), _simplex),
}


def speaks_of(name: str, f: Facts) -> bool:
    return f.core.name == "ogd" and int(f.setting("domain")) == DOMAIN[name]


def vectors_of(name: str, f: Facts, named: list[str]) -> bool:
    """The pass proves it without any."""
    return not named
