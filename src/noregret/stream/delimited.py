"""Delimited text (CSV, TSV) with a header line: the delimiter is found out, quoted cells may hold newlines.

A column is categorical when it is declared so or when some cell of its first thousand rows is neither empty
nor a number; later cells must keep to that. A row is named by the physical line that it begins on.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError
from noregret.stream.base import Stream
from noregret.stream.block import Block
from noregret.stream.given import LabelTokens, none
from noregret.stream.hashing import Strings
from noregret.stream.lines import text_lines
from noregret.stream.missing import Missing
from noregret.stream.numbers import is_missing, number, numbers
from noregret.stream.opening import Input, Opened
from noregret.stream.settings import TEXT_ROWS, Settings
from noregret.stream.table import ColumnKind, plan
from noregret.stream.wording import reason

DELIMITERS = ",;\t|"
LOOKED_AT = 1000
CELL_LIMIT = 2**24
BLOCK_CHARACTERS = 2**21

Record = tuple[int, list[str]]  # the line it begins on, its cells


def delimiter(header: str) -> str:
    r"""The one of , ; tab | that stands most often in the header outside quotes.

    >>> delimiter('"a,b";c;label')
    ';'
    """
    bare = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=bare.count)


class Delimited(Stream):
    """The rows of a CSV or TSV file."""

    def __init__(self, file: Input, settings: Settings) -> None:
        self._file = file
        self._opened: Opened | None = None
        records = self._open()
        try:
            self.header = _header(records, file.name)
            first = list(islice(records, LOOKED_AT))
            cells = list(zip(*(row for _, row in first), strict=True)) or [()] * len(self.header)

            def kind_of(place: int) -> ColumnKind:
                return "numeric" if all(_numeric(cell) for cell in cells[place]) else "categorical"

            self._plan = plan(self.header, kind_of, settings, file.name)
        except BaseException:
            self._close()
            raise
        self._waiting = None if file.rereadable else chain(first, records)
        if file.rereadable:
            self._close()
        super().__init__(
            file.name,
            self._plan.features,
            Missing(settings.missing, settings.labels),
            rereadable=file.rereadable,
            frozen=settings.frozen,
        )
        self._labels = settings.labels
        self._block_rows = settings.rows_per_block(TEXT_ROWS, len(self.header))

    def _open(self) -> Iterator[Record]:
        self._opened = self._file.open()
        return _records(self._opened)

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def fraction(self) -> float | None:
        return None if not (self._opened and self._file.size) else self._opened.position / self._file.size

    def _read(self) -> Iterator[Block]:
        records = self._waiting or self._open()
        if self._waiting is None:
            _header(records, self.source)
        labels = LabelTokens(self.source, self._labels)
        try:
            for batch in _batches(records, self._block_rows):
                yield self._block(batch, labels)
        finally:
            self._close()

    def _block(self, batch: list[Record], labels: LabelTokens) -> Block:
        lines = [line for line, _ in batch]
        columns = list(zip(*(row for _, row in batch), strict=True))
        place = self._plan.label
        found = none(len(batch)) if place is None else labels.array([cell.strip() for cell in columns[place]], lines)
        return self._plan.block(
            [self._numbers(columns[column.column], column.name, lines) for column in self._plan.numeric],
            [Strings.of(columns[column.column]) for column in self._plan.hashed],
            found,
            np.array(lines, dtype=np.int64),
            self.source,
        )

    def _numbers(self, cells: tuple[str, ...], name: str, lines: list[int]) -> NDArray[np.float64]:
        found = numbers(cells)
        if isinstance(found, int):
            sentence = f"column {name!r} must hold numbers, got {cells[found]!r}"
            advice = f"(if its values are names, declare it with --categorical {name})"
            raise InputError(f"{sentence} {advice}", self.source, lines[found])
        return found


def _numeric(cell: str) -> bool:
    return is_missing(cell) or number(cell) is not None


def _header(records: Iterator[Record], source: str) -> list[str]:
    record = next(records, None)
    if record is None:
        raise InputError("holds no rows, not even a header line", source)
    return [name.strip() for name in record[1]]


def _batches(records: Iterator[Record], rows: int) -> Iterator[list[Record]]:
    """Records in blocks, short ones when the cells are long."""
    batch: list[Record] = []
    characters = 0
    for record in records:
        batch.append(record)
        characters += sum(map(len, record[1]))
        if len(batch) >= rows or characters >= BLOCK_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _records(opened: Opened) -> Iterator[Record]:
    """Every record, the header first, each with as many cells as the header."""
    lines = text_lines(opened)
    skipped, first = 0, ""
    for first in lines:
        if first.strip():
            break
        skipped += 1
    else:
        return
    # The limit belongs to the whole process, threads and all: it can only be raised, never put back.
    csv.field_size_limit(max(csv.field_size_limit(), CELL_LIMIT))
    reader = csv.reader(chain([first], lines), delimiter=delimiter(first), strict=True)
    width, began = 0, skipped + 1
    while (cells := _next(reader, opened.name, skipped)) is not None:
        if cells:
            width = width or len(cells)
            if len(cells) != width:
                sentence = f"expected {width} cells as in the header, got {len(cells)}"
                raise InputError(sentence, opened.name, began)
            yield began, cells
        began = skipped + reader.line_num + 1


def _next(reader: Iterator[list[str]], source: str, skipped: int) -> list[str] | None:
    try:
        return next(reader, None)
    except csv.Error as error:
        at = skipped + getattr(reader, "line_num", 0)
        raise InputError(f"is not well-formed CSV ({reason(error)})", source, at) from error
