"""One column of a log by itself, and its cells matched by line with rows that are read elsewhere."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from noregret.errors import InputError
from noregret.stream.base import Stream
from noregret.stream.block import Ints
from noregret.stream.features import Features
from noregret.stream.formats.delimited import Delimited
from noregret.stream.opening import Input
from noregret.stream.reading import Settings, read
from noregret.stream.task import LabelTokens


class _Written(Delimited):
    """One column of delimited text as it is written, numbers or not."""

    def _label_tokens(self) -> LabelTokens:
        return LabelTokens(self.source, False, numeric=False)


def column(log: Any, name: str) -> Stream:
    """One column of a log, handed over as its labels, missing ones and all."""
    none = Features("names")  # frozen, it leaves all other columns out
    stream = read(log, label=name, features=none, frozen=True)
    if isinstance(stream, Delimited):
        stream = _Written(Input(os.fspath(log)), Settings(label=name, features=none, frozen=True))
    stream.missing = None
    return stream


class Beside:
    """What stands in a column on given lines, which only go forward."""

    def __init__(self, stream: Stream) -> None:
        self._source = stream.source
        self._blocks = stream.blocks()
        self._lines: Ints = np.empty(0, np.int64)
        self._cells: list[Any] = []

    def at(self, lines: Ints) -> list[Any]:
        while not len(self._lines) or self._lines[-1] < lines[-1]:
            block = next(self._blocks, None)
            if block is None:
                raise self._changed(int(lines[-1]))
            self._lines = np.concatenate([self._lines, block.lines])
            self._cells += block.labels.tolist()
        places = np.searchsorted(self._lines, lines)
        if not np.array_equal(self._lines[places], lines):
            raise self._changed(int(lines[0]))
        found = [self._cells[place] for place in places.tolist()]
        self._lines, self._cells = self._lines[places[-1] + 1 :], self._cells[places[-1] + 1 :]
        return found

    def _changed(self, line: int) -> InputError:
        return InputError("the log changed while it was being read", self._source, line)
