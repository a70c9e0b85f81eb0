"""The cache's file: a page about the source, the blocks, and what they are at the end.

The page and the end carry SHA-256 digests, every block a checksum compared as it is read: damage is seen before a row
of the block is used. The page is written last, and again when the same source shows other times.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections import deque
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec
import numpy as np

from noregret.stream.block import Block, Rows, Sides
from noregret.stream.cache import CACHE_FILE
from noregret.stream.cache.layout import HEAD, Damaged, Head, News, block_of, packed, sides_of, unpacked
from noregret.stream.cache.origin import Origin
from noregret.stream.parts import Parts, Words
from noregret.stream.reuse import Reuse

PAGE = 4096
AHEAD = 2  # blocks that are read before they are asked for
MAGIC = CACHE_FILE + b"1" + (b"<" if sys.byteorder == "little" else b">")
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
        self._known = Words()
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
        self._reuse = Reuse()
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
        known = Words()
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

    def _next(self, number: int) -> tuple[Head, Rows, Parts, Sides | None, News]:
        """The block that begins where the file stands."""
        try:
            head = Head.read(self._file.read(HEAD.size) or b"", number)
            if not 0 <= head.size <= self._page.end - self._file.tell():
                raise Damaged("it is cut short")
            body = self._reuse.array(head.size // 8, np.uint64)
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
