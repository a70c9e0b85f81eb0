"""Hashed features: `column=value` goes to the slot MurmurHash3(UTF-8 bytes) mod 2^bits behind `hash_start`.

A categorical cell is one feature of value 1; a text cell is one feature a lower-cased word, its value the
word's count. Slots that coincide in a row are summed. An empty cell adds nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import _native
from noregret.stream.block import Floats, Indices, Ints, Sparse
from noregret.stream.cells import Bytes, Strings, as_text, joined
from noregret.stream.features import Features, Hints

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """The lower-cased words of a text, in order, repeated as often as they occur.

    >>> words("Win £100 now, NOW!")
    ['win', '100', 'now', 'now']
    """
    return _WORD.findall(text.lower())


def tokens(column: str, cell: Any, is_text: bool) -> list[str]:
    """The `column=value` strings of one cell."""
    value = as_text(cell)
    if value is None or not value.strip():
        return []
    return [f"{column}={word}" for word in words(value)] if is_text else [f"{column}={value}"]


def slots(found: Sequence[str], features: Features, learn: bool) -> Indices:
    """The feature index of each `column=value` string; while learning, the recipe remembers which they were."""
    places = hashes(found) & np.uint32(features.slots - 1)
    if learn:
        features.note(Hints(places, lambda new: [found[place] for place in new.tolist()]))
    return places + np.uint32(features.hash_start or 0)


def hashes(found: Sequence[str]) -> Indices:
    """MurmurHash3 of the UTF-8 bytes of each string."""
    data, offsets = joined(found)
    out = np.empty(len(found), dtype=np.uint32)
    _native.hash_strings(data, offsets, out)
    return out


@dataclass(frozen=True, slots=True)
class Column:
    """A column whose cells are hashed."""

    name: str
    is_text: bool
    cells: Strings


def hashed_column(column: Column, features: Features) -> tuple[Ints, Indices]:
    """The (row, slot) of every feature of a column, slots counted from 0; those of a cell stand together in order."""
    cells = column.cells
    rows, found = _hashed_words(column) if column.is_text else _hashed_values(column)
    found &= np.uint32(features.slots - 1)
    if cells.codes is None:
        return rows, found
    bounds, order = by_row(rows, len(cells.starts))
    there = cells.codes[cells.codes >= 0]
    total = int((bounds[there + 1] - bounds[there]).sum())
    rows, out = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.uint32)
    _native.repeat_slots(cells.codes, bounds, order, found, rows, out)
    return rows, out


def _hashed_values(column: Column) -> tuple[Ints, Indices]:
    """The (cell, hash) of every cell that is not blank."""
    head, cells = _head(column), column.cells
    rows, out = np.empty(len(cells.starts), dtype=np.int64), np.empty(len(cells.starts), dtype=np.uint32)
    count = _native.hash_cells(head, cells.data, cells.starts, cells.stops, rows, out)
    return rows[:count], out[:count]


def filled(cells: Strings) -> Ints:
    """Which of the distinct cells are not blank."""
    return _hashed_values(Column("", False, cells))[0]


def _hashed_words(column: Column) -> tuple[Ints, Indices]:
    """The (cell, hash) of every word; cells that are not ASCII come last."""
    head, cells = _head(column), column.cells
    most = int((cells.stops - cells.starts + 1 >> 1).sum())
    rows, out = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.uint32)
    left = np.empty(len(cells.starts), dtype=np.int64)
    count, others = _native.hash_words(head, cells.data, cells.starts, cells.stops, rows, out, left)
    if not others:
        return rows[:count], out[:count]
    distinct = Strings(cells.data, cells.starts, cells.stops)
    found = [tokens(column.name, distinct.text(cell), True) for cell in left[:others].tolist()]
    more = hashes(list(chain.from_iterable(found)))
    cell_of = np.repeat(left[:others], list(map(len, found)))
    return np.concatenate([rows[:count], cell_of]), np.concatenate([out[:count], more])


def _head(column: Column) -> Bytes:
    """What is hashed before each cell."""
    return np.frombuffer(f"{column.name}=".encode("utf-8", "surrogatepass"), dtype=np.uint8)


class HashedValues:
    """Every hashed feature of a block: its row and its slot, counted from 0, column after column."""

    def __init__(self, columns: Sequence[Column], features: Features) -> None:
        self._columns = columns
        found = [hashed_column(column, features) for column in columns]
        self._ends: Ints = np.cumsum([0, *(len(rows) for rows, _ in found)])
        self.rows: Ints = np.concatenate([np.empty(0, dtype=np.int64), *(rows for rows, _ in found)])
        self.slots: Indices = np.concatenate([np.empty(0, dtype=np.uint32), *(slots for _, slots in found)])

    def of(self, place: int) -> slice:
        """The features of one of the columns."""
        return slice(int(self._ends[place]), int(self._ends[place + 1]))

    def hints(self, order: Ints, first: int, features: Features) -> Hints:
        """The features, in the `order` of which they are counted from `first`, that nothing is known about."""
        entries = np.empty(len(self.slots), dtype=np.int64)
        entries = entries[: _native.maybe_new_slots(order, first, self.slots, features.noted, entries)]
        return Hints(self.slots[entries], lambda places: self._tokens(entries[places]))

    def _tokens(self, entries: Ints) -> Iterator[str]:
        """The `column=value` strings that were hashed."""
        places = np.searchsorted(self._ends[1:], entries, side="right")
        within = np.empty(len(entries), dtype=np.int64)
        _native.places_in_row(self.rows, entries, self._ends[places], within)
        for place, row, k in zip(places.tolist(), self.rows[entries].tolist(), within.tolist(), strict=True):
            column = self._columns[place]
            cell = column.cells.text(row)
            yield f"{column.name}={words(cell)[k] if column.is_text else cell}"


def by_row(rows: Ints, count: int) -> tuple[Ints, Ints]:
    """The entries of each of `count` rows: order[bounds[t]:bounds[t+1]] of row t, as they came."""
    bounds, order = np.zeros(count + 1, dtype=np.int64), np.empty(len(rows), dtype=np.int64)
    _native.entries_by_row(np.ascontiguousarray(rows), bounds, order)
    return bounds, order


def merged(bounds: Ints, order: Ints, indices: NDArray[Any], values: Floats) -> Sparse:
    """Compressed rows of entries that are in the order of `by_row`: indices ascending, coinciding ones summed."""
    total, longest = len(order), int(np.diff(bounds).max(initial=0))
    indptr, places = np.empty(len(bounds), dtype=np.int64), np.empty(total, dtype=np.uint32)
    sums, keys, room = np.empty(total, dtype=values.dtype), np.empty(longest, np.int64), np.empty(longest, np.int64)
    given = np.ascontiguousarray(indices, np.uint32), np.ascontiguousarray(values)
    kept = _native.merge_rows(bounds, order, *given, keys, room, indptr, places, sums)
    return Sparse(indptr, places[:kept], sums[:kept])


def summed(rows: Ints, indices: NDArray[Any], values: Floats, count: int) -> Sparse:
    """`count` compressed rows from (row, index, value) triples."""
    return merged(*by_row(rows, count), indices, values)
