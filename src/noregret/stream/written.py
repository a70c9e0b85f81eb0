"""Numbers and dates as people write them.

Two ways of writing a number: with a decimal point, 1,234,567.8 or 1 234.5 or 1'234; with a decimal comma, 1.234.567,8
or 1 234,5; perhaps with a percent or currency sign, and (5) for −5. It is taken as written: 12.5 % is 12.5, $3 is 3.

Dates: 2024-01-31, 2024/01/31, 31.01.2024, or with slashes or hyphens day or month first; behind it perhaps a time,
10:30, 10:30:15.25, 3:30 PM, and a zone, Z or +02:00. Days are counted between instants; weekday and hour are those of
the clock that the cell shows. Convention: an instant is a number of microseconds since 1970, without a zone in UTC.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noregret.stream.block import Ints
from noregret.stream.cells import Pattern, Strings, as_text, is_missing, number, patterns

Mark = Literal["point", "comma"]
Order = Literal["ymd", "dmy", "mdy"]
MARKS: tuple[Mark, ...] = ("point", "comma")
ORDERS: tuple[Order, ...] = ("ymd", "dmy", "mdy")
SECOND = 1_000_000
HOUR, DAY = 3600 * SECOND, 86400 * SECOND
NOT_THERE = int(np.iinfo(np.int64).min)  # the instant of a missing date
EPOCH = datetime(1970, 1, 1)


EXACT = 15  # digits that fit in a float64, as a power of ten up to 22 does: then a quotient is rounded once

_SPACE = "(?:[ ]|\u00a0|\u202f)"
_CURRENCY = "[$]|€|£|¥"
_SIGN = "[-+]|\u2212"


@cache  # compiled when it is needed: a start without it is some milliseconds shorter
def _grammar(decimal: Mark) -> re.Pattern[bytes]:
    """The patterns of numbers with this decimal mark, digits being 0."""
    mark, other = ".," if decimal == "point" else ",."
    groups = f"0{{1,3}}(?P<between>[{other}'’]|{_SPACE})000(?:(?P=between)000)*"
    digits = f"(?P<whole>{groups}|0+)?(?:[{mark}](?P<part>0*))?(?P<power>[eE][-+]?0+)?"
    before = f"(?P<minus>{_SIGN})?(?P<money>{_CURRENCY})?{_SPACE}?(?P<late>{_SIGN})?"
    behind = f"{_SPACE}?(?:%|(?P<behind>{_CURRENCY}))?"
    written = f"{_SPACE}*(?P<open>[(])?{before}{digits}{behind}(?P<close>[)])?{_SPACE}*"
    return re.compile(_in_bytes(written))


def _in_bytes(grammar: str) -> bytes:
    """A pattern over UTF-8: letters of several bytes stand in no class."""
    return re.sub(r"\[([^]]*’)\]", lambda found: f"(?:[{found[1][:-1]}]|’)", grammar).encode()


def amounts(cells: Strings, mark: Mark) -> tuple[NDArray[np.float64], Ints]:
    """The number of each cell, NaN for a missing one; and the places of the cells that are none, in order.

    >>> values, wrong = amounts(Strings.of(["$1,234.50", "(7)", "12 %", "n/a", "1,23"]), "point")
    >>> values[:4].tolist(), wrong.tolist()
    ([1234.5, -7.0, 12.0, nan], [4])
    """
    if cells.codes is not None:
        found, wrong = amounts(Strings(cells.data, cells.starts, cells.stops), mark)
        codes = cells.codes
        return np.where(codes >= 0, found[codes] if len(found) else math.nan, math.nan), _at(wrong, codes)
    values = np.full(len(cells.starts), math.nan)
    bad: list[Ints] = []
    for pattern in patterns(cells):
        values[pattern.places], fits = _amounts_of(pattern, mark)
        if fits is not None:
            bad.append(pattern.places[~fits])
    return values, np.sort(np.concatenate([np.empty(0, dtype=np.int64), *bad]))


def _at(wrong: Ints, codes: Ints) -> Ints:
    """Where the values stand that are wrong."""
    return np.flatnonzero(np.isin(codes, wrong))


def _amounts_of(pattern: Pattern, mark: Mark) -> tuple[NDArray[np.float64] | float, NDArray[np.bool_] | None]:
    """The numbers of a pattern's cells, and which fit, None where all do."""
    none = np.zeros(len(pattern.places), dtype=bool)
    found = _grammar(mark).fullmatch(pattern.text)
    if found is None or not _sensible(found):
        return math.nan, None if is_missing(pattern.text.decode("utf-8", "replace")) else none
    whole, part = found.span("whole"), found.span("part")
    size = pattern.text[slice(*whole)].count(b"0") if found["whole"] else 0
    behind = part[1] - part[0]
    if found["power"] or size + behind > EXACT:
        values = np.array([_one(pattern.cell(i), mark) for i in range(len(pattern.places))])
    else:
        values = pattern.whole(whole, part) / 10.0**behind
    if found["minus"] in _MINUS or found["late"] in _MINUS or found["open"]:
        values = -values
    if not found["between"]:
        return values, None
    first = pattern.letters[:, whole[0]] != ord("0")  # 0,123 has no thousands
    return np.where(first, values, math.nan), None if first.all() else first


