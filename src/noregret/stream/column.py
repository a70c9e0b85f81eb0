"""What a column of a table becomes, and how its first cells tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError, spelled
from noregret.stream.block import Ints
from noregret.stream.cells import Strings, is_missing
from noregret.stream.written import (
    DAY,
    EPOCH,
    HOUR,
    MARKS,
    NOT_THERE,
    ORDER_WORDS,
    ORDERS,
    Mark,
    Order,
    amounts,
    instants,
    is_plain,
)

What = Literal["number", "category", "text", "date", "left out"]
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


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
    """Columns and their kinds as they were written down; a ValueError for anything else."""
    if not isinstance(stored, Mapping) or not all(isinstance(name, str) for name in stored):
        raise SettingError("the columns must be names with what becomes of each")
    return {name: Kind.of(kind) for name, kind in stored.items()}


LOOKED_AT = 1000
WORDS, HALF = 3.0, 0.5  # free text: words a cell, and the share of distinct cells
ENOUGH, NEARLY_ALL = 50, 0.9  # an identity: rows, and the share of distinct cells
CLASSES = 20  # more amounts than this as labels are numbers and no names of classes
EXAMPLE = 40

Asked = Literal["", "numeric", "date", "keep", "label"]  # what somebody said of a column


@dataclass(frozen=True, slots=True)
class Decision:
    """What a column becomes, and the line about it where it is not what anybody would expect."""

    kind: Kind
    line: str | None = None


class Cells:
    """The cells of a column that are not missing, and what they could be."""

    def __init__(self, cells: Iterable[str]) -> None:
        self.all = [cell for cell in cells if not is_missing(cell)]
        self._strings: Strings | None = None

    @property
    def strings(self) -> Strings:
        if self._strings is None:
            self._strings = Strings.of(self.all)
        return self._strings

    @cached_property
    def digits(self) -> bool:
        """Whether the first cell could be a number or a date: most columns of words need no closer look."""
        return any(c.isdigit() for c in self.all[0]) if self.all else False

    @cached_property
    def plain(self) -> bool:
        return all(map(is_plain, self.all))

    @cached_property
    def distinct(self) -> int:
        return len(set(self.all))

    @cached_property
    def misfits(self) -> dict[Mark, int]:
        """How many cells are not numbers with this decimal mark."""
        return {mark: len(amounts(self.strings, mark)[1]) for mark in MARKS}

    @cached_property
    def undated(self) -> dict[Order, int]:
        """How many cells are not dates in this order."""
        return {order: len(instants(self.strings, order)[2]) for order in ORDERS}

    @property
    def marks(self) -> list[Mark]:
        """The decimal marks with which every cell is a number."""
        return [mark for mark in MARKS if not self.misfits[mark]] if self.digits else []

    @property
    def orders(self) -> list[Order]:
        """The orders in which every cell is a date; none where all are bare digits, which are numbers first."""
        if not self.digits or self.all[0].strip().isdigit():
            return []
        fitting = [order for order in ORDERS if not self.undated[order]]
        return fitting[:1] if "ymd" in fitting else fitting

    @property
    def says_comma(self) -> bool:
        return self.marks == ["comma"]


def decide(
    columns: Mapping[str, Iterable[str]],
    asked: Mapping[str, Asked],
    *,
    semicolons: bool = False,
    typed: bool = False,
    closely: bool = True,
) -> dict[str, Decision]:
    """What becomes of each column, from its first cells.

    A comma that could part thousands or decimals, as in 1,234, is a decimal comma in a file that is separated by
    semicolons or has another column with decimal commas. In a `typed` table numbers are numbers already, and text that
    looks like plain numbers was meant as text. Not `closely`, a column of which nobody said anything is a number or a
    category.

    >>> found = decide({"price": ["$1,200.50", "$7"], "day": ["2024-01-31", "2024-02-01"]}, {})
    >>> str(found["price"].kind), str(found["day"].kind)
    ('number with decimal point', 'date ymd since 2024-01-31')
    """
    looked = {name: Cells(cells) for name, cells in columns.items()}
    speaks_comma = closely and any(cells.says_comma for cells in looked.values())
    preferred: Mark = "comma" if semicolons or speaks_comma else "point"
    found = {}
    for name, cells in looked.items():
        said = asked.get(name, "")
        if closely or said in ("numeric", "date"):
            found[name] = _decided(name, cells, said, preferred, speaks_comma, typed)
        else:
            found[name] = Decision(NUMBER if cells.plain and not typed and said != "label" else CATEGORY)
        if typed and found[name].kind == NUMBER:  # nothing but nulls
            found[name] = Decision(CATEGORY)
    return found


def still_open(first: Mapping[str, tuple[str, Asked]], semicolons: bool = False) -> list[str]:
    """The columns that their first cell does not decide as `decide` does, unless a later cell is then refused.

    Numbers that were declared have the decimal mark of the first cell, or the usual one. Dates that were declared may
    turn out to have hours, unless the first has. A label that is a plain number stays one, and so does a word.

    >>> still_open({"price": ("3,50", "numeric"), "day": ("2024-01-31", "date"), "label": ("yes", "label")})
    ['day']
    """
    looked = {name: (Cells([cell]), asked) for name, (cell, asked) in first.items()}
    comma = semicolons or any(cells.says_comma for cells, _ in looked.values())
    return [name for name, (cells, asked) in looked.items() if not _decides(cells, asked, comma)]


def _decides(cells: Cells, asked: Asked, comma: bool) -> bool:
    if asked == "date" and cells.all:
        dates = _date("", cells).kind.dates
        return dates is not None and dates.hours and not cells.undated[dates.order]
    if asked == "label" and cells.all:
        return not cells.marks or (cells.plain and not comma)
    return asked == "numeric"


def _decided(name: str, cells: Cells, asked: Asked, preferred: Mark, speaks_comma: bool, typed: bool) -> Decision:
    if asked == "date":
        found = _date(name, cells)
        return Decision(found.kind) if not found.kind.dates or found.kind.dates.order == "ymd" else found
    number = _number(name, cells, asked, preferred, speaks_comma, typed)
    if asked == "numeric":  # written in any way, also where the first rows are plain
        return number or _forced_number(cells, preferred)
    if asked == "label":
        return Decision(CATEGORY) if number is None or cells.distinct <= CLASSES else number
    if number is not None:
        return number
    if len(cells.orders) == 1:
        return _date(name, cells)
    return _words(name, cells, asked == "keep")


def _number(name: str, cells: Cells, asked: Asked, preferred: Mark, speaks_comma: bool, typed: bool) -> Decision | None:
    """Numbers, however they are written; None where some cell is none."""
    if cells.plain and not typed and asked != "numeric":
        if not speaks_comma or "comma" not in cells.marks:
            return Decision(NUMBER)
        if not any("." in cell for cell in cells.all):
            return Decision(COMMA)
    marks = cells.marks
    if not marks or (typed and cells.plain and asked != "numeric"):
        return None
    mark = marks[0] if len(marks) == 1 else preferred
    example, doubt = _example(cells, mark)
    line = f"column {name!r} holds numbers such as {example}{doubt}"
    line = f"label: {line}" if asked == "label" else f"numeric: {line} ({_override('categorical', name)})"
    expected = asked == "numeric" and (cells.plain or not doubt)
    return Decision(POINT if mark == "point" else COMMA, None if expected else line)


def _forced_number(cells: Cells, preferred: Mark) -> Decision:
    """Not all cells are numbers, but that is what they were said to be: reading on says which is not."""
    point, comma = (cells.misfits[mark] if cells.all else 0 for mark in MARKS)
    mark = preferred if point == comma else "point" if point < comma else "comma"
    return Decision(POINT if mark == "point" else COMMA)


def _example(cells: Cells, mark: Mark) -> tuple[str, str]:
    """An amount and what it is read as, and what else it could be."""
    example = max(cells.all[:LOOKED_AT], key=lambda cell: sum(not c.isdigit() for c in cell.strip()))
    others = [one for one in cells.marks if one != mark]
    value, *other = (float(amounts(Strings.of([example]), one)[0][0]) for one in (mark, *others))
    doubt = f", though it could be {other[0]:.15g}" if other and other[0] != value else ""
    return f"{_shown(example)}, read as {value:.15g}", doubt


def _date(name: str, cells: Cells) -> Decision:
    """Dates; where either may be day or month, the month first."""
    misfits: dict[Order, int] = cells.undated if cells.all else dict.fromkeys(ORDERS, 0)
    order: Order = min(("ymd", "mdy", "dmy"), key=misfits.__getitem__)
    found, clocks, _ = instants(cells.strings, order)
    there = np.flatnonzero(found != NOT_THERE)
    hours = bool((clocks[there] % DAY != 0).any())
    dates = Dates(order, int(found[there[0]]) if len(there) else 0, hours)
    return dated(name, dates, f" (read as {ORDER_WORDS[order]})" if order != "ymd" else "")


def dated(name: str, dates: Dates, how: str = "") -> Decision:
    """A column of dates, with the line about it."""
    features = ", the weekday and the hour" if dates.hours else " and the weekday"
    said = f"date: column {name!r} holds dates{how}: days since {dates.since}{features}"
    return Decision(Kind("date", dates=dates), f"{said} ({_override('categorical', name)})")


def _words(name: str, cells: Cells, keep: bool) -> Decision:
    """Text, an identity or a category."""
    count = len(cells.all)
    if not count:
        return Decision(NUMBER)
    if len(cells.orders) > 1:
        return _category(name, "may hold dates, but either day or month may come first", "date")
    if cells.distinct >= HALF * count and sum(len(cell.split()) for cell in cells.all) >= WORDS * count:
        said = "is free text, hashed by word"
        return Decision(TEXT, f"text: column {name!r} {said} ({_override('categorical', name)})")
    numbers = sum(map(is_plain, cells.all)) if cells.digits or cells.distinct > NEARLY_ALL * count else 0
    if numbers == count:
        return _category(name, "is text that looks like numbers", "numeric")
    if numbers > NEARLY_ALL * count:
        other = next(cell for cell in cells.all if not is_plain(cell))
        return _category(name, f"holds numbers, but also {_shown(other)}", "ignore")
    nearly = _nearly(cells)
    if nearly is not None:
        return _category(name, f"holds {nearly[0]}, but also {_shown(nearly[1])}", "ignore")
    spaces = any(len(cell.split()) > 1 for cell in cells.all)
    if count >= ENOUGH and cells.distinct > NEARLY_ALL * count and not spaces and 2 * numbers < count and not keep:
        said = "is different in nearly every row"
        return Decision(LEFT_OUT, f"left out: column {name!r} {said} ({_override('keep', name)})")
    return Decision(CATEGORY)


def _category(name: str, said: str, option: str) -> Decision:
    """A category that could have been meant otherwise."""
    return Decision(CATEGORY, f"categorical: column {name!r} {said}: taken as a category ({_override(option, name)})")


def _nearly(cells: Cells) -> tuple[str, str] | None:
    """What nearly every cell is, a written amount or a date, with the first cell that is not; None where none is."""
    count = len(cells.all)
    if sum(any(c.isdigit() for c in cell) for cell in cells.all) <= NEARLY_ALL * count:
        return None
    amiss = [("amounts", amounts(cells.strings, mark)[1]) for mark in MARKS]
    amiss += [("dates", instants(cells.strings, order)[2]) for order in ORDERS]
    what, wrong = min(amiss, key=lambda one: len(one[1]))
    return (what, cells.all[int(wrong[0])]) if 0 < len(wrong) < (1.0 - NEARLY_ALL) * count else None


def _override(option: str, name: str) -> str:
    """The setting that decides otherwise."""
    return f"override: {spelled(option, columns=[name])}"


def _shown(cell: str) -> str:
    cell = cell.strip()
    return repr(cell if len(cell) <= EXAMPLE else f"{cell[: EXAMPLE - 1]}…")


def label_line(name: str) -> str:
    return f"label: column {name!r} holds the label (override: {spelled('label', 'COLUMN')})"
