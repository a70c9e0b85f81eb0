"""Rows that a learner has learned from before, told by the digests that it keeps: passed over, or refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from noregret.digest import Digest
from noregret.errors import InputError, SettingError, spelled
from noregret.learner.core import Core, Segment
from noregret.stream.block import Block

Vector = NDArray[np.float64]
# what a stream holds when it is played in this number of passes, in the order of a seed: blocks, labels, weights
Again = Callable[[int, int | None], Iterator[tuple[Block, Vector, Vector | None]]]


def _skip() -> str:
    return spelled("skip", "seen", python="skip_seen=True")


class Seen:
    """The rows that a learner was given before in the stream it goes on with: checked by digest, then passed over."""

    def __init__(self, core: Core) -> None:
        told = [segment for segment in core.segments if segment["digest"] is not None]
        if not told:
            raise SettingError(f"{_skip()} needs a digest of the rows that the model saw; it holds none")
        starts = [i for i, segment in enumerate(told) if not segment["skipped"]]
        self._left = list(told[starts[-1] :])
        ends = [segment["end"] for segment in self._left]
        if [*(segment["begin"] for segment in self._left[1:]), core.rounds] != ends:
            raise SettingError(
                f"{_skip()} needs a digest of every row that the model saw; some were played without one"
            )
        self._digest = Digest()
        self.rows = 0

    def rest(self, block: Block, y: Vector, weights: Vector | None) -> int:
        """How many rows at the head of the block were seen before."""
        start = 0
        while self._left and start < len(block):
            stop = min(len(block), start + self._left[0]["rows"] - self._digest.rows)
            part = None if weights is None else weights[start:stop]
            self._digest.update(block.rows.slice(start, stop), y[start:stop], part)
            if self._digest.rows == self._left[0]["rows"]:
                self._close(block.source, int(block.lines[stop - 1]))
            start = stop
        self.rows += start
        return start

    def _close(self, source: str, line: int) -> None:
        if self._digest.hexdigest() != self._left.pop(0)["digest"]:
            raise InputError("the rows up to here are not those that the model has seen", source, line)
        self._digest = Digest()

    def finish(self, source: str) -> None:
        if self._left:
            seen = self.rows + sum(segment["rows"] for segment in self._left) - self._digest.rows
            raise InputError(f"holds only {self.rows} rows, the model has seen {seen}", source)


class Repeats:
    """Refuses rows that a learner was given before: a stream that begins with all the rows of an earlier call."""

    def __init__(self, core: Core, source: str) -> None:
        self._source = source
        self._digested = [segment for segment in core.segments if segment["digest"] is not None]
        starts = [segment for segment in self._digested if not segment["skipped"]]
        self._last = starts[-1] if starts else None  # the one that `skip_seen` begins with

    def update(self, digest: Digest, block: Block, y: Vector, weights: Vector | None) -> None:
        """Take the rows into the digest, and look at it wherever an earlier call has ended."""
        before, start = digest.rows, 0
        ends = {segment["rows"] - before for segment in self._digested}
        for stop in sorted({end for end in ends if 0 < end <= len(block)} | {len(block)}):
            part = None if weights is None else weights[start:stop]
            digest.update(block.rows.slice(start, stop), y[start:stop], part)
            found = digest.hexdigest() if stop in ends else None
            for segment in self._digested:
                if segment["rows"] == digest.rows and segment["digest"] == found:
                    raise self._refused(segment, f"the first {digest.rows:,} rows")
            start = stop

    def over(self, rows: int) -> bool:
        """Whether the first `rows` cannot be refused any more, whatever comes."""
        once = all((segment.get("passes", 1), segment.get("shuffle")) == (1, None) for segment in self._digested)
        return once and all(rows > segment["rows"] for segment in self._digested)

    def finish(self, rows: int, how: tuple[int, int | None], again: Again) -> None:
        """The stream has ended after `rows` a pass: look whether an earlier call played it in another way."""
        for segment in self._digested:
            other = segment.get("passes", 1), segment.get("shuffle")
            if other != how and segment["rows"] == other[0] * rows and not segment["skipped"]:
                digest = Digest()
                for block, y, weights in again(*other):
                    digest.update(block.rows, y, weights)
                if digest.hexdigest() == segment["digest"]:
                    raise self._refused(segment, "these rows")

    def _refused(self, segment: Segment, which: str) -> InputError:
        once_more = spelled("again", python="again=True")
        skip = f", or {_skip()} to continue after them"
        return InputError(
            f"the model has already learned from {which}: use {once_more} to learn from them once more"
            f"{skip if segment is self._last else ''}",
            self._source,
        )
