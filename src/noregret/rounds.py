"""The rounds of a run as they were played: prepared rows, labels, weights and the scores predicted, kept to look back.

With a bias, feature 0 is the constant 1 and every other feature stands one place higher. The arrays lie in temporary
files without a name, mapped into memory: a stream may be larger than memory, and nothing is left behind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from noregret.digest import Digest
from noregret.errors import InputError
from noregret.stream.block import Dense, Rows, Sparse
from noregret.stream.rowfile import Column

Vector = NDArray[np.float64]
PIECE = 65536  # rows that are digested at a time


@dataclass(frozen=True)
class Rounds:
    """Every round in played order."""

    rows: Rows  # of all rounds, float64
    y: Vector  # −1 and +1, or numbers
    weights: Vector | None = None  # none of them 0; None where all are 1
    scores: Vector | None = None  # as predicted, where a run was gathered
    bias: bool = False  # whether feature 0 is the constant 1
    moves: NDArray[np.int64] | None = None  # of many classes: (round, class, ±1) wherever w_class ± x
    mixed: bool = False  # whether some rows were played as a matrix and others as compressed rows

    def __len__(self) -> int:
        return len(self.y)

    @property
    def width(self) -> int:
        """The number of features, the bias included."""
        return self.rows.width

    @property
    def native(self) -> Any:
        """The rows as the native loops take them."""
        return self.rows.native

    @property
    def layout(self) -> str:
        """How the loop had the rows, which decides the order of its sums: dense, sparse, or some so and some so."""
        return "mixed" if self.mixed else "dense" if isinstance(self.rows, Dense) else "sparse"

    def first(self, count: int) -> Rounds:
        """The first rounds, `count` of them."""
        return self.part(0, count)

    def part(self, start: int, stop: int) -> Rounds:
        """The rounds from start up to stop, with the features of all."""
        rows = self.rows.slice(start, stop)
        if isinstance(rows, Sparse):
            rows = replace(rows, columns=self.width)
        weights = None if self.weights is None else self.weights[start:stop]
        scores = None if self.scores is None else self.scores[start:stop]
        return Rounds(rows, self.y[start:stop], weights, scores, self.bias)

    @property
    def bare(self) -> Rows:
        """The rows as they were before the constant 1 was put in front."""
        rows = self.rows
        if not self.bias:
            return rows
        if isinstance(rows, Dense):
            return Dense(np.ascontiguousarray(rows.X[:, 1:]))
        kept = np.ones(len(rows.indices), dtype=bool)
        kept[rows.indptr[:-1]] = False
        indptr = rows.indptr - np.arange(len(rows.indptr), dtype=np.int64)
        return Sparse(indptr, rows.indices[kept] - np.uint32(1), rows.values[kept], self.width - 1)

    @property
    def digest(self) -> str:
        """Of the rows as they were played."""
        digest = Digest()
        for start in range(0, len(self), PIECE):
            part = self.part(start, min(start + PIECE, len(self)))
            digest.update(part.bare, part.y, part.weights)
        return digest.hexdigest()

    def without_bias(self, u: Vector) -> tuple[Vector, float]:
        """A comparator as (weights of the features, bias)."""
        return (u[1:], float(u[0])) if self.bias else (u, 0.0)

    @classmethod
    def of(cls, X: Any, y: Any) -> Rounds:
        """Rounds from a matrix or a SciPy CSR matrix and its labels, without a run: for comparators alone."""
        if hasattr(X, "indptr"):
            rows: Rows = Sparse(
                X.indptr.astype(np.int64), X.indices.astype(np.uint32), X.data.astype(float), X.shape[1]
            )
        else:
            rows = Dense(np.ascontiguousarray(X, dtype=np.float64))
        return cls(rows, np.ascontiguousarray(y, dtype=np.float64))


class Keeper(Protocol):
    """Whoever takes blocks in as they are played: rows as the loop had them, and the scores predicted."""

    def add(
        self, rows: Rows, y: Vector, weights: Vector | None, scores: Vector, moves: NDArray[np.int8] | None = None
    ) -> None: ...


class Keepers:
    """Several keepers of the same rounds."""

    def __init__(self, *keepers: Keeper) -> None:
        self._keepers = keepers

    def add(
        self, rows: Rows, y: Vector, weights: Vector | None, scores: Vector, moves: NDArray[np.int8] | None = None
    ) -> None:
        """One block, to each of them."""
        for keeper in self._keepers:
            keeper.add(rows, y, weights, scores, moves)


class Gathering:
    """Takes blocks in as they are played; `done` gives the rounds, which live on when it is closed."""

    def __init__(self, bias: bool) -> None:
        self._bias = bias
        self._sparse = self._dense = False
        self._width: int | None = None  # of dense rows
        self._widest = 0
        self._weighted = self._multiclass = False
        self._count = 0
        self._end = 0
        self._columns = {name: Column(np.float64) for name in ("values", "y", "weights", "scores")}
        self._columns |= {"indices": Column(np.uint32), "ends": Column(np.int64), "moves": Column(np.int64)}
        self._columns["ends"].append(np.zeros(1, np.int64))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the room back; rounds that were handed out stay valid."""
        for column in self._columns.values():
            column.close()

    def add(
        self, rows: Rows, y: Vector, weights: Vector | None, scores: Vector, moves: NDArray[np.int8] | None = None
    ) -> None:
        """One block; rows of weight 0 are no rounds. moves[t, k] is the sign with which x was added to class k."""
        try:
            if moves is not None:
                self._add_moves(moves if weights is None else moves[weights != 0.0])
            self._add(rows, y, weights, scores)
        except OSError as error:
            raise InputError(f"the temporary row file cannot be written ({error.strerror})") from error

    def _add_moves(self, moves: NDArray[np.int8]) -> None:
        rounds, classes = np.nonzero(moves)
        self._columns["moves"].append(np.column_stack([rounds + self._count, classes, moves[rounds, classes]]))

    def _add(self, rows: Rows, y: Vector, weights: Vector | None, scores: Vector) -> None:
        if weights is not None and not weights.all():
            some = np.flatnonzero(weights)
            rows, y, weights, scores = rows.take(some), y[some], weights[some], scores[some]
        if not len(rows):
            return
        self._widest = max(self._widest, rows.width)
        self._dense |= isinstance(rows, Dense)
        if isinstance(rows, Dense) and not self._sparse and self._width in (None, rows.width):
            self._width = rows.width
            ones = [np.ones((len(rows), 1))] if self._bias else []
            self._columns["values"].append(np.hstack([*ones, rows.X.astype(np.float64, copy=False)]))
        else:
            if not self._sparse:
                self._turn_sparse()
            self._add_sparse(as_sparse(rows))
        self._multiclass |= scores.ndim == 2
        self._columns["y"].append(y)
        self._columns["scores"].append(scores)
        self._columns["weights"].append(np.ones(len(rows)) if weights is None else weights)
        self._weighted |= weights is not None and bool((weights != 1.0).any())
        self._count += len(rows)

    def _add_sparse(self, rows: Sparse) -> None:
        indices, values, lengths = rows.indices, rows.values.astype(np.float64, copy=False), np.diff(rows.indptr)
        if self._bias:
            indices = np.insert(indices + np.uint32(1), rows.indptr[:-1], 0)
            values = np.insert(values, rows.indptr[:-1], 1.0)
            lengths = lengths + 1
        self._columns["indices"].append(indices)
        self._columns["values"].append(values)
        self._columns["ends"].append(self._end + np.cumsum(lengths))
        self._end += int(lengths.sum())

    def _turn_sparse(self) -> None:
        """Dense rows came first and now others: write the first ones again, as sparse rows."""
        self._sparse = True
        if self._width is None:
            return
        before = self._columns["values"]
        before.map()
        self._columns["values"] = Column(np.float64)
        X = before.array.reshape(self._count, self._width + self._bias)[:, int(self._bias) :]
        for start in range(0, self._count, 4096):
            self._add_sparse(as_sparse(Dense(X[start : start + 4096])))

    def done(self) -> Rounds:
        """All that was taken in."""
        for column in self._columns.values():
            column.map()
        arrays = {name: column.array for name, column in self._columns.items()}
        width = self._widest + self._bias
        if self._sparse:
            rows: Rows = Sparse(arrays["ends"], arrays["indices"], arrays["values"], width)
        else:
            rows = Dense(arrays["values"].reshape(self._count, width))
        many = self._multiclass and self._count > 0
        scores = arrays["scores"].reshape(self._count, -1) if many else arrays["scores"]
        moves = arrays["moves"].reshape(-1, 3) if many else None
        weights = arrays["weights"] if self._weighted else None
        return Rounds(rows, arrays["y"], weights, scores, self._bias, moves, self._sparse and self._dense)


def as_sparse(rows: Rows) -> Sparse:
    """Rows with their zeros left out."""
    if isinstance(rows, Sparse):
        return rows
    row, column = np.nonzero(rows.X)
    ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(rows)))]).astype(np.int64)
    return Sparse(ends, column.astype(np.uint32), rows.X[row, column], rows.width)


def in_order(rows: Rows) -> Sparse:
    """Compressed rows, float64, each in the order of its features."""
    found = as_sparse(rows)
    low, high = int(found.indptr[0]), int(found.indptr[-1])
    bounds, indices = found.indptr - low, found.indices[low:high]
    values = found.values[low:high].astype(np.float64, copy=False)
    line = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    rising = (indices[1:] > indices[:-1]) | (line[1:] != line[:-1])
    if not rising.all():
        order = np.lexsort((indices, line))
        indices, values = indices[order], values[order]
    return Sparse(bounds, indices, values, found.columns)
