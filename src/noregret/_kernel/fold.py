"""Supports of the kernel (c + γ⟨x, z⟩)² folded into a matrix A, a vector b and a number a.

    Σ_s α_s·(c + γ⟨x, z_s⟩)² = a + Σ_i γx_i·(b_i + Σ_j A_ij·x_j)
    A = γ·Σ α_s·z_s·z_sᵀ,  b = 2c·Σ α_s·z_s,  a = c²·Σ α_s

A is symmetric. Panel p holds the columns 8p … 8p + 7 as lanes, from feature 8p on: the square on the diagonal as it is,
what lies below it twice. Every entry is a sum over the supports from the oldest to the newest, and a score is summed in
the order of the features, so that its bits depend on the row and on the supports alone.
"""

from __future__ import annotations

from typing import Any

from noregret._kernel import compiled, inlined
from noregret._kernel.gram import PIECE
from noregret._kernel.tile import DOT, LANES, ROWS, tile


@inlined
def begins(panel: int, whole: int) -> int:
    """Where a panel begins: panel q has whole − 8q features of eight lanes."""
    return panel * LANES * whole - LANES * LANES * (panel * (panel - 1) // 2)


@compiled
def fold_matrix(once: Any, twice: Any, columns: Any, count: int, whole: int, first: int, last: int, A: Any) -> None:
    """`count` supports more in the panels first..last of A.

    columns[j·count + s] = z_s[j], once[(p·count + s)·8 + lane] = γ·α_s·z_s[8p + lane], and twice is twice that.
    """
    for p in range(first, last):
        at = p * count * LANES
        start = begins(p, whole)
        for j in range(p * LANES, whole, ROWS):
            to = start + (j - p * LANES) * LANES
            if j < (p + 1) * LANES:
                tile(DOT, once, at, columns, j * count, count, A, to, LANES, count)
            else:
                tile(DOT, twice, at, columns, j * count, count, A, to, LANES, count)


@compiled
def fold_line(rows: Any, alpha: Any, c: float, b: Any, a: float) -> float:
    """The supports `rows` more in b; returns the new a."""
    for s in range(rows.shape[0]):
        factor = 2.0 * (c * alpha[s])
        for i in range(rows.shape[1]):
            b[i] += factor * rows[s, i]
        a += c * (c * alpha[s])
    return a


@compiled
def folded_sums(A: Any, b: Any, whole: int, rows: Any, width: int, first: int, last: int, Y: Any) -> None:
    """Y[t·whole + i] = b_i + Σ_j A_ij·x_j for the columns i of the panels first..last; a multiple of four rows."""
    count = rows.shape[0] // width
    for p in range(first, last):
        column = p * LANES
        for t in range(count):
            for i in range(column, column + LANES):
                Y[t * whole + i] = b[i]
        start = begins(p, whole)
        for j in range(column, width, PIECE):
            at = start + (j - column) * LANES
            size = min(PIECE, width - j)
            for t in range(0, count, ROWS):
                tile(DOT, A, at, rows, t * width + j, width, Y, t * whole + column, whole, size)


@compiled
def folded_scores(a: float, gamma: float, whole: int, rows: Any, width: int, Y: Any, scores: Any) -> None:
    """a + Σ_i γx_i·Y_i of every row; four rows side by side, so that no addition waits for the one before it."""
    for t in range(0, scores.shape[0], ROWS):
        x, y = t * width, t * whole
        s0, s1, s2, s3 = a, a, a, a
        for i in range(width):
            s0 += (gamma * rows[x + i]) * Y[y + i]
            s1 += (gamma * rows[x + width + i]) * Y[y + whole + i]
            s2 += (gamma * rows[x + 2 * width + i]) * Y[y + 2 * whole + i]
            s3 += (gamma * rows[x + 3 * width + i]) * Y[y + 3 * whole + i]
        scores[t], scores[t + 1], scores[t + 2], scores[t + 3] = s0, s1, s2, s3
