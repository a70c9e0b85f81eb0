"""Kernel values between rows: the sums they are made of, in the order of the features, and what becomes of a sum.

A value's bits depend on its two rows alone: not on the block they came in, the threads, the layout (zeros left out add
nothing) or the machine, which is why even e^x is written out here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from noregret._kernel import compiled, foreign, inlined
from noregret._kernel.tile import DOT, LANES, ROWS, single, tile

LINEAR, POLY, RBF, LAPLACE = 0, 1, 2, 3
PIECE = 512  # features of a panel that are gone through for all rows at once

LOG2E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 6.93147180369123816490e-01, 1.90821492927058770002e-10
LEAST = -708.0  # e^x of less counts as 0
TAYLOR = tuple(1.0 / math.factorial(k) for k in range(13, -1, -1))


@inlined
def exponential(x: float) -> float:
    """e^x for x ≤ 0, to within four units in the last place; 0 below e^LEAST."""
    if x != x:
        return x
    if x < LEAST:
        return 0.0
    n = math.floor(x * LOG2E + 0.5)
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    total = 0.0
    for c in TAYLOR:
        total = total * r + c
    return float(total * np.int64((np.int64(n) + np.int64(1023)) << np.int64(52)).view(np.float64))


@inlined
def value(kind: int, total: float, coef0: float, gamma: float, degree: int) -> float:
    """The kernel from ⟨x, z⟩, ‖x − z‖² or ‖x − z‖₁."""
    if kind == LINEAR:
        return total
    if kind != POLY:
        return exponential(-gamma * total)
    base = coef0 + gamma * total
    power = base
    for _ in range(degree - 1):
        power *= base
    return power


@compiled
def values(kind: int, G: Any, first: int, last: int, bias: float, coef0: float, gamma: float, degree: int) -> None:
    """The sums in columns first..last become kernel values; with a bias ⟨x, z⟩ is one more."""
    for t in range(G.shape[0]):
        for i in range(first, last):
            G[t, i] = value(kind, G[t, i] + bias, coef0, gamma, degree)


@compiled
def panel_sums(op: int, panels: Any, first: int, last: int, width: int, rows: Any, G: Any, to: int, step: int) -> None:
    """The panels first..last against all rows, a multiple of four; flat arrays, the first sum at G[to].

    A piece of a panel is used for all rows before the next, while it is near at hand.
    """
    count = rows.shape[0] // max(width, 1)
    for p in range(first, last):
        column = to + (p - first) * LANES
        for t in range(count):
            for i in range(LANES):
                G[column + t * step + i] = 0.0
        for j in range(0, width, PIECE):
            at = (p * width + j) * LANES
            size = min(PIECE, width - j)
            for t in range(0, count, ROWS):
                tile(op, panels, at, rows, t * width + j, width, G, column + t * step, step, size)


@compiled
def lay(rows: Any, which: Any, panels: Any, slots: Any, width: int) -> None:
    """Put the rows `which` into lanes of the panels, those of `slots`; both arrays are flat."""
    for k in range(which.shape[0]):
        at = (slots[k] // LANES) * width * LANES + slots[k] % LANES
        row = which[k] * width
        for j in range(width):
            panels[at + j * LANES] = rows[row + j]


@compiled
def take(panels: Any, slots: Any, width: int, out: Any) -> None:
    """The rows of these slots, one after another."""
    for i in range(slots.shape[0]):
        at = (slots[i] // LANES) * width * LANES + slots[i] % LANES
        for j in range(width):
            out[i, j] = panels[at + j * LANES]


@inlined
def merged(op: int, a: Any, x: Any, i: int, end: int, b: Any, z: Any, k: int, stop: int) -> float:
    """Σ over the features of either row, the entries i..end of one and k..stop of the other, both in order."""
    total = 0.0
    while i < end or k < stop:
        if k >= stop or (i < end and a[i] < b[k]):
            total += single_term(op, x[i], 0.0)
            i += 1
        elif i >= end or b[k] < a[i]:
            total += single_term(op, 0.0, z[k])
            k += 1
        else:
            total += single_term(op, x[i], z[k])
            i += 1
            k += 1
    return total


single_term = inlined(single)


@compiled
def sparse_sums(
    op: int,
    starts: Any,
    stops: Any,
    indices: Any,
    stored: Any,
    indptr: Any,
    where: Any,
    what: Any,
    spread: Any,
    G: Any,
    to: int,
) -> None:
    """Stored rows against the rows (indptr, where, what): G[t, to + i]. `spread` is as wide as the features, and 0."""
    for t in range(indptr.shape[0] - 1):
        low, high = indptr[t], indptr[t + 1]
        if op == DOT:
            for k in range(low, high):
                spread[where[k]] = what[k]
            for i in range(starts.shape[0]):
                total = 0.0
                for k in range(starts[i], stops[i]):
                    total += spread[indices[k]] * stored[k]
                G[t, to + i] = total
            for k in range(low, high):
                spread[where[k]] = 0.0
        else:
            for i in range(starts.shape[0]):
                G[t, to + i] = merged(op, where, what, low, high, indices, stored, starts[i], stops[i])


def own_values(function: Callable[..., float], stamp: int, keep: bool = True) -> Callable[..., int]:
    """The loop around a kernel of the user's own, k(z, x) of two rows; `stamp` as in linear.py."""

    def fill(stored: Any, slots: int, rows: Any, G: Any, to: int) -> int:
        for t in range(rows.shape[0]):
            for i in range(slots):
                G[t, to + i] = function(stored[i], rows[t])
        return slots + 0 * stamp

    return foreign(fill, keep)
