"""The day or the week of each row, by a column of its stream."""

from __future__ import annotations

import math
import os
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError, SettingError, spelled
from noregret.stream.block import Block, Ints
from noregret.stream.opening import Input
from noregret.stream.times import at, clocks_of, column_of
from noregret.stream.written import DAY

PERIODS = ("day", "week")
FIRST = date(1970, 1, 1)  # a Thursday


def zone_of(name: str) -> ZoneInfo:
    """The time zone of that name."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise SettingError(
            f"{spelled('time_zone')} must be a time zone such as UTC or Europe/Paris, got {name!r}"
        ) from None


class Calendar:
    """Says of every row of a stream in which day or week it lies, counted from 1970; weeks begin on Monday.

    The day is that of the clock which the cell shows, UTC where it states no zone; or that of a `zone`.
    """

    def __init__(self, path: str, column: str, period: str, zone: str | None = None) -> None:
        if not os.path.isfile(path) or not Input(path).rereadable:
            raise SettingError(f"{spelled('time')} reads the table twice: give one file; got {path}")
        self._period, self._column = period, column
        instants, clocks = clocks_of(column_of(path, column))
        self._clocks = clocks if zone is None else _shown_in(zone_of(zone), instants)

    def of(self, block: Block) -> Ints:
        """The how-manieth day or week each row lies in."""
        shown = at(self._clocks, block, math.nan)
        missing = np.isnan(shown)
        if missing.any():
            line = int(block.lines[int(missing.argmax())])
            raise InputError(f"column {self._column!r} has no date in this row", block.source, line)
        days: NDArray[np.int64] = np.floor_divide(shown.astype(np.int64), DAY)
        return days if self._period == "day" else np.floor_divide(days + 3, 7)

    def in_order(self, block: Block, last: int | None) -> Ints:
        """The same of rows behind one that lay in `last`: a row of an earlier day or week is an error."""
        keys = self.of(block)
        early = np.flatnonzero(np.diff(np.concatenate([[keys[0] if last is None else last], keys])) < 0)
        if len(early):
            sentence = "the time of this row is before that of the row before: sort by time"
            raise InputError(sentence, block.source, int(block.lines[int(early[0])]))
        return keys


def first_day(period: str, place: int) -> str:
    """The first day of a day or a week, as it is written.

    >>> first_day("week", 2817), first_day("day", 19723)
    ('2023-12-25', '2024-01-01')
    """
    return (FIRST + timedelta(days=place if period == "day" else 7 * place - 3)).isoformat()


def _shown_in(zone: ZoneInfo, instants: dict[tuple[str, int], float]) -> dict[tuple[str, int], float]:
    """What a clock in that zone shows, in microseconds."""
    start = datetime(1970, 1, 1, tzinfo=UTC)
    found = {}
    for key, instant in instants.items():
        off = (start + timedelta(microseconds=instant)).astimezone(zone).utcoffset()
        assert off is not None
        found[key] = instant + off.total_seconds() * 1e6
    return found
