"""Cells of a column grouped by their shape: the cell with every digit written as 0.

A column of dates or amounts has a few shapes and many values. What a cell means is told once a shape; the digits of all
its cells are then read at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from noregret.stream.block import Ints
from noregret.stream.hashing import Strings

LONGEST = 64  # bytes: no number or date that is longer is looked at
ZERO, NINE = 48, 57


@dataclass(frozen=True, slots=True)
class Shape:
    """The cells of one shape: `text` with digits as 0, the cells' places, and the bytes of each."""

    text: bytes
    places: Ints
    letters: NDArray[np.uint8]

    def cell(self, place: int) -> str:
        """The cell at one of `places`, counted among them."""
        letters: bytes = self.letters[place].tobytes()
        return letters[: len(self.text)].decode("utf-8", "replace")

    def whole(self, *spans: tuple[int, int]) -> Ints:
        """The digits in these parts of each cell, end to end, as a whole number; at most 18 of them."""
        found = np.zeros(len(self.places), dtype=np.int64)
        for begin, end in spans:
            for at in range(begin, end):
                if self.text[at] == ZERO:
                    found = found * 10 + (self.letters[:, at].astype(np.int64) - ZERO)
        return found


def shapes(cells: Strings) -> Iterator[Shape]:
    """Every shape among cells without codes; cells of more than LONGEST bytes come as one of the empty shape."""
    lengths = cells.stops - cells.starts
    long = lengths > LONGEST
    if long.any():
        yield Shape(b"\0", np.flatnonzero(long), np.zeros((int(long.sum()), 1), dtype=np.uint8))
    short = np.flatnonzero(~long)
    if not len(short):
        return
    letters = _letters(cells, short)
    pattern = np.where((letters >= ZERO) & (letters <= NINE), np.uint8(ZERO), letters)
    group = _groups(pattern)
    order = np.argsort(group, kind="stable")
    bounds = np.flatnonzero(np.diff(group[order], prepend=-1))
    for begin, end in zip(bounds.tolist(), [*bounds[1:].tolist(), len(order)], strict=True):
        inside = order[begin:end]
        text = pattern[inside[0]].tobytes()[: int(lengths[short[inside[0]]])]
        yield Shape(text, short[inside], letters[inside])


def _letters(cells: Strings, chosen: Ints) -> NDArray[np.uint8]:
    """The bytes of each chosen cell in a row of its own, zeros behind them; rows are whole words of eight bytes."""
    starts, lengths = cells.starts[chosen], (cells.stops - cells.starts)[chosen]
    width = 8 * (int(lengths.max(initial=0)) // 8 + 1)
    found = np.zeros((len(chosen), width), dtype=np.uint8)
    inside = starts + width <= len(cells.data)
    if inside.any():
        found[inside] = sliding_window_view(cells.data, width)[starts[inside]]
    for place in np.flatnonzero(~inside).tolist():
        last = cells.data[starts[place] :]
        found[place, : len(last)] = last
    found[np.arange(width) >= lengths[:, None]] = 0
    return found


def _groups(pattern: NDArray[np.uint8]) -> Ints:
    """A number for each row, the same for equal rows alone."""
    words = np.ascontiguousarray(pattern).view(np.uint64)
    mixed = np.zeros(len(words), dtype=np.uint64)
    for word in words.T:
        mixed = (mixed ^ word) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    _, first, group = np.unique(mixed, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    if not np.array_equal(words, words[first[group]]):  # two patterns met in one number
        _, group = np.unique(pattern, axis=0, return_inverse=True)
    return group.reshape(-1).astype(np.int64)
