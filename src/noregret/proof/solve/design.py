"""The rows as a linear map, in units in which the largest entry lies between 1/2 and 1.

With x = 2^e·x′ and u = 2^−e·u′ every score ⟨u, x⟩ = ⟨u′, x′⟩ stays as it is, so that a solver never sees a number
whose square would overflow. The rows themselves are neither copied nor changed: the power of two goes into vectors.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import _native
from noregret.rounds import Rounds, Vector
from noregret.stream.block import Dense

Matrix = NDArray[np.float64]
BLOCK = 8192  # rows at a time, so that a copy stays in the cache
LARGEST = 1000  # of an exponent: 2^e and 2^−e are both numbers


@dataclass(frozen=True)
class Design:
    """x′ of every round."""

    rows: Any
    width: int
    count: int
    exponent: int

    @classmethod
    def of(cls, rounds: Rounds) -> Design:
        return cls(rounds.native, rounds.width, len(rounds), _exponent(rounds))

    @property
    def dense(self) -> bool:
        return not isinstance(self.rows, tuple)

    @property
    def scale(self) -> float:
        """2^−e."""
        return math.ldexp(1.0, -self.exponent)

    def inward(self, u: Vector) -> Vector:
        """u′ of a comparator u."""
        return u * math.ldexp(1.0, self.exponent)

    def outward(self, u: Vector) -> Vector:
        """u of u′."""
        return u * self.scale

    def scores(self, u: Vector) -> Vector:
        """⟨u′, x′⟩ for every round."""
        if self.dense:
            return np.asarray(self.rows @ (u * self.scale))
        out = np.empty(self.count)
        _native.scores_of(self.rows, u * self.scale, out)
        return out

    def combine(self, a: Vector) -> Vector:
        """Σ a·x′."""
        if self.dense:
            return np.asarray(a @ self.rows) * self.scale
        total = np.zeros(self.width)
        _native.sum_rows(self.rows, a, total)
        return total * self.scale

    def curvature(self, w: Vector) -> Matrix:
        """Σ w·x′x′ᵀ; rows with w = 0 cost nothing."""
        H = np.zeros((self.width, self.width))
        if not self.dense:
            _native.add_curvature(self.rows, w, self.scale, H)
            return H
        chosen = np.flatnonzero(w)
        whole = 2 * len(chosen) > self.count
        rows = np.arange(self.count) if whole else chosen
        for start in range(0, len(rows), BLOCK):
            part = rows[start : start + BLOCK]
            X = self.rows[start : start + BLOCK] if whole else self.rows[part]
            X = X * (np.sqrt(w[part]) * self.scale)[:, None]
            H += X.T @ X
        return H

    def square_norms(self) -> Vector:
        """‖x′‖² of every round."""
        out = np.empty(self.count)
        _native.square_norms(self.rows, self.scale, out)
        return out

    def column_squares(self) -> Vector:
        """Σ x′² of every feature."""
        if not self.dense:
            ends, indices, values = self.rows
            part = slice(int(ends[0]), int(ends[-1]))
            return np.asarray(np.bincount(indices[part], (values[part] * self.scale) ** 2, self.width), np.float64)
        total = np.zeros(self.width)
        for start in range(0, self.count, BLOCK):
            X = self.rows[start : start + BLOCK] * self.scale
            total += np.einsum("ij,ij->j", X, X)
        return total


def length_of(v: Vector) -> float:
    """‖v‖, also where the squares would overflow or vanish."""
    largest = float(np.abs(v).max(initial=0.0))
    if 1e-140 < largest < 1e140 or largest == 0.0 or not math.isfinite(largest):
        return float(np.linalg.norm(v)) if math.isfinite(largest) else largest
    return largest * float(np.linalg.norm(v / largest))


def times_power(x: float, power: int) -> float:
    """x·2^power, or the largest number there is: what a solver assumes need not be true, what it finds is judged."""
    if math.isinf(x):
        return x
    try:
        return math.ldexp(x, power)
    except OverflowError:
        return math.copysign(sys.float_info.max, x)


def _exponent(rounds: Rounds) -> int:
    values = rounds.rows.X if isinstance(rounds.rows, Dense) else rounds.rows.values
    largest = 0.0
    for start in range(0, len(values), BLOCK):
        largest = max(largest, float(np.abs(values[start : start + BLOCK]).max(initial=0.0)))
    return min(max(math.frexp(largest)[1], -LARGEST), LARGEST) if math.isfinite(largest) else 0
