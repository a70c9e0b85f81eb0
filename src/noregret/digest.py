"""A digest of the rows that were played, the same for any block size and for dense or sparse storage.

SHA-256 over five streams, labels, weights, entries a row, indices and values (zeros left out, every missing one the
same NaN), and then over the five digests: each stream is one after another in played order, so where a block ends
cannot matter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noregret.stream.block import Dense, Rows, all_finite


class Digest:
    """Rows in, one hexadecimal digest out."""

    def __init__(self) -> None:
        from hashlib import sha256

        self.rows = 0
        self._hash = sha256
        self._streams = [sha256() for _ in range(5)]

    def update(self, rows: Rows, y: NDArray[np.float64], weights: NDArray[np.float64] | None) -> None:
        counts, indices, values = _entries(rows)
        if not all_finite(values):
            values = np.where(np.isnan(values), np.nan, values)  # NaN has many bit patterns
        self.rows += len(rows)
        parts = (y, np.ones(len(rows)) if weights is None else weights, counts, indices, values)
        for stream, part, kind in zip(self._streams, parts, ("<f8", "<f8", "<i8", "<u4", "<f8"), strict=True):
            stream.update(np.ascontiguousarray(part, dtype=kind).data)

    def hexdigest(self) -> str:
        """The digest of the rows so far; more may follow."""
        return self._hash(b"".join(stream.digest() for stream in self._streams)).hexdigest()


def _entries(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float64]]:
    """How many non-zeros each row has, their indices and their values."""
    if isinstance(rows, Dense):
        row, column = np.nonzero(rows.X)
        counts = np.bincount(row, minlength=len(rows))
        return counts.astype(np.int64), column.astype(np.uint32), rows.X[row, column].astype(np.float64)
    kept = rows.values != 0.0
    if kept.all():
        return np.diff(rows.indptr), rows.indices, rows.values.astype(np.float64)
    row = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))[kept]
    counts = np.bincount(row, minlength=len(rows)).astype(np.int64)
    return counts, rows.indices[kept], rows.values[kept].astype(np.float64)