_MINUS = (b"-", "\u2212".encode())


def _sensible(found: re.Match[bytes]) -> bool:
    """Digits somewhere, one sign and one currency at most, both parentheses or none."""
    signs = sum(found[name] is not None for name in ("minus", "late", "open"))
    return (
        bool(found["whole"] or found["part"])
        and signs <= 1
        and not (found["money"] and found["behind"])
        and (found["open"] is None) == (found["close"] is None)
    )


def _one(cell: str, mark: Mark) -> float:
    """The size of a number that has too many digits for the quick way, or a power of ten."""
    decimal = "." if mark == "point" else ","
    kept = "".join(c for c in cell if c.isdigit() or c in "eE" or c == decimal)
    power = re.search(r"[eE]([-+]?\d+)", cell)
    digits = kept.partition("e")[0].partition("E")[0].replace(",", ".")
    return float(f"{digits}e{power[1]}" if power else digits)


def is_plain(cell: str) -> bool:
    """Whether a cell is a number, or a missing one, as programs write it."""
    return is_missing(cell) or number(cell) is not None


ORDER_WORDS = {"ymd": "year, month, day", "dmy": "day, month, year", "mdy": "month, day, year"}

_CLOCK = (
    r"(?:[T ](?P<hour>0?0):(?P<minute>00)(?::(?P<second>00)(?:[.,](?P<part>0+))?)?(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?"
    r"\s?(?P<zone>Z|z|UTC|GMT|[+-]00(?::?00)?)?)?"
)
_YEAR_FIRST = rf"\s*(?P<year>0000)(?P<mark>[-/.])(?P<month>0?0)(?P=mark)(?P<day>0?0){_CLOCK}\s*"
_YEAR_LAST = rf"\s*(?P<one>0?0)(?P<mark>[-/.])(?P<two>0?0)(?P=mark)(?P<year>0000){_CLOCK}\s*"
_BARE = r"\s*(?P<bare>00000000|0000000000|0000000000000)\s*"  # YYYYMMDD; seconds, milliseconds since 1970


@cache
def _dates() -> tuple[re.Pattern[bytes], ...]:
    return tuple(re.compile(one.encode()) for one in (_YEAR_FIRST, _YEAR_LAST, _BARE))


