"""One spelling for both layouts: a matrix, or the triple (indptr, indices, values) of sparse rows.

A single row may also be given as an array of one dimension, to be scored.

Compiled code picks the layout when it is typed, so the choice costs nothing in the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import overload

from noregret._kernel import inlined
from noregret._kernel.bits import CHECKED
from noregret._kernel.four import adagrad_fours, dot_row
from noregret._kernel.line import add_line, dot_line, gather_line
from noregret._kernel.vector import (
    add_dense,
    add_dense_clipped,
    add_sparse,
    add_sparse_clipped,
    gather_dense,
    gather_pairs,
    gather_sparse,
    reaches_sparse,
)


def dot(rows: Any, t: int, z: Any) -> tuple[float, float]:
    """(⟨z, x⟩, ‖x‖²) of row t."""
    if isinstance(rows, tuple):
        return dot_row(rows[1], rows[2], rows[0][t], rows[0][t + 1], z)
    return dot_line(rows, t, z)


def reaches(rows: Any, t: int, limit: int) -> bool:
    """Whether row t can hold a feature from `limit` on."""
    if isinstance(rows, tuple):
        return reaches_sparse(rows[1], rows[0][t], rows[0][t + 1], limit)
    return bool(rows.shape[1] > limit)


def until_reach(rows: Any, t: int, stop: int, limit: int) -> int:
    """The first of the rows t..stop that can hold a feature from `limit` on, or `stop`."""
    while t < stop and not reaches(rows, t, limit):
        t += 1
    return t


def add(rows: Any, t: int, c: float, z: Any) -> None:
    """z ← z + c·x of row t."""
    if isinstance(rows, tuple):
        add_sparse(rows[1], rows[2], rows[0][t], rows[0][t + 1], c, z)
    else:
        add_dense(rows, t, c, z)


def add_clipped(rows: Any, t: int, c: float, limit: float, z: Any) -> float:
    """z ← clip(z + c·x, ±limit) of row t; returns the change of ‖z‖²."""
    if isinstance(rows, tuple):
        return add_sparse_clipped(rows[1], rows[2], rows[0][t], rows[0][t + 1], c, limit, z)
    return add_dense_clipped(rows, t, c, limit, z)


def gather(rows: Any, t: int, c: float, z: Any, g: float, total: Any) -> None:
    """z ← z + c·x and total ← total + g·x of row t."""
    if isinstance(rows, tuple):
        gather_sparse(rows[1], rows[2], rows[0][t], rows[0][t + 1], c, z, g, total)
    else:
        gather_dense(rows, t, c, z, g, total)


def sparse(rows: Any) -> bool:
    return isinstance(rows, types.BaseTuple)


def _in_lines(*arrays: Any) -> bool:
    """Whether all lie in one piece, and nobody asked to check the bounds, which loops over lines do not."""
    return not CHECKED and all(array.layout == "C" for array in arrays)


@inlined
def _checked_line(rows: Any, t: Any, z: Any) -> Any:
    """`dot_line` where array bounds are to be checked, which it does not do itself."""
    length = rows.shape[rows.ndim - 1]
    inside = 0.0 * z[length - 1] if length > 0 else 0.0
    dot, square = dot_line(rows, t, z)
    return dot + inside, square


@overload(dot, strict=False, inline="always")
def _dot(rows: Any, t: Any, z: Any) -> Callable[..., Any]:
    if sparse(rows):
        return lambda rows, t, z: dot_row(rows[1], rows[2], rows[0][t], rows[0][t + 1], z)
    if CHECKED:
        return lambda rows, t, z: _checked_line(rows, t, z)
    return lambda rows, t, z: dot_line(rows, t, z)


@overload(reaches, strict=False, inline="always")
def _reaches(rows: Any, t: Any, limit: Any) -> Callable[..., Any]:
    if sparse(rows):
        return lambda rows, t, limit: reaches_sparse(rows[1], rows[0][t], rows[0][t + 1], limit)
    return lambda rows, t, limit: rows.shape[1] > limit


@overload(until_reach, strict=False, inline="always")
def _until_reach(rows: Any, t: Any, stop: Any, limit: Any) -> Callable[..., Any]:
    if not sparse(rows):
        return lambda rows, t, stop, limit: t if rows.shape[1] > limit else stop

    def first(rows: Any, t: Any, stop: Any, limit: Any) -> Any:
        while t < stop and not reaches_sparse(rows[1], rows[0][t], rows[0][t + 1], limit):
            t += 1
        return t

    return first


@overload(add, strict=False, inline="always")
def _add(rows: Any, t: Any, c: Any, z: Any) -> Callable[..., Any]:
    if sparse(rows):
        return lambda rows, t, c, z: add_sparse(rows[1], rows[2], rows[0][t], rows[0][t + 1], c, z)
    if _in_lines(rows, z):
        return lambda rows, t, c, z: add_line(rows, t, c, z)
    return lambda rows, t, c, z: add_dense(rows, t, c, z)


@overload(add_clipped, strict=False, inline="always")
def _add_clipped(rows: Any, t: Any, c: Any, limit: Any, z: Any) -> Callable[..., Any]:
    if sparse(rows):
        return lambda rows, t, c, limit, z: add_sparse_clipped(
            rows[1], rows[2], rows[0][t], rows[0][t + 1], c, limit, z
        )
    return lambda rows, t, c, limit, z: add_dense_clipped(rows, t, c, limit, z)


@overload(gather, strict=False, inline="always")
def _gather(rows: Any, t: Any, c: Any, z: Any, g: Any, total: Any) -> Callable[..., Any]:
    if sparse(rows) and z.layout == "A":
        return lambda rows, t, c, z, g, total: gather_pairs(
            rows[1], rows[2], rows[0][t], rows[0][t + 1], c, z, g, total
        )
    if sparse(rows):
        return lambda rows, t, c, z, g, total: gather_sparse(
            rows[1], rows[2], rows[0][t], rows[0][t + 1], c, z, g, total
        )
    if _in_lines(rows, z, total):
        return lambda rows, t, c, z, g, total: gather_line(rows, t, c, z, g, total)
    return lambda rows, t, c, z, g, total: gather_dense(rows, t, c, z, g, total)


def entries(rows: Any, t: int) -> tuple[int, int]:
    """The places of row t's entries, for `entry`."""
    if isinstance(rows, tuple):
        return rows[0][t], rows[0][t + 1]
    return 0, rows.shape[1]


