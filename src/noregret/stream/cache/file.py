"""The cache's file: a page about the source, the blocks, and what they are at the end.

A block is a head of ten whole numbers, then its arrays one after another, each filled up to eight bytes. What it adds
to the stream's words and to the names of hashed slots stands behind its arrays, so that a reader who stops early knows
no more than one who read the source that far.

The page and the end carry SHA-256 digests, every block a checksum compared as it is read: damage is seen before a row
of the block is used. The page is written last, and again when the same source shows other times.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections import deque
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from noregret._native import checksum
from noregret.stream.block import MAX_INDEX, Block, Dense, Rows, Sides, Sparse, all_finite, reach
from noregret.stream.cache import MAGIC
from noregret.stream.cache.origin import Origin
from noregret.stream.opening import Buffers
from noregret.stream.rowfile import BlockArrays, arrays_of
from noregret.stream.task import WordCodes

PAGE = 4096
AHEAD = 2  # blocks that are read before they are asked for
T = TypeVar("T")
Rules = dict[str, Any]  # what decides the rows beside the source's bytes


class Contents(msgspec.Struct, frozen=True):
    """What stands behind the blocks."""

    rules: Rules
    blocks: int
    rows: int
    entries: int
    width: int  # one more than the highest feature


class _Page(msgspec.Struct, frozen=True):
    origin: Origin
    end: int  # where the contents begin
    digest: str  # of the contents


def _sealed(stored: bytes) -> bytes:
    found = MAGIC + len(stored).to_bytes(8, "little") + hashlib.sha256(stored).digest() + stored
    assert len(found) <= PAGE
    return found.ljust(PAGE, b"\0")


class Writer:
    """Blocks in, one after another; `finish` makes a cache of the file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._known = WordCodes()
        self._blocks = self.rows = self._entries = self._width = 0
        file.write(b"\0" * PAGE)

    def add(self, block: Block, news: News) -> None:
        if not len(block):
            return
        head, body = packed(block, self._blocks, self._known, news)
        self._file.write(head)
        self._file.write(body.data)
        self._blocks += 1
        self.rows += len(block)
        self._entries += len(block.rows.values)
        self._width = max(self._width, block.rows.width)

    def finish(self, origin: Origin, rules: Rules) -> None:
        stored = msgspec.json.encode(Contents(rules, self._blocks, self.rows, self._entries, self._width))
        end = self._file.tell()
        self._file.write(stored)
        self._file.seek(0)
        page = _Page(origin, end, hashlib.sha256(stored).hexdigest())
        self._file.write(_sealed(msgspec.json.encode(page)))


