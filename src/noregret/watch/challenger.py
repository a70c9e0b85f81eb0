"""A challenger: a saved model that stays as it is, and says of every row what it would have predicted.

Its features are those of its own file. Where the stream has the same it scores the rows as they are played; another
file is read a second time, by the challenger's own recipe, in step with the first reading.
"""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from noregret import model
from noregret.errors import InputError, SettingError
from noregret.learner.core import Core
from noregret.protocol import as_before
from noregret.stream import read
from noregret.stream.base import Stream
from noregret.stream.block import Block, Ints
from noregret.stream.features import Features

Vector = NDArray[np.float64]


class Challenger:
    """The model of a file beside another learner, which plays; the labels mean what they mean in its own file."""

    def __init__(self, path: str, core: Core) -> None:
        self.path = path
        self.core, _ = model.load(path)
        self.seal = (model.seal(path) or b"").hex()
        self._again: _Again | None = None
        ours, theirs = _task(core), _task(self.core)
        if ours != theirs:
            raise SettingError(f"{path}: the challenger must predict {ours} as the learner does; it predicts {theirs}")
        if self.core.needs_past:
            raise SettingError(f"{path}: a challenger must not change, and this one needs the labels of earlier rounds")

    def go_beside(self, stream: Stream, *, shuffled: bool = False) -> None:
        """See how it is to score the rows of this stream; a sentence where it cannot."""
        self._again = None
        own = self.core.features
        if own is None or _alike(own, stream.features):
            return
        if not stream.rereadable or not os.path.isfile(stream.source):
            raise SettingError(
                f"{self.path}: the challenger reads columns in another way than the learner, so the rows are read"
                f" twice: give one file; got {stream.source}"
            )
        if shuffled:
            raise SettingError(
                f"{self.path}: the challenger reads columns in another way than the learner, so the rows must keep"
                " their order: leave out shuffle"
            )
        before = {key: value for key, value in as_before(self.core, stream.source).items() if key == "missing"}
        self._again = _Again(read(stream.source, features=own, frozen=True, labels=False, **before))

    def scores(self, block: Block) -> Vector:
        """Its score of every row of a block of the stream; of many classes a column for each. Blocks go forward."""
        if self._again is None:
            return self.core.scores(block.rows)
        return np.concatenate([self.core.scores(part.rows) for part in self._again.at(block)])

    def labels(self, block: Block) -> Vector:
        """The labels of a block as its codes."""
        if self.core.labels is None:
            return np.ascontiguousarray(block.labels, dtype=np.float64)
        found = self.core.labels.encode(block)
        if found is None:
            raise InputError(
                f"the challenger {self.path} has not seen which of two labels is positive",
                block.source,
                int(block.lines[0]),
            )
        return found


class _Again:
    """The rows of a file, read a second time, on given lines, which only go forward."""

    def __init__(self, stream: Stream) -> None:
        self._blocks = stream.blocks()
        self._block: Block | None = None

    def at(self, block: Block) -> list[Block]:
        """The rows that stand on the lines of a block, in their order."""
        wanted: Ints = block.lines
        found = []
        while len(wanted):
            if self._block is None or self._block.lines[-1] < wanted[0]:
                self._block = next(self._blocks, None)
                if self._block is None:
                    raise self._missing(block, wanted)
                continue
            here = wanted[wanted <= self._block.lines[-1]]
            places = np.searchsorted(self._block.lines, here)
            if not np.array_equal(self._block.lines[places], here):
                raise self._missing(block, here)
            found.append(self._block.take(places.astype(np.int64)))
            wanted = wanted[len(here) :]
        return found

    def _missing(self, block: Block, wanted: Ints) -> InputError:
        return InputError("the challenger cannot read this row, or the file has changed", block.source, int(wanted[0]))


def _task(core: Core) -> str:
    return "numbers" if core.regression else "many classes" if core.multiclass else "two classes"


def _alike(ours: Features, theirs: Features) -> bool:
    """Whether equal rows have equal features under both, without a second look at the file."""
    if ours.kind == theirs.kind == "index":
        return True
    if ours.kind == theirs.kind == "columns":
        return ours.width == theirs.width
    return ours.kind == theirs.kind and ours.same_recipe(theirs)
