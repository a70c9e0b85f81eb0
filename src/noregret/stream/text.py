"""Rows of text: what parses its chunks, and the streams of lines and of tables."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError
from noregret.stream.base import Stream
from noregret.stream.block import MAX_INDEX, Block, Floats, Ints, Rows
from noregret.stream.cells import Strings
from noregret.stream.cells import number as number_in
from noregret.stream.column import Asked, Decision, decide
from noregret.stream.features import Features, Hints
from noregret.stream.opening import Input, Opened
from noregret.stream.pieces import (
    Appetite,
    Chunk,
    available,
    chunks,
    decoded,
    in_order,
    is_one_chunk,
    largest_chunk,
    line_end,
)
from noregret.stream.reading import Settings
from noregret.stream.recipe import plan, recognising, undecided
from noregret.stream.task import LabelTokens

CellsOf = Callable[[int], Sequence[str]]  # the first cells of a column


@dataclass(frozen=True, slots=True)
class ParsedChunk:
    """The rows of one chunk of text."""

    rows: Rows
    labels: NDArray[np.float64]  # NaN where the label is not a number
    tokens: Callable[[], list[bytes]] | None  # every label as it is written, where there are labels
    lines: Ints  # the line of each row, counted from 0 at the chunk's first
    count: int  # of the lines in the chunk
    wrong: InputError | None = None  # what ends the rows; its line is counted from 1 at the chunk's first
    weights: NDArray[np.float64] | None = None
    hints: Hints | None = None  # what the recipe is to remember


class LineRows(ABC):
    """Sparse rows of a chunk of text while they are found: plain lines by compiled code, others one by one.

    `done`: where the next line begins, how many lines, rows and pairs there are so far, and what a format adds.
    """

    def __init__(self, text: Chunk, rows: int, pairs: int, stop: int, more: int) -> None:
        self._text, self._stop = text, stop
        self._labels, self._tokens = np.empty(rows), np.empty((rows + 1, 2), dtype=np.int64)
        self._lines, self._bounds = np.empty(rows, dtype=np.int64), np.empty(rows + 1, dtype=np.int64)
        self._indices, self._values = text.buffers.array(pairs, np.uint32), text.buffers.array(pairs)
        self._room = np.empty(4 * pairs + 2, dtype=np.int64)
        self._bounds[0] = 0
        self._done = np.array([text.start] + [0] * (3 + more), dtype=np.int64)

    @abstractmethod
    def _plain(self) -> bool:
        """Go on through plain lines; whether `stop` was reached."""

    @abstractmethod
    def _take(self, line: bytes, number: int) -> None:
        """The line that was reached, and its number, from 1: `add` its row, if it has one."""

    def read(self) -> InputError | None:
        """Go to the end of the text, or to the first line that is wrong."""
        try:
            while not (self._plain() and self._stop == self._text.stop):
                at, line = self._done[:2].tolist()
                self._take(self._text.line(at), line + 1)
                self._done[:2] = self._text.data.index(b"\n", at) + 1, line + 1
        except InputError as error:
            return error
        return None

    def _add(self, label: str, indices: Sequence[int] | Ints, values: Sequence[float]) -> None:
        at, line, row, pair = self._done[:4].tolist()
        value, written = number_in(label), label.encode()
        self._labels[row] = math.nan if value is None else value
        begin = self._text.data.index(written, at)
        self._tokens[row] = begin, begin + len(written)
        end = pair + len(indices)
        self._indices[pair:end], self._values[pair:end] = indices, values
        self._lines[row], self._bounds[row + 1] = line, end
        self._done[2:4] = row + 1, end

    def _part(self, rows: Rows, wrong: InputError | None, **more: Any) -> ParsedChunk:
        count = len(rows)

        def tokens() -> list[bytes]:
            return [bytes(self._text.data[begin:end]) for begin, end in self._tokens[:count].tolist()]

        return ParsedChunk(rows, self._labels[:count], tokens, self._lines[:count], int(self._done[1]), wrong, **more)


class TextStream(Stream):
    """Rows that each stand on a line of their own."""

    def __init__(self, file: Input, features: Features, settings: Settings) -> None:
        super().__init__(file.name, features, settings, rereadable=file.rereadable)
        self._file = file
        self._settings = settings
        self._opened: Opened | None = None

    @cached_property
    def _appetite(self) -> Appetite:
        return Appetite()

    @property
    def live(self) -> bool:
        return self._file.live

    def fraction(self) -> float | None:
        return None if not (self._opened and self._file.size) else self._opened.position / self._file.size

    @abstractmethod
    def _parse(self, text: Chunk) -> ParsedChunk:
        """The rows of a chunk of text; several threads call this at once."""

    def _label_tokens(self) -> LabelTokens:
        return LabelTokens(self.source, self._settings.labels)

    def _chunks(self) -> Generator[Chunk | None]:
        with self._file.open() as self._opened:
            yield from chunks(self._opened, hungry=self._appetite)

    def _read(self) -> Iterator[Block]:
        labels, before, self._opened = self._label_tokens(), 0, None
        threads = 1 if is_one_chunk(self._file.size) else self._settings.threads or available()
        chunks = self._chunks()
        parts = in_order(chunks, self._parse, threads, self._appetite)
        try:
            for part in parts:
                if part is None:
                    if before:
                        self._file.paused("")
                    continue
                if part.hints is not None:
                    self.features.note(part.hints)
                if len(part.lines):
                    yield from self._block(part, labels, before).split(self._settings.block_rows or MAX_INDEX)
                if part.wrong is not None:
                    line = before + (part.wrong.line or 1)
                    raise InputError(part.wrong.sentence, self.source, line) from part.wrong
                before += part.count
        except InputError as error:
            if error.line is not None or self._opened is None:
                raise
            raise InputError(error.sentence, error.source, before + 1) from error
        finally:
            self._file.finish()  # nobody waits for more
            parts.close()
            with suppress(ValueError):  # another thread still waits for bytes of a source that is silent
                chunks.close()

    def _block(self, part: ParsedChunk, labels: LabelTokens, before: int) -> Block:
        lines = part.lines + (before + 1)

        def tokens() -> list[str]:
            written = zip(part.tokens() if part.tokens else (), lines.tolist(), strict=True)
            return [decoded(token, self.source, line) for token, line in written]

        found = part.labels if part.tokens is None else labels.numbers(part.labels, tokens, lines)
        return Block(part.rows, found, lines, self.source, part.weights)


class TableText(TextStream):
    """Rows of named columns: what these are, unless it is declared, the first thousand rows tell.

    Of a source that has to be waited for the first row may tell it all, if that is said of every column or known: the
    other rows can then only be refused, for they are what they would be in a file.
    """

    _heads = 0  # lines before the first row

    def __init__(self, file: Input, settings: Settings) -> None:
        self._file, self._settings = file, settings
        self._waiting: Iterator[Chunk | None] | None = None  # what was looked at, if it can be read only once
        self._looking = True
        self._open: list[str] | None = None  # columns that the first row does not tell, once it has come
        source = self._whole_chunks()
        try:
            looked_at, names, cells = self._look(self._awaited(source))
            self._plan = plan(names, lambda asked: self._decided(names, cells, asked), settings, file.name)
        except BaseException:
            source.close()
            raise
        if file.rereadable:
            source.close()
        else:
            self._waiting = chain(looked_at, source)
        self._looking = False
        super().__init__(file, self._plan.features, settings)
        self.decisions, self.columns = self._plan.decisions, self._plan.columns

    @abstractmethod
    def _look(self, source: Iterator[Chunk]) -> tuple[list[Chunk], list[str], CellsOf]:
        """The chunks that the first thousand rows stand in, the names of the columns, and their first cells."""

    def _cut(self, data: bytearray, start: int, filled: int) -> int:
        """Where the last whole row ends."""
        return line_end(data, start, filled)

    def _largest(self) -> int:
        """How many bytes a chunk should have at most."""
        return largest_chunk()

    def _semicolons(self) -> bool:
        """Whether cells are separated by semicolons, so that a comma is rather a decimal mark."""
        return False

    def _decided(self, names: Sequence[str], cells: CellsOf, asked: dict[int, Asked]) -> dict[int, Decision]:
        """What columns are, from their first cells."""
        found = decide(
            {names[place]: cells(place) for place in asked},
            {names[place]: said for place, said in asked.items()},
            semicolons=self._semicolons(),
            closely=self._settings.recognise,
        )
        return {place: found[names[place]] for place in asked}

    def _told(self, names: Sequence[str], cells: Sequence[str]) -> bool:
        """Whether the first row tells what all columns are."""
        if self._open is None and self._opened is not None and self._opened.live:
            self._open = undecided(names, cells, self._settings, self._semicolons())
        return self._open == []

    def _awaited(self, source: Iterator[Chunk | None]) -> Iterator[Chunk]:
        """The chunks that are looked at; whoever has to wait for them learns why."""
        lines = 0
        for text in source:
            if text is not None:
                yield text
                lines += text.data.count(b"\n", text.start, text.stop)
            elif lines > self._heads:
                self._file.paused(recognising(self._open or ()))

    def _whole_chunks(self) -> Generator[Chunk | None]:
        """The text in chunks of whole rows."""
        with self._file.open() as self._opened:
            lines = 0
            try:
                for text in chunks(self._opened, self._cut, self._largest, self._appetite):
                    yield text
                    if text is not None:
                        lines += text.data.count(b"\n", text.start, text.stop) if self._looking else 0
            except InputError as error:
                if error.line is not None or not self._looking:
                    raise  # who reads the rows knows the line
                raise InputError(error.sentence, error.source, lines + 1) from error

    def _chunks(self) -> Generator[Chunk | None]:
        yield from self._whole_chunks() if self._waiting is None else self._waiting

    def _label_tokens(self) -> LabelTokens:
        return LabelTokens(self.source, self._settings.labels, mark=self._plan.label_mark)

    def _part(
        self,
        X: Floats,
        texts: Sequence[Strings],
        labels: NDArray[np.float64],
        tokens: Callable[[int], list[bytes]],
        lines: Ints,
        count: int,
        wrong: InputError | None,
    ) -> ParsedChunk:
        """The rows of plain numbers and of the columns taken as text, up to the first cell that does not fit."""
        hashed, rows, made = len(self._plan.hashed), len(lines), []
        for column, cells in zip(self._plan.converted, texts[hashed:], strict=True):
            values, unfit = column.values(cells)
            made.append(values)
            if unfit is not None and unfit < rows:
                rows, line = unfit, int(lines[unfit]) + 1
                wrong = InputError(column.refusal(cells.text(unfit)), self.source, line)
        found, hints = self._plan.rows(
            X[:rows], [values[:rows] for values in made], [cells.first(rows) for cells in texts[:hashed]]
        )
        written = None if self._plan.label is None else lambda: tokens(rows)
        return ParsedChunk(found, labels[:rows], written, lines[:rows], count, wrong, hints=hints)
