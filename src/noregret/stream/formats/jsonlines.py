"""JSON Lines: one JSON object a line, its keys the columns, which are told from the first thousand rows as in CSV.

A key that is not there, or null, is a missing cell; true and false are 1 and 0; strings are what they would be in CSV.
An object inside is flattened, `{"user": {"age": 3}}` to `user.age`, and so is an array of numbers, `{"at": [1, 2]}` to
`at[0]` and `at[1]`; any other array can only be ignored. A key that first shows later has to be declared or ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError, reason, setting
from noregret.stream.block import Floats
from noregret.stream.cells import Strings, as_text
from noregret.stream.column import LOOKED_AT
from noregret.stream.opening import Input
from noregret.stream.reading import DECLARING, Settings
from noregret.stream.recipe import plain_number
from noregret.stream.text import CellsOf, Part, Piece, TableText, binary, decoded

Row = dict[str, Any]
NUMBERS = frozenset((int, float, bool, type(None)))
_object = msgspec.json.Decoder(dict).decode


def looks_like(line: bytes) -> bool:
    """Whether a line begins an object, or an array of objects, which is then refused.

    >>> looks_like(b'{"price": 3}'), looks_like(b"[{"), looks_like(b"{price},{size}")
    (True, True, False)
    """
    return re.match(rb'\s*(\{\s*(["}]|$)|\[\s*(\{|$))', line) is not None


class JsonLines(TableText):
    """The rows of a JSON Lines file."""

    def __init__(self, file: Input, settings: Settings) -> None:
        self._names: list[str] = []
        super().__init__(file, settings)
        self._known = frozenset(self._names)

    def _look(self, source: Iterator[Piece]) -> tuple[list[Piece], list[str], CellsOf]:
        looked_at: list[Piece] = []
        rows: list[Row] = []
        lines: list[int] = []
        before = 0
        for text in source:
            looked_at.append(text)
            found, places, wrong = _objects(text, self._file.name, before, self._settings.ignore)
            rows, lines = rows + found, lines + places
            if len(rows) >= LOOKED_AT:
                break
            if wrong is not None:
                raise wrong
            before += text.counts(b"\n").lines
        if not rows:
            raise InputError("holds no rows", self._file.name)
        rows = rows[:LOOKED_AT]
        self._names = self._columns_of(rows)
        return looked_at, self._names, lambda place: self._cells(rows, lines, self._names[place])

    def _columns_of(self, rows: Iterable[Row]) -> list[str]:
        """The keys with a value somewhere, in the order in which they show, then what is known or declared besides."""
        given = self._settings
        ignored = frozenset(given.ignore)
        shown = (key for row in rows for key, value in row.items() if value is not None or key in ignored)
        declared = (name for option in (*DECLARING, "keep") for name in getattr(given, option))
        known = () if given.features is None else given.features.columns
        return list(dict.fromkeys((*shown, *known, *declared, *(given.columns or ()))))

    def _parse(self, text: Piece) -> Part:
        rows, lines, wrong = _objects(text, self.source, 0, self._settings.ignore)
        while True:
            try:
                X, texts, labels, written = self._taken_apart(rows, lines)
                break
            except InputError as error:  # the rows before it are well-formed
                wrong, kept = error, lines.index((error.line or 1) - 1)
                rows, lines = rows[:kept], lines[:kept]
        count = text.counts(b"\n").lines
        return self._part(X, texts, labels, lambda n: written[:n], np.array(lines, dtype=np.int64), count, wrong)

    def _taken_apart(
        self, rows: Sequence[Row], lines: Sequence[int]
    ) -> tuple[Floats, list[Strings], NDArray[np.float64], list[bytes]]:
        """Plain numbers, the columns taken as text, the labels that are numbers, and all as they are written."""
        if not self.frozen:
            self._refuse_new_keys(rows, lines)
        plan = self._plan
        X = plan.matrix([self._numbers(rows, lines, column.name) for column in plan.numeric], len(rows))
        texts = [Strings.of(self._cells(rows, lines, column.name)) for column in plan.texts]
        if plan.label is None:
            return X, texts, np.full(len(rows), math.nan), []
        label = self._names[plan.label]
        labels = np.array([math.nan if isinstance(row.get(label), str) else _float(row.get(label)) for row in rows])
        written = [cell.strip().encode("utf-8", "surrogatepass") for cell in self._cells(rows, lines, label)]
        return X, texts, labels, written

    def _refuse_new_keys(self, rows: Sequence[Row], lines: Sequence[int]) -> None:
        for row, line in zip(rows, lines, strict=True):
            if not row.keys() <= self._known:
                new = next((key for key, value in row.items() if key not in self._known and value is not None), None)
                if new is not None:
                    remedies = [setting(option, columns=[new]) for option in ("numeric", "categorical", "ignore")]
                    said = f"{new!r} is in none of the first {LOOKED_AT:,} rows: say what it is, such as"
                    raise InputError(f"{said} {', '.join(remedies[:-1])} or {remedies[-1]}", self._file.name, line + 1)

    def _numbers(self, rows: Sequence[Row], lines: Sequence[int], name: str) -> NDArray[np.float64]:
        """A column of plain numbers."""
        values = [row.get(name) for row in rows]
        if NUMBERS.issuperset(map(type, values)):
            try:
                return np.array(values, dtype=np.float64)
            except OverflowError:
                return np.array(list(map(_float, values)))
        cells = zip(values, self._cells(rows, lines, name), lines, strict=True)
        source = self._file.name
        return np.array(
            [plain_number(c, name, source, line + 1) if isinstance(v, str) else _float(v) for v, c, line in cells]
        )

    def _cells(self, rows: Sequence[Row], lines: Sequence[int], name: str) -> list[str]:
        """A column as it would be written in CSV."""
        values = [row.get(name) for row in rows]
        for value, line in zip(values, lines, strict=False):
            if isinstance(value, list | dict):
                remedy = setting("ignore", columns=[name])
                said = f"the value of {name!r} must be a number, a string or an array of numbers (or use {remedy})"
                raise InputError(said, self._file.name, line + 1)
        return [v if isinstance(v, str) else as_text(int(v) if isinstance(v, bool) else v) or "" for v in values]


def _float(value: float | None) -> float:
    """A number, NaN for null, infinity for a whole number beyond all floats."""
    try:
        return math.nan if value is None else float(value)
    except OverflowError:
        return math.copysign(math.inf, value or 0)


def _objects(
    text: Piece, source: str, before: int, whole: Collection[str]
) -> tuple[list[Row], list[int], InputError | None]:
    """The rows, flattened but for the keys in `whole`, their lines from 0 on, and what is wrong with the next line."""
    data = bytes(memoryview(text.data)[text.start : text.stop])
    rows: list[Row] = []
    lines: list[int] = []
    written, wrong = data.split(b"\n")[:-1], None
    for number, line in enumerate(written, before):
        try:
            rows.append(_object(line))
            lines.append(number)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            if line.strip():
                wrong = _malformed(line, error, source, number + 1)
                break
    if _is_flat(data, rows):
        return rows, lines, wrong
    for place, number in enumerate(lines):
        line = written[number - before]
        if _is_flat(line, rows[place : place + 1]):
            continue
        try:
            _check_keys(line)
            rows[place] = _flattened(rows[place], whole)
        except (ValueError, RecursionError) as error:
            said = str(error) if isinstance(error, ValueError) else "is nested too deeply"
            return rows[:place], lines[:place], InputError(said, source, number + 1)
    return rows, lines, wrong


def _is_flat(text: bytes, rows: Sequence[Row]) -> bool:
    """Whether a look at the text proves that nothing is nested and no key comes twice: a key is a quote and a colon."""
    if text.count(b'":') != sum(map(len, rows)) or text.count(b"{") != len(rows):
        return False
    return not any(one in text for one in (b"[", b"\\", b'" ', b'"\t', b'"\r'))


def _check_keys(line: bytes) -> None:
    """A ValueError for a key that comes twice in one object: the decoder would take the last."""
    import json

    def once(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            raise ValueError(f"the key {twice!r} comes twice")

    json.loads(line, object_pairs_hook=once, parse_int=str, parse_float=str)


def _flattened(row: Row, whole: Collection[str]) -> Row:
    leaves = [leaf for key, value in row.items() for leaf in _leaves(key, value, whole)]
    found = dict(leaves)
    if len(found) < len(leaves):
        names = [name for name, _ in leaves]
        raise ValueError(f"two values are named {next(name for name in names if names.count(name) > 1)!r}")
    return found


def _leaves(name: str, value: Any, whole: Collection[str]) -> Iterator[tuple[str, Any]]:
    """The values inside a value, each with its name."""
    if name in whole or not (isinstance(value, dict) or (isinstance(value, list) and _all_numbers(value))):
        yield name, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(f"{name}.{key}", inner, whole)
    else:
        for place, inner in enumerate(value):
            yield from _leaves(f"{name}[{place}]", inner, whole)


def _all_numbers(array: list[Any]) -> bool:
    return all(type(one) in NUMBERS or (isinstance(one, list) and _all_numbers(one)) for one in array)


def _malformed(line: bytes, error: Exception, source: str, number: int) -> InputError:
    """What is wrong with a line that is not an object."""
    if b"\0" in line:
        return binary(source, number)
    try:
        decoded(line, source, number)
    except InputError as other:
        return other
    said = reason(error).removeprefix("JSON is malformed: ").partition(" - at")[0].replace("`", "")
    if isinstance(error, RecursionError):
        said = "it is nested too deeply"
    elif "truncated" in said:
        said = "this one is cut short"
    elif re.search(rb"[:,\[]\s*-?(NaN|Infinity)", line):
        said = "NaN and Infinity are not JSON, write null"
    return InputError(f"each line must be one JSON object: {said[:1].lower()}{said[1:]}", source, number)
