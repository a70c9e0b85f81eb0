"""Dot products, sums of rows and squared norms in twice the precision, each with a bound on its own error.

A number is carried as s + c; what even that cannot hold goes into `error`, which is therefore exactly 0 whenever
nothing was lost, as with whole numbers. Every loop adds in the order of the rows, one after another, so that the
results are the same on every machine. Nothing here may be compiled with reordering.
"""

from __future__ import annotations

from typing import Any

from noregret._kernel import compiled, inlined
from noregret._kernel.rows import entries, entry

SPLIT = 134217729.0  # 2²⁷ + 1: cuts a float64 into two halves
LEAST = 1e-290  # a smaller product may have lost its tail below the smallest float64
LOST = 1e-320


@inlined
def two_sum(a: float, b: float) -> tuple[float, float]:
    """a + b as its rounded value and what the rounding dropped."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@inlined
def two_product(a: float, b: float) -> tuple[float, float]:
    """a·b as its rounded value and what the rounding dropped."""
    p = a * b
    t = SPLIT * a
    a1 = t - (t - a)
    a2 = a - a1
    t = SPLIT * b
    b1 = t - (t - b)
    b2 = b - b1
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


@inlined
def plus(s: float, c: float, error: float, a: float) -> tuple[float, float, float]:
    """(s + c ± error) + a."""
    s, low = two_sum(s, a)
    c, lost = two_sum(c, low)
    return s, c, error + abs(lost)


@inlined
def plus_product(s: float, c: float, error: float, a: float, b: float) -> tuple[float, float, float]:
    """(s + c ± error) + a·b."""
    p, low = two_product(a, b)
    if abs(p) < LEAST and a != 0.0 and b != 0.0:
        error += LOST
    s, c, error = plus(s, c, error, p)
    c, lost = two_sum(c, low)
    return s, c, error + abs(lost)


@compiled
def dots(rows: Any, u: Any, out: Any) -> None:
    """out[t] = (s, c, error) of ⟨u, x_t⟩ for every row."""
    for t in range(out.shape[0]):
        s = c = error = 0.0
        start, stop = entries(rows, t)
        for k in range(start, stop):
            j, x = entry(rows, t, k)
            s, c, error = plus_product(s, c, error, u[j], x)
        out[t, 0] = s
        out[t, 1] = c
        out[t, 2] = error


@compiled
def squares(rows: Any, out: Any) -> None:
    """out[t] = (s, c, error) of ‖x_t‖² for every row."""
    for t in range(out.shape[0]):
        s = c = error = 0.0
        start, stop = entries(rows, t)
        for k in range(start, stop):
            _, x = entry(rows, t, k)
            s, c, error = plus_product(s, c, error, x, x)
        out[t, 0] = s
        out[t, 1] = c
        out[t, 2] = error


@inlined
def add_row(rows: Any, t: int, a: float, total: Any) -> None:
    """total ← total + a·x_t, a triple (s, c, error) for each feature."""
    start, stop = entries(rows, t)
    for k in range(start, stop):
        j, x = entry(rows, t, k)
        total[j, 0], total[j, 1], total[j, 2] = plus_product(total[j, 0], total[j, 1], total[j, 2], a, x)


@compiled
def combination(rows: Any, alpha: Any, total: Any) -> None:
    """total ← total + Σ α_t·x_t over the rows with α_t ≠ 0."""
    for t in range(alpha.shape[0]):
        if alpha[t] != 0.0:
            add_row(rows, t, alpha[t], total)


@inlined
def dot_row(rows: Any, t: int, total: Any) -> tuple[float, float, float]:
    """(s, c, error) of ⟨total, x_t⟩, total being a triple for each feature."""
    s = c = error = 0.0
    start, stop = entries(rows, t)
    for k in range(start, stop):
        j, x = entry(rows, t, k)
        s, c, error = plus_product(s, c, error, total[j, 0], x)
        s, c, error = plus_product(s, c, error, total[j, 1], x)
        error += total[j, 2] * abs(x)
    return s, c, error


@compiled
def steps(rows: Any, step: Any, total: Any, out: Any) -> None:
    """Replay w ← w + step_t·x_t: out[t] = (s, c, error) of ⟨w, x_t⟩ before it, in the rounds that have a step."""
    for t in range(step.shape[0]):
        if step[t] != 0.0:
            out[t, 0], out[t, 1], out[t, 2] = dot_row(rows, t, total)
            add_row(rows, t, step[t], total)


@compiled
def updates(rows: Any, y: Any, chosen: Any, total: Any, out: Any) -> None:
    """Replay Σ y·x over the chosen rounds: out[i] = (s, c, error) of y⟨Σ so far, x⟩ just before the i-th of them."""
    for i in range(chosen.shape[0]):
        t = chosen[i]
        s, c, error = dot_row(rows, t, total)
        out[i, 0] = y[t] * s
        out[i, 1] = y[t] * c
        out[i, 2] = error
        add_row(rows, t, y[t], total)


@compiled
def class_updates(rows: Any, moves: Any, step: int, total: Any, out: Any) -> None:
    """Replay the weights of many classes over moves (round, class, ±1), `step` of them at a time.

    out[i] = (s, c, error) of Σ ±⟨w_class, x⟩ over the i-th group just before it; total[class, feature] is a triple.
    """
    for i in range(out.shape[0]):
        s = c = error = 0.0
        for m in range(i * step, (i + 1) * step):
            t, k, sign = moves[m, 0], moves[m, 1], float(moves[m, 2])
            start, stop = entries(rows, t)
            for e in range(start, stop):
                j, x = entry(rows, t, e)
                s, c, error = plus_product(s, c, error, sign * total[k, j, 0], x)
                s, c, error = plus_product(s, c, error, sign * total[k, j, 1], x)
                error += total[k, j, 2] * abs(x)
        out[i, 0] = s
        out[i, 1] = c
        out[i, 2] = error
        for m in range(i * step, (i + 1) * step):
            add_row(rows, moves[m, 0], float(moves[m, 2]), total[moves[m, 1]])
