"""Numbers as people write them: thousands separators, a decimal comma, percent and currency signs, (5) for −5.

Two ways of writing: with a decimal point, 1,234,567.8 or 1 234.5 or 1'234; with a decimal comma, 1.234.567,8 or
1 234,5. A number is taken as it is written: 12.5 % is 12.5, $3 is 3.
"""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from noregret.stream.block import Ints
from noregret.stream.hashing import Strings
from noregret.stream.kinds import Mark
from noregret.stream.numbers import is_missing, number
from noregret.stream.shapes import Shape, shapes

EXACT = 15  # so many digits fit in a float64, and a power of ten up to 22 too: then a quotient is rounded once

_SPACE = "(?:[ ]|\u00a0|\u202f)"
_CURRENCY = "[$]|€|£|¥"
_SIGN = "[-+]|\u2212"


def _grammar(mark: str, other: str) -> re.Pattern[bytes]:
    """The shapes of numbers with this decimal mark, digits being 0."""
    groups = f"0{{1,3}}(?P<between>[{other}'’]|{_SPACE})000(?:(?P=between)000)*"
    digits = f"(?P<whole>{groups}|0+)?(?:[{mark}](?P<part>0*))?(?P<power>[eE][-+]?0+)?"
    before = f"(?P<minus>{_SIGN})?(?P<money>{_CURRENCY})?{_SPACE}?(?P<late>{_SIGN})?"
    behind = f"{_SPACE}?(?:%|(?P<behind>{_CURRENCY}))?"
    written = f"{_SPACE}*(?P<open>[(])?{before}{digits}{behind}(?P<close>[)])?{_SPACE}*"
    return re.compile(_in_bytes(written))


def _in_bytes(pattern: str) -> bytes:
    """A pattern over UTF-8: letters of several bytes stand in no class."""
    return re.sub(r"\[([^]]*’)\]", lambda found: f"(?:[{found[1][:-1]}]|’)", pattern).encode()


GRAMMAR = {"point": _grammar(".", ","), "comma": _grammar(",", ".")}


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
    for shape in shapes(cells):
        values[shape.places], fits = _read(shape, mark)
        if fits is not None:
            bad.append(shape.places[~fits])
    return values, np.sort(np.concatenate([np.empty(0, dtype=np.int64), *bad]))


def _at(wrong: Ints, codes: Ints) -> Ints:
    """Where the values stand that are wrong."""
    return np.flatnonzero(np.isin(codes, wrong))


def _read(shape: Shape, mark: Mark) -> tuple[NDArray[np.float64] | float, NDArray[np.bool_] | None]:
    """The numbers of a shape's cells, and which fit, None where all do."""
    none = np.zeros(len(shape.places), dtype=bool)
    found = GRAMMAR[mark].fullmatch(shape.text)
    if found is None or not _sensible(found):
        return math.nan, None if is_missing(shape.text.decode("utf-8", "replace")) else none
    whole, part = found.span("whole"), found.span("part")
    size = shape.text[slice(*whole)].count(b"0") if found["whole"] else 0
    behind = part[1] - part[0]
    if found["power"] or size + behind > EXACT:
        values = np.array([_one(shape.cell(i), mark) for i in range(len(shape.places))])
    else:
        values = shape.whole(whole, part) / 10.0**behind
    if found["minus"] in _MINUS or found["late"] in _MINUS or found["open"]:
        values = -values
    if not found["between"]:
        return values, None
    first = shape.letters[:, whole[0]] != ord("0")  # 0,123 has no thousands
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
