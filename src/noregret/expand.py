"""What rows become where their columns alone are too little: random Fourier features, bins, crosses of bins, products.

Each takes rows that are scaled, one after another, and gives rows of other columns. What it learns of the rows, such as
the edges of bins, is state that a model file keeps; what is random depends on the numbers of columns alone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret import _native
from noregret.errors import SettingError
from noregret.stream.block import Dense, Rows, Sparse

Arrays = dict[str, NDArray[Any]]
Call = Callable[[], Any]
TABLED = 2**20  # frequencies that are kept in memory; the others are computed whenever they are needed
LOOKS = (32, 128, 512, 2048)  # rows after which the edges of bins are set


class Expansion(ABC):
    """Rows of other columns, made from rows one after another."""

    words: ClassVar[str]

    @abstractmethod
    def entries(self, width: int) -> int:
        """The number of values that a row of this many columns becomes."""

    @abstractmethod
    def rows(self, rows: Rows, learn: bool) -> Rows:
        """The rows that are played; a SettingError where there are too many columns for that."""

    def again(self, row: Rows, learn: bool) -> tuple[list[Call], Rows]:
        """What makes `rows` of the one in these arrays whenever it is called, always in the arrays of the second."""
        made = self.rows(row, False)
        if isinstance(made, Dense):
            out = np.empty_like(made.X)
            return [lambda: np.copyto(out, self.rows(row, learn).values.reshape(1, -1))], Dense(out)
        room = self.entries(row.width)
        kept = Sparse(np.zeros(2, np.int64), np.zeros(room, np.uint32), np.zeros(room), made.columns)
        return [lambda: _copy(self.rows(row, learn), kept)], kept

    @abstractmethod
    def name_of(self, index: int, name: Callable[[int], str]) -> str:
        """What a column that was made is called, by the names of those it was made of."""

    def arrays(self) -> Arrays:
        """What a model file keeps."""
        return {}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:  # noqa: B027, some have no state
        """Go back to what was kept; a KeyError or a ValueError where it does not fit."""


class Fourier(Expansion):
    """`fourier:D:γ`: √(2/D)·cos(b_j + ⟨ω_j, x⟩·γ/√n) for j < D, with standard normal ω_ij and b_j uniform over a turn.

    n counts the columns that were not 0 in some row so far, this one included. A linear learner on such rows comes near
    to one with the kernel exp(−γ²‖x − x'‖²/(2n)) (A. Rahimi and B. Recht, Random features, 2007).
    """

    words = "random Fourier features"

    def __init__(self, cosines: int = 100, bandwidth: float = 1.0) -> None:
        self.cosines, self.bandwidth = cosines, bandwidth
        self.seen = np.zeros(0, np.uint8)
        self.count = np.zeros(1, np.int64)
        self._table = np.zeros((0, cosines))
        self._offsets, self._room = np.empty(cosines), np.empty(cosines)
        _native.offsets(self._offsets)

    def entries(self, width: int) -> int:
        return self.cosines

    def rows(self, rows: Rows, learn: bool) -> Rows:
        if learn and rows.width > len(self.seen):
            self.seen = np.append(self.seen, np.zeros(rows.width - len(self.seen), np.uint8))
        (make,), made = self.again(rows, learn)
        make()
        return made

    def again(self, row: Rows, learn: bool) -> tuple[list[Call], Rows]:
        self._look_up(row.width)
        out = np.empty((len(row), self.cosines))
        given = (row.X,) if isinstance(row, Dense) else row.native
        state = (self._table, self._offsets, self.bandwidth, self.seen, self.count, self._room)
        return [partial(_native.fourier, *given, *state, out, learn)], Dense(out)

    def _look_up(self, width: int) -> None:
        """Keep the frequencies of features below `width`, as far as there is room."""
        known, wanted = len(self._table), min(width, TABLED // self.cosines)
        if wanted > known:
            late = np.empty((max(wanted, min(2 * known, TABLED // self.cosines)) - known, self.cosines))
            _native.frequencies(known, late)
            self._table = np.concatenate([self._table, late])

    def name_of(self, index: int, name: Callable[[int], str]) -> str:
        return f"cosine {index}"

    def arrays(self) -> Arrays:
        return {"fourier.seen": self.seen}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        seen = np.array(arrays["fourier.seen"], np.uint8)
        if seen.ndim != 1 or (seen > 1).any():
            raise ValueError("its Fourier features do not fit together")
        self.seen, self.count = seen, np.array([np.count_nonzero(seen)])


class Bins(Expansion):
    """`bins:K`: for each column i, once it was not 0, a 1 at i·K + (how many of its K − 1 edges x_i reaches).

    The edges are the values number ⌊n·k/K⌋ of the first n rows in ascending order, k = 1, …, K − 1, counted from 0.
    They are set after n = 32, 128, 512 and 2048 rows, for the rows that follow; before, there are none.
    """

    words = "columns cut into bins"
    most: ClassVar[int] = 1000
    crossed: ClassVar[bool] = False

    def __init__(self, bins: int = 16) -> None:
        self.bins = bins
        self.past: list[NDArray[np.float64]] = []
        self.edges = np.zeros((0, bins - 1))
        self.seen = np.zeros(0, np.bool_)  # the columns that were not 0 in some row
        self.count = 0

    def entries(self, width: int) -> int:
        return width

    def rows(self, rows: Rows, learn: bool) -> Rows:
        X = _matrix(rows, self.words, self.most, len(self.edges))
        new = X.shape[1] - len(self.edges)
        edges = np.vstack([self.edges, np.full((new, self.bins - 1), 0.0 if self.count >= LOOKS[0] else math.inf)])
        seen = np.append(self.seen, np.zeros(new, np.bool_))
        present = (X != 0.0) | seen
        if learn:
            np.logical_or.accumulate(present, axis=0, out=present)
            self.edges, self.seen = edges, present[-1].copy() if len(X) else seen
        found, start = np.empty(X.shape, np.int64), 0
        while start < len(X):
            stop = len(X)
            if learn:
                stop = min(stop, start + next((look - self.count for look in LOOKS if look > self.count), stop))
            _native.bins(X[start:stop], self.edges if learn else edges, found[start:stop])
            if learn:
                self._take(X[start:stop])
            start = stop
        found[~present] = -1
        return self._made(found)

    def again(self, row: Rows, learn: bool) -> tuple[list[Call], Rows]:
        if not self.seen.all() or len(self.seen) != row.width:
            return super().again(row, learn)
        X = np.asarray(row.X, np.float64) if isinstance(row, Dense) else np.zeros((1, row.width))
        found, (crossing, made) = np.empty(X.shape, np.int64), self._room(*X.shape)
        return [
            *([partial(_native.spread_row, *row.native, X)] if isinstance(row, Sparse) else []),
            partial(_native.bins, X, self.edges, found),
            *([partial(self._take, X)] if learn else []),
            partial(_native.one_hot, found, self.bins, *crossing, *made.native),
        ], made

    def _take(self, X: NDArray[np.float64]) -> None:
        """Learn of rows; they do not reach beyond the next look."""
        if self.count < LOOKS[-1]:
            self.past.append(X.copy())
        self.count += len(X)
        if self.count in LOOKS:
            past = np.sort(self._kept(X.shape[1]), axis=0)
            places = len(past) * np.arange(1, self.bins) // self.bins
            self.edges[:] = past[places].T
            if self.count == LOOKS[-1]:
                self.past = []

    def _kept(self, width: int) -> NDArray[np.float64]:
        """The first rows; a column that came later was 0 in those before."""
        kept = [np.hstack([part, np.zeros((len(part), width - part.shape[1]))]) for part in self.past]
        return np.concatenate([np.zeros((0, width)), *kept])

    def _made(self, found: NDArray[np.int64]) -> Rows:
        crossing, made = self._room(*found.shape)
        count = _native.one_hot(found, self.bins, *crossing, *made.native)
        return Sparse(made.indptr, made.indices[:count], made.values[:count], made.columns)

    def _room(self, rows: int, columns: int) -> tuple[tuple[bool, NDArray[np.int64]], Sparse]:
        """Whether columns are crossed, with room to work in, and arrays for this many rows."""
        slots, room = _native.CROSS_SLOTS if self.crossed else 0, rows * self.entries(columns)
        arrays = np.zeros(rows + 1, np.int64), np.zeros(room, np.uint32), np.zeros(room)
        return (self.crossed, np.zeros(slots, np.int64)), Sparse(*arrays, columns * self.bins + slots)

    def name_of(self, index: int, name: Callable[[int], str]) -> str:
        column, k = divmod(index, self.bins)
        low = -math.inf if k == 0 else self.edges[column, k - 1]
        high = math.inf if k == self.bins - 1 else self.edges[column, k]
        return f"{name(column)} in [{low:g}, {high:g})"

    def arrays(self) -> Arrays:
        kept = {"past": self._kept(len(self.edges)), "edges": self.edges, "rows": np.array([self.count])}
        return {f"bins.{name}": array for name, array in {**kept, "seen": self.seen}.items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        past, edges = (np.array(arrays[f"bins.{name}"], np.float64) for name in ("past", "edges"))
        rows, seen = np.array(arrays["bins.rows"], np.int64), np.array(arrays["bins.seen"], np.bool_)
        fit = edges.ndim == past.ndim == 2 and edges.shape[1] == self.bins - 1 and rows.shape == (1,) and rows[0] >= 0
        fit = fit and seen.shape == (len(edges),)
        if not fit or past.shape != (int(rows[0]) if rows[0] < LOOKS[-1] else 0, len(edges)) or np.isnan(edges).any():
            raise ValueError("its bins do not fit together")
        self.past, self.edges, self.count, self.seen = [past] if len(past) else [], edges, int(rows[0]), seen


class Crosses(Bins):
    """`crosses:K`: the bins, and for every pair of columns i < j a 1 in one of 2¹⁶ slots before them, which is the hash
    of both columns and bins; pairs that meet in a slot add up.
    """

    words = "crossed bins"
    most = 40
    crossed = True

    def entries(self, width: int) -> int:
        return width * (width + 1) // 2

    def name_of(self, index: int, name: Callable[[int], str]) -> str:
        slots = _native.CROSS_SLOTS
        return f"cross {index}" if index < slots else super().name_of(index - slots, name)


class Quadratic(Expansion):
    """`quadratic`: for each column j first x_j, then the products x_i·x_j for i ≤ j, its square the last of them."""

    words = "products of columns"
    most: ClassVar[int] = 60

    def __init__(self) -> None:
        self.columns = 0

    def entries(self, width: int) -> int:
        return width * (width + 3) // 2

    def rows(self, rows: Rows, learn: bool) -> Rows:
        X = _matrix(rows, self.words, self.most, self.columns)
        if learn:
            self.columns = X.shape[1]
        out = np.empty((len(X), self.entries(X.shape[1])))
        _native.quadratic(X, out)
        return Dense(out)

    def name_of(self, index: int, name: Callable[[int], str]) -> str:
        j = next(j for j in range(self.columns) if index < (j + 1) * (j + 4) // 2)
        i = index - j * (j + 3) // 2 - 1
        return name(j) if i < 0 else f"{name(i)}·{name(j)}"

    def arrays(self) -> Arrays:
        return {"quadratic.columns": np.array([self.columns])}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        columns = np.array(arrays["quadratic.columns"], np.int64)
        if columns.shape != (1,) or not 0 <= columns[0] <= self.most:
            raise ValueError("its products do not fit together")
        self.columns = int(columns[0])


def expansion_of(spec: str | None) -> Expansion | None:
    """What a setting `expand` asks for; a SettingError that says what must hold of it."""
    if spec is None:
        return None
    kind, *numbers = spec.split(":")
    try:
        if kind == "fourier" and len(numbers) <= 2:
            cosines, bandwidth = int((numbers or ["100"])[0]), float((numbers[1:] or ["1"])[0])
            if 1 <= cosines <= 10_000 and 0.0 < bandwidth < math.inf:
                return Fourier(cosines, bandwidth)
        elif kind in ("bins", "crosses") and len(numbers) <= 1:
            bins = int((numbers or ["16"])[0])
            if 2 <= bins <= 256:
                return Bins(bins) if kind == "bins" else Crosses(bins)
        elif kind == "quadratic" and not numbers:
            return Quadratic()
    except ValueError:
        pass
    raise SettingError(
        "expand must be fourier:D or fourier:D:γ (1 ≤ D ≤ 10000, γ > 0), bins:K or crosses:K (2 ≤ K ≤ 256), or"
        f" quadratic, got {spec!r}"
    )


def _copy(row: Rows, kept: Sparse) -> None:
    """One row into arrays that have room for it."""
    assert isinstance(row, Sparse)
    count = len(row.values)
    kept.indptr[1] = count
    kept.indices[:count], kept.values[:count] = row.indices, row.values


def _matrix(rows: Rows, words: str, most: int, least: int) -> NDArray[np.float64]:
    """Rows of few columns as a matrix, of at least as many columns as there were before."""
    width = max(rows.width, least)
    if width > most:
        raise SettingError(f"expand: {words} are for at most {most} columns, got {width}: use fourier")
    if isinstance(rows, Dense) and rows.width == width:
        return np.ascontiguousarray(rows.X, np.float64)
    X = np.zeros((len(rows), width))
    if isinstance(rows, Dense):
        X[:, : rows.width] = rows.X
    else:
        low, high = int(rows.indptr[0]), int(rows.indptr[-1])
        X[np.repeat(np.arange(len(rows)), np.diff(rows.indptr)), rows.indices[low:high]] = rows.values[low:high]
    return X
