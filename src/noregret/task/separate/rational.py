"""The whole numbers λ with Aλ = 0 where the solutions make up a line: found modulo a prime, lifted, checked exactly.

Dixon's p-adic lifting: with C the inverse of M modulo p, the solution of Mz = b is Σ zᵢpⁱ, zᵢ = C·rᵢ mod p and
rᵢ₊₁ = (rᵢ − M·zᵢ)/p. Enough digits give the fractions back. A prime that happens to divide a determinant loses time,
never truth: what is returned solves every equation.
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

Exact = NDArray[Any]  # of Python's whole numbers
Digits = NDArray[np.int64]

PRIMES = (2147483647, 2147483629, 2147483587)  # below 2³¹: a product of two residues fits into 63 bits
LIMB = 20  # bits: limb × residue × 2048 unknowns fit into 63 bits
MOST = 2_000  # unknowns
MOST_WORK = 4e9  # of the elimination: equations × unknowns²


def null_vector(A: Exact, deadline: float = math.inf) -> list[int] | None:
    """The λ with Aλ = 0 but for its scale, its last entry not below 0; None where that is no line, or no time is left.

    >>> null_vector(np.array([[1, -3, 0], [0, 2, -2]], dtype=object))
    [3, 1, 1]
    >>> null_vector(np.array([[1, 0], [0, 1]], dtype=object)) is None
    True
    """
    equations, unknowns = A.shape
    if unknowns == 1:
        return None if A.any() else [1]
    if unknowns > MOST or float(equations) * unknowns**2 > MOST_WORK:
        return None
    for prime in PRIMES:
        chosen, pivots = _pivots(np.asarray(A % prime, dtype=np.int64), prime, deadline)
        if time.perf_counter() > deadline or len(pivots) == unknowns:  # of full rank modulo p is of full rank
            return None
        if len(pivots) == unknowns - 1:
            free = next(iter(set(range(unknowns)) - set(pivots)))
            found = _lifted(A[np.ix_(chosen, pivots)], -A[chosen, free], prime, deadline)
            if found is None:
                return None
            solution = [0] * unknowns
            for place, value in zip([*pivots, free], found, strict=True):
                solution[place] = value
            return solution if not any(_times(A, solution)) else None
    return None


def _times(A: Exact, x: list[int]) -> list[int]:
    """A·x."""
    vector = np.array(x, dtype=object)
    return [int(row[np.flatnonzero(row)] @ vector[np.flatnonzero(row)]) if row.any() else 0 for row in A]


def _pivots(A: Digits, p: int, deadline: float) -> tuple[list[int], list[int]]:
    """Independent equations and as many independent unknowns, by elimination modulo p."""
    A, order = A.copy(), np.arange(len(A))
    pivots: list[int] = []
    for column in range(A.shape[1]):
        rank = len(pivots)
        below = np.flatnonzero(A[rank:, column])
        if not len(below):
            continue
        first = rank + int(below[0])
        A[[rank, first]], order[[rank, first]] = A[[first, rank]], order[[first, rank]]
        head = A[rank, column:] * pow(int(A[rank, column]), -1, p) % p
        rest = rank + 1 + np.flatnonzero(A[rank + 1 :, column])
        A[rest, column:] = (A[rest, column:] - A[rest, column, None] * head % p) % p
        pivots.append(column)
        if len(pivots) == len(A) or time.perf_counter() > deadline:
            break
    return order[: len(pivots)].tolist(), pivots


def _inverse(M: Digits, p: int) -> Digits:
    """M⁻¹ modulo p."""
    size = len(M)
    A = np.hstack([M, np.eye(size, dtype=np.int64)])
    for k in range(size):
        first = k + int(np.flatnonzero(A[k:, k])[0])
        A[[k, first]] = A[[first, k]]
        A[k] = A[k] * pow(int(A[k, k]), -1, p) % p
        others = np.flatnonzero(A[:, k])
        others = others[others != k]
        A[others] = (A[others] - A[others, k, None] * A[k] % p) % p
    return A[:, size:]


def _lifted(M: Exact, b: Exact, p: int, deadline: float) -> list[int] | None:
    """Whole numbers (n₁, …, n_k, d) with M·n = d·b and d > 0, M being regular modulo p."""
    C, limbs = _inverse(np.asarray(M % p, dtype=np.int64), p), _limbs(M)
    residue, solution, modulus = b.copy(), np.zeros(len(b), dtype=object), 1
    digits, next_try = 0, 4
    while time.perf_counter() < deadline:
        digit = (C * np.asarray(residue % p, dtype=np.int64) % p).sum(axis=1) % p
        solution = solution + digit.astype(object) * modulus
        product = sum(((limb @ digit).astype(object) << (LIMB * k) for k, limb in enumerate(limbs)), start=0)
        residue = (residue - product) // p
        modulus, digits = modulus * p, digits + 1
        if digits == next_try:
            found = _fractions(solution.tolist(), modulus)
            if found is not None and _times(M, found[:-1]) == [int(found[-1] * one) for one in b]:
                return found
            next_try = 3 * digits // 2
    return None


def _limbs(M: Exact) -> list[Digits]:
    """M = Σ 2^(20k)·limb_k with limbs of 20 bits and the sign of the entry."""
    size, sign = np.abs(M), np.where(M < 0, -1, 1).astype(np.int64)
    found = []
    while True:
        found.append(np.asarray(size & ((1 << LIMB) - 1), dtype=np.int64) * sign)
        size = size >> LIMB
        if not size.any():
            return found


def _fractions(residues: list[int], modulus: int) -> list[int] | None:
    """Numerators and at the end their common denominator, each small beside √modulus; None where there are none."""
    most, denominator = math.isqrt(modulus // 2), 1
    for residue in residues:
        found = _fraction(residue * denominator % modulus, modulus, most)
        if found is None or denominator * found > most:
            return None
        denominator *= found
    numerators = [_small(residue * denominator % modulus, modulus) for residue in residues]
    common = math.gcd(denominator, *numerators)
    return [one // common for one in (*numerators, denominator)]


def _small(residue: int, modulus: int) -> int:
    """The residue of least size."""
    return residue - modulus if 2 * residue > modulus else residue


def _fraction(residue: int, modulus: int, most: int) -> int | None:
    """The denominator of the fraction that the residue stands for: half of Euclid's algorithm."""
    if residue <= most or modulus - residue <= most:
        return 1
    before, now, factor_before, factor = modulus, residue, 0, 1
    while now > most:
        quotient = before // now
        before, now = now, before - quotient * now
        factor_before, factor = factor, factor_before - quotient * factor
    return abs(factor) if factor and abs(factor) <= most else None


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
