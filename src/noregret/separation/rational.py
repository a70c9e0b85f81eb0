"""The whole numbers λ with Aλ = 0 where the solutions make up a line: found modulo a prime, lifted, checked exactly.

Dixon's p-adic lifting: with C the inverse of M modulo p, the solution of Mz = b is Σ zᵢpⁱ, zᵢ = C·rᵢ mod p and
rᵢ₊₁ = (rᵢ − M·zᵢ)/p. Enough digits give the fractions back. A prime that happens to divide a determinant loses time,
never truth: what is returned solves every equation.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
