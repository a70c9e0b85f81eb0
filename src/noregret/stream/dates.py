"""Dates and times as numbers: days since the first row, the weekday, and the hour where there are times of day.

Written as 2024-01-31, 2024/01/31, 31.01.2024, or with slashes or hyphens day or month first; behind it perhaps a time,
10:30, 10:30:15.25, 3:30 PM, and a zone, Z or +02:00. Days are counted between instants; weekday and hour are those of
the clock that the cell shows. Convention: an instant is a number of microseconds since 1970, without a zone in UTC.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.stream.block import Ints
from noregret.stream.hashing import Strings, written
from noregret.stream.kinds import DAY, HOUR, NOT_THERE, SECOND, Order
from noregret.stream.numbers import is_missing
from noregret.stream.shapes import Shape, shapes

ORDER_WORDS = {"ymd": "year, month, day", "dmy": "day, month, year", "mdy": "month, day, year"}

_CLOCK = (
    r"(?:[T ](?P<hour>0?0):(?P<minute>00)(?::(?P<second>00)(?:[.,](?P<part>0+))?)?(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?"
    r"\s?(?P<zone>Z|z|UTC|GMT|[+-]00(?::?00)?)?)?"
)
_YEAR_FIRST = re.compile((rf"\s*(?P<year>0000)(?P<mark>[-/.])(?P<month>0?0)(?P=mark)(?P<day>0?0){_CLOCK}\s*").encode())
_YEAR_LAST = re.compile((rf"\s*(?P<one>0?0)(?P<mark>[-/.])(?P<two>0?0)(?P=mark)(?P<year>0000){_CLOCK}\s*").encode())
_BARE = re.compile(rb"\s*(?P<bare>00000000|0000000000|0000000000000)\s*")  # YYYYMMDD; seconds, milliseconds since 1970


def instants(cells: Strings, order: Order) -> tuple[Ints, Ints, Ints]:
    """The instant of each cell and what its clock shows; and the places of the cells that are no dates, in order.

    >>> found, clock, wrong = instants(Strings.of(["1970-01-02T01:00+01:00", "", "soon"]), "ymd")
    >>> int(found[0]) // HOUR, int(clock[0]) // HOUR, wrong.tolist()
    (24, 25, [2])
    """
    if cells.codes is not None:
        found, clocks, wrong = instants(Strings(cells.data, cells.starts, cells.stops), order)
        there, codes = cells.codes >= 0, cells.codes
        if not len(found):
            found = clocks = np.full(1, NOT_THERE)
        places = np.flatnonzero(np.isin(codes, wrong))
        return np.where(there, found[codes], NOT_THERE), np.where(there, clocks[codes], 0), places
    found = np.full(len(cells.starts), NOT_THERE)
    clocks = np.zeros(len(cells.starts), dtype=np.int64)
    bad: list[Ints] = []
    for shape in shapes(cells):
        fits = _read(shape, order, found, clocks)
        bad.append(shape.places[~fits])
    return found, clocks, np.sort(np.concatenate([np.empty(0, dtype=np.int64), *bad]))


def _read(shape: Shape, order: Order, found: Ints, clocks: Ints) -> NDArray[np.bool_]:
    """Fill in the instants and clocks of a shape's cells; which of them are dates, or missing."""
    match = _YEAR_FIRST.fullmatch(shape.text) or _YEAR_LAST.fullmatch(shape.text)
    if match is None:
        bare = _BARE.fullmatch(shape.text)
        if bare is None:
            return np.full(len(shape.places), is_missing(shape.text.decode("utf-8", "replace")))
        return _read_bare(shape, bare.span("bare"), found, clocks)
    spans = {name: match.span(name) for name in match.groupdict() if match[name] is not None}
    if "one" in spans:
        if order == "ymd" or (order == "mdy" and match["mark"] == b"."):
            return np.zeros(len(shape.places), dtype=bool)
        spans["day"], spans["month"] = (spans["one"], spans["two"]) if order == "dmy" else (spans["two"], spans["one"])
    days, fits = _days(*(shape.whole(spans[part]) for part in ("year", "month", "day")))
    hour, minute, second = (
        shape.whole(spans[part]) if part in spans else np.zeros_like(days) for part in ("hour", "minute", "second")
    )
    if "half" in spans:
        fits &= (hour >= 1) & (hour <= 12)
        hour = hour % 12 + (12 if match["half"] in b"Pp" else 0)
    fits &= (hour < 24) & (minute < 60) & (second <= 60)
    clock = days * DAY + hour * HOUR + (minute * 60 + second) * SECOND + _fraction(shape, spans)
    clocks[shape.places] = np.where(fits, clock, 0)
    found[shape.places] = np.where(fits, clock - _offset(shape, spans), NOT_THERE)
    return fits


def _read_bare(shape: Shape, span: tuple[int, int], found: Ints, clocks: Ints) -> NDArray[np.bool_]:
    whole = shape.whole(span)
    fits = np.ones(len(whole), dtype=bool)
    if span[1] - span[0] == 8:
        days, fits = _days(whole // 10000, whole // 100 % 100, whole % 100)
        clock = days * DAY
    else:
        clock = whole * (SECOND if span[1] - span[0] == 10 else SECOND // 1000)
    clocks[shape.places] = np.where(fits, clock, 0)
    found[shape.places] = np.where(fits, clock, NOT_THERE)
    return fits


def _days(year: Ints, month: Ints, day: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Days since 1970, and which dates there are."""
    fits = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
    months = np.where(fits, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    first = months.astype("datetime64[D]").astype(np.int64)
    length = (months + 1).astype("datetime64[D]").astype(np.int64) - first
    return first + day - 1, fits & (day <= length)


def _fraction(shape: Shape, spans: dict[str, tuple[int, int]]) -> Ints | int:
    """Behind the second, in microseconds; further digits are dropped."""
    if "part" not in spans:
        return 0
    begin, end = spans["part"]
    kept = min(end - begin, 6)
    found: Ints = shape.whole((begin, begin + kept)) * 10 ** (6 - kept)
    return found


def _offset(shape: Shape, spans: dict[str, tuple[int, int]]) -> Ints | int:
    """How far the zone is ahead of UTC."""
    if "zone" not in spans or shape.text[spans["zone"][0]] not in b"+-":
        return 0
    begin, end = spans["zone"]
    minutes = shape.whole((begin + 1, begin + 3)) * 60
    if end > begin + 3:
        minutes = minutes + shape.whole((end - 2, end))
    return minutes * 60 * SECOND * (-1 if shape.text[begin] == ord("-") else 1)


def as_written(value: Any) -> str | None:
    """A date of Python's, pandas' or NumPy's own as it would stand in a file; text as it is.

    >>> as_written(date(2024, 1, 31))
    '2024-01-31'
    """
    if isinstance(value, date):  # also a datetime, and a time stamp of pandas; NaT is one too
        return None if value != value else value.isoformat()
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else str(value)
    return written(value)
