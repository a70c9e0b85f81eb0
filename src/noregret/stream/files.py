"""Several files as one stream: those that a pattern such as `logs/*.csv` matches, or all that a folder holds.

They are read one after another, sorted by name with numbers as numbers: part-2 comes before part-10. In a folder, files
whose names begin with `.` or `_` are not parts, nor are those below a folder of such a name, nor caches. Columns are
recognised in the first part, and later ones are read by its recipe. Errors name the part and its line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from glob import glob, has_magic
from pathlib import Path, PurePath

from noregret.errors import EmptyError, InputError
from noregret.stream import store
from noregret.stream.base import Stream
from noregret.stream.block import Block
from noregret.stream.cache import CACHE_ENDING
from noregret.stream.features import Features
from noregret.stream.opening import Input
from noregret.stream.scheme import is_store, scheme_of

Open = Callable[[str, Features | None], Stream]  # a part, by the recipe of those before if there are any


def files_of(path: str) -> list[str] | None:
    """The files that a pattern or a folder stands for, in order; None for one file or standard input."""
    if scheme_of(path) is not None:
        return _stored(path) if is_store(path) else None
    if os.path.isdir(path):
        found = [file for file in Path(path).rglob("*") if file.is_file() and _is_part(file.relative_to(path))]
        names = [str(file) for file in found]
        if not names:
            raise InputError("is a folder that holds no files to read", path)
    elif has_magic(path) and not os.path.lexists(path):
        names = [
            name for name in glob(path, recursive=True) if os.path.isfile(name) and not name.endswith(CACHE_ENDING)
        ]
        if not names:
            raise InputError("no file matches this pattern", path)
    else:
        return None
    return sorted(names, key=_order)


def _stored(path: str) -> list[str] | None:
    """The files of a folder in a store, in order; None for one file."""
    bare = store.shown(path)
    if has_magic(bare):
        raise InputError("a pattern must be of files of this machine: give the folder", bare)
    found = store.below(path)
    if found is None:
        return None
    names = [name for name in found if _is_part(PurePath(store.shown(name)).relative_to(bare))]
    if not names:
        raise InputError("is a folder that holds no files to read", bare)
    return sorted(names, key=_order)


def _is_part(path: PurePath) -> bool:
    return not any(name.startswith((".", "_")) for name in path.parts) and path.suffix != CACHE_ENDING


def _order(path: str) -> tuple[list[tuple[int, str]], str]:
    """A key by which numbers in names count as numbers.

    >>> sorted(["part-10.csv", "part-2.csv"], key=_order)
    ['part-2.csv', 'part-10.csv']
    """
    pieces = re.split(r"(\d+)", path)
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces], path


class Files(Stream):
    """The rows of several files, one after another."""

    def __init__(self, source: str, paths: list[str], open_part: Open) -> None:
        start, first = _look(paths, open_part)
        super().__init__(source, first.features, None)
        self.gapped, self.frozen = first.gapped, first.frozen
        self.decisions, self.columns = first.decisions, first.columns
        self.paths = paths[start:]
        self._open = open_part
        self._first: Stream | None = first  # looked into already
        self._sizes = [Input(path).size or 0 for path in self.paths]
        self._current: tuple[int, Stream] | None = None

    def _read(self) -> Iterator[Block]:
        for place, path in enumerate(self.paths):
            stream, self._first = self._first, None
            try:
                stream = self._open(path, self.features) if stream is None else stream
                self._current = place, stream
                yield from stream.blocks()
            except EmptyError:
                continue  # the last part of many may be

    def fraction(self) -> float | None:
        """By the sizes of the files."""
        whole = sum(self._sizes)
        if self._current is None or not whole:
            return None
        place, stream = self._current
        return min(1.0, (sum(self._sizes[:place]) + self._sizes[place] * (stream.fraction() or 0.0)) / whole)


def _look(paths: list[str], open_part: Open) -> tuple[int, Stream]:
    """The first part that is not empty, opened, and its place."""
    for place, path in enumerate(paths):
        try:
            return place, open_part(path, None)
        except EmptyError:
            if place == len(paths) - 1:
                raise
    raise AssertionError("there is at least one part")
