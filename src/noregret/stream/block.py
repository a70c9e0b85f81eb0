"""Rows as the loop plays them: a block of consecutive rounds, dense or sparse.

Convention: features are counted from 0 in memory; a sparse index is what the file wrote. Indices are unsigned 32-bit
(no feature beyond 2³¹ − 1), values float64 unless the user's own array is float32, row bounds int64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]
Indices = NDArray[np.uint32]

MAX_INDEX = 2**31 - 1
TEXT_ROWS = 4096
TABLE_ROWS = 16384
ARRAY_ROWS = 65536
BLOCK_VALUES = 2**19  # 4 MB of float64


@dataclass(frozen=True, slots=True)
class Dense:
    """A C-ordered matrix, one row a round."""

    X: Floats
    finite: bool = False  # whether every value is known to be

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def width(self) -> int:
        """One more than the highest feature index that a row can hold."""
        return int(self.X.shape[1])

    @property
    def values(self) -> Floats:
        return self.X.reshape(-1)

    @property
    def native(self) -> Floats:
        """As the native loops take it: the matrix."""
        return self.X

    def native_part(self, start: int, stop: int) -> Floats:
        """The rows start..stop as the native loops take them."""
        return self.X[start:stop]

    def slice(self, start: int, stop: int) -> Dense:
        return Dense(self.X[start:stop], self.finite)

    def take(self, rows: Ints) -> Dense:
        return Dense(self.X[rows], self.finite)

    def below(self, width: int) -> Dense:
        """The features below `width` alone."""
        return Dense(np.ascontiguousarray(self.X[:, :width]), self.finite)

    def row_of(self, position: int) -> tuple[int, int]:
        """The (row, feature) of the value at `position` of `values`."""
        return position // self.width, position % self.width

    def with_values(self, values: Floats) -> Dense:
        return Dense(values.reshape(self.X.shape))


@dataclass(frozen=True, slots=True)
class Sparse:
    """Compressed rows: row t holds indices[indptr[t]:indptr[t+1]], each index at most once a row."""

    indptr: Ints
    indices: Indices
    values: Floats
    columns: int | None = None  # where the number of features is known, so that nobody need look for it
    finite: bool = False  # whether every value is known to be
    reach: int | None = None  # one more than the highest feature present, where somebody has looked

    def __len__(self) -> int:
        return int(self.indptr.shape[0]) - 1

    @property
    def width(self) -> int:
        """The number of columns, or one more than the highest feature index present."""
        if self.columns is not None:
            return self.columns
        return self.reach if self.reach is not None else reach(self.indices)

    @property
    def native(self) -> tuple[Ints, Indices, Floats]:
        """As the native loops take it: bounds, indices, values."""
        return self.indptr, self.indices, self.values

    def native_part(self, start: int, stop: int) -> tuple[Ints, Indices, Floats]:
        """The rows start..stop as the native loops take them: the bounds of those rows among all entries."""
        return self.indptr[start : stop + 1], self.indices, self.values

    def slice(self, start: int, stop: int) -> Sparse:
        low, high = int(self.indptr[start]), int(self.indptr[stop])
        bounds = self.indptr[start : stop + 1] - low
        return Sparse(bounds, self.indices[low:high], self.values[low:high], self.columns, self.finite)

    def take(self, rows: Ints) -> Sparse:
        starts, lengths = self.indptr[rows], self.indptr[rows + 1] - self.indptr[rows]
        bounds = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=bounds[1:])
        picked = np.arange(bounds[-1]) + np.repeat(starts - bounds[:-1], lengths)
        return Sparse(bounds, self.indices[picked], self.values[picked], self.columns, self.finite)

    def below(self, width: int) -> Sparse:
        low, high = int(self.indptr[0]), int(self.indptr[-1])
        kept = self.indices[low:high] < width
        bounds = np.concatenate([[0], np.cumsum(kept)])[self.indptr - low].astype(np.int64)
        return Sparse(bounds, self.indices[low:high][kept], self.values[low:high][kept], None, self.finite)

    def row_of(self, position: int) -> tuple[int, int]:
        row = int(np.searchsorted(self.indptr, position, side="right")) - 1
        return row, int(self.indices[position])

    def with_values(self, values: Floats) -> Sparse:
        return Sparse(self.indptr, self.indices, values, self.columns)


Rows = Dense | Sparse


def stacked(parts: Sequence[Rows]) -> Rows:
    """Rows of one layout in one piece."""
    dense = [part.X for part in parts if isinstance(part, Dense)]
    if dense:
        return Dense(np.concatenate(dense))
    sparse = [part for part in parts if isinstance(part, Sparse)]
    lengths = np.concatenate([np.diff(part.indptr) for part in sparse])
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    indices, values = (np.concatenate([getattr(part, name) for part in sparse]) for name in ("indices", "values"))
    return Sparse(bounds, indices, values)


def all_finite(values: Floats) -> bool:
    """Whether no value is missing or infinite."""
    # A finite sum proves that every term is finite, at a fraction of the cost of looking at each.
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())


def rows_of(given: Any) -> Rows:
    """The rows that kernels are given as a triple, a matrix, or, a single one, as an array of one dimension."""
    return Sparse(*given) if isinstance(given, tuple) else Dense(np.atleast_2d(given))


def reach(indices: Indices) -> int:
    """One more than the highest feature."""
    return int(indices.max()) + 1 if indices.size else 0


@dataclass(frozen=True, slots=True)
class Sides:
    """The two labels of a block, both finite numbers, and which of them each row has: −1 the lower, +1 the higher.

    Who reads a block beside the thread that learns can tell them at no cost to it.
    """

    low: float
    high: float
    of: NDArray[np.float64]

    @classmethod
    def of_labels(cls, labels: NDArray[Any]) -> Sides | None:
        """None where there are other labels than two finite numbers."""
        if labels.dtype == object or not all_finite(labels):
            return None
        low, high = float(labels.min()), float(labels.max())
        above = labels == high
        if np.count_nonzero(above) + np.count_nonzero(labels == low) != len(labels):
            return None
        return cls(low, high, 2.0 * above - 1.0)


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive rows of a stream with their labels as they came, and where each row stood."""

    rows: Rows
    labels: NDArray[Any]  # float64, or an object array of str
    lines: Ints  # the 1-based line (text) or row (tables, arrays) of each row, for error sentences
    source: str
    weights: NDArray[np.float64] | None = None
    sides: Sides | None = None  # None where nobody looked

    def __len__(self) -> int:
        return len(self.rows)

    def slice(self, start: int, stop: int) -> Block:
        return self._of(self.rows.slice(start, stop), slice(start, stop))

    def take(self, rows: Ints) -> Block:
        return self._of(self.rows.take(rows), rows)

    def _of(self, rows: Rows, chosen: Any) -> Block:
        weights = None if self.weights is None else self.weights[chosen]
        return Block(rows, self.labels[chosen], self.lines[chosen], self.source, weights)

    def split(self, size: int) -> Iterator[Block]:
        """The block cut into blocks of at most `size` rows."""
        if len(self) <= size:
            yield self
        else:
            for start in range(0, len(self), size):
                yield self.slice(start, min(start + size, len(self)))
