"""The bounds of the learners with a matrix once more, block by block from eigenvalues instead of round by round.

In a block of rows X, scaled by √k, that follows the matrix A, I + XA⁻¹Xᵀ = CCᵀ with C lower triangular gives for every
row 1 + xᵀA_{t−1}⁻¹x = C_tt², hence xᵀA_t⁻¹x = 1 − 1/C_tt² and ln det(A_t/A_{t−1}) = 2 ln C_tt. Each function gives a
bound, what it is compared with, from where on it says nothing, its values, and how much rounding may have added to the
bound and to the values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret import arithmetic
from noregret._native import follow_matrix
from noregret.enclose import EPS, margins
from noregret.interval import Interval, total
from noregret.receipt.facts import Facts
from noregret.receipt.form import Vector
from noregret.receipt.found import Condition, Formula, Found
from noregret.threads import calm

Numbers = tuple[Interval, Interval | None, float, dict[str, float], float, float]
WIDER = 4.0  # another machine's roundings are not these
BLOCK = 256  # rows at a time
LONG = 1e4  # xᵀA⁻¹x from which on a block would lose digits


@dataclass(frozen=True)
class Steps:
    """Of each round in the matrix: k·xᵀA_t⁻¹x and how far it may be off, the score and how far; ln det(A_T/a)."""

    forms: Vector
    off: Vector
    scores: Vector
    errors: Vector
    log_det: Interval


def second_order(f: Facts, certificate: dict[str, Any], determinant: bool) -> Numbers:
    """Σh(v) + √((a‖v‖² + Σ_I⟨v,x⟩²)·growth) at the comparator that the certificate names."""
    name, found = certificate["points"][0], _steps(f, f.chosen)
    at, ridge = f.at(name), float(f.core.settings["ridge"])
    lo, hi = margins(f.rounds, f.points[name])
    inner = (0.5 * lo + 0.5 * hi)[f.chosen]
    stretched = at.norm.square() * ridge + Interval.around(math.fsum(inner * inner), 1e-13 * math.fsum(inner * inner))
    above = 2.0 * math.fsum(np.maximum(f.rounds.y[f.chosen] * found.scores + found.errors, 0.0))
    growth = found.log_det if determinant else _around(math.fsum(found.forms), math.fsum(found.off))
    bound = at.hinge + (stretched * growth).sqrt()
    slack = (stretched * (growth + WIDER * above)).sqrt().hi - (stretched * growth).sqrt().lo
    values = {"hinge": at.hinge.hi, "norm": at.norm.hi, "growth": growth.hi + above}
    loose = WIDER * above + growth.hi - growth.lo
    return bound, Interval.of(float(len(f.chosen))), float(f.T), values, slack, loose


def vaw(f: Facts, certificate: dict[str, Any], which: str) -> Numbers:
    """Σk²y²·xᵀA_t⁻¹x, or what bounds it, and the cost of rounded predictions."""
    k, y, scores = _weights(f), f.rounds.y, np.asarray(f.rounds.scores)
    found = _steps(f, np.arange(f.T))
    gap = np.abs(scores - found.scores) + found.errors
    with np.errstate(over="ignore"):  # as in the theorem: then nothing is promised
        lost = math.fsum(k * gap * (2.0 * np.abs(scores - y) + gap))
    most, d = float((k * y * y).max(initial=0.0)), float(f.rounds.width)
    square = Interval.around(most, 4.0 * EPS * most)
    if which == "steps":
        bound = _around(math.fsum(k * y * y * found.forms), math.fsum(k * y * y * found.off))
    elif which == "determinant":
        bound = found.log_det * square
    else:
        rows = total(np.nextafter(k * f.squares[0], 0.0), np.nextafter(k * f.squares[1], np.inf))
        bound = (rows / (Interval.of(float(f.core.settings["ridge"])) * d) + 1.0).log() * square * d
    slack = WIDER * lost + bound.hi - bound.lo
    return bound, f.regret, f.ceiling, {"rounding": lost}, slack, WIDER * lost


def _weights(f: Facts) -> Vector:
    return np.ones(f.T) if f.rounds.weights is None else f.rounds.weights


def _around(value: float, off: float) -> Interval:
    """Never below 0, as no such sum is."""
    return Interval.around(value, WIDER * off + 1e-13 * value).positive()


def _steps(f: Facts, chosen: Any) -> Steps:
    """The same for every theorem about the run."""

    def made() -> Steps:
        with calm(len(chosen), f.rounds.width):
            return _measured(f, chosen)

    found: Steps = f.once("second_order_steps", made)
    return found


def _measured(f: Facts, chosen: Any) -> Steps:
    """By blocks; how far each number may be off is judged by the residuals ‖x − A_t·q‖ of a replay, as A_t ⪰ aI."""
    ridge, n = float(f.core.settings["ridge"]), f.rounds.width
    k = _weights(f)[chosen]
    forms, diagonal = _blocks(f, chosen, ridge)
    out = np.zeros((len(chosen), 5))
    matrices = (ridge * np.eye(n), np.eye(n) / ridge, np.zeros(n), np.zeros(n), np.zeros(n))
    weights = np.zeros(0) if f.rounds.weights is None else f.rounds.weights
    follow_matrix(f.rounds.given, f.rounds.y, weights, chosen, ridge, *matrices, n, out)
    scores, _, rest, size, trace = out.T
    unit = (n + len(chosen) + 16.0) * 2.0**-52
    labels = np.sqrt(np.cumsum(k * f.rounds.y[chosen] ** 2))
    with np.errstate(over="ignore", invalid="ignore"):  # a residual beyond numbers may be off by anything
        reach = (rest + unit * (np.sqrt(trace / k) + np.sqrt(trace) * size)) / math.sqrt(ridge) + unit * size
        errors = np.where(labels > 0.0, labels * reach, 0.0)
    off = np.minimum(np.sqrt(k) * reach * (1.0 + np.sqrt(k)), 1.0)
    left = np.maximum(1.0 - forms - off, 0.0)
    with np.errstate(divide="ignore"):
        width = math.fsum(np.minimum(off / left, 1e300)) if len(off) else 0.0
    value, most = -math.fsum(arithmetic.log1p(-forms)), math.fsum(arithmetic.log(np.maximum(diagonal / ridge, 1.0)))
    around = _around(value, width)
    high = max(min(around.hi, most * (1.0 + 1e-12)), around.lo)
    return Steps(forms, off, scores, errors, Interval(around.lo, high))


def _blocks(f: Facts, chosen: Any, ridge: float) -> tuple[Vector, Vector]:
    """k·xᵀA_t⁻¹x, and the diagonal of A_T; a row that is long by the matrix before it stands in a block of its own."""
    n, size, start = f.rounds.width, max(BLOCK, f.rounds.width), 0
    A, forms, roots = ridge * np.eye(n), np.zeros(len(chosen)), np.sqrt(_weights(f)[chosen])
    while start < len(chosen):
        part = slice(start, min(start + size, len(chosen)))
        X = _rows(f, chosen[part]) * roots[part, None]
        units = np.sqrt(np.diag(A))  # in which every diagonal entry is 1: large and small features do not mix
        values, vectors = np.linalg.eigh(A / units / units[:, None])
        Z = X / units @ (vectors / np.sqrt(np.maximum(values, ridge / max(float(units.max(initial=0.0)) ** 2, ridge))))
        long = np.flatnonzero((Z * Z).sum(axis=1) > LONG)
        count = len(X) if not len(long) else max(int(long[0]), 1)
        X, Z = X[:count], Z[:count]
        pivots = 1.0 + (Z * Z).sum(axis=1)
        if count > 1:
            pivots = np.diag(np.linalg.cholesky(np.eye(count) + Z @ Z.T)) ** 2
        forms[start : start + count] = np.minimum(1.0 - 1.0 / pivots, np.nextafter(1.0, 0.0))
        A += X.T @ X
        start += count
    return forms, np.diag(A).copy()


def _rows(f: Facts, chosen: Any) -> Any:
    """Some rows as a matrix."""
    rows = f.rounds.rows.take(chosen)
    given = rows.given
    if not isinstance(given, tuple):
        return np.asarray(given, dtype=np.float64)
    X = np.zeros((len(rows), f.rounds.width))
    X[np.repeat(np.arange(len(rows)), np.diff(given[0])), given[1]] = given[2]
    return X


UNIT, COMPARED = "every round weighs 1", "a comparator v is given"
GIVEN = ()
PROMISES = ("vaw-steps", "vaw-determinant", "vaw-dimension")
NEEDS: dict[str, Condition] = {}
BOUNDS: dict[str, tuple[tuple[str, ...], Formula]] = {
    "second-order-steps": ((UNIT, COMPARED), lambda f, c: Found(*second_order(f, c, determinant=False))),
    "second-order": ((UNIT, COMPARED), lambda f, c: Found(*second_order(f, c, determinant=True))),
    "vaw-steps": ((), lambda f, c: Found(*vaw(f, c, "steps"))),
    "vaw-determinant": ((), lambda f, c: Found(*vaw(f, c, "determinant"))),
    "vaw-dimension": ((), lambda f, c: Found(*vaw(f, c, "dimension"))),
}


def speaks_of(name: str, f: Facts) -> bool:
    if name.startswith("vaw-"):
        return f.core.name == "vaw" and f.entry is not None
    return f.core.name == "second-order"


def vectors_of(name: str, f: Facts, named: list[str]) -> bool:
    if not all(one in f.points for one in named):
        return False
    if name.startswith("vaw-"):
        return set(named) <= {"u", "alpha"}
    return named in (["v_steps"], ["v_determinant"])
