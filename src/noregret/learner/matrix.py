"""What the second-order learners are: A = aI + Σ k·x·xᵀ over the rounds learned from, b = Σ k·y·x, and A⁻¹.

The score of a row x is ⟨b, (A + x·xᵀ)⁻¹x⟩ = ⟨u, x⟩/(1 + ⟨x, A⁻¹x⟩) with u = A⁻¹b: the row to be predicted is already in
the matrix. A round costs Θ(d²), for sparse rows that teach nothing Θ(non-zeros²); memory is Θ(d²). A feature that
appears late finds a on its place of the diagonal, as if it had been there with zeros from the start.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import norm2, play_matrix, score_matrix
from noregret.errors import MemoryShortError
from noregret.learner.core import Arrays, Call, Core, NativeRows, Vector, fit
from noregret.memory import free_memory
from noregret.stream.block import Dense, Rows, Sparse

Square = NDArray[np.float64]
UNASKED = 1 << 28  # bytes that are taken without a look at what is free


class Matrix(Core):
    """A learner with a matrix; `ridge` is the a of aI."""

    scale_free = True
    _grows = "the matrix or the loss"
    _remedy = "use a larger ridge"

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.ridge = float(self.params.ridge)
        self.shift = int(self.params.bias)  # with a bias, place 0 is the constant 1
        self.A, self.B, self.b, self.u, self.q = self._fresh(self.shift)

    @property
    def places(self) -> int:
        """How many rows and columns of the matrices are in use."""
        return self.width + self.shift

    @property
    def weights(self) -> Vector:
        """A⁻¹b, without the bias."""
        return self.u[self.shift : self.places].copy()

    @property
    def bias(self) -> float:
        return float(self.u[0]) if self.shift else 0.0

    @property
    def weight_norm(self) -> float:
        """‖A⁻¹b‖ with the bias."""
        return math.sqrt(norm2(self.u[: self.places]))

    def arrays(self) -> Arrays:
        n = self.places
        return {"A": self.A[:n, :n], "B": self.B[:n, :n], "b": self.b[:n], "u": self.u[:n]}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        n = width + self.shift
        fit(arrays, {"A": (n, n), "B": (n, n), "b": (n,), "u": (n,)})
        self.grow(width, sparse=paired)
        for name, mine in (("A", self.A[:n, :n]), ("B", self.B[:n, :n]), ("b", self.b[:n]), ("u", self.u[:n])):
            mine[:] = arrays[name]

    def grow(self, width: int, sparse: bool) -> None:
        """Make room for features below `width`."""
        needed = max(self.width, width)
        if needed + self.shift > len(self.b):
            n, size = self.places, room_for(self.name, needed + self.shift, len(self.b), 2)
            A, B, b, u, self.q = self._fresh(size)
            A[:n, :n], B[:n, :n], b[:n], u[:n] = self.A[:n, :n], self.B[:n, :n], self.b[:n], self.u[:n]
            self.A, self.B, self.b, self.u = A, B, b, u
        self.width = needed

    def _fresh(self, size: int) -> tuple[Square, Square, Vector, Vector, Vector]:
        """aI and its inverse, b, u and room to work in, before the first round."""
        diagonal = np.eye(size)
        return self.ridge * diagonal, diagonal / self.ridge, np.zeros(size), np.zeros(size), np.zeros(size)

    def round_call(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> Call:
        matrices = (self.A, self.B, self.b, self.u, self.q)
        return partial(play_matrix, rows, y, weights, *matrices, self.places, self.record, scores)

    def score_call(self, rows: NativeRows, scores: Vector) -> Call:
        learned = (bool(self.shift), self.B, self.u, self.places, self.record)
        return partial(score_matrix, rows, *learned, np.empty(self.places), scores)

    def _score(self, rows: Rows) -> Vector:
        if rows.width > self.width:
            rows = below(rows, self.width)
        scores = np.empty(len(rows))
        self.score_call(rows.native, scores)()
        return scores


def below(rows: Rows, width: int) -> Rows:
    """The rows without the features from `width` on, which were never learned from."""
    if isinstance(rows, Dense):
        return Dense(np.ascontiguousarray(rows.X[:, :width]))
    kept = rows.indices < width
    bounds = np.concatenate([[0], np.cumsum(kept)])[rows.indptr]
    return Sparse(bounds.astype(np.int64), rows.indices[kept], rows.values[kept], width)


def room_for(name: str, places: int, present: int, matrices: int) -> int:
    """Half as much again as there is, or what is needed; a sentence instead of an exhausted machine."""
    room, size = max(places, 3 * present // 2), 8 * matrices
    if size * room * room < UNASKED:
        return room
    free = free_memory()
    if free is None:
        return room
    if size * places * places > free:
        count, each = ("two matrices", " each") if matrices == 2 else ("a matrix", "")
        raise MemoryShortError(
            f"{name}: {places} features need {count} of {8 * places * places / 1e9:.1f} GB{each}, and"
            f" {free / 1e9:.1f} GB are free, enough for {math.isqrt(free // size)} features: hash them into fewer,"
            " or take a learner without a matrix"
        )
    return min(room, math.isqrt(free // size))
