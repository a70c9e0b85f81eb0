"""A file's rows from its cache, or, where none is right, from the file itself and into a cache on the way.

Rows are kept as they were parsed, before the rule for missing values, so that every error sentence about them is said
by the same code with the same line.
"""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from noregret._version import __version__
from noregret.atomic import whole_file
from noregret.errors import CacheWarning, InputError
from noregret.stream.base import Stream
from noregret.stream.block import Block
from noregret.stream.cache.file import CacheFile, Damaged, News, Rules, Writer
from noregret.stream.cache.origin import Following, Origin, place_to_write, places, same_bytes, still
from noregret.stream.features import Features

Reopen = Callable[[Features], Stream]  # the same rows from the source, under a recipe of their own


class _Changed(Exception):
    """The source was changed while it was being read: what was read cannot be its cache."""


class _NoRoom(InputError):
    """The disk is full, or refuses a cache for another reason: rows can still be read."""

    def __init__(self, place: str, said: str) -> None:
        super().__init__(f"cannot be written: {said}", place)
        self.place, self.said = place, said


class _Room:
    """A file to write a cache to, which says so when the disk takes no more."""

    def __init__(self, file: IO[bytes], place: str) -> None:
        self._file, self._place = file, place
        self.tell, self.seek = file.tell, file.seek

    def write(self, data: Any) -> int:
        try:
            return self._file.write(data)
        except OSError as error:
            raise _NoRoom(self._place, error.strerror or str(error)) from error


class Cached(Stream):
    """The rows of `stream`, which reads the file at `path`, through a cache."""

    def __init__(self, stream: Stream, path: str, rules: Rules, reopen: Reopen, block_rows: int | None) -> None:
        super().__init__(stream.source, stream.features, None, length=stream.length)
        self.missing, self.gapped, self.frozen = stream.missing, stream.gapped, stream.frozen
        self.decisions, self.columns = stream.decisions, stream.columns
        self.path = path
        self._kind = type(stream).__name__
        self._rules = rules
        self._reopen = reopen
        self._block_rows = block_rows
        self._fraction: Callable[[], float | None] = lambda: None

    def fraction(self) -> float | None:
        return self._fraction()

    @property
    def rules(self) -> Rules:
        """What decides the rows beside the bytes of the source."""
        named = self.features.kind == "names"
        recipe = {key: value for key, value in self.features.to_dict().items() if key != "values"}
        return {
            **self._rules,
            "version": __version__,
            "kind": self._kind,
            "recipe": recipe if named else None,
            "noted": not (named and self.frozen),  # whether the values of hashed slots are noted
        }

    def sound(self) -> CacheFile | None:
        """The cache, opened, if there is one that holds the rows of this stream."""
        for place in places(self.path):
            if place.is_file():
                try:
                    found = CacheFile(str(place))
                except Damaged:
                    continue
                if self._fits(found):
                    return found
                found.close()
        return None

    def _fits(self, found: CacheFile) -> bool:
        if not _serves(found.contents.rules, self.rules):
            return False
        try:
            origin = still(self.path, found.origin)
        except OSError:
            return False  # the reader says what is the matter with the source
        if origin is not None and origin is not found.origin:
            found.keep(origin)
        return origin is not None

    def _read(self) -> Iterator[Block]:
        done, found = 0, self.sound()
        if found is not None:
            with found:
                rows = found.contents.rows
                self._fraction = lambda: min(1.0, self._seen / max(rows, 1))
                try:
                    with closing(found.blocks(self.source)) as blocks:
                        for block, news in blocks:
                            self._take(news)
                            done += len(block)
                            yield from self._blocks_of(block)
                    return
                except Damaged:
                    if not same_bytes(self.path, found.origin):
                        raise InputError("was changed while it was being read", self.source) from None
        for block in self._made_or_read():
            known = min(done, len(block))
            done -= known
            if known < len(block):
                yield from self._blocks_of(block.slice(known, len(block)) if known else block)

    def _blocks_of(self, block: Block) -> Iterator[Block]:
        return block.split(self._block_rows or len(block))

    def _take(self, news: News) -> None:
        for slot, value in zip(news.slots, news.values, strict=True):
            self.features.remember(slot, value)

    def _made_or_read(self) -> Iterator[Block]:
        """Every block as it is read from the source, and a cache on the way unless there is no room for one."""
        done = 0
        try:
            for block in self.make():
                done += len(block)
                yield block
        except _NoRoom as full:
            warnings.warn(
                f"{full.place}: the cache cannot be written ({full.said}): going on without it",
                CacheWarning,
                stacklevel=2,
            )
            for block in self._apart()._read():
                known = min(done, len(block))
                done -= known
                if known < len(block):
                    yield block.slice(known, len(block)) if known else block

    def make(self, sync: bool = False) -> Iterator[Block]:
        """Every block as it is read from the source; a cache is there once the last one was taken."""
        place = place_to_write(self.path)
        try:
            with whole_file(place, sync=sync) as file:
                _hide_as(self.path, file.fileno())
                yield from self._written(Writer(cast("IO[bytes]", _Room(file, str(place)))))
        except _Changed:
            return
        _clear(self.path, place)

    def _written(self, writer: Writer) -> Iterator[Block]:
        rules = self.rules
        stream = self._apart()
        origin = Origin.of(self.path)
        digest = Following(self.path, origin.size).finish() if origin.recent else None
        following = Following(self.path, origin.size)
        self._fraction = stream.fraction
        told = 0
        try:
            for block in stream._read():
                slots = list(islice(stream.features.values.items(), told, None))
                told += len(slots)
                news = News([], [slot for slot, _ in slots], [value for _, value in slots])
                writer.add(block, news)
                following.up_to(stream.fraction())
                self._take(news)
                yield block
            found = following.finish()
        finally:
            following.close()
        if not writer.rows:
            raise InputError("holds no rows", self.source)
        if not origin.looks_like(Origin.of(self.path)) or digest not in (None, found):
            raise _Changed
        writer.finish(origin.with_digest(found), rules)

    def _apart(self) -> Stream:
        """The source opened again with a recipe that has met no row yet."""
        return self._reopen(Features.from_dict({**self.features.to_dict(), "values": [[], []]}))


def _serves(kept: Rules, wanted: Rules) -> bool:
    """Whether rows that were kept are those wanted: rows with labels and notes serve those who need neither."""
    more = ("labels", "noted")
    alike = all(kept.get(key) == value for key, value in wanted.items() if key not in more)
    return alike and len(kept) == len(wanted) and all(kept[key] or not wanted[key] for key in more)


def _clear(source: str, place: Path) -> None:
    """Two caches of one source are one too many: the older goes."""
    for other in places(source):
        if other != place and other.is_file() and os.access(other.parent, os.W_OK):
            other.unlink(missing_ok=True)


def _hide_as(source: str, written: int) -> None:
    """Nobody may read the cache who may not read the source."""
    mode = stat.S_IMODE(os.stat(source).st_mode) & 0o666 | 0o600
    if hasattr(os, "fchmod"):
        os.fchmod(written, mode)
