"""A block as bytes: a head of ten whole numbers, then the arrays one after another, each filled up to eight bytes.

What a block adds to the stream's words and to the names of hashed slots stands behind its arrays, so that a reader who
stops early knows no more than one who read the source that far.
"""

from __future__ import annotations

import struct
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from noregret._native import checksum
from noregret.stream.block import MAX_INDEX, Block, Dense, Rows, Sides, Sparse, all_finite, reach
from noregret.stream.parts import Parts, Words, parts_of

HEAD = struct.Struct("=8q2Q")
_MARK = 0x4B434F4C42  # "BLOCK"
_WORDS, _WEIGHTS, _SINGLE, _DENSE = 1, 2, 4, 8
_ORDER = ("labels", "lines", "weights", "bounds", "values", "indices")


class Damaged(Exception):
    """A cache that is not whole: caught here, for it is made anew."""


class News(msgspec.Struct, frozen=True):
    """What a block adds: words among the labels, and the value first seen in each hashed slot."""

    words: list[str] = []
    slots: list[int] = []
    values: list[str] = []


class Head(msgspec.Struct, frozen=True):
    """What has to be known of a block before its arrays can be read."""

    number: int
    rows: int
    entries: int
    columns: int  # −1 where sparse rows do not say
    flags: int
    extra: int  # bytes of news
    checksum: int

    @classmethod
    def read(cls, found: bytes, number: int) -> Head:
        if len(found) != HEAD.size:
            raise Damaged("it is cut short")
        mark, place, rows, entries, columns, flags, extra, total, checksum, own = HEAD.unpack(found)
        head = cls(place, rows, entries, columns, flags, extra, checksum)
        whole = mark == _MARK and own == _sum(found[:-8]) and head.number == number and total == head.size
        if not whole:
            raise Damaged("the head of a block is damaged")
        return head

    def write(self) -> bytes:
        fields = (self.number, self.rows, self.entries, self.columns, self.flags, self.extra, self.size)
        head = HEAD.pack(_MARK, *fields, self.checksum, 0)[:-8]
        return head + struct.pack("=Q", _sum(head))

    def shapes(self) -> list[tuple[str, Any, int]]:
        """Each array's name, type and length, in order."""
        sparse = not self.flags & _DENSE
        counts = {"labels": self.rows, "lines": self.rows, "values": self.entries}
        counts |= {"weights": self.rows} if self.flags & _WEIGHTS else {}
        counts |= {"bounds": self.rows + 1, "indices": self.entries} if sparse else {}
        kinds = {"labels": "f8", "lines": "i8", "weights": "f8", "bounds": "i8", "indices": "u4"}
        kinds["values"] = "f4" if self.flags & _SINGLE else "f8"
        return [(name, np.dtype(kinds[name]), counts[name]) for name in _ORDER if name in counts]

    @property
    def size(self) -> int:
        """How many bytes follow the head."""
        return sum(_filled(kind.itemsize * count) for _, kind, count in self.shapes()) + _filled(self.extra)


def _filled(size: int) -> int:
    return -(-size // 8) * 8


def _sum(found: bytes) -> int:
    return checksum(np.frombuffer(bytearray(found), dtype=np.uint64))


def packed(block: Block, number: int, known: Words, news: News) -> tuple[bytes, NDArray[np.uint64]]:
    """The head and the body of a block; `known` are the words before it, and learns those in it."""
    rows, before = block.rows, len(known.listed)
    parts = parts_of(block, known)
    news = msgspec.structs.replace(news, words=known.listed[before:])
    extra = msgspec.msgpack.encode(news) if news.words or news.slots else b""
    flags = _WORDS * (block.labels.dtype == object) | _WEIGHTS * (block.weights is not None)
    flags |= _SINGLE * (rows.values.dtype == np.float32) | _DENSE * isinstance(rows, Dense)
    columns = rows.columns if isinstance(rows, Sparse) else rows.width
    head = Head(number, len(block), len(rows.values), -1 if columns is None else columns, flags, len(extra), 0)
    body = np.zeros(head.size // 8, dtype=np.uint64)
    at, raw = 0, body.view(np.uint8)
    for name, kind, count in head.shapes():
        raw[at : at + kind.itemsize * count].view(kind)[:] = parts[name]
        at += _filled(kind.itemsize * count)
    raw[at : at + len(extra)] = np.frombuffer(extra, dtype=np.uint8)
    return msgspec.structs.replace(head, checksum=checksum(body)).write(), body


def unpacked(head: Head, body: NDArray[np.uint64]) -> tuple[Rows, Parts, News]:
    """The rows of a block and its arrays, as views of its body, and its news."""
    if checksum(body) != head.checksum:
        raise Damaged(f"block {head.number + 1} is damaged")
    parts: Parts = {}
    at, raw = 0, body.view(np.uint8)
    for name, kind, count in head.shapes():
        parts[name] = raw[at : at + kind.itemsize * count].view(kind)
        at += _filled(kind.itemsize * count)
    try:
        news = msgspec.msgpack.decode(raw[at : at + head.extra].tobytes(), type=News) if head.extra else News()
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise Damaged(f"block {head.number + 1} is damaged") from error
    _check(head, parts)
    return _rows(head, parts), parts, news


def _check(head: Head, parts: Parts) -> None:
    """What compiled loops rely on, whoever wrote the file."""
    fits = head.rows > 0 and head.entries >= 0
    if fits and head.flags & _DENSE:
        fits = head.entries == head.rows * head.columns
    elif fits:
        bounds = parts["bounds"]
        fits = bounds[0] == 0 and bounds[-1] == head.entries and bool((np.diff(bounds) >= 0).all())
        width = MAX_INDEX + 1 if head.columns < 0 else head.columns
        fits = fits and width <= MAX_INDEX + 1 and reach(parts["indices"]) <= width
    if not fits:
        raise Damaged(f"block {head.number + 1} is damaged")


def _rows(head: Head, parts: Parts) -> Rows:
    finite = all_finite(parts["values"])
    if head.flags & _DENSE:
        return Dense(parts["values"].reshape(head.rows, head.columns), finite)
    columns = None if head.columns < 0 else head.columns
    return Sparse(parts["bounds"], parts["indices"], parts["values"], columns, finite, reach(parts["indices"]))


def sides_of(head: Head, parts: Parts) -> Sides | None:
    """The two labels of a block that has two numbers for labels."""
    return None if head.flags & _WORDS else Sides.of_labels(parts["labels"])


def block_of(head: Head, rows: Rows, parts: Parts, sides: Sides | None, known: Words, source: str) -> Block:
    """The block of its rows and arrays, its words known."""
    labels = parts["labels"]
    try:
        labels = known.labels(labels) if head.flags & _WORDS else labels
    except IndexError as error:
        raise Damaged(f"block {head.number + 1} is damaged") from error
    return Block(rows, labels, parts["lines"], source, parts.get("weights"), sides)
