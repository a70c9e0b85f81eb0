"""From the row that came to the vector that is played: scaled by running maxima, scaled to unit norm, or as it is.

Certificates speak of the vectors played. The maxima are part of the model, so that a later `predict` sees the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from noregret._kernel.prepare import scale_dense, scale_sparse, unit_dense, unit_sparse
from noregret.errors import SettingError
from noregret.stream.block import Dense, Rows


@dataclass
class Preparation:
    """`scale="max"` divides each feature by its largest |value| so far; `unit_norm` then divides rows by their norm."""

    scale: str | None = None
    unit_norm: bool = False
    peak: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if self.scale not in (None, "max"):
            raise SettingError(f"scale must be max or left out, got {self.scale!r}")

    @property
    def active(self) -> bool:
        return self.unit_norm or self.scale is not None

    def apply(self, rows: Rows, learn: bool) -> Rows:
        """The rows as they are played; while learning, the maxima take the rows in, one after another."""
        if not self.active:
            return rows
        rows = rows.with_values(np.array(rows.values, dtype=np.float64))
        if self.scale is not None:
            self._grow(rows.width if learn else 0)
            if isinstance(rows, Dense):
                scale_dense(rows.X, self.peak, learn)
            else:
                scale_sparse(rows.indptr, rows.indices, rows.values, self.peak, learn)
        if self.unit_norm:
            if isinstance(rows, Dense):
                unit_dense(rows.X)
            else:
                unit_sparse(rows.indptr, rows.values)
        return rows

    def _grow(self, width: int) -> None:
        if width > self.peak.shape[0]:
            grown = np.zeros(max(width, 3 * self.peak.shape[0] // 2))
            grown[: self.peak.shape[0]] = self.peak
            self.peak = grown
