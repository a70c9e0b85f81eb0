"""When labels come: after a fixed number of rounds, or by a column that says when.

A stream with all its labels is played as if they came late: each row is predicted in the order of the stream, and
learned when its label is there. Labels that are still out at the end come then, in their order.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError, SettingError, spelled
from noregret.stream.base import Stream
from noregret.stream.block import Block
from noregret.stream.times import at, column_of, numbers_of

Vector = NDArray[np.float64]
Rounds = Iterable[tuple[Block, Vector, Vector | None]]  # blocks with their labels as codes, and weights


class Schedule(Protocol):
    """When rows are predicted and when their labels are there; one that is there at an instant is before the next."""

    def times(self, block: Block, first: int) -> tuple[Vector, Vector]:
        """Both for each row of a block, `first` rows after the beginning; inf for a label that never comes."""


class Delay:
    """Every label comes when this many further rows were predicted."""

    def __init__(self, rounds: int) -> None:
        if type(rounds) is not int or rounds < 0:
            raise SettingError(f"{spelled('delay')} must be a whole number of at least 0, got {rounds!r}")
        self.rounds = rounds

    def times(self, block: Block, first: int) -> tuple[Vector, Vector]:
        now = np.arange(first, first + len(block), dtype=np.float64)
        return now, now + self.rounds


class Arrival:
    """A column says when the label comes: behind which row, or at what time, if another has the times of the rows.

    An empty cell is a label that never comes.
    """

    def __init__(self, arrivals: Stream, rows: Stream | None = None) -> None:
        self._arrivals, dates = numbers_of(arrivals)
        self._rows: dict[tuple[str, int], float] | None
        self._rows, others = (None, False) if rows is None else numbers_of(rows)
        if dates is not others:
            if rows is None:
                time = spelled("time", "COLUMN", python="time_column=")
                raise SettingError(
                    f"{spelled('arrival')} holds dates: name the column with the time of each row, {time}"
                )
            raise SettingError("one of the two columns with times holds dates, the other numbers")

    def times(self, block: Block, first: int) -> tuple[Vector, Vector]:
        comes = at(self._arrivals, block, math.inf)
        if self._rows is None:  # row 1 is at place 0
            return np.arange(first, first + len(block), dtype=np.float64), comes - 1.0
        now = at(self._rows, block, math.nan)
        if np.isnan(now).any():
            line = int(block.lines[np.isnan(now).argmax()])
            raise InputError("the time of the row is missing", block.source, line)
        before = np.nextafter(comes, -math.inf)  # what comes at the time of a row is known to it
        return now, np.where(np.isinf(comes), comes, before)


def arrival(path: str, column: str, time: str | None, **reading: Any) -> Arrival:
    """The schedule of a column of a table, and of another with the times of the rows."""
    return Arrival(column_of(path, column, **reading), None if time is None else column_of(path, time, **reading))


@dataclass(frozen=True, slots=True)
class Due:
    """What comes next: a row of a block to be predicted, or the label of an earlier place."""

    place: int
    block: Block | None  # None for a label
    row: int
    y: float
    weight: float


def due(rounds: Rounds, when: Schedule) -> Iterator[Due]:
    """Predictions and labels in their order; rows of weight 0 are no rounds."""
    before, coming = 0, list[tuple[float, int, float]]()
    latest = -math.inf
    for block, y, weights in rounds:
        now, comes = when.times(block, before)
        for row in range(len(block)):
            weight = 1.0 if weights is None else float(weights[row])
            if weight == 0.0:
                continue
            if now[row] < latest:
                raise InputError(
                    "the time of this row is before that of the row before: sort by time",
                    block.source,
                    int(block.lines[row]),
                )
            latest = float(now[row])
            while coming and coming[0][0] < latest:
                yield _label(coming)
            yield Due(before + row, block, row, float(y[row]), weight)
            if comes[row] < math.inf:  # no label comes before its own row
                heapq.heappush(
                    coming, (max(float(comes[row]), math.nextafter(latest, -math.inf)), before + row, y[row])
                )
        before += len(block)
    while coming:
        yield _label(coming)


def _label(coming: list[tuple[float, int, float]]) -> Due:
    _, place, y = heapq.heappop(coming)
    return Due(place, None, 0, float(y), 1.0)
