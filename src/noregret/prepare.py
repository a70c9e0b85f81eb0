"""From the row that came to the vector that is played: missing values filled in, features scaled, rows of unit norm.

Certificates speak of the vectors played. The means and the maxima are part of the model, so that a later `predict` sees
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret._native import (
    copy_values,
    fill_missing,
    put_labels,
    scale_features,
    standardise,
    standardise_entries,
    take_logs,
    unit_rows,
)
from noregret.errors import SettingError, spelled
from noregret.expand import expansion_of
from noregret.stream.block import BLOCK_VALUES, Dense, Rows, Sparse

Call = Callable[[], Any]
CLASSES = 10  # whose last rounds are distinguished
MOST_STANDARDISED = 1000  # columns, of sparse rows: every one becomes an entry of every row


class Recipe(Protocol):
    """What the numbers of features mean: see `Features`."""

    @property
    def hashed(self) -> range: ...

    def words_from(self, number: int) -> NDArray[np.uint8]: ...


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


class Moments:
    """Mean and standard deviation of each column over the rows so far, in which a feature not named is 0.

    x ← (x − mean)/sd, the row itself included, clipped to ±5 and 0 where sd is 0. What the recipe made of words, hashed
    slots and `column=value`, stays as it is. A sparse row becomes one that names every column whose value is not 0.
    """

    def __init__(self) -> None:
        self.mean = np.zeros(0)
        self.squares = np.zeros(0)  # Σ(x − mean)²
        self.rows = np.zeros(1, np.int64)
        self.alone = np.zeros(0, np.uint8)  # which columns are words, by their numbers; made from the recipe

    def score(self, rows: Rows, learn: bool, features: Recipe | None) -> Rows:
        """The rows standardised; while learning, they enter the moments one after another."""
        slots = range(0) if features is None else features.hashed
        width = rows.width if rows.width <= slots.start else max(slots.start, rows.width - len(slots))
        self._look(features)
        if isinstance(rows, Sparse) and width - np.count_nonzero(self.alone[:width]) > MOST_STANDARDISED:
            raise SettingError(
                f"scale standard would name every column in every row, for which at most {MOST_STANDARDISED} columns"
                f" are allowed, got {width}: use {spelled('scale', 'max')} or {spelled('scale', 'log')}"
            )
        if learn:
            self.mean, self.squares = _wider(self.mean, width), _wider(self.squares, width)
        if isinstance(rows, Sparse):
            return self._spread(rows, learn, slots)
        standardise(rows.X, self.mean, self.squares, self.rows, learn)
        return rows

    def again(self, row: Rows, learn: bool) -> tuple[list[Call], Rows]:
        """What standardises the row in these arrays, whose features are all known, and where it then is."""
        moments = (self.mean, self.squares, self.rows)
        if isinstance(row, Dense):
            return [partial(standardise, row.X, *moments, learn)], row
        known = self._spread_over()
        entries = len(row.indices) + len(known) + 1
        made = Sparse(np.zeros(2, np.int64), np.zeros(entries, np.uint32), np.zeros(entries), row.width)
        place = (row.width + len(self.mean), 0, known, np.zeros(len(self.mean)), self.alone)
        return [partial(standardise_entries, *row.native, *moments, *place, *made.native, learn)], made

    def entries(self, rows: Rows) -> int:
        """How many values a row may become."""
        return rows.width if isinstance(rows, Dense) else max(len(self.mean), min(rows.width, MOST_STANDARDISED))

    def units(self, width: int, features: Recipe | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(m, s) of every feature that is played as (x − m)/s; s is infinite for one that is always 0."""
        slots = range(0) if features is None else features.hashed
        self._look(features)
        columns = np.arange(width)
        columns = np.where(columns < slots.start, columns, columns - len(slots))
        known = (columns >= 0) & (columns < len(self.mean)) & ~np.isin(np.arange(width), slots)
        words = self.alone[: len(self.mean)].nonzero()[0]
        known &= ~np.isin(columns, words)
        means, sizes = np.zeros(width), np.ones(width)
        deviations = np.sqrt(self.squares / max(int(self.rows[0]), 1))
        means[known] = self.mean[columns[known]]
        sizes[known] = np.where(deviations > 0.0, deviations, np.inf)[columns[known]]
        return means, sizes

    def _look(self, features: Recipe | None) -> None:
        """Which columns are words, as far as they have numbers by now."""
        if features is not None and len(late := features.words_from(len(self.alone))):
            self.alone = np.append(self.alone, late)

    def _spread(self, rows: Sparse, learn: bool, slots: range) -> Sparse:
        known = self._spread_over()
        entries = int(rows.indptr[-1] - rows.indptr[0]) + len(rows) * len(known) + 1
        bounds, indices, values = np.empty(len(rows) + 1, np.int64), np.empty(entries, np.uint32), np.empty(entries)
        start = slots.start if slots else rows.width + len(self.mean)
        moments, room = (self.mean, self.squares, self.rows), np.zeros(len(self.mean))
        place = (start, len(slots), known, room, self.alone)
        count = standardise_entries(*rows.native, *moments, *place, bounds, indices, values, learn)
        return Sparse(bounds, indices[:count], values[:count], rows.width)

    def _spread_over(self) -> NDArray[np.int64]:
        """The columns that are named in every row."""
        known = np.arange(len(self.mean))
        words = self.alone[: len(known)]
        return np.delete(known, words.nonzero()[0])

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"moments.mean": self.mean, "moments.squares": self.squares, "moments.rows": self.rows}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Those of a model file; a ValueError where they cannot be moments."""
        mean, squares = (np.array(arrays[f"moments.{name}"], np.float64) for name in ("mean", "squares"))
        rows = np.array(arrays["moments.rows"], np.int64)
        fit = mean.ndim == 1 and squares.shape == mean.shape and rows.shape == (1,) and rows[0] >= 0
        if not fit or not np.isfinite(mean).all() or not (np.isfinite(squares) & (squares >= 0.0)).all():
            raise ValueError("its means and deviations do not fit together")
        self.mean, self.squares, self.rows = mean, squares, rows


class Lags:
    """The labels of the last k rounds, the newest first, as k features before those of a row; 0 before there are any.

    Labels are −1 and +1, or numbers; a class is a 1 among the first 10 classes, or none. Where rows are only scored,
    the labels behind the last round are unknown, and 0.
    """

    def __init__(self, most: int, classes: bool) -> None:
        self.classes = classes
        self.past = np.zeros((most, CLASSES if classes else 1))

    def rows(self, rows: Rows, y: NDArray[np.float64] | None, ahead: int) -> Rows:
        """The rows with the labels before them; y are their own where they are learned from."""
        most, unknown = len(self.past), np.zeros((ahead + len(rows), self.past.shape[1]))
        known = np.concatenate([self.past[::-1], unknown if y is None else self._written(y)])[ahead:]
        late = np.hstack([known[most - k : most - k + len(rows)] for k in range(1, most + 1)])
        if y is not None:
            self.past = known[len(rows) :][::-1].copy()
        if isinstance(rows, Dense):
            return Dense(np.hstack([late, rows.X]))
        low, high = int(rows.indptr[0]), int(rows.indptr[-1])
        starts = np.repeat(rows.indptr[:-1] - low, self.features)
        places = np.tile(np.arange(self.features, dtype=np.uint32), len(rows))
        indices = np.insert(rows.indices[low:high] + np.uint32(self.features), starts, places)
        bounds = rows.indptr - low + self.features * np.arange(len(rows) + 1)
        columns = None if rows.columns is None else rows.columns + self.features
        return Sparse(bounds, indices, np.insert(rows.values[low:high], starts, late.reshape(-1)), columns)

    def again(self, row: Rows, y: NDArray[np.float64], learn: bool) -> tuple[Call, Rows]:
        """What puts the labels before the row in these arrays, and learns its own from y; and where it then is."""
        room = np.zeros(self.features + row.values.size)
        made: Rows = Dense(room[np.newaxis])
        if isinstance(row, Sparse):
            width = row.width + self.features
            made = Sparse(np.zeros(2, np.int64), np.zeros(len(room), np.uint32), room, width)
        return partial(put_labels, self.past, *_arrays(row), y, *_arrays(made), learn), made

    @property
    def features(self) -> int:
        """How many features they are."""
        return self.past.size

    def _written(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return (y[:, None] == np.arange(CLASSES)).astype(np.float64) if self.classes else y[:, None]

    def name_of(self, index: int) -> str:
        before, kind = divmod(index, self.past.shape[1])
        return f"label {before + 1} before" + (f": class {kind + 1}" if self.classes else "")

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"lags.past": self.past}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Those of a model file; a ValueError where they cannot be labels."""
        past = np.array(arrays["lags.past"], np.float64)
        if past.shape != self.past.shape or not np.isfinite(past).all():
            raise ValueError("its last labels do not fit together")
        self.past = past


