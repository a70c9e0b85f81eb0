"""Updates of the weights by one row, dense and sparse, and sums over all weights.

A sum is taken in four accumulators by position. Every loop counter is unsigned: a signed one makes numba test each
index for "counted from the end".
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret._kernel import compiled, inlined
from noregret._kernel.pair import add_pair

U = np.uint64


@inlined
def reaches_sparse(indices: Any, start: int, stop: int, limit: int) -> bool:
    """Whether an entry of start..stop is a feature from `limit` on."""
    for k in range(U(start), U(stop)):  # noqa: SIM110, a generator would not compile
        if indices[U(k)] >= limit:
            return True
    return False


@inlined
def add_dense(X: Any, t: int, c: float, z: Any) -> None:
    """z ← z + c·x for row t of a matrix."""
    for i in range(X.shape[1]):
        z[i] += c * np.float64(X[t, i])


@inlined
def add_sparse(indices: Any, values: Any, start: int, stop: int, c: float, z: Any) -> None:
    """z ← z + c·x for the entries start..stop of a sparse row."""
    for k in range(U(start), U(stop)):
        z[indices[U(k)]] += c * np.float64(values[U(k)])


@inlined
def gather_dense(X: Any, t: int, c: float, z: Any, g: float, total: Any) -> None:
    """z ← z + c·x and total ← total + g·x for row t of a matrix."""
    for i in range(X.shape[1]):
        x = np.float64(X[t, i])
        z[i] += c * x
        total[i] += g * x


@inlined
def gather_sparse(indices: Any, values: Any, start: int, stop: int, c: float, z: Any, g: float, total: Any) -> None:
    """z ← z + c·x and total ← total + g·x for the entries start..stop of a sparse row."""
    for k in range(U(start), U(stop)):
        x = np.float64(values[U(k)])
        z[indices[U(k)]] += c * x
        total[indices[U(k)]] += g * x


@inlined
def gather_pairs(indices: Any, values: Any, start: int, stop: int, c: float, z: Any, g: float, total: Any) -> None:
    """The same where z and total lie side by side."""
    for k in range(U(start), U(stop)):
        add_pair(z, total, indices[U(k)], np.float64(values[U(k)]), c, g)


@inlined
def add_dense_clipped(X: Any, t: int, c: float, limit: float, z: Any) -> float:
    """z ← clip(z + c·x, ±limit) where row t is not zero; returns the change of ‖z‖²."""
    change = 0.0
    for i in range(X.shape[1]):
        x = np.float64(X[t, i])
        if x != 0.0:
            old = z[i]
            new = min(max(old + c * x, -limit), limit)
            z[i] = new
            change += new * new - old * old
    return change


@inlined
def add_sparse_clipped(indices: Any, values: Any, start: int, stop: int, c: float, limit: float, z: Any) -> float:
    """z ← clip(z + c·x, ±limit) on the entries start..stop; returns the change of ‖z‖²."""
    change = 0.0
    for k in range(U(start), U(stop)):
        i = indices[U(k)]
        old = z[i]
        new = min(max(old + c * np.float64(values[U(k)]), -limit), limit)
        z[i] = new
        change += new * new - old * old
    return change


@compiled
def norm2(z: Any) -> float:
    """‖z‖² in four accumulators by position, so that zeros appended to z change no bit of it."""
    n = U(z.shape[0])
    fours = n // U(4)
    a0 = a1 = a2 = a3 = 0.0
    for k in range(fours):
        i = U(k) * U(4)
        a0 += z[i] * z[i]
        a1 += z[i + U(1)] * z[i + U(1)]
        a2 += z[i + U(2)] * z[i + U(2)]
        a3 += z[i + U(3)] * z[i + U(3)]
    i = fours * U(4)
    if i < n:
        a0 += z[i] * z[i]
    if i + U(1) < n:
        a1 += z[i + U(1)] * z[i + U(1)]
    if i + U(2) < n:
        a2 += z[i + U(2)] * z[i + U(2)]
    return (a0 + a2) + (a1 + a3)


@compiled
def norm1(z: Any) -> float:
    """‖z‖₁ in four accumulators by position, so that zeros appended to z change no bit of it."""
    a0 = a1 = a2 = a3 = 0.0
    for i in range(z.shape[0]):
        place = i % 4
        if place == 0:
            a0 += abs(z[i])
        elif place == 1:
            a1 += abs(z[i])
        elif place == 2:
            a2 += abs(z[i])
        else:
            a3 += abs(z[i])
    return float((a0 + a2) + (a1 + a3))


@compiled
def largest(z: Any) -> float:
    """max |z_i|, 0 of none."""
    found = 0.0
    for i in range(z.shape[0]):
        found = max(found, abs(z[i]))
    return float(found)


@compiled
def lowest(z: Any) -> float:
    """min(z_i, 0) over all."""
    found = 0.0
    for i in range(z.shape[0]):
        found = min(found, z[i])
    return float(found)


@compiled
def rescale(z: Any, factor: float) -> None:
    """z ← factor·z."""
    for i in range(z.shape[0]):
        z[i] *= factor


@compiled
def two_values(y: Any) -> tuple[float, float, bool]:
    """Two whole numbers that an array holds, and whether it holds no other; one may stand for both."""
    first = second = y[0]
    for t in range(U(y.shape[0])):
        if y[t] != first:
            second = y[t]
            break
    if not (math.isfinite(first) and math.isfinite(second)):
        return first, second, False
    others = 0
    for t in range(U(y.shape[0])):
        others += 1 if (y[t] - first) * (y[t] - second) != 0.0 else 0  # no branch that a processor would have to guess
    return first, second, others == 0 and first == math.floor(first) and second == math.floor(second)


@compiled
def narrowed(indices: Any, highest: int, out: Any) -> int:
    """Rising indices from 0 to `highest`, written as those of sparse rows: one more than the last, or −1 for others."""
    reach = 0
    for k in range(U(indices.shape[0])):
        if not reach <= indices[k] <= highest:
            return -1
        out[k] = indices[k]
        reach = indices[k] + 1
    return reach
