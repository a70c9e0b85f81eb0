"""What a column of a table becomes: the part of a recipe that speaks of one column, and how it is written down.

`number`: one feature. `number with decimal point` or `… comma`: one feature, written as people write amounts.
`category` and `text` are hashed. `date ymd since 2024-01-31 with hours`: days since then, the weekday and the hour.
`left out`: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError
from noregret.stream.block import Ints

What = Literal["number", "category", "text", "date", "left out"]
Mark = Literal["point", "comma"]
Order = Literal["ymd", "dmy", "mdy"]
MARKS: tuple[Mark, ...] = ("point", "comma")
ORDERS: tuple[Order, ...] = ("ymd", "dmy", "mdy")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SECOND = 1_000_000
HOUR, DAY = 3600 * SECOND, 86400 * SECOND
NOT_THERE = int(np.iinfo(np.int64).min)  # the instant of a missing date
EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Dates:
    """How a column of dates is read, the instant its days are counted from, and whether it has hours.

    An instant is a number of microseconds since 1970; a clock is the same for what the clock on the wall shows.
    """

    order: Order
    origin: int
    hours: bool

    def names(self, column: str) -> list[str]:
        """The features that a column of dates becomes.

        >>> Dates("ymd", 0, False).names("day")[:2]
        ['day.days', 'day.weekday=Monday']
        """
        hours = [f"{column}.hour={hour}" for hour in range(24)] if self.hours else []
        return [f"{column}.days", *(f"{column}.weekday={day}" for day in WEEKDAYS), *hours]

    def values(self, instants: Ints, clocks: Ints) -> NDArray[np.float64]:
        """The numbers under those names, a row for each instant; of a missing one the days are NaN, the others 0."""
        there = np.flatnonzero(instants != NOT_THERE)
        found = np.zeros((len(instants), 32 if self.hours else 8))
        found[:, 0] = np.nan
        found[there, 0] = (instants[there] - self.origin) / DAY
        found[there, 1 + (clocks[there] // DAY + 3) % 7] = 1.0
        if self.hours:
            found[there, 8 + clocks[there] % DAY // HOUR] = 1.0
        return found

    @property
    def since(self) -> str:
        """The origin as it is written."""
        found = EPOCH + timedelta(microseconds=self.origin)
        return found.isoformat() if self.origin % DAY else found.date().isoformat()


_DATE = re.compile(r"date (ymd|dmy|mdy) since ([0-9T:.-]{10,26})( with hours)?")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a column becomes.

    >>> Kind.of("number with decimal comma").mark, str(Kind.of("date ymd since 2024-01-31"))
    ('comma', 'date ymd since 2024-01-31')
    """

    what: What
    mark: Mark | None = None  # the decimal mark of numbers that are not written as programs write them
    dates: Dates | None = None

    def __str__(self) -> str:
        if self.mark is not None:
            return f"number with decimal {self.mark}"
        if self.dates is not None:
            hours = " with hours" if self.dates.hours else ""
            return f"date {self.dates.order} since {self.dates.since}{hours}"
        return self.what

    @classmethod
    def of(cls, text: Any) -> Kind:
        """A kind as it was written down."""
        for kind in (NUMBER, POINT, COMMA, CATEGORY, TEXT, LEFT_OUT):
            if text == str(kind):
                return kind
        found = _DATE.fullmatch(text) if isinstance(text, str) else None
        try:
            if found is None:
                raise ValueError
            origin = (datetime.fromisoformat(found[2]) - EPOCH) // timedelta(microseconds=1)
        except (ValueError, TypeError):
            raise SettingError(f"there is no kind of column {text!r}") from None
        return cls("date", dates=Dates(found[1], origin, found[3] is not None))  # type: ignore[arg-type]

    @property
    def plain(self) -> bool:
        """Whether the column's cells are numbers as programs write them."""
        return self.what == "number" and self.mark is None

    @property
    def converted(self) -> bool:
        """Whether the column's cells are text that numbers are made of."""
        return self.mark is not None or self.dates is not None

    @property
    def hashed(self) -> bool:
        return self.what in ("category", "text")

    def names(self, column: str) -> list[str]:
        """The features under names of their own that the column becomes."""
        return self.dates.names(column) if self.dates else [column] if self.what == "number" else []


NUMBER, POINT, COMMA = Kind("number"), Kind("number", "point"), Kind("number", "comma")
CATEGORY, TEXT, LEFT_OUT = Kind("category"), Kind("text"), Kind("left out")


def kinds_of(stored: Mapping[Any, Any]) -> dict[str, Kind]:
    """Columns and their kinds as they were written down; a ValueError for what is no such thing."""
    if not isinstance(stored, Mapping) or not all(isinstance(name, str) for name in stored):
        raise SettingError("the columns must be names with what becomes of each")
    return {name: Kind.of(kind) for name, kind in stored.items()}
