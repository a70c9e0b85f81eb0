"""Cells of text: numbers as programs write them, columns of cells in UTF-8, and the patterns of their digits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from noregret.stream.block import Ints

Bytes = NDArray[np.uint8]


def as_text(value: Any) -> str | None:
    """A cell as the text that is hashed: whole floats without `.0`, booleans in lower case, None if empty."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        if math.isnan(value):
            return None
        return str(int(value)) if math.isfinite(value) and value == int(value) else repr(float(value))
    return str(value)


def joined(found: Sequence[str]) -> tuple[Bytes, Ints]:
    """Strings as UTF-8 end to end, and where each begins and the last ends."""
    encoded = [one.encode("utf-8", "surrogatepass") for one in found]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


@dataclass(frozen=True, slots=True)
class Strings:
    """The cells of a column in UTF-8: data[starts[i]:stops[i]], an empty one where there is nothing.

    With `codes` these are the distinct values, and cell i is the value codes[i], or nothing where that is −1.
    """

    data: Bytes
    starts: Ints
    stops: Ints
    codes: Ints | None = None

    @classmethod
    def of(cls, cells: Sequence[Any]) -> Strings:
        """Cells of any type, as they are written."""
        data, offsets = joined([cell if type(cell) is str else as_text(cell) or "" for cell in cells])
        return cls(data, offsets[:-1], offsets[1:])

    def first(self, rows: int) -> Strings:
        """The first cells of those without codes."""
        return Strings(self.data, self.starts[:rows], self.stops[:rows])

    def text(self, row: int) -> str:
        """Cell `row`."""
        place = row if self.codes is None else int(self.codes[row])
        return self.data[self.starts[place] : self.stops[place]].tobytes().decode("utf-8", "surrogatepass")


NOT_THERE = frozenset(("", "na", "n/a", "nan", "null", "none", "?"))


def is_missing(cell: str) -> bool:
    """Whether a cell holds no number.

    >>> is_missing(" NA "), is_missing("0")
    (True, False)
    """
    return cell.strip().lower() in NOT_THERE


def number(token: str) -> float | None:
    """The number that a token writes, or None.

    >>> number("+1"), number("1_000"), number("spam")
    (1.0, None, None)
    """
    try:
        return None if "_" in token else float(token)
    except ValueError:
        return None


def numbers(cells: Sequence[str]) -> NDArray[np.float64] | int:
    """The numbers of a column, a missing one being NaN; or the place of the first cell that is none."""
    try:
        if "_" not in "".join(cells):
            return np.array(list(map(float, cells)), dtype=np.float64)
    except ValueError:
        pass
    found = np.empty(len(cells))
    for place, cell in enumerate(cells):
        value = math.nan if is_missing(cell) else number(cell)
        if value is None:
            return place
        found[place] = value
    return found


LONGEST = 64  # bytes: no number or date that is longer is looked at
ZERO, NINE = 48, 57


@dataclass(frozen=True, slots=True)
class Pattern:
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


def patterns(cells: Strings) -> Iterator[Pattern]:
    """Every shape among cells without codes; cells of more than LONGEST bytes come as one of the empty shape."""
    lengths = cells.stops - cells.starts
    long = lengths > LONGEST
    if long.any():
        yield Pattern(b"\0", np.flatnonzero(long), np.zeros((int(long.sum()), 1), dtype=np.uint8))
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
        yield Pattern(text, short[inside], letters[inside])


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
