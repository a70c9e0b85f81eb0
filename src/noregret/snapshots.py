"""When a learner is to be saved while it plays."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret.stream.block import Block

Vector = NDArray[np.float64]


@dataclass
class Snapshots:
    """Calls `take` while a learner plays: after every `rows` rows, or after the block in which `seconds` have passed.

    The learner is then what it would be had the stream ended there, so that it can be saved and gone on with.
    """

    take: Callable[[], object]
    rows: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        self._played, self._last = 0, time.monotonic()

    @property
    def left(self) -> int | None:
        return None if self.rows is None else self.rows - self._played

    def due(self, rows: int) -> bool:
        """Whether it is time, after these rows."""
        self._played += rows
        now = time.monotonic()
        due = self.left == 0 or (self.seconds is not None and now - self._last >= self.seconds)
        if due:
            self._played, self._last = 0, now
        return due

    def parts(self, rounds: Iterator[tuple[int, Block, Vector]]) -> Iterator[tuple[int, Block, Vector]]:
        """The blocks, cut where a snapshot is due."""
        for turn, block, y in rounds:
            start = 0
            while self.left is not None and self.left < len(block) - start:
                stop = start + self.left
                yield turn, block.slice(start, stop), y[start:stop]
                start = stop
            yield (turn, block.slice(start, len(block)), y[start:]) if start else (turn, block, y)
