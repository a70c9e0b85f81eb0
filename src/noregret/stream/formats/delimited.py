"""Delimited text (CSV, TSV) with a header line: the delimiter is found out, quoted cells may hold newlines.

What a column is, unless it is declared, its first thousand rows tell (see `column`); later cells must keep to that.
A row is named by the physical line that it begins on. Plain records are parsed by compiled code, many at once; Python's
own reader has the last word on every other.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from noregret._native import HASHED, IGNORED, LABEL, NUMBER, parse_delimited, records_end
from noregret.errors import EmptyError, InputError, reason
from noregret.stream.block import Floats, Ints
from noregret.stream.cells import Strings, number
from noregret.stream.column import LOOKED_AT
from noregret.stream.opening import Input
from noregret.stream.pieces import Chunk, binary, decoded, line_end
from noregret.stream.reading import Settings
from noregret.stream.recipe import Plan, label_place, plain_number
from noregret.stream.text import CellsOf, ParsedChunk, TableText

DELIMITERS = ",;\t|"
CELL_LIMIT = 2**24


def looks_like(line: bytes) -> bool:
    """Whether a line can be a header: any can."""
    return True


class Delimited(TableText):
    """The rows of a CSV or TSV file."""

    _heads = 1

    def __init__(self, file: Input, settings: Settings) -> None:
        self._between = ""
        super().__init__(file, settings)
        self._columns = _columns(self._plan, len(self.header))

    def _cut(self, data: bytearray, start: int, filled: int) -> int:
        """Where the last whole record ends."""
        stop = line_end(data, start, filled)
        if not self._between:
            lines = bytes(memoryview(data)[start:stop]).split(b"\n")
            head = next((line for line in lines if line.strip()), None)
            if head is None:
                return start
            self._between = delimiter(head.decode("utf-8", "replace"))
        if data.find(b'"', start, filled) < 0:
            return stop
        text = np.frombuffer(data, dtype=np.uint8)[start:]
        stop, opened = records_end(text, filled - start, ord(self._between))
        # A cell without end is handed over, for the reader to refuse it.
        return filled if filled - start - opened > CELL_LIMIT else start + int(stop)

    def _semicolons(self) -> bool:
        return self._between == ";"

    def _look(self, source: Iterator[Chunk]) -> tuple[list[Chunk], list[str], CellsOf]:
        """As the base has it; cells of plain numbers are not given.

        Most files hold nothing but numbers, which compiled code is quick to say.
        """
        settings, looked_at, rows = self._settings, list[Chunk](), 0
        self.header: list[str] = []
        labels: list[str] = []
        told = settings.frozen or settings.columns is not None
        for text in source:
            looked_at.append(text)
            records = self._records(text, text.start, 0)
            if not self.header:
                self.header = [name.strip() for name in records.take() or ()]
            if told and self.header:  # nothing is to be found out
                break
            at = records.at
            if (first := self._told_by(records)) is not None:
                return looked_at, self.header, lambda place: (first[place],)
            found = _numbers_alone(text, at, self._between, self.header, settings)
            if found is None:
                return self._look_closely(chain(looked_at, source))
            rows += found[0]
            labels += found[1]
            if rows >= LOOKED_AT:
                break
        if not self.header:
            raise EmptyError("holds no rows, not even a header line", self._file.name)
        label = label_place(self.header, settings)
        return looked_at, self.header, lambda place: labels[:LOOKED_AT] if place == label else ()

    def _told_by(self, records: Records) -> list[str] | None:
        """The first row, where it tells what all columns are."""
        if self._open is not None or not self.header:
            return None
        try:
            cells = records.take(len(self.header))
        except InputError:  # who looks closely knows the line
            return None
        return cells if cells is not None and self._told(self.header, cells) else None

    def _look_closely(self, source: Iterator[Chunk]) -> tuple[list[Chunk], list[str], CellsOf]:
        """As `_look`, cell by cell."""
        looked_at: list[Chunk] = []
        first: list[list[str]] = []
        self.header = []
        line = 0
        for text in source:
            looked_at.append(text)
            records = self._records(text, text.start, line)
            while len(first) < LOOKED_AT and (cells := records.take(len(self.header))) is not None:
                if self.header:
                    first.append(cells)
                else:
                    self.header = [name.strip() for name in cells]
            line = records.line
            if len(first) == LOOKED_AT:
                break
        columns: list[tuple[str, ...]] = list(zip(*first, strict=True)) or [()] * len(self.header)
        return looked_at, self.header, columns.__getitem__

    def _records(self, text: Chunk, at: int, line: int) -> Records:
        if not self._between:  # a header without a newline
            lines = bytes(text.data[text.start : text.stop]).split(b"\n")
            self._between = delimiter(next(filter(bytes.strip, lines), b"").decode("utf-8", "replace"))
        return Records(text, self._between, self._file.name, at, line)

    def _chunks(self) -> Generator[Chunk | None]:
        """The text behind the header."""
        passed = False
        for text in super()._chunks():
            if text is not None and not passed:
                header = self._records(text, text.start, 0)
                passed = header.take() is not None
                text = replace(text, start=header.at, before=header.line)
            yield text

    def _parse(self, text: Chunk) -> ParsedChunk:
        rows, wrong = _Rows(text, self._plan, self._columns, self._between), None
        try:
            while not rows.plain():
                records = self._records(text, *rows.reached)
                rows.add(records.take(len(self.header)), records, self.source)
        except InputError as error:
            wrong = error
        return self._part(*rows.columns(), wrong)


def _numbers_alone(
    text: Chunk, at: int, between: str, header: list[str], settings: Settings
) -> tuple[int, list[str]] | None:
    """How many records there are from `at` on, and their labels, where not all are plain numbers.

    None unless all records are plain, with numbers in each column of which nothing is known.
    """
    known = {} if settings.features is None else settings.features.columns
    kinds = np.full(len(header), NUMBER, dtype=np.int64)
    passed = {*settings.ignore, *settings.text, *settings.categorical}
    passed |= {name for name, kind in known.items() if not kind.plain}
    kinds[[name in passed for name in header]] = IGNORED
    label = label_place(header, settings)
    if label is not None:
        kinds[label] = LABEL
    counts = text.counts(b"\n")
    most = counts.lines
    if counts.odd or settings.date or settings.numeric:
        return None
    done = np.array([at, 0, 0], dtype=np.int64)
    cells, tokens = np.empty((0, 0), dtype=np.int64), np.empty((most, 2), dtype=np.int64)
    labels = np.zeros(most)
    plain = parse_delimited(
        text.array,
        text.stop,
        ord(between),
        kinds,
        np.zeros_like(kinds),
        np.empty((most, 1)),
        cells,
        labels,
        tokens,
        np.empty(most, dtype=np.int64),
        done,
    )
    if not plain:
        return None
    rows = min(int(done[2]), LOOKED_AT)
    if label is None or not np.isnan(labels[:rows]).any():
        return int(done[2]), []
    return int(done[2]), [text.data[begin:end].decode() for begin, end in tokens[:rows].tolist()]


def _columns(plan: Plan, width: int) -> tuple[Ints, Ints]:
    """What each column is and where it goes, as the kernel takes it."""
    kinds, places = np.full(width, IGNORED, dtype=np.int64), np.zeros(width, dtype=np.int64)
    for column, place in zip(plan.numeric, plan.places, strict=True):
        kinds[column.column], places[column.column] = NUMBER, place
    for place, text in enumerate(plan.texts):
        kinds[text.column], places[text.column] = HASHED, place
    if plan.label is not None:
        kinds[plan.label] = LABEL
    return kinds, places


class _Rows:
    """The rows of a chunk of text while they are found: plain ones by compiled code, others one by one."""

    def __init__(self, text: Chunk, plan: Plan, columns: tuple[Ints, Ints], between: str) -> None:
        self._text = text
        self._plan = plan
        self._columns = columns
        self._between = ord(between)
        counts = text.counts(b"\n")
        rows = counts.lines
        self._X = text.buffers.array(rows * plan.width).reshape(rows, plan.width)
        if plan.width != len(plan.numeric):
            self._X[:] = 0.0
        self._cells = np.empty((rows, 2 * len(plan.texts)), dtype=np.int64)  # where each begins and ends
        self._labels, self._tokens = np.full(rows, math.nan), np.empty((rows, 2), dtype=np.int64)
        self._lines = np.empty(rows, dtype=np.int64)
        self._done = np.array([text.start, text.before, 0], dtype=np.int64)
        self._stop = text.decodable() if counts.odd else text.stop
        self._more = bytearray()  # cells that are not in the text as they are meant

    def plain(self) -> bool:
        """Go on through plain records; whether the end of the text was reached."""
        found = parse_delimited(
            self._text.array,
            self._stop,
            self._between,
            *self._columns,
            self._X,
            self._cells,
            self._labels,
            self._tokens,
            self._lines,
            self._done,
        )
        return found and self._stop == self._text.stop

    @property
    def reached(self) -> tuple[int, int]:
        """Where the next record begins, and how many lines of the chunk stand before it."""
        return int(self._done[0]), int(self._done[1])

    def add(self, cells: list[str] | None, records: Records, source: str) -> None:
        """The record that was reached, if there is one; go behind it."""
        row = int(self._done[2])
        self._done[:2] = records.at, records.line
        if cells is None:
            return
        for column, place in zip(self._plan.numeric, self._plan.places, strict=True):
            self._X[row, place] = plain_number(cells[column.column], column.name, source, records.began)
        for place, text in enumerate(self._plan.texts):
            self._cells[row, 2 * place : 2 * place + 2] = self._kept(cells[text.column])
        if self._plan.label is not None:
            label = cells[self._plan.label]
            value = number(label)
            self._labels[row] = math.nan if value is None else value
            self._tokens[row] = self._kept(label)
        self._lines[row] = records.began - 1
        self._done[2] = row + 1

    def _kept(self, cell: str) -> tuple[int, int]:
        begin = len(self._text.data) + len(self._more)
        self._more += cell.encode()
        return begin, len(self._text.data) + len(self._more)

    def columns(self) -> tuple[Floats, list[Strings], NDArray[np.float64], Callable[[int], list[bytes]], Ints, int]:
        """All of it: numbers, cells of text, labels, these as they are written, lines, and the count of lines."""
        _, count, rows = self._done.tolist()
        data = self._text.data + self._more if self._more else self._text.data
        array, places = np.frombuffer(data, dtype=np.uint8), np.ascontiguousarray(self._cells[:rows].T)
        texts = [Strings(array, *ends) for ends in zip(places[::2], places[1::2], strict=True)]

        def tokens(count: int) -> list[bytes]:
            return [bytes(data[begin:end]).strip() for begin, end in self._tokens[:count].tolist()]

        return self._X[:rows], texts, self._labels[:rows], tokens, self._lines[:rows], count


def delimiter(header: str) -> str:
    r"""The one of , ; tab | that stands most often in the header outside quotes.

    >>> delimiter('"a,b";c;label')
    ';'
    """
    bare = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=bare.count)


class Records:
    """The records of a chunk of text, from a given place and line on; both go on with every record."""

    def __init__(self, text: Chunk, between: str, source: str, at: int, line: int = 0) -> None:
        # The limit belongs to the whole process, threads and all: it can only be raised, never put back.
        csv.field_size_limit(max(csv.field_size_limit(), CELL_LIMIT))
        self.at = at
        self.line = line  # how many lines of the chunk were read
        self.began = line + 1  # where the last record began
        self._text = text
        self._source = source
        self._reader = csv.reader(self._lines(), delimiter=between, strict=True)

    def _lines(self) -> Iterator[str]:
        while self.at < self._text.stop:
            line = self._text.line(self.at)
            self.at += len(line) + 1
            self.line += 1
            if b"\0" in line:
                raise binary(self._source, self.line)
            yield decoded(line, self._source, self.line) + "\n"

    def take(self, width: int = 0) -> list[str] | None:
        """The cells of the next record, as many as `width` says; None at the end of the chunk."""
        cells: list[str] | None = []
        while cells == []:  # a blank line
            self.began = self.line + 1
            try:
                cells = next(self._reader, None)
            except csv.Error as error:
                opened = f" (the row begins in line {self.began})" if self.line > self.began else ""
                sentence = f"is not well-formed CSV ({reason(error)}){opened}"
                raise InputError(sentence, self._source, self.line) from error
        if cells is not None and width and len(cells) != width:
            sentence = f"expected {width} cells as in the header, got {len(cells)}"
            raise InputError(sentence, self._source, self.began)
        return cells
