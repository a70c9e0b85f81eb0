"""Arrays in memory: (X, y) or (X, y, weights), X dense or SciPy sparse, sliced without a copy if possible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError, reason
from noregret.stream.base import Stream
from noregret.stream.block import ARRAY_ROWS, BLOCK_VALUES, Block, Dense, Ints, Rows, Sparse
from noregret.stream.reading import Settings
from noregret.stream.task import label_array, no_labels

SOURCE = "(X, y)"


class Arrays(Stream):
    """The rows of arrays; any of them can be taken in any order."""

    def __init__(self, X: Any, y: Any, weights: Any, settings: Settings) -> None:
        settings.refuse_columns("an array")
        self._X = _compressed(X) if hasattr(X, "tocsr") else _matrix(X)
        rows, columns = self._X.shape
        self._y = no_labels(rows) if y is None and not settings.labels else label_array(y, SOURCE)
        _check_length(len(self._y), rows, "labels")
        self._weights = None if weights is None else _weights(weights)
        if self._weights is not None:
            _check_length(len(self._weights), rows, "weights")
        features = settings.numbered("columns", columns, SOURCE)
        super().__init__(SOURCE, features, settings, length=rows)
        values = columns if isinstance(self._X, np.ndarray) else self._X.nnz / max(rows, 1)
        self.block_rows = settings.block_rows or max(1, min(ARRAY_ROWS, int(BLOCK_VALUES / max(values, 1))))

    def _read(self) -> Iterator[Block]:
        rows = self._X.shape[0]
        for start in range(0, rows, self.block_rows):
            stop = min(start + self.block_rows, rows)
            weights = None if self._weights is None else self._weights[start:stop]
            lines = np.arange(start + 1, stop + 1, dtype=np.int64)
            yield Block(_rows(self._X, start, stop), self._y[start:stop], lines, SOURCE, weights)

    def take(self, rows: Ints) -> Block:
        """The named rows, as a block of their own, the missing rule applied."""
        weights = None if self._weights is None else self._weights[rows]
        picked = self._X[rows]
        block = Block(_rows(picked, 0, len(rows)), self._y[rows], rows + 1, SOURCE, weights)
        return self._clean(block)


def _matrix(X: Any) -> NDArray[Any]:
    try:
        found = np.asarray(X)
    except ValueError as error:
        raise InputError(f"X must be a matrix of numbers ({reason(error)})", SOURCE) from error
    if found.dtype.kind == "O":
        found = _from_objects(found)
    if found.dtype.kind not in "fiub":
        raise InputError(f"X must hold numbers, it holds type {found.dtype}", SOURCE)
    if found.ndim == 1:
        found = found[:, np.newaxis]
    if found.ndim != 2:
        raise InputError(f"X must have one or two dimensions, got {found.ndim}", SOURCE)
    return found


def _from_objects(found: NDArray[Any]) -> NDArray[Any]:
    try:
        if any(isinstance(value, (str, bytes)) for value in found.reshape(-1).tolist()):
            raise TypeError("it holds strings")
        return found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"X must hold numbers ({reason(error)})", SOURCE) from error


def _compressed(X: Any) -> Any:
    """X as SciPy CSR with each index at most once a row."""
    found = X.tocsr()
    if found.dtype.kind not in "fiub":
        raise InputError(f"X must hold numbers, it holds type {found.dtype}", SOURCE)
    if len(found.shape) != 2:
        raise InputError(f"X must have two dimensions, got {len(found.shape)}", SOURCE)
    check_compressed(found)
    if not found.has_canonical_format:
        found = found.copy()
        found.sum_duplicates()
    return found


def check_compressed(X: Any) -> None:
    """What compiled loops rely on: bounds that never decrease, indices below the number of columns."""
    check_bounds(X)
    check_indices(X)


def check_bounds(X: Any) -> None:
    """Row bounds that never decrease and lie within the entries."""
    bounds = X.indptr
    if not (bounds[0] == 0 and bounds[-1] <= len(X.indices) == len(X.data) and (bounds[1:] >= bounds[:-1]).all()):
        raise InputError("X is not a well-formed sparse matrix: its row bounds do not fit its entries", SOURCE)


def check_indices(X: Any) -> None:
    """Indices below the number of columns."""
    # Read as unsigned, a negative index is a large one.
    top = int(X.indices.view(X.indices.dtype.str.replace("i", "u")).max()) if len(X.indices) else 0
    if len(X.indices) and top >= X.shape[1]:
        raise InputError(f"X is not a well-formed sparse matrix: an index is outside its {X.shape[1]} columns", SOURCE)


def _rows(X: Any, start: int, stop: int) -> Rows:
    if isinstance(X, np.ndarray):
        return Dense(np.ascontiguousarray(floats(X[start:stop])))
    low, high = int(X.indptr[start]), int(X.indptr[stop])
    return Sparse(
        X.indptr[start : stop + 1].astype(np.int64) - low,
        unsigned(X.indices[low:high]),
        np.ascontiguousarray(floats(X.data[low:high])),
        X.shape[1],
    )


def floats(values: NDArray[Any]) -> NDArray[Any]:
    """Values as kernels take them: float32 and float64 as they are."""
    return values if values.dtype in (np.float64, np.float32) and values.dtype.isnative else values.astype(np.float64)


def unsigned(indices: NDArray[Any]) -> NDArray[np.uint32]:
    # Indices are never negative, so the same bits can be read as unsigned without a copy. Loops want neighbours.
    return np.ascontiguousarray(indices).view(np.uint32) if indices.dtype == np.int32 else indices.astype(np.uint32)


def _weights(weights: Any) -> NDArray[np.float64]:
    found = np.asarray(weights)
    if found.ndim != 1 or found.dtype.kind not in "fiub":
        raise InputError("the weights must be numbers, one a row", SOURCE)
    return found.astype(np.float64, copy=False)


def _check_length(got: int, rows: int, what: str) -> None:
    if got != rows:
        raise InputError(f"there are {rows} rows but {got} {what}", SOURCE)