def entry(rows: Any, t: int, k: int) -> tuple[int, float]:
    """The (feature, value) of row t's entry at place k."""
    if isinstance(rows, tuple):
        return rows[1][k], rows[2][k]
    return k, rows[t, k]


@overload(entries, strict=False, inline="always")
def _entries(rows: Any, t: Any) -> Callable[..., Any]:
    if sparse(rows):
        return lambda rows, t: (rows[0][t], rows[0][t + 1])
    return lambda rows, t: (0, rows.shape[1])


@overload(entry, strict=False, inline="always")
def _entry(rows: Any, t: Any, k: Any) -> Callable[..., Any]:
    if sparse(rows):
        return lambda rows, t, k: (rows[1][k], rows[2][k])
    return lambda rows, t, k: (k, rows[t, k])


def adagrad_ahead(rows: Any, t: int, g: float, eta: float, radius: float, table: Any) -> int:
    """AdaGrad's step of row t's first coordinates, as many as can be taken four at a time: how many those are."""
    if not isinstance(rows, tuple):
        return 0
    start, stop = int(rows[0][t]), int(rows[0][t + 1])
    adagrad_fours(rows[1], rows[2], start, (stop - start) // 4, table, g, eta, radius)
    return (stop - start) // 4 * 4


@overload(adagrad_ahead, strict=False, inline="always")
def _adagrad_ahead(rows: Any, t: Any, g: Any, eta: Any, radius: Any, table: Any) -> Callable[..., Any]:
    if not sparse(rows):
        return lambda rows, t, g, eta, radius, table: 0

    def ahead(rows: Any, t: Any, g: Any, eta: Any, radius: Any, table: Any) -> Any:
        fours = (rows[0][t + 1] - rows[0][t]) // 4
        adagrad_fours(rows[1], rows[2], rows[0][t], fours, table, g, eta, radius)
        return 4 * fours

    return ahead