class CacheFile:
    """A cache as it lies on the disk, opened; Damaged if that cannot be."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._buffers = Buffers()
        try:
            self._file = Path(path).open("rb", buffering=0)  # noqa: SIM115 (closed by close)
        except OSError as error:
            raise Damaged(f"it cannot be opened ({error.strerror})") from error
        try:
            self.size = os.fstat(self._file.fileno()).st_size
            self._page = self._read_page()
            self.contents = self._read_contents()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> CacheFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    @property
    def origin(self) -> Origin:
        return self._page.origin

    def _read_page(self) -> _Page:
        page = self._bytes(0, PAGE)
        length = int.from_bytes(page[16:24], "little")
        stored = page[56 : 56 + length]
        if page[:16] != MAGIC or page[24:56] != hashlib.sha256(stored).digest():
            raise Damaged("its first page is damaged, or of another version or machine")
        return _decoded(stored, _Page)

    def _read_contents(self) -> Contents:
        stored = self._bytes(self._page.end, self.size - self._page.end)
        if hashlib.sha256(stored).hexdigest() != self._page.digest:
            raise Damaged("its end is damaged or cut off")
        return _decoded(stored, Contents)

    def _bytes(self, at: int, size: int) -> bytes:
        if size < 0:
            raise Damaged("it is cut short")
        try:
            self._file.seek(at)
            return self._file.read(size) or b""
        except OSError as error:
            raise Damaged(f"it cannot be read ({error.strerror})") from error

    def keep(self, origin: Origin) -> None:
        """Write down how the same source looks now; a cache that may not be written stays as it is."""
        page = msgspec.structs.replace(self._page, origin=origin)
        try:
            with Path(self.path).open("r+b", buffering=0) as file:
                if os.path.sameopenfile(file.fileno(), self._file.fileno()):
                    file.write(_sealed(msgspec.json.encode(page)))
        except OSError:
            return
        self._page = page

    def blocks(self, source: str) -> Generator[tuple[Block, News]]:
        """Every block with its news, the next ones read while this one is used."""
        known = WordCodes()
        self._file.seek(PAGE)
        numbers = iter(range(self.contents.blocks))
        with ThreadPoolExecutor(1) as ahead:
            waiting = deque(ahead.submit(self._next, number) for number in islice(numbers, AHEAD))
            while waiting:
                head, rows, parts, sides, news = waiting.popleft().result()
                waiting.extend(ahead.submit(self._next, number) for number in islice(numbers, 1))
                known.learn(news.words)
                yield block_of(head, rows, parts, sides, known, source), news
                del rows, parts  # the next may take their memory
        if self._file.tell() != self._page.end:
            raise Damaged("there is more in it than it should hold")

    def _next(self, number: int) -> tuple[Head, Rows, BlockArrays, Sides | None, News]:
        """The block that begins where the file stands."""
        try:
            head = Head.read(self._file.read(HEAD.size) or b"", number)
            if not 0 <= head.size <= self._page.end - self._file.tell():
                raise Damaged("it is cut short")
            body = self._buffers.array(head.size // 8, np.uint64)
            room = body.data.cast("B")
            while len(room) and (count := self._file.readinto(room)):
                room = room[count:]
        except OSError as error:
            raise Damaged(f"it cannot be read ({error.strerror})") from error
        rows, parts, news = unpacked(head, body)
        return head, rows, parts, sides_of(head, parts), news


def _decoded(stored: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(stored, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise Damaged("it is of another version") from error


HEAD = struct.Struct("=8q2Q")
_MARK = 0x4B434F4C42  # "BLOCK"
_WORDS, _WEIGHTS, _SINGLE, _DENSE = 1, 2, 4, 8
_ORDER = ("labels", "lines", "weights", "bounds", "values", "indices")


class Damaged(Exception):
    """A cache that is not whole: caught here, and the cache is made again."""


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


def packed(block: Block, number: int, known: WordCodes, news: News) -> tuple[bytes, NDArray[np.uint64]]:
    """The head and the body of a block; `known` are the words before it, and learns those in it."""
    rows, before = block.rows, len(known.listed)
    parts = arrays_of(block, known)
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


def unpacked(head: Head, body: NDArray[np.uint64]) -> tuple[Rows, BlockArrays, News]:
    """The rows of a block and its arrays, as views of its body, and its news."""
    if checksum(body) != head.checksum:
        raise Damaged(f"block {head.number + 1} is damaged")
    parts: BlockArrays = {}
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


def _check(head: Head, parts: BlockArrays) -> None:
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


def _rows(head: Head, parts: BlockArrays) -> Rows:
    finite = all_finite(parts["values"])
    if head.flags & _DENSE:
        return Dense(parts["values"].reshape(head.rows, head.columns), finite)
    columns = None if head.columns < 0 else head.columns
    return Sparse(parts["bounds"], parts["indices"], parts["values"], columns, finite, reach(parts["indices"]))


def sides_of(head: Head, parts: BlockArrays) -> Sides | None:
    """The two labels of a block that has two numbers for labels."""
    return None if head.flags & _WORDS else Sides.of_labels(parts["labels"])


def block_of(head: Head, rows: Rows, parts: BlockArrays, sides: Sides | None, known: WordCodes, source: str) -> Block:
    """The block of its rows and arrays, its words known."""
    labels = parts["labels"]
    try:
        labels = known.labels(labels) if head.flags & _WORDS else labels
    except IndexError as error:
        raise Damaged(f"block {head.number + 1} is damaged") from error
    return Block(rows, labels, parts["lines"], source, parts.get("weights"), sides)
