"""Text in chunks of whole lines, parsed by several threads, the rows in order."""

from __future__ import annotations

import codecs
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret import _native
from noregret.errors import InputError
from noregret.stream.base import Stream
from noregret.stream.block import MAX_INDEX, Block, Floats, Ints, Rows
from noregret.stream.cells import Strings
from noregret.stream.cells import number as number_in
from noregret.stream.column import Asked, Decision, decide
from noregret.stream.features import Features, Hints
from noregret.stream.opening import Buffers, Input, Opened
from noregret.stream.reading import Settings
from noregret.stream.recipe import plan
from noregret.stream.task import LabelTokens

if TYPE_CHECKING:
    from concurrent.futures import Future

FIRST, LARGEST = 2**16, 2**22  # bytes: the first chunk is small, so that its rows are there soon
LINE_LIMIT = 2**26  # bytes: a few compressed kilobytes could otherwise be a line that fills the memory
SLACK = b"\n" * _native.SLACK  # what a parser may look at behind a chunk
MARK = b"\xef\xbb\xbf"
MOST = 8
PATIENCE = 0.5  # seconds for the thread that fetches to end: one that waits for a silent source is left behind

Cut = Callable[[bytearray, int, int], int]
CellsOf = Callable[[int], Sequence[str]]  # the first cells of a column
Work = TypeVar("Work")
Answer = TypeVar("Answer")


class Counts(NamedTuple):
    """How often some bytes occur in a chunk of text."""

    lines: int  # newlines
    others: int
    odd: int  # NUL, or not ASCII
    white: int  # blanks, and what is below them: newlines too


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole lines: data[start:stop], the last byte a newline, SLACK behind it."""

    data: bytearray
    start: int
    stop: int
    before: int = 0  # lines of the chunk in front of `start`
    buffers: Buffers = field(default_factory=Buffers)  # where its rows may take memory from

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def array(self) -> NDArray[np.uint8]:
        """The buffer as kernels take it."""
        return np.frombuffer(self.data, dtype=np.uint8)

    def counts(self, other: bytes) -> Counts:
        """How often some bytes occur, `other` among them."""
        return Counts(*_native.count_bytes(self.array, self.start, self.stop, other[0]))

    def line(self, begin: int) -> bytes:
        """The line that begins there, without its newline."""
        return bytes(self.data[begin : self.data.index(b"\n", begin)])

    def without_nul(self) -> int:
        """Where the first line begins that holds a NUL byte; the end of the chunk where none does."""
        return self._line_of(self.data.find(b"\0", self.start, self.stop))

    def decodable(self) -> int:
        """Where the first line begins that holds a NUL byte or is not UTF-8; the end of the chunk where all is text."""
        stop = self.without_nul()
        try:
            codecs.utf_8_decode(memoryview(self.data)[self.start : stop], "strict", True)
            return stop
        except UnicodeDecodeError as error:
            return self._line_of(self.start + error.start)

    def _line_of(self, at: int) -> int:
        """Where the line of a byte begins; the end of the chunk for −1."""
        return self.stop if at < 0 else self.data.rfind(b"\n", self.start, at) + 1 or self.start


def line_end(data: bytearray, start: int, filled: int) -> int:
    """Where the last whole line of the text ends; `start` when there is none."""
    return max(data.rfind(b"\n", start, filled) + 1, start)


def too_long(source: str, line: int | None = None) -> InputError:
    """What is wrong with a line, or a record of several, that has no end within the limit."""
    return InputError(
        f"a line or record must end within {LINE_LIMIT // 2**20} MiB, and this one does not", source, line
    )


def chunks(opened: Opened, cut: Cut = line_end, largest: Callable[[], int] | None = None) -> Iterator[Chunk]:
    """Every line of the text, the last one with a newline too; the byte-order mark is left out.

    A chunk ends where `cut` says, and has about `largest()` bytes at most. Whole lines that were read before the source
    turned out to be damaged, or before a line that is too long, come before the error.
    """
    rest, size, first, buffers = b"", FIRST, True, Buffers()
    trouble: InputError | None = None
    more = True
    while more:
        data = buffers.text(min(max(size, 2 * len(rest)), LINE_LIMIT + len(MARK)) + 1 + len(SLACK))
        data[: len(rest)] = rest
        filled, room = len(rest), len(data) - 1 - len(SLACK)
        while more and filled < room:
            try:
                count = opened.fill(memoryview(data)[filled:room])
            except InputError as error:
                trouble, count = error, 0
            filled, more = filled + count, count > 0
        start = len(MARK) if first and data.startswith(MARK) else 0
        stop = cut(data, start, filled)
        if more and stop == start and filled - start > LINE_LIMIT:
            raise too_long(opened.name)
        if not more and trouble is None and filled > stop:
            stop = filled
            if data[filled - 1] != 10:
                data[filled] = 10
                filled = stop = filled + 1
        rest = bytes(memoryview(data)[stop:filled])
        if stop > start:
            data[stop : stop + len(SLACK)] = SLACK
            yield Chunk(data, start, stop, buffers=buffers)
            del data  # the next may take its memory
            first, size = False, min(2 * size, LARGEST if largest is None else largest())
        else:
            rest = bytes(memoryview(data)[:filled])
    if trouble is not None:
        raise trouble


def binary(source: str, line: int) -> InputError:
    """What is wrong with a line that holds a NUL byte."""
    return InputError("holds a NUL byte: this is a binary file, expected text", source, line)


def decoded(line: bytes, source: str, number: int) -> str:
    """The line as UTF-8 text."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        byte = line[error.start]
        raise InputError(f"is not UTF-8 text: byte 0x{byte:02x} has no meaning there", source, number) from error


