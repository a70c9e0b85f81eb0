"""JSON Lines: one JSON object a line, its keys the columns, recognised from the first thousand rows as in CSV.

A key that is not there, or null, is a missing cell; true and false are 1 and 0; strings are what they would be in CSV.
An object inside is flattened, `{"user": {"age": 3}}` to `user.age`, and so is an array of numbers, `{"at": [1, 2]}` to
`at[0]` and `at[1]`; any other array can only be ignored. A key that first shows later has to be declared or ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from noregret.errors import EmptyError, InputError, reason, spelled
from noregret.stream.block import BLOCK_VALUES, Floats
from noregret.stream.cells import Strings, as_text
from noregret.stream.column import LOOKED_AT
from noregret.stream.opening import Input
from noregret.stream.pieces import Chunk, binary, decoded
from noregret.stream.reading import DECLARING, Settings
from noregret.stream.recipe import label_place, plain_number
from noregret.stream.text import CellsOf, ParsedChunk, TableText

Row = dict[str, Any]
NUMBERS = frozenset((int, float, bool, type(None)))
NESTED = frozenset((list, dict))
PIECE_VALUES = 8 * BLOCK_VALUES
SAID = (*DECLARING, "keep", "ignore", "interactions")
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
        self._row_bytes = 1  # on average
        self._looked_at = 0  # rows
        super().__init__(file, settings)
        self._known = frozenset(self._names)

    def _look(self, source: Iterator[Chunk]) -> tuple[list[Chunk], list[str], CellsOf]:
        looked_at: list[Chunk] = []
        rows: list[Row] = []
        lines: list[int] = []
        before = 0
        for text in source:
            looked_at.append(text)
            found, places, wrong = _objects(text, self._file.name, before, self._settings.ignore)
            rows, lines = rows + found, lines + places
            if len(rows) >= LOOKED_AT or self._told_by(rows[:1]):
                break
            if wrong is not None:
                raise wrong
            before += text.counts(b"\n").lines
        if not rows:
            raise EmptyError("holds no rows", self._file.name)
        self._row_bytes = sum(map(len, looked_at)) // len(rows) + 1
        told = self._open == []
        first = rows[: 1 if told else LOOKED_AT]
        self._looked_at = len(first)
        self._names = self._columns_of(first, ended=not told and len(rows) < LOOKED_AT)
        table = _Table(first, lines, self._file.name)
        return looked_at, self._names, lambda place: _cells(table.values(self._names[place]))

    def _told_by(self, rows: Sequence[Row]) -> bool:
        """Whether the first row, if it is there, tells what all columns are."""
        if not rows:
            return False
        names = self._columns_of(rows, ended=False)
        if self._settings.labels and label_place(names, self._settings) is None:
            return False
        cells = [value if type(value) not in NESTED else None for value in map(rows[0].get, names)]
        return self._told(names, _cells(cells))

    def _columns_of(self, rows: Sequence[Row], ended: bool) -> list[str]:
        """The keys with a value in the first row, those declared, those with a value in other rows, and those known.

        They stand in the same order whether a declared one shows early, late or, unless the rows have ended, not yet.
        """
        given, known = self._settings, {} if self._settings.features is None else self._settings.features.columns
        shown = [
            dict.fromkeys(key for key, value in row.items() if value is not None or key in given.ignore) for row in rows
        ]
        there = dict.fromkeys(chain.from_iterable(shown))
        declared = (name for option in SAID for name in given.named(option) if not ended or name in there)
        return list(dict.fromkeys((*shown[0], *declared, *(given.columns or ()), *there, *known)))

    def _largest(self) -> int:
        """A short line may lack most of very many keys, and still becomes a whole row."""
        return min(super()._largest(), self._row_bytes * max(1, PIECE_VALUES // max(1, len(self._names))))

    def _parse(self, text: Chunk) -> ParsedChunk:
        rows, lines, wrong = _objects(text, self.source, 0, self._settings.ignore)
        while True:
            try:
                X, texts, labels = self._flattened(rows, lines)
                break
            except InputError as error:  # the rows before it are well-formed
                wrong, kept = error, lines.index((error.line or 1) - 1)
                rows, lines = rows[:kept], lines[:kept]

        def written(count: int) -> list[bytes]:
            return [cell.strip().encode("utf-8", "surrogatepass") for cell in _cells(labels[:count])]

        numbers = np.array([math.nan if isinstance(one, str) else _float(one) for one in labels])
        count = text.counts(b"\n").lines
        return self._part(X, texts, numbers, written, np.array(lines, dtype=np.int64), count, wrong)

    def _flattened(self, rows: Sequence[Row], lines: Sequence[int]) -> tuple[Floats, list[Strings], Sequence[Any]]:
        """The plain numbers, the columns taken as text, and the labels."""
        plan, table = self._plan, _Table(rows, lines, self._file.name)
        if not self.frozen:
            table.refuse_others(self._known, self._looked_at)
        X = plan.matrix([table.numbers(column.name) for column in plan.numeric], len(rows))
        texts = [Strings.of(_cells(table.values(column.name))) for column in plan.texts]
        return X, texts, [None] * len(rows) if plan.label is None else table.values(self._names[plan.label])


class _Table:
    """Rows as columns."""

    def __init__(self, rows: Sequence[Row], lines: Sequence[int], source: str) -> None:
        self._lines, self._source = lines, source
        self._none = [None] * len(rows)
        layouts = set(map(tuple, rows))
        self._columns: dict[str, Sequence[Any]]
        if len(layouts) == 1:
            self._columns = dict(zip(*layouts, zip(*map(dict.values, rows), strict=True), strict=True))
        else:
            names = dict.fromkeys(chain.from_iterable(layouts))
            self._columns = {name: [row.get(name) for row in rows] for name in names}

    def refuse_others(self, known: Collection[str], looked_at: int) -> None:
        """An error at the first row with a value under a key that is not known."""
        others = {name: values for name, values in self._columns.items() if name not in known}
        first = {name: self._first(name, lambda value: value is not None) for name in others}
        at, name = min(((place, name) for name, place in first.items() if place is not None), default=(None, ""))
        if at is not None:
            remedies = [spelled(option, columns=[name]) for option in ("numeric", "categorical", "ignore")]
            where = "not in the first row" if looked_at == 1 else f"in none of the first {LOOKED_AT:,} rows"
            said = f"{name!r} is {where}: say what it is, such as"
            raise self._at(at, f"{said} {', '.join(remedies[:-1])} or {remedies[-1]}")

    def values(self, name: str) -> Sequence[Any]:
        """The values of a column, which are not nested."""
        values = self._columns.get(name, self._none)
        if not NESTED.isdisjoint(map(type, values)):
            remedy = spelled("ignore", columns=[name])
            said = f"the value of {name!r} must be a number, a string or an array of numbers (or use {remedy})"
            raise self._at(self._first(name, lambda value: type(value) in NESTED) or 0, said)
        return values

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column of plain numbers."""
        values = self.values(name)
        if str in set(map(type, values)):
            source, cells = self._source, zip(values, self._lines, strict=True)
            values = [plain_number(v, name, source, line + 1) if isinstance(v, str) else v for v, line in cells]
        try:
            return np.array(values, dtype=np.float64)  # None is NaN
        except OverflowError:
            return np.array(list(map(_float, values)))

    def _first(self, name: str, wanted: Callable[[Any], bool]) -> int | None:
        return next((place for place, value in enumerate(self._columns[name]) if wanted(value)), None)

    def _at(self, place: int, sentence: str) -> InputError:
        return InputError(sentence, self._source, self._lines[place] + 1)


def _cells(values: Sequence[Any]) -> list[str]:
    """A column as it would be written in CSV."""
    return [v if type(v) is str else as_text(int(v) if type(v) is bool else v) or "" for v in values]


def _float(value: float | None) -> float:
    """A number, NaN for null, infinity for a whole number beyond all floats."""
    try:
        return math.nan if value is None else float(value)
    except OverflowError:
        return -math.inf if value is not None and value < 0 else math.inf


def _objects(
    text: Chunk, source: str, before: int, whole: Collection[str]
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
    said = said[:1].lower() + said[1:]
    if isinstance(error, RecursionError):
        said = "it is nested too deeply"
    elif "truncated" in said:
        said = "this one is cut short"
    elif re.search(rb"[:,\[]\s*-?(NaN|Infinity)", line):
        said = "NaN and Infinity are not JSON, write null"
    return InputError(f"each line must be one JSON object: {said}", source, number)
