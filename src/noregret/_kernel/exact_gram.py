"""Kernel values and sums of them in twice the precision, each with a bound on its own error (see exact.py).

Rows are compressed, each in the order of its features. A polynomial of whole numbers is exact, error 0; e^x is known to
within a few units in the last place.
"""

from __future__ import annotations

from typing import Any

from noregret._kernel import compiled, inlined
from noregret._kernel.exact import plus, plus_product, two_product, two_sum
from noregret._kernel.gram import LEAST, LINEAR, POLY, exponential
from noregret._kernel.tile import DOT, SQUARE

NEAR = 1.0 + 2.0**-40  # what adding up the errors may itself have lost
ROUNDED = 2.0**-49  # what `exponential` may be off by, relatively
VANISHED = 1e-307


@inlined
def add_term(op: int, s: float, c: float, error: float, x: float, z: float) -> tuple[float, float, float]:
    """(s + c ± error) plus x·z, (x − z)² or |x − z|."""
    if op == DOT:
        return plus_product(s, c, error, x, z)
    gap, low = two_sum(x, -z)
    if op == SQUARE:
        s, c, error = plus_product(s, c, error, gap, gap)
        s, c, error = plus_product(s, c, error, 2.0 * gap, low)
        return plus_product(s, c, error, low, low)
    sign = 1.0 if gap > 0.0 else -1.0
    s, c, error = plus(s, c, error, sign * gap)
    return plus(s, c, error, sign * low)


@inlined
def exact_sum(op: int, indptr: Any, indices: Any, what: Any, a: int, b: int) -> tuple[float, float, float]:
    """The sum over the features of rows a and b."""
    s = c = error = 0.0
    i, end, k, stop = indptr[a], indptr[a + 1], indptr[b], indptr[b + 1]
    while i < end or k < stop:
        if k >= stop or (i < end and indices[i] < indices[k]):
            if op != DOT:
                s, c, error = add_term(op, s, c, error, what[i], 0.0)
            i += 1
        elif i >= end or indices[k] < indices[i]:
            if op != DOT:
                s, c, error = add_term(op, s, c, error, 0.0, what[k])
            k += 1
        else:
            s, c, error = add_term(op, s, c, error, what[i], what[k])
            i += 1
            k += 1
    return s, c, error


@inlined
def times(s: float, c: float, error: float, u: float, v: float, other: float) -> tuple[float, float, float]:
    """(s + c ± error)·(u + v ± other)."""
    lost = NEAR * ((abs(s) + abs(c)) * other + (abs(u) + abs(v) + other) * error)
    p, q, e = plus_product(0.0, 0.0, 0.0, s, u)
    p, q, e = plus_product(p, q, e, s, v)
    p, q, e = plus_product(p, q, e, c, u)
    p, q, e = plus_product(p, q, e, c, v)
    return p, q, e + lost


@inlined
def exact_value(
    kind: int, s: float, c: float, error: float, coef0: float, gamma: float, degree: int
) -> tuple[float, float, float]:
    """The kernel from its sum, s + c ± error."""
    if kind == LINEAR:
        return s, c, error
    if kind == POLY:
        u, v, other = times(s, c, error, gamma, 0.0, 0.0)
        u, v, other = plus(u, v, other, coef0)
        p, q, e = u, v, other
        for _ in range(degree - 1):
            p, q, e = times(p, q, e, u, v, other)
        return p, q, e
    if s == 0.0 and c == 0.0 and error == 0.0:
        return 1.0, 0.0, 0.0
    x, low = two_product(-gamma, s)
    off = NEAR * (abs(low) + gamma * (abs(c) + error)) + 1e-300
    found = exponential(x)
    if not off < 1.0:
        return 0.0, 0.0, 1.0
    return found, 0.0, NEAR * found * (2.0 * off + ROUNDED) + (VANISHED if x < LEAST + 8.0 else 0.0)


@compiled
def kernel_sums(
    kind: int,
    op: int,
    coef0: float,
    gamma: float,
    degree: int,
    indptr: Any,
    indices: Any,
    what: Any,
    to: Any,
    which: Any,
    coefficients: Any,
    before: bool,
    out: Any,
) -> None:
    """out[m, i] = (s, c, error) of Σ_k coefficients[m, k]·K(row which[k], row to[i]), of earlier rows only if asked."""
    for i in range(to.shape[0]):
        for m in range(coefficients.shape[0]):
            out[m, i, 0] = out[m, i, 1] = out[m, i, 2] = 0.0
        for k in range(which.shape[0]):
            if before and which[k] >= to[i]:
                continue
            s, c, error = exact_sum(op, indptr, indices, what, to[i], which[k])
            s, c, error = exact_value(kind, s, c, error, coef0, gamma, degree)
            add_value(out, i, coefficients, k, s, c, error)


@inlined
def add_value(out: Any, i: int, coefficients: Any, k: int, s: float, c: float, error: float) -> None:
    """The kernel value s + c ± error times its coefficients, into the sums of row i."""
    for m in range(coefficients.shape[0]):
        a = coefficients[m, k]
        p, q, e = plus_product(out[m, i, 0], out[m, i, 1], out[m, i, 2], a, s)
        p, q, e = plus_product(p, q, e, a, c)
        out[m, i, 0] = p
        out[m, i, 1] = q
        out[m, i, 2] = e + NEAR * abs(a) * error


@compiled
def given_sums(G: Any, to: Any, which: Any, coefficients: Any, before: bool, out: Any) -> None:
    """The same from kernel values that are what they are: G[i, k] = K(row which[k], row to[i])."""
    for i in range(to.shape[0]):
        for m in range(coefficients.shape[0]):
            out[m, i, 0] = out[m, i, 1] = out[m, i, 2] = 0.0
        for k in range(which.shape[0]):
            if not (before and which[k] >= to[i]):
                add_value(out, i, coefficients, k, G[i, k], 0.0, 0.0)


@compiled
def kernel_squares(
    kind: int, op: int, coef0: float, gamma: float, degree: int, indptr: Any, indices: Any, what: Any, out: Any
) -> None:
    """out[t] = (s, c, error) of K(row t, row t)."""
    for t in range(out.shape[0]):
        s, c, error = exact_sum(op, indptr, indices, what, t, t)
        out[t, 0], out[t, 1], out[t, 2] = exact_value(kind, s, c, error, coef0, gamma, degree)
