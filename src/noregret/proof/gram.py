"""What a kernel says of the rounds of a run, with every rounding accounted for.

Of a kernel built in, values are enclosed as those of exact arithmetic. A kernel of the user's own, or a precomputed
one, is taken to be what its function returned, or what the rows say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noregret._native import given_sums, kernel_squares, kernel_sums
from noregret.interval import Interval, ends, total
from noregret.kernel import Kernel
from noregret.rounds import Rounds, in_order
from noregret.stream.block import Sparse

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Gram:
    """The kernel values between the rounds of a run, a few at a time."""

    rounds: Rounds
    kernel: Kernel

    @property
    def entries(self) -> float:
        """What one kernel value costs: the entries of a row."""
        if self.kernel.precomputed:
            return 1.0
        return max(self.rounds.rows.values.size / max(len(self.rounds), 1), 1.0)

    @cached_property
    def _sparse(self) -> Sparse:
        return in_order(self.rounds.rows)

    @cached_property
    def _dense(self) -> Matrix:
        found = np.zeros((len(self.rounds), self.rounds.width))
        rows = self._sparse
        found[np.repeat(np.arange(len(found)), np.diff(rows.indptr)), rows.indices] = rows.values
        return found

    @property
    def _settings(self) -> tuple[int, int, float, float, int]:
        return self.kernel.code, self.kernel.sum, *self.kernel.numbers

    def self_products(self) -> tuple[Vector, Vector]:
        """Lower and upper ends of K(x_t, x_t) for every round."""
        out = np.zeros((len(self.rounds), 3))
        if self.kernel.summed:
            kernel_squares(*self._settings, self._sparse.native, out)
        else:
            for t in range(len(out)):
                out[t, 0] = self.values(np.array([t]), np.array([t]))[0, 0]
        return ends(out)

    def sums(self, which: Places, coefficients: Matrix, to: Places, before: bool = False) -> tuple[Matrix, Matrix]:
        """Ends of Σ_k coefficients[m, k]·K(x_which[k], x_to[i]) for each m and i; of earlier rounds only if asked."""
        out = np.zeros((len(coefficients), 3 * len(to)))  # (s, c, error) of each; see native/exact.hpp
        c = np.ascontiguousarray(coefficients, dtype=np.float64)
        if self.kernel.summed:
            kernel_sums(*self._settings, self._sparse.native, to, which, c, before, out)
        else:
            for i in range(0, len(to), 64):
                some = to[i : i + 64]
                given_sums(self.values(some, which), some, which, c, before, out[:, 3 * i : 3 * (i + 64)])
        low, high = ends(out.reshape(-1, 3))
        return low.reshape(len(c), -1), high.reshape(len(c), -1)

    def values(self, to: Places, which: Places) -> Matrix:
        """The values of a kernel that is not built in, as they are."""
        rows = self._dense
        if self.kernel.precomputed:
            return rows[np.ix_(to, which % self.rounds.width)]
        found = np.empty((len(to), len(which)))
        self.kernel.fill(rows[which], rows[to], found, 0)
        return found

    def length(self, coefficients: Vector, low: Vector, high: Vector) -> Interval:
        """‖Σ c_s·φ(x_s)‖ from the ends of ⟨that, φ(x_s)⟩ for every s with c_s ≠ 0."""
        if not len(coefficients):
            return Interval.of(0.0)
        a, b = coefficients * low, coefficients * high
        least, most = np.minimum(a, b), np.maximum(a, b)
        whole = (low == high) & (np.abs(coefficients) == 1.0)  # nothing was rounded
        least = np.where(whole, least, np.nextafter(least, -np.inf))
        most = np.where(whole, most, np.nextafter(most, np.inf))
        square = total(least, most).positive()
        return square if square.hi == 0.0 else square.sqrt()


def hinges(y: Vector, low: Vector, high: Vector) -> tuple[Vector, Vector]:
    """Ends of max(0, 1 − y·z) for z between low and high."""
    near, far = np.where(y > 0.0, high, -low), np.where(y > 0.0, low, -high)
    return np.maximum(_one_less(near, -np.inf), 0.0), np.maximum(_one_less(far, np.inf), 0.0)


def _one_less(z: Vector, way: float) -> Vector:
    """1 − z, a step that way where it was rounded."""
    found = 1.0 - z
    part = found - 1.0
    lost = (1.0 - (found - part)) + (-z - part)
    return np.where(lost == 0.0, found, np.nextafter(found, way))
