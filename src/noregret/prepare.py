"""From the row that came to the vector that is played: missing values filled in, features scaled, rows of unit norm.

Certificates speak of the vectors played. The means and the maxima are part of the model, so that a later `predict` sees
the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import fill_missing, scale_features, unit_rows
from noregret.stream.block import Dense, Rows


class Means:
    """The mean of each feature over the rows so far, for values that are missing; 0 before there is any.

    A feature that a sparse row does not name counts as the 0 that it is; a missing value does not count.
    """

    def __init__(self) -> None:
        self.sums = np.zeros(0)
        self.gaps = np.zeros(0, np.int64)  # how often each was missing
        self.rows = np.zeros(1, np.int64)

    def fill(self, rows: Rows, learn: bool) -> None:
        """Write the means over what is missing; while learning, the rows enter the means one after another."""
        if learn:
            self.sums, self.gaps = _wider(self.sums, rows.width), _wider(self.gaps, rows.width)
        fill_missing(*_arrays(rows), self.sums, self.gaps, self.rows, learn)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"means.sums": self.sums, "means.gaps": self.gaps, "means.rows": self.rows}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Means:
        """Those of a model file; a ValueError where they cannot be means."""
        means = cls()
        means.sums = np.array(arrays["means.sums"], np.float64)
        means.gaps, means.rows = (np.array(arrays[f"means.{name}"], np.int64) for name in ("gaps", "rows"))
        fit = means.sums.ndim == 1 and means.gaps.shape == means.sums.shape and means.rows.shape == (1,)
        if not fit or np.isnan(means.sums).any() or not ((means.gaps >= 0) & (means.gaps <= means.rows)).all():
            raise ValueError("its means do not fit together")
        return means


@dataclass
class Preparation:
    """What is done to rows: `means` fill in what is missing, `scale="max"` divides each feature by its largest |value|
    so far, and `unit_norm` then divides rows by their norm.
    """

    scale: str | None = None
    unit_norm: bool = False
    peak: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    means: Means | None = None

    @property
    def active(self) -> bool:
        return self.unit_norm or self.scale is not None or self.means is not None

    def apply(self, rows: Rows, learn: bool) -> Rows:
        """The rows as they are played; while learning, means and maxima take the rows in, one after another."""
        if not self.active:
            return rows
        rows = rows.with_values(np.array(rows.values, dtype=np.float64))
        if self.means is not None:
            self.means.fill(rows, learn)
        if self.scale is not None:
            self.peak = _wider(self.peak, rows.width if learn else 0)
            scale_features(*_arrays(rows), self.peak, learn)
        if self.unit_norm:
            unit_rows(*_arrays(rows))
        return rows

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a model file keeps of it."""
        return {"peak": self.peak, **({} if self.means is None else self.means.arrays())}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go back to what was kept; a KeyError or a ValueError where it does not fit."""
        self.peak = np.array(arrays["peak"], np.float64)
        self.means = Means.of(arrays) if "means.rows" in arrays else None


def _arrays(rows: Rows) -> tuple[Any, ...]:
    """A matrix, or the three arrays of compressed rows."""
    return (rows.X,) if isinstance(rows, Dense) else rows.given


def _wider(array: NDArray[Any], width: int) -> NDArray[Any]:
    """The array, or one with room for so many features and more."""
    if width <= len(array):
        return array
    grown = np.zeros(max(width, 3 * len(array) // 2), array.dtype)
    grown[: len(array)] = array
    return grown