def available() -> int:
    """How many threads are of use here, at most eight."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST)


def in_order(chunks: Iterator[Work], work: Callable[[Work], Answer], threads: int) -> Generator[Answer]:
    """work(chunk) for every chunk; an error of either comes where its chunk would have come.

    >>> list(in_order(iter("abc"), str.upper, 2))
    ['A', 'B', 'C']
    """
    if threads == 1:
        yield from map(work, chunks)
        return
    from concurrent.futures import ThreadPoolExecutor

    room = Semaphore(threads + 1)  # chunks on their way
    answers: SimpleQueue[Future[Answer] | BaseException | None] = SimpleQueue()
    left = False

    def fetch() -> None:
        try:
            for chunk in chunks:
                answers.put(pool.submit(work, chunk))
                room.acquire()
                if left:
                    return
            answers.put(None)
        except BaseException as error:  # it is raised where it is waited for
            answers.put(error)

    with ThreadPoolExecutor(threads, "parse") as pool:
        fetching = Thread(target=fetch, name="fetch", daemon=True)
        fetching.start()
        try:
            while (answer := answers.get()) is not None:
                if isinstance(answer, BaseException):
                    raise answer
                yield answer.result()
                room.release()
        finally:
            left = True
            room.release(threads + 2)
            fetching.join(PATIENCE)


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

    def fraction(self) -> float | None:
        return None if not (self._opened and self._file.size) else self._opened.position / self._file.size

    @abstractmethod
    def _parse(self, text: Chunk) -> ParsedChunk:
        """The rows of a chunk of text; several threads call this at once."""

    def _label_tokens(self) -> LabelTokens:
        return LabelTokens(self.source, self._settings.labels)

    def _chunks(self) -> Generator[Chunk]:
        with self._file.open() as self._opened:
            yield from chunks(self._opened)

    def _read(self) -> Iterator[Block]:
        labels, before, self._opened = self._label_tokens(), 0, None
        chunks = self._chunks()
        parts = in_order(chunks, self._parse, 1 if self._is_one_chunk() else self._settings.threads or available())
        try:
            for part in parts:
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
            parts.close()
            with suppress(ValueError):  # another thread still waits for bytes of a source that is silent
                chunks.close()

    def _is_one_chunk(self) -> bool:
        """Threads would only be started to wait for one another."""
        return self._file.size is not None and self._file.size <= FIRST

    def _block(self, part: ParsedChunk, labels: LabelTokens, before: int) -> Block:
        lines = part.lines + (before + 1)

        def tokens() -> list[str]:
            written = zip(part.tokens() if part.tokens else (), lines.tolist(), strict=True)
            return [decoded(token, self.source, line) for token, line in written]

        found = part.labels if part.tokens is None else labels.numbers(part.labels, tokens, lines)
        return Block(part.rows, found, lines, self.source, part.weights)


class TableText(TextStream):
    """Rows of named columns: what these are, unless it is declared, the first thousand rows tell."""

    def __init__(self, file: Input, settings: Settings) -> None:
        self._file, self._settings = file, settings
        self._waiting: Iterator[Chunk] | None = None  # what was looked at of a source that can be read only once
        self._looking = True
        source = self._whole_chunks()
        try:
            looked_at, names, cells = self._look(source)
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
        return LARGEST

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

    def _whole_chunks(self) -> Generator[Chunk]:
        """The text in chunks of whole rows."""
        with self._file.open() as self._opened:
            lines = 0
            try:
                for text in chunks(self._opened, self._cut, self._largest):
                    yield text
                    lines += text.data.count(b"\n", text.start, text.stop) if self._looking else 0
            except InputError as error:
                if error.line is not None or not self._looking:
                    raise  # who reads the rows knows the line
                raise InputError(error.sentence, error.source, lines + 1) from error

    def _chunks(self) -> Generator[Chunk]:
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