@dataclass
class Preparation:
    """What is done to rows, in this order: `means` fill in what is missing; `scale` changes each feature by itself;
    `expand` makes rows of other columns (see `expand.py`); `lags` puts the last labels before them;
    `unit_norm` divides rows by their norm.

    `scale="max"`: x / max|x| so far. `scale="standard"`: see `Moments`. `scale="log"`: sign(x)·ln(1 + |x|).
    """

    scale: str | None = None
    unit_norm: bool = False
    peak: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    means: Means | None = None
    expand: str | None = None
    lags: Lags | None = None

    def __post_init__(self) -> None:
        self.expansion = expansion_of(self.expand)
        self.moments = Moments() if self.scale == "standard" else None

    @property
    def active(self) -> bool:
        return self.unit_norm or self.scale is not None or self.means is not None or self.remade

    @property
    def drifts(self) -> bool:
        """Whether the same row may become another one later in the run."""
        return self.means is not None or self.scale in ("max", "standard") or self.remade

    @property
    def remade(self) -> bool:
        """Whether the rows that are played have other columns than those that came."""
        return self.expand is not None or self.lags is not None

    @property
    def settings_in_words(self) -> list[str]:
        """The settings by which rows become others."""
        lags = None if self.lags is None else len(self.lags.past)
        given = {"scale": self.scale, "expand": self.expand, "lags": lags}
        return [f"{name} {value}" for name, value in given.items() if value]

    @property
    def words(self) -> list[str]:
        """What is done, for people."""
        scaled = {
            "max": "each feature divided by its largest absolute value so far",
            "standard": "each column standardised by its mean and deviation so far",
            "log": "each value x as sign(x)·ln(1 + |x|)",
        }
        return [
            *([scaled[self.scale]] if self.scale is not None else []),
            *([self.expansion.words] if self.expansion is not None else []),
            *(["the last labels put before them"] if self.lags is not None else []),
            *(["rows scaled to norm 1"] if self.unit_norm else []),
        ]

    def most(self, rows: Rows) -> int:
        """How many of such rows to prepare at a time."""
        entries = [1] if self.moments is None else [self.moments.entries(rows)]
        entries += [] if self.expansion is None else [self.expansion.entries(rows.width)]
        return max(1, BLOCK_VALUES // max(entries)) if max(entries) > 1 else max(1, len(rows))

    def apply(
        self,
        rows: Rows,
        learn: bool,
        features: Recipe | None = None,
        y: NDArray[np.float64] | None = None,
        ahead: int = 0,
    ) -> Rows:
        """The rows as they are played; while learning, they enter means, maxima and moments one after another.

        `features` is the recipe that they were made by; y are their labels, which `lags` learn of, and `ahead` says how
        many rows are between the last round and the first of those that are only scored.
        """
        if not self.active:
            return rows
        rows = rows.with_values(np.array(rows.values, dtype=np.float64))
        if self.means is not None:
            self.means.fill(rows, learn)
        if self.scale == "max":
            self.peak = _wider(self.peak, rows.width if learn else 0)
            scale_features(*_arrays(rows), self.peak, learn)
        elif self.scale == "log":
            take_logs(*_arrays(rows))
        elif self.moments is not None:
            rows = self.moments.score(rows, learn, features)
        if self.expansion is not None:
            rows = self.expansion.rows(rows, learn)
        if self.lags is not None:
            rows = self.lags.rows(rows, y if learn else None, ahead)
        if self.unit_norm:
            unit_rows(*_arrays(rows))
        return rows

    def again(self, row: Rows, y: NDArray[np.float64], learn: bool) -> tuple[list[Call], Rows]:
        """The calls that do to the row in these arrays what `apply` does, and the arrays in which they leave it.

        They may be made again for other values, with a label in y, until there are rows with new features.
        """
        if not self.active:
            return [], row
        made = row.with_values(np.zeros_like(row.values))
        calls: list[Call] = [partial(copy_values, row.values, made.values)]
        if self.scale == "max":
            calls.append(partial(scale_features, *_arrays(made), self.peak, learn))
        elif self.scale == "log":
            calls.append(partial(take_logs, *_arrays(made)))
        for part in (self.moments, self.expansion):
            if part is not None:
                more, made = part.again(made, learn)
                calls += more
        if self.lags is not None:
            call, made = self.lags.again(made, y, learn)
            calls.append(call)
        if self.unit_norm:
            calls.append(partial(unit_rows, *_arrays(made)))
        return calls, made

    def units(
        self, width: int, features: Recipe | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """(m, s) of every feature that is played as (x − m)/s by now; None where rows become others in another way."""
        if self.remade or self.unit_norm or self.scale == "log":
            return None
        if self.moments is not None:
            return self.moments.units(width, features)
        sizes = np.ones(width)
        known = min(width, len(self.peak))
        sizes[:known] = np.where(self.peak[:known] > 0.0, self.peak[:known], 1.0)
        return np.zeros(width), sizes

    def name_of(self, index: int, name: Callable[[int], str]) -> str:
        """What a column that is played is called, by the names of those that came."""
        before = 0 if self.lags is None else self.lags.features
        if self.lags is not None and index < before:
            return self.lags.name_of(index)
        index -= before
        return name(index) if self.expansion is None else self.expansion.name_of(index, name)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a model file keeps of it."""
        parts = [part.arrays() for part in (self.means, self.moments, self.expansion, self.lags) if part is not None]
        return {"peak": self.peak, **{name: array for part in parts for name, array in part.items()}}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go back to what was kept; a KeyError or a ValueError where it does not fit."""
        self.peak = np.array(arrays["peak"], np.float64)
        self.means = Means.of(arrays) if "means.rows" in arrays else None
        if self.moments is not None:
            self.moments.restore(arrays)
        if self.expansion is not None:
            self.expansion.restore(arrays)
        if self.lags is not None:
            self.lags.restore(arrays)


def _arrays(rows: Rows) -> tuple[Any, ...]:
    """A matrix, or the three arrays of compressed rows."""
    return (rows.X,) if isinstance(rows, Dense) else rows.native


def _wider(array: NDArray[Any], width: int) -> NDArray[Any]:
    """The array, or one with room for this number of features and more."""
    if width <= len(array):
        return array
    grown = np.zeros(max(width, 3 * len(array) // 2), array.dtype)
    grown[: len(array)] = array
    return grown
