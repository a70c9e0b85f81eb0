"""Text in chunks of whole lines, in the order in which it stands, worked on by several threads.

Of a file chunks are large. Of a source that has to be waited for they are what has come, as soon as nobody is busy with
what came before: a line is answered at once, and a fast writer is read in large chunks too.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret import _native
from noregret.errors import InputError
from noregret.stream.opening import Buffers, Opened

if TYPE_CHECKING:
    from concurrent.futures import Future

FIRST, LARGEST = 2**16, 2**22  # bytes: the first chunk is small, so that its rows are there soon
LINE_LIMIT = 2**26  # bytes: a few compressed kilobytes could otherwise be a line that fills the memory
SLACK = b"\n" * _native.SLACK  # what a parser may look at behind a chunk
MARK = b"\xef\xbb\xbf"
MOST = 8
BRIEFLY = 0.001  # seconds in which a busy reader may still get more
LONGEST = 3600.0
PATIENCE = 0.5  # seconds until a source counts as silent, and for the thread that fetches to end

Cut = Callable[[bytearray, int, int], int]
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


class Appetite:
    """Whether whoever takes rows has none left to work on: text that has come is then cut, however little it is."""

    def __init__(self) -> None:
        self.given = self.taken = 0  # chunks

    def __call__(self) -> bool:
        return self.given == self.taken


def chunks(
    opened: Opened,
    cut: Cut = line_end,
    largest: Callable[[], int] | None = None,
    hungry: Callable[[], bool] = lambda: True,
) -> Iterator[Chunk | None]:
    """Every line of the text, the last one with a newline too; the byte-order mark is left out.

    A chunk ends where `cut` says, and has about `largest()` bytes at most; of a source that has to be waited for it
    has the lines that are there, and None says that there are no more for now. Whole lines that were read before the
    source turned out to be damaged, or before a line that is too long, come before the error. Half a line at the end
    of a source that was asked to finish is left out.
    """
    rest, size, first, buffers = b"", FIRST, True, Buffers()
    trouble: InputError | None = None
    more = True
    while more:
        data = buffers.text(min(max(size, 2 * len(rest)), LINE_LIMIT + len(MARK)) + 1 + len(SLACK))
        data[: len(rest)] = rest
        filled, room = len(rest), len(data) - 1 - len(SLACK)
        new = False  # whether a line has ended that is not in a chunk
        while more and filled < room:
            if not opened.ready():
                if not new:
                    yield from _silence(opened)
                elif not hungry():
                    opened.ready(BRIEFLY)
                    continue
                elif cut(data, _begin(data, first), filled) > _begin(data, first):
                    break
                else:
                    new = False
                    continue
            try:
                count = opened.fill(memoryview(data)[filled:room])
            except InputError as error:
                trouble, count = error, 0
            new = new or data.find(b"\n", filled, filled + count) >= 0
            filled, more = filled + count, count > 0
        start = _begin(data, first)
        stop = cut(data, start, filled)
        if more and stop == start and filled - start > LINE_LIMIT:
            raise too_long(opened.name)
        if not more and trouble is None and filled > stop and not opened.finished:
            stop = filled
            if data[filled - 1] != 10:
                data[filled] = 10
                filled = stop = filled + 1
        rest = bytes(memoryview(data)[stop:filled])
        if stop > start:
            data[stop : stop + len(SLACK)] = SLACK
            full = filled >= room
            yield Chunk(data, start, stop, buffers=buffers)
            del data  # the next may take its memory
            first, size = False, min(2 * size if full else size, (largest or largest_chunk)())
        else:
            rest = bytes(memoryview(data)[:filled])
    if trouble is not None:
        raise trouble


def _silence(opened: Opened) -> Iterator[None]:
    """Now and then, at longer and longer intervals, until a read need not wait."""
    yield
    seconds = PATIENCE
    while not opened.ready(seconds):
        yield
        seconds = min(2.0 * seconds, LONGEST)


def _begin(data: bytearray, first: bool) -> int:
    """Where the text begins."""
    return len(MARK) if first and data.startswith(MARK) else 0


def is_one_chunk(size: int | None) -> bool:
    """Whether a file of this size is: threads would only be started to wait for one another."""
    return size is not None and size <= FIRST


def largest_chunk() -> int:
    """How many bytes a chunk has at most, where nothing else is said."""
    return LARGEST


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


def in_order(
    chunks: Iterator[Work | None], work: Callable[[Work], Answer], threads: int, appetite: Appetite | None = None
) -> Generator[Answer | None]:
    """work(chunk) for every chunk, None where there is none for now; an error comes where its chunk would have come.

    >>> list(in_order(iter("abc"), str.upper, 2))
    ['A', 'B', 'C']
    """
    if threads == 1:
        for chunk in chunks:
            yield None if chunk is None else work(chunk)
        return
    from concurrent.futures import ThreadPoolExecutor

    room = Semaphore(threads + 1)  # chunks on their way
    answers: SimpleQueue[Future[Answer] | BaseException | bool] = SimpleQueue()  # or whether there is more to come
    appetite = Appetite() if appetite is None else appetite
    left = False

    def fetch() -> None:
        try:
            for chunk in chunks:
                if chunk is None:
                    answers.put(True)
                    continue
                appetite.given += 1
                answers.put(pool.submit(work, chunk))
                room.acquire()
                if left:
                    return
            answers.put(False)
        except BaseException as error:  # it is raised where it is waited for
            answers.put(error)

    with ThreadPoolExecutor(threads, "parse") as pool:
        fetching = Thread(target=fetch, name="fetch", daemon=True)
        fetching.start()
        try:
            while (answer := answers.get()) is not False:
                if isinstance(answer, BaseException):
                    raise answer
                if answer is True:
                    yield None
                    continue
                yield answer.result()
                appetite.taken += 1
                room.release()
        finally:
            left = True
            room.release(threads + 2)
            fetching.join(PATIENCE)
