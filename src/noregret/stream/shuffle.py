"""Streams in another order, and streams made readable again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from noregret.stream.base import Stream
from noregret.stream.block import Block
from noregret.stream.memory import Arrays
from noregret.stream.rowfile import RowFile


class Permuted(Stream):
    """All rows of `rows` in one random order, each exactly once."""

    def __init__(self, rows: Arrays | RowFile, rng: np.random.Generator) -> None:
        super().__init__(rows.source, rows.features, None, length=rows.length)
        self.gapped = rows.gapped
        self._taken_from = rows
        self._order = rng.permutation(rows.length or 0)

    def _read(self) -> Iterator[Block]:
        size = self._taken_from.block_rows
        for start in range(0, len(self._order), size):
            yield self._taken_from.take(self._order[start : start + size])


def shuffled(stream: Stream, rng: np.random.Generator) -> Stream:
    """A full random permutation of the rows: arrays are taken from directly, others go through a row file.

    The order depends on the number of rows and on `rng` alone, so that every source of the same rows agrees.
    """
    return Permuted(reorderable(stream), rng)


def reorderable(stream: Stream) -> Arrays | RowFile:
    """The rows where any of them can be had at once: the arrays themselves, or else a row file."""
    if isinstance(stream, RowFile):
        return stream
    if isinstance(stream, Arrays) and not (stream.missing and stream.missing.rule == "skip"):
        return stream
    return RowFile(stream)


def rereadable(stream: Stream) -> Stream:
    """The stream itself when it can be read again, otherwise its rows in a row file."""
    return stream if stream.rereadable else RowFile(stream)
