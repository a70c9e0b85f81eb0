"""Where a kernel learner keeps the rows it has learned from, and how kernel values against them are filled in.

A store has slots; a block of rows is `prepared` once, then `fill` writes K(slot, row) into G[row, slot − first],
`within` the values between the block's own rows, none of them with later rows, and `keep` puts some of them into slots.
Dense rows lie in panels, eight lanes side by side; sparse rows compressed, each in the order of its features; for a
kernel of the user's own they lie as they are; of a precomputed kernel only the column of each row is kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret._native import PANEL, TILE_ROWS, kernel_values, lay, panel_sums, sparse_sums, take
from noregret.errors import SettingError
from noregret.kernel import Kernel
from noregret.learner.core import NativeRows, Vector, check_memory, fit
from noregret.learner.threads import in_chunks
from noregret.rounds import in_order
from noregret.stream.block import Dense, Rows, Sparse

Ints = NDArray[np.int64]
Matrix = NDArray[np.float64]
BLOCK = 128  # rows that are scored at once


class Supports(Protocol):
    """What every store can do."""

    sparse: bool

    def prepared(self, rows: NativeRows) -> Any: ...
    def fill(self, block: Any, first: int, slots: int, G: Matrix) -> None: ...
    def within(self, block: Any, G: Matrix, to: int) -> None: ...
    def keep(self, block: Any, which: Ints, slots: Ints) -> None: ...
    def widen(self, width: int) -> None: ...
    def arrays(self, slots: Ints) -> dict[str, NDArray[Any]]: ...
    def restore(self, arrays: dict[str, NDArray[Any]]) -> int: ...
    def rows(self, slots: Ints) -> Rows: ...


class _Summed:
    """A built-in kernel: a sum over the features, then a function of it."""

    def __init__(self, kernel: Kernel, bias: bool, width: int) -> None:
        self.kernel = kernel
        self.bias = float(bias and not kernel.translates)
        self.width = width

    def _finish(self, G: Matrix, first: int, last: int) -> None:
        kernel_values(self.kernel.code, G, first, last, self.bias, *self.kernel.numbers)


class Panels(_Summed):
    """Dense rows, eight lanes side by side; flat[(panel·width + feature)·8 + lane]."""

    sparse = False

    def __init__(self, kernel: Kernel, bias: bool, width: int) -> None:
        super().__init__(kernel, bias, width)
        self.flat = np.zeros(0)

    def prepared(self, rows: NativeRows) -> Matrix:
        """The rows as a matrix of all features, lines of zeros making the number a multiple of four."""
        return dense(rows, self.width, TILE_ROWS)

    def fill(self, block: Matrix, first: int, slots: int, G: Matrix) -> None:
        flat = self.flat[first * self.width :]

        def some(begin: int, end: int) -> None:
            self._sums(flat, begin // PANEL, end, block, G, begin)

        in_chunks(some, slots - first, block.size)

    def within(self, block: Matrix, G: Matrix, to: int) -> None:
        def some(begin: int, end: int) -> None:
            own, which = np.empty(whole(end - begin) * self.width), np.arange(begin, end)
            lay(block, which, own, which - begin)
            self._sums(own, 0, end - begin, block[begin:], G[begin:], to + begin)

        in_chunks(some, len(block), block.size // 2)

    def _sums(self, flat: Vector, panel: int, end: int, block: Matrix, G: Matrix, to: int) -> None:
        """The values of the slots from a panel's first up to `end`, from the column `to` on."""
        panel_sums(self.kernel.sum, flat, panel, -(-end // PANEL), block, G, to)
        self._finish(G, to, to + end - panel * PANEL)

    def keep(self, block: Matrix, which: Ints, slots: Ints) -> None:
        needed = (int(slots.max(initial=-1)) // PANEL + 1) * self.width * PANEL
        if needed > self.flat.size:
            check_memory(2 * needed * 8, self.width)
            grown = np.zeros(2 * needed)
            grown[: self.flat.size] = self.flat
            self.flat = grown
        lay(block, which, self.flat, slots)

    def widen(self, width: int) -> None:
        panels = self.flat.size // (max(self.width, 1) * PANEL)
        check_memory(panels * width * PANEL * 8, width)
        grown = np.zeros((panels, width, PANEL))
        if self.width:
            grown[:, : self.width] = self.flat[: panels * self.width * PANEL].reshape(panels, self.width, PANEL)
        self.flat, self.width = grown.reshape(-1), width

    def arrays(self, slots: Ints) -> dict[str, NDArray[Any]]:
        found = np.zeros((len(slots), self.width))
        take(self.flat, slots, found)
        return {"supports": found}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> int:
        fit(arrays, {"supports": (len(arrays["supports"]), self.width)})
        found = self.prepared(np.array(arrays["supports"], dtype=np.float64))
        slots = np.arange(len(arrays["supports"]))
        self.keep(found, slots, slots)
        return len(slots)

    def rows(self, slots: Ints) -> Rows:
        return Dense(self.arrays(slots)["supports"])


class Compressed(_Summed):
    """Sparse rows; slot i holds the entries starts[i]..stops[i]."""

    sparse = True

    def __init__(self, kernel: Kernel, bias: bool, width: int) -> None:
        super().__init__(kernel, bias, width)
        self.starts, self.stops = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.indices, self.values, self.end = np.zeros(0, np.uint32), np.zeros(0), 0
        self._spread = np.zeros(width)

    def prepared(self, rows: NativeRows) -> Sparse:
        return replace(in_order(Sparse(*rows) if isinstance(rows, tuple) else Dense(rows)), columns=self.width)

    def fill(self, block: Sparse, first: int, slots: int, G: Matrix) -> None:
        self._sums(self.starts[first:slots], self.stops[first:slots], self.indices, self.values, block, G, 0)

    def within(self, block: Sparse, G: Matrix, to: int) -> None:
        self._sums(block.indptr[:-1], block.indptr[1:], block.indices, block.values, block, G, to)

    def _sums(self, starts: Ints, stops: Ints, indices: Any, stored: Any, block: Sparse, G: Matrix, to: int) -> None:
        if not self._spread.flags.writeable:  # a learner that was loaded into memory that is only read
            self._spread = np.zeros(self.width)
        sparse_sums(self.kernel.sum, starts, stops, indices, stored, block.native, self._spread, G, to)
        self._finish(G, to, to + len(starts))

    def keep(self, block: Sparse, which: Ints, slots: Ints) -> None:
        for t, slot in zip(which.tolist(), slots.tolist(), strict=True):
            self._keep(block, t, slot)

    def _keep(self, block: Sparse, t: int, slot: int) -> None:
        low, high = int(block.indptr[t]), int(block.indptr[t + 1])
        if self.end + high - low > self.indices.size:
            self._make_room(high - low)
        if slot >= self.starts.size:
            more = max(64, self.starts.size)
            self.starts, self.stops = (np.append(part, np.zeros(more, np.int64)) for part in (self.starts, self.stops))
        self.starts[slot], self.stops[slot] = self.end, self.end + high - low
        self.indices[self.end : self.end + high - low] = block.indices[low:high]
        self.values[self.end : self.end + high - low] = block.values[low:high]
        self.end += high - low

    def _make_room(self, more: int) -> None:
        """Leave out what no slot holds any more; then room for as much again."""
        spans = [np.arange(a, b) for a, b in zip(self.starts, self.stops, strict=True)]
        held = np.concatenate([np.zeros(0, np.int64), *spans])
        lengths = self.stops - self.starts
        self.stops = np.cumsum(lengths)
        self.starts = self.stops - lengths
        self.end = len(held)
        room = 2 * (self.end + more)
        indices, stored = np.zeros(room, np.uint32), np.zeros(room)
        indices[: self.end], stored[: self.end] = self.indices[held], self.values[held]
        self.indices, self.values = indices, stored

    def widen(self, width: int) -> None:
        check_memory(width * 8, width)
        self.width, self._spread = width, np.zeros(width)

    def arrays(self, slots: Ints) -> dict[str, NDArray[Any]]:
        found = self.rows(slots)
        return {"support_bounds": found.indptr, "support_indices": found.indices, "supports": found.values}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> int:
        bounds = np.array(arrays["support_bounds"], dtype=np.int64)
        indices, stored = (np.array(arrays[name]) for name in ("support_indices", "supports"))
        fit(arrays, {"support_bounds": (len(bounds),), "support_indices": (len(indices),), "supports": (len(stored),)})
        sizes = {len(indices), len(stored), int(bounds[-1])}
        if (
            len(sizes) > 1
            or bounds[0]
            or (np.diff(bounds) < 0).any()
            or ((indices < 0) | (indices >= self.width)).any()
        ):
            raise ValueError("the supports do not fit together")
        self.starts, self.stops, self.end = bounds[:-1].copy(), bounds[1:].copy(), len(indices)
        self.indices, self.values = indices.astype(np.uint32), stored.astype(np.float64)
        return len(bounds) - 1

    def rows(self, slots: Ints) -> Sparse:
        lengths = self.stops[slots] - self.starts[slots]
        bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        picked = np.repeat(self.starts[slots] - bounds[:-1], lengths) + np.arange(bounds[-1])
        return Sparse(bounds, self.indices[picked], self.values[picked], self.width)


class Own:
    """Rows as they are, for a kernel of the user's own."""

    sparse = False

    def __init__(self, kernel: Kernel, bias: bool, width: int) -> None:
        self.kernel = kernel
        self.width = width
        self.stored = np.zeros((0, width))

    def prepared(self, rows: NativeRows) -> Matrix:
        return dense(rows, self.width, 1)

    def fill(self, block: Matrix, first: int, slots: int, G: Matrix) -> None:
        self.kernel.fill(self.stored[first:slots], block, G, 0)

    def within(self, block: Matrix, G: Matrix, to: int) -> None:
        self.kernel.fill(block, block, G, to)

    def keep(self, block: Matrix, which: Ints, slots: Ints) -> None:
        needed = int(slots.max(initial=-1)) + 1
        if needed > len(self.stored):
            check_memory(2 * needed * self.width * 8, self.width)
            self.stored = np.vstack([self.stored, np.zeros((needed, self.width))])
        self.stored[slots] = block[which]

    def widen(self, width: int) -> None:
        check_memory(len(self.stored) * width * 8, width)
        self.stored = np.hstack([self.stored, np.zeros((len(self.stored), width - self.width))])
        self.width = width

    def arrays(self, slots: Ints) -> dict[str, NDArray[Any]]:
        return {"supports": self.stored[slots]}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> int:
        self.stored = np.array(arrays["supports"], dtype=np.float64).reshape(-1, self.width)
        return len(self.stored)

    def rows(self, slots: Ints) -> Rows:
        return Dense(self.stored[slots])


class Columns:
    """A precomputed kernel: row t holds K(x_t, x_s) at place s, so a support is its column."""

    sparse = False

    def __init__(self, kernel: Kernel, bias: bool, width: int) -> None:
        self.width = width
        self.columns = np.zeros(0, np.int64)
        self.seen = 0  # rows so far: the column of the next one, counted from 0 again when all columns had their row

    def prepared(self, rows: NativeRows) -> Matrix:
        if isinstance(rows, tuple):
            raise SettingError("kernel precomputed: the rows of the Gram matrix must be dense")
        return dense(rows, self.width, 1)

    def fill(self, block: Matrix, first: int, slots: int, G: Matrix) -> None:
        G[:, : slots - first] = block[:, self.columns[first:slots]]

    def within(self, block: Matrix, G: Matrix, to: int) -> None:
        G[:, to : to + len(block)] = block[:, self._own(len(block))]

    def _own(self, count: int) -> Ints:
        return (self.seen + np.arange(count)) % max(self.width, 1)

    def keep(self, block: Matrix, which: Ints, slots: Ints) -> None:
        needed = int(slots.max(initial=-1)) + 1
        if needed > len(self.columns):
            self.columns = np.append(self.columns, np.zeros(needed, np.int64))
        self.columns[slots] = (self.seen + which) % max(self.width, 1)

    def widen(self, width: int) -> None:
        if self.seen:
            raise SettingError(f"kernel precomputed: every row must have {self.width} entries, got {width}")
        self.width = width

    def arrays(self, slots: Ints) -> dict[str, NDArray[Any]]:
        return {"supports": self.columns[slots], "seen": np.array([self.seen])}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> int:
        fit(arrays, {"supports": (len(arrays["supports"]),), "seen": (1,)})
        self.columns, self.seen = np.array(arrays["supports"], dtype=np.int64), int(arrays["seen"][0])
        if self.seen < 0 or ((self.columns < 0) | (self.columns >= max(self.width, 1))).any():
            raise ValueError("a support lies outside the columns")
        return len(self.columns)

    def rows(self, slots: Ints) -> Rows:
        return Dense(self.columns[slots].astype(np.float64)[:, None])


def store(kernel: Kernel, bias: bool, width: int, sparse: bool) -> Supports:
    """An empty store for rows of this layout."""
    if kernel.precomputed:
        return Columns(kernel, bias, width)
    if kernel.custom:
        return Own(kernel, bias, width)
    return Compressed(kernel, bias, width) if sparse else Panels(kernel, bias, width)


def whole(count: int) -> int:
    """The next multiple of a panel's lanes."""
    return -(-count // PANEL) * PANEL


def dense(rows: NativeRows, width: int, multiple: int) -> Matrix:
    """Rows as a matrix of `width` columns; lines of zeros make the number a multiple."""
    count = len(rows[0]) - 1 if isinstance(rows, tuple) else len(rows)
    if not isinstance(rows, tuple) and rows.shape[1] == width and count % multiple == 0:
        return np.ascontiguousarray(rows, dtype=np.float64)
    check_memory(count * width * 8, width)
    found = np.zeros((-(-count // multiple) * multiple, width))
    if isinstance(rows, tuple):
        bounds, indices, what = rows
        line = np.repeat(np.arange(count), np.diff(bounds))
        found[line, indices[bounds[0] : bounds[-1]]] = what[bounds[0] : bounds[-1]]
    else:
        found[:count, : rows.shape[1]] = rows
    return found
