"""The rows of a learner's updates, kept in the order they were made."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.learner.core import Arrays, NativeRows
from noregret.rounds import as_sparse
from noregret.stream.block import Dense, Rows, Sparse


class UpdateLog:
    """Rows as one growing array, dense while all are dense and equally wide; room grows by halves."""

    def __init__(self) -> None:
        self.count = 0
        self._dense: NDArray[np.float64] | None = None
        self._values: NDArray[np.float64] = np.zeros(0)
        self._indices: NDArray[np.uint32] = np.zeros(0, np.uint32)
        self._ends: NDArray[np.int64] = np.zeros(1, np.int64)

    @property
    def native(self) -> NativeRows:
        """The rows as the native loops take them."""
        if self._dense is not None:
            return self._dense[: self.count]
        end = self._ends[self.count]
        return self._ends[: self.count + 1], self._indices[:end], self._values[:end]

    def add(self, rows: Rows) -> None:
        """More rows, each an update."""
        if not len(rows):
            return
        if isinstance(rows, Dense) and (not self.count or (self._dense is not None and self._fits(rows))):
            before = np.zeros((0, rows.width)) if self._dense is None else self._dense
            self._dense = room(before, self.count + len(rows))
            self._dense[self.count : self.count + len(rows)] = rows.X
            self.count += len(rows)
            return
        if self._dense is not None:
            before, self._dense, self.count = self._dense[: self.count], None, 0
            self._add_sparse(as_sparse(Dense(before)))
        self._add_sparse(as_sparse(rows))

    def _fits(self, rows: Dense) -> bool:
        return self._dense is not None and self._dense.shape[1] == rows.width

    def _add_sparse(self, rows: Sparse) -> None:
        start, count = int(self._ends[self.count]), self.count + len(rows)
        stop = start + len(rows.values)
        self._values, self._indices = room(self._values, stop), room(self._indices, stop)
        self._ends = room(self._ends, count + 1)
        self._values[start:stop], self._indices[start:stop] = rows.values, rows.indices
        self._ends[self.count + 1 : count + 1] = start + rows.indptr[1:]
        self.count = count

    def arrays(self) -> Arrays:
        """For the model file."""
        given = self.native
        if isinstance(given, tuple):
            return {"log_ends": given[0], "log_indices": given[1], "log_values": given[2]}
        return {"log_rows": given}

    @classmethod
    def of(cls, arrays: Arrays, width: int) -> UpdateLog:
        """What `arrays` had, with features below `width`; raises where they do not fit together."""
        log = cls()
        if "log_rows" in arrays:
            if arrays["log_rows"].ndim != 2 or arrays["log_rows"].shape[1] > width:
                raise ValueError("the rows of the updates do not fit together")
            log.add(Dense(np.array(arrays["log_rows"], np.float64, ndmin=2)))
            return log
        ends, indices = arrays["log_ends"].astype(np.int64), arrays["log_indices"].astype(np.uint32)
        values = arrays["log_values"].astype(np.float64)
        fits = ends[0] == 0 and bool((np.diff(ends) >= 0).all()) and ends[-1] == len(values) == len(indices)
        if not fits or (len(indices) and int(indices.max()) >= width):
            raise ValueError("the rows of the updates do not fit together")
        log.add(Sparse(ends, indices, values))
        return log


def room(array: NDArray[Any], length: int) -> NDArray[Any]:
    """The array with room for `length` entries along its first axis."""
    if length <= len(array):
        return array
    grown = np.zeros((max(length, 3 * len(array) // 2), *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown
