"""Text in pieces of whole lines, for parsers that take many lines at once."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret import _native
from noregret.errors import InputError
from noregret.stream.opening import Opened
from noregret.stream.reuse import Reuse

FIRST, LARGEST = 2**16, 2**22  # bytes: the first piece is small, so that its rows are there soon
LINE_LIMIT = 2**26  # bytes: a few compressed kilobytes could otherwise be a line that fills the memory
SLACK = b"\n" * _native.SLACK  # what a parser may look at behind a piece
MARK = b"\xef\xbb\xbf"
Cut = Callable[[bytearray, int, int], int]


class Counts(NamedTuple):
    """How often some bytes occur in a piece of text."""

    lines: int  # newlines
    others: int
    odd: int  # NUL, or not ASCII
    white: int  # blanks, and what is below them: newlines too


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole lines: data[start:stop], the last byte a newline, SLACK behind it."""

    data: bytearray
    start: int
    stop: int
    before: int = 0  # lines of the piece in front of `start`
    reuse: Reuse = field(default_factory=Reuse)  # where its rows may take memory from

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def array(self) -> NDArray[np.uint8]:
        """The buffer as kernels take it."""
        return np.frombuffer(self.data, dtype=np.uint8)

    def counts(self, other: bytes) -> Counts:
        """How often some bytes occur, `other` among them."""
        return Counts(*_native.count_bytes(self.array, self.start, self.stop, other[0]))

    def line(self, begin: int) -> bytes:
        """The line that begins there, without its newline."""
        return bytes(self.data[begin : self.data.index(b"\n", begin)])

    def without_nul(self) -> int:
        """Where the first line begins that holds a NUL byte; the end of the piece where none does."""
        return self._line_of(self.data.find(b"\0", self.start, self.stop))

    def decodable(self) -> int:
        """Where the first line begins that holds a NUL byte or is not UTF-8; the end of the piece where all is text."""
        stop = self.without_nul()
        try:
            codecs.utf_8_decode(memoryview(self.data)[self.start : stop], "strict", True)
            return stop
        except UnicodeDecodeError as error:
            return self._line_of(self.start + error.start)

    def _line_of(self, at: int) -> int:
        """Where the line of a byte begins; the end of the piece for −1."""
        return self.stop if at < 0 else self.data.rfind(b"\n", self.start, at) + 1 or self.start


def line_end(data: bytearray, start: int, filled: int) -> int:
    """Where the last whole line of the text ends; `start` when there is none."""
    return max(data.rfind(b"\n", start, filled) + 1, start)


def too_long(source: str, line: int | None = None) -> InputError:
    """What is wrong with a line, or a record of several, that has no end within the limit."""
    return InputError(
        f"a line or record must end within {LINE_LIMIT // 2**20} MiB, and this one does not", source, line
    )


def pieces(opened: Opened, cut: Cut = line_end) -> Iterator[Piece]:
    """Every line of the text, the last one with a newline too; the byte-order mark is left out.

    A piece ends where `cut` says. Whole lines that were read before the source turned out to be damaged, or before a
    line that is too long, come before the error.
    """
    rest, size, first, reuse = b"", FIRST, True, Reuse()
    trouble: InputError | None = None
    more = True
    while more:
        data = reuse.text(min(max(size, 2 * len(rest)), LINE_LIMIT + len(MARK)) + 1 + len(SLACK))
        data[: len(rest)] = rest
        filled, room = len(rest), len(data) - 1 - len(SLACK)
        while more and filled < room:
            try:
                count = opened.fill(memoryview(data)[filled:room])
            except InputError as error:
                trouble, count = error, 0
            filled, more = filled + count, count > 0
        start = len(MARK) if first and data.startswith(MARK) else 0
        stop = cut(data, start, filled)
        if more and stop == start and filled - start > LINE_LIMIT:
            raise too_long(opened.name)
        if not more and trouble is None and filled > stop:
            stop = filled
            if data[filled - 1] != 10:
                data[filled] = 10
                filled = stop = filled + 1
        rest = bytes(memoryview(data)[stop:filled])
        if stop > start:
            data[stop : stop + len(SLACK)] = SLACK
            yield Piece(data, start, stop, reuse=reuse)
            del data  # the next may take its memory
            first, size = False, min(2 * size, LARGEST)
        else:
            rest = bytes(memoryview(data)[:filled])
    if trouble is not None:
        raise trouble