def instants(cells: Strings, order: Order) -> tuple[Ints, Ints, Ints]:
    """The instant of each cell and what its clock shows; and the places of the cells that are not dates, in order.

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
    for pattern in patterns(cells):
        fits = _instants_of(pattern, order, found, clocks)
        bad.append(pattern.places[~fits])
    return found, clocks, np.sort(np.concatenate([np.empty(0, dtype=np.int64), *bad]))


def _instants_of(pattern: Pattern, order: Order, found: Ints, clocks: Ints) -> NDArray[np.bool_]:
    """Fill in the instants and clocks of a pattern's cells; which of them are dates, or missing."""
    first, last, digits = _dates()
    match = first.fullmatch(pattern.text) or last.fullmatch(pattern.text)
    if match is None:
        bare = digits.fullmatch(pattern.text)
        if bare is None:
            return np.full(len(pattern.places), is_missing(pattern.text.decode("utf-8", "replace")))
        return _bare_instants(pattern, bare.span("bare"), found, clocks)
    spans = {name: match.span(name) for name in match.groupdict() if match[name] is not None}
    if "one" in spans:
        if order == "ymd" or (order == "mdy" and match["mark"] == b"."):
            return np.zeros(len(pattern.places), dtype=bool)
        spans["day"], spans["month"] = (spans["one"], spans["two"]) if order == "dmy" else (spans["two"], spans["one"])
    days, fits = _days(*(pattern.whole(spans[part]) for part in ("year", "month", "day")))
    hour, minute, second = (
        pattern.whole(spans[part]) if part in spans else np.zeros_like(days) for part in ("hour", "minute", "second")
    )
    if "half" in spans:
        fits &= (hour >= 1) & (hour <= 12)
        hour = hour % 12 + (12 if match["half"] in b"Pp" else 0)
    fits &= (hour < 24) & (minute < 60) & (second <= 60)
    clock = days * DAY + hour * HOUR + (minute * 60 + second) * SECOND + _fraction(pattern, spans)
    clocks[pattern.places] = np.where(fits, clock, 0)
    found[pattern.places] = np.where(fits, clock - _offset(pattern, spans), NOT_THERE)
    return fits


def _bare_instants(pattern: Pattern, span: tuple[int, int], found: Ints, clocks: Ints) -> NDArray[np.bool_]:
    whole = pattern.whole(span)
    fits = np.ones(len(whole), dtype=bool)
    if span[1] - span[0] == 8:
        days, fits = _days(whole // 10000, whole // 100 % 100, whole % 100)
        clock = days * DAY
    else:
        clock = whole * (SECOND if span[1] - span[0] == 10 else SECOND // 1000)
    clocks[pattern.places] = np.where(fits, clock, 0)
    found[pattern.places] = np.where(fits, clock, NOT_THERE)
    return fits


def _days(year: Ints, month: Ints, day: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Days since 1970, and which dates there are."""
    fits = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
    months = np.where(fits, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    first = months.astype("datetime64[D]").astype(np.int64)
    length = (months + 1).astype("datetime64[D]").astype(np.int64) - first
    return first + day - 1, fits & (day <= length)


def _fraction(pattern: Pattern, spans: dict[str, tuple[int, int]]) -> Ints | int:
    """Behind the second, in microseconds; further digits are dropped."""
    if "part" not in spans:
        return 0
    begin, end = spans["part"]
    kept = min(end - begin, 6)
    found: Ints = pattern.whole((begin, begin + kept)) * 10 ** (6 - kept)
    return found


def _offset(pattern: Pattern, spans: dict[str, tuple[int, int]]) -> Ints | int:
    """How far the zone is ahead of UTC."""
    if "zone" not in spans or pattern.text[spans["zone"][0]] not in b"+-":
        return 0
    begin, end = spans["zone"]
    minutes = pattern.whole((begin + 1, begin + 3)) * 60
    if end > begin + 3:
        minutes = minutes + pattern.whole((end - 2, end))
    return minutes * 60 * SECOND * (-1 if pattern.text[begin] == ord("-") else 1)


def as_written(value: Any) -> str | None:
    """A date of Python's, pandas' or NumPy's own as it would stand in a file; text as it is.

    >>> as_written(date(2024, 1, 31))
    '2024-01-31'
    """
    if isinstance(value, date):  # also a datetime, and a time stamp of pandas; NaT is one too
        return None if value != value else value.isoformat()
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else str(value)
    return as_text(value)
