"""A separator, or the convex weights λ with Σ λ·y·x = 0 that prove that there is none, by a growing linear programme.

min ‖Σ λ·y·x‖₁ over convex weights λ on some of the rounds: at 0 those rounds alone prove it, and a vertex has so few
weights that they are the solution of a small linear system, which is solved in whole numbers. Above 0 the dual is a u
that separates those rounds; the rounds that it gets wrong join them. Features and rounds are scaled by powers of two,
which changes neither answer and rounds nothing.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.proof.solve.perceptron import separating
from noregret.rounds import Rounds, Vector, as_sparse
from noregret.separation.rational import null_vector

FIRST, JOINING, MOST_JOINING = 400, 300, 2_000  # rounds to begin with; those that join at once: twice the features
ZERO = 1e-6  # an optimum below may be 0
SUPPORT = (1e-12, 1e-9, 1e-7)  # weights below may be 0
TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
Chosen = NDArray[np.int64]


@dataclass(frozen=True)
class Weighed:
    """A separator u, or exact weights on some rounds; else the best weights found, which are floats."""

    u: Vector | None = None
    rounds: Chosen | None = None
    exact: tuple[int, ...] | None = None
    weights: Vector | None = None


def weigh(rounds: Rounds, first: Chosen, deadline: float) -> Weighed:
    """Either answer, where the time is enough; `first` are rounds that are hard to separate."""
    signed = _Signed(rounds)
    chosen = first if len(first) else _spread(len(rounds))
    best = Weighed()
    while time.perf_counter() < deadline:
        solved = _programme(signed.columns(chosen), deadline)
        if solved is None:
            break
        weights, u, optimum = solved
        best = Weighed(rounds=chosen, weights=signed.unscaled(weights, chosen))
        if optimum <= ZERO:
            exact = _exactly(rounds, chosen, weights, deadline)
            if exact is not None:
                return exact
        wrong = signed.wrong(u)
        if not len(wrong):
            found = separating(rounds, signed.outward(u))
            return Weighed(u=found) if found is not None else best
        new = np.setdiff1d(wrong[: max(JOINING, min(2 * rounds.width, MOST_JOINING))], chosen)
        if not len(new):
            break
        chosen = np.concatenate([chosen, new])
    return best


def _spread(count: int) -> Chosen:
    return np.unique(np.linspace(0, count - 1, min(count, FIRST)).astype(np.int64))


class _Signed:
    """y·x of every round, each feature and each round in units in which its largest entry is near 1."""

    def __init__(self, rounds: Rounds) -> None:
        from scipy.sparse import csr_array

        rows = as_sparse(rounds.rows)
        values = np.repeat(rounds.y, np.diff(rows.indptr)) * rows.values
        self.features = _units(values, rows.indices, rounds.width)
        values = np.ldexp(values, -self.features[rows.indices])
        owner = np.repeat(np.arange(len(rounds)), np.diff(rows.indptr))
        self.rounds = _units(values, owner, len(rounds))
        values = np.ldexp(values, -self.rounds[owner])
        self.matrix = csr_array((values, rows.indices.astype(np.int64), rows.indptr), shape=(len(rounds), rounds.width))

    def columns(self, chosen: Chosen) -> Any:
        """Some rounds as the columns of a matrix, one row a feature that they have."""
        return self.matrix[chosen].T.tocsr()

    def wrong(self, u: Vector) -> Chosen:
        """Rounds with y⟨u, x⟩ ≤ 0 but for rounding, the worst of them first."""
        margins = self.matrix @ u
        wrong = np.flatnonzero(margins <= 1e-12 * np.abs(u).max(initial=0.0))
        return wrong[np.argsort(margins[wrong], kind="stable")]

    def outward(self, u: Vector) -> Vector:
        return np.ldexp(u, -self.features)

    def unscaled(self, weights: Vector, chosen: Chosen) -> Vector:
        """The weights of the rounds as they are, summing to 1."""
        shift = self.rounds[chosen]
        found = np.ldexp(weights, shift.min(initial=0) - shift)
        return np.asarray(found / found.sum())


def _units(values: Vector, places: NDArray[Any], count: int) -> NDArray[np.int64]:
    """The exponent of the largest value at each place."""
    largest = np.zeros(count)
    np.maximum.at(largest, places, np.abs(values))
    return np.frexp(largest)[1].astype(np.int64)


def _programme(A: Any, deadline: float) -> tuple[Vector, Vector, float] | None:
    """The weights at a vertex, the dual u, and min ‖Aλ‖₁ over convex weights."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    used = np.flatnonzero(np.diff(A.indptr))
    part = A[used]
    features, count = part.shape
    units = eye_array(features)
    ones = csr_array(np.concatenate([np.ones(count), np.zeros(2 * features)])[None, :])
    cost = np.concatenate([np.zeros(count), np.ones(2 * features)])
    right = np.concatenate([np.zeros(features), [1.0]])
    left = max(deadline - time.perf_counter(), 0.01)
    options = {"time_limit": min(left, 1e6), **TOLERANCES}
    solved = linprog(
        cost, A_eq=vstack([hstack([part, -units, units]), ones]), b_eq=right, method="highs-ds", options=options
    )
    if solved.status != 0 or solved.x is None:
        return None
    u = np.zeros(A.shape[0])
    u[used] = -solved.eqlin.marginals[:-1]
    if float((A.T @ u).min(initial=math.inf)) < float((A.T @ -u).min(initial=math.inf)):
        u = -u
    return np.maximum(solved.x[:count], 0.0), u, float(solved.fun)


def _exactly(rounds: Rounds, chosen: Chosen, weights: Vector, deadline: float) -> Weighed | None:
    """The weights of a vertex as whole numbers."""
    for least in SUPPORT:
        rows = np.sort(chosen[weights > least * weights.max()])
        found = null_vector(whole_columns(rounds, rows), deadline)
        if found is not None and all(one >= 0 for one in found):
            kept = [place for place, one in enumerate(found) if one]
            return Weighed(rounds=rows[kept], exact=tuple(found[place] for place in kept))
    return None


def whole_columns(rounds: Rounds, chosen: Chosen) -> NDArray[Any]:
    """y·x of some rounds as columns of whole numbers: each feature is multiplied by a power of two of its own."""
    part = as_sparse(rounds.rows.take(chosen))
    lengths = np.diff(part.indptr)
    features, place = np.unique(part.indices, return_inverse=True)
    column = np.repeat(np.arange(len(chosen)), lengths)
    signed = np.repeat(rounds.y[chosen], lengths) * part.values
    ratios = [value.as_integer_ratio() for value in signed.tolist()]
    units = [1] * len(features)
    for j, (_, below) in zip(place.tolist(), ratios, strict=True):
        units[j] = max(units[j], below)
    A = np.zeros((len(features), len(chosen)), dtype=object)
    for j, t, (above, below) in zip(place.tolist(), column.tolist(), ratios, strict=True):
        A[j, t] = above * (units[j] // below)
    return A
