"""Bytes of a file or of standard input, decompressed when need be, with a count of what was consumed.

The first bytes decide which compression it is, never the name. Whatever goes wrong while opening or
reading is one sentence with the file's name.
"""

from __future__ import annotations

import io
import os
import stat
import sys
import weakref
import zlib
from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from noregret.errors import InputError, reason
from noregret.stream import store
from noregret.stream.arriving import Arriving, arriving, may_wait
from noregret.stream.scheme import is_broker, is_store

STANDARD_INPUT = "standard input"
CHUNK = 2**18
_HEAD = 10
_BZIP2 = (bytes.fromhex("314159265359"), bytes.fromhex("177245385090"))  # π, or √π for an empty file


def compression(head: bytes) -> str | None:
    """The compression whose magic bytes `head` begins with.

    >>> compression(bytes.fromhex("1f8b0800"))
    'gzip'
    """
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"BZh") and head[4:10] in _BZIP2:
        return "bzip2"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    return "zstd" if head.startswith(b"\x28\xb5\x2f\xfd") else None


def _may_be_compressed(head: bytes) -> bool:
    """Whether more bytes could tell a compression."""
    return any(
        magic.startswith(head[: len(magic)]) for magic in (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")
    )


def says_something(line: bytes) -> bool:
    """Whether a line of text is neither blank nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith(b"#")


class _Counted(io.RawIOBase):
    """A file that counts what is read from it, beginning with the `head` that was looked at before."""

    def __init__(self, file: BinaryIO, head: bytes) -> None:
        self._file = file
        self.head = head  # what of it was not handed out yet
        self.position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.head:
            count = min(len(self.head), len(buffer))
            buffer[:count], self.head = self.head[:count], self.head[count:]
        else:
            count = _fill(self._file, buffer)
        self.position += count
        return count

    def close(self) -> None:
        if self._file is not _standard_input():
            self._file.close()
        super().close()


class Opened:
    """One pass over a source's decompressed bytes."""

    def __init__(self, name: str, file: BinaryIO, waiting: Arriving | None = None) -> None:
        self.name = name
        self._arriving = waiting
        file = file if waiting is None else cast(BinaryIO, waiting)
        head = _head_of(file)
        self.compression = compression(head)
        self._counted = _Counted(file, head)
        self._file = _decompressed(self._counted, self.compression)
        self._pushed = b""

    @property
    def position(self) -> int:
        """How many bytes, as stored, have been consumed."""
        return self._counted.position

    @property
    def live(self) -> bool:
        """Whether its bytes can be had as they come."""
        return self._arriving is not None and self.compression is None

    def ready(self, seconds: float = 0.0) -> bool:
        """Whether a read would return at once, or within `seconds`; one that decompresses is not asked."""
        if self._arriving is None or self.compression is not None or self._pushed or self._counted.head:
            return True
        return self._arriving.ready(seconds)

    @property
    def finished(self) -> bool:
        """Whether it was asked to end: what comes last may be half a line."""
        return self._arriving is not None and self._arriving.asked

    def read(self, size: int = CHUNK, line: int | None = None) -> bytes:
        """Some bytes, at most `size`, none at the end; `line` is the line reached, for the error sentence."""
        buffer = bytearray(size)
        return bytes(memoryview(buffer)[: self.fill(memoryview(buffer), line)])

    def fill(self, buffer: memoryview, line: int | None = None) -> int:
        """As `read`, into a buffer: how many bytes came."""
        if self._pushed:
            count = min(len(self._pushed), len(buffer))
            buffer[:count], self._pushed = self._pushed[:count], self._pushed[count:]
            return count
        try:
            plain = self.compression is None
            return self._counted.readinto(buffer) if plain else _fill(self._file, buffer)
        except (OSError, EOFError, ValueError, zlib.error, _lzma_error()) as error:
            if self.finished:  # in the middle of what is compressed
                return 0
            what = f"{self.compression} data are" if self.compression else "file is"
            raise InputError(f"the {what} damaged or cut short ({reason(error)})", self.name, line) from error

    def push(self, piece: bytes) -> None:
        """Give back bytes that were looked at."""
        self._pushed = piece + self._pushed

    def close(self) -> None:
        self._file.close()
        self._counted.close()

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Input:
    """A path, or `-` for standard input: what can be opened, and whether more than once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = STANDARD_INPUT if path == "-" else store.shown(path) if is_store(path) else path
        self.size: int | None = None
        self.rereadable = False
        self.paused: Callable[[str], None] = _unheard  # called when rows wait for others, and why if that is known
        self._kept: Opened | None = None
        self._spooled: BinaryIO | None = None
        self._arriving: Arriving | None = None
        self._ahead = path == "-" and may_wait(_standard_input())  # open already, for whoever will read it
        self._asked = False  # to finish
        self._live: bool | None = None
        if path != "-":
            self._look()

    def _look(self) -> None:
        if is_broker(self.path):
            raise InputError("is a stream of events, not of rows: noregret learn --events reads it", self.path)
        if is_store(self.path):
            self.size, self.rereadable = store.size_of(self.path), True
            return
        try:
            found = os.stat(self.path)
        except (OSError, ValueError) as error:
            raise _cannot_open(self.path, error) from error
        if stat.S_ISDIR(found.st_mode):
            raise InputError("is a directory, expected a file", self.path)
        if stat.S_ISREG(found.st_mode):
            self.size, self.rereadable = found.st_size, True

    @property
    def live(self) -> bool:
        """Whether its bytes can be had as they come: from a pipe or a terminal, not compressed."""
        if self._live is None and not self.rereadable:
            self._kept = self.open()
        return bool(self._live)

    def finish(self) -> bool:
        """End the pass with what was written by now; False for what never lets a reader wait, or is not open yet."""
        self._asked = True
        if self._arriving is not None:
            self._arriving.finish()
        return self._arriving is not None or self._ahead

    def open(self) -> Opened:
        if self._kept is not None:
            opened, self._kept = self._kept, None
            return opened
        if self.path == "-":
            return self._opened(_standard_input(), owned=False)
        try:
            file = store.opened(self.path) if is_store(self.path) else _unbuffered(self.path)
        except OSError as error:
            raise _cannot_open(self.path, error) from error
        try:
            return self._opened(file, owned=True)
        except OSError as error:
            file.close()
            raise _cannot_open(self.path, error) from error

    def _opened(self, file: BinaryIO, owned: bool) -> Opened:
        self._arriving, self._ahead = arriving(file, owned), False
        if self._asked and self._arriving is not None:
            self._arriving.finish()
        opened = Opened(self.name, file, self._arriving)
        self._live = opened.live
        return opened

    def keep(self, opened: Opened, looked_at: bytes) -> None:
        """Hand back an opened source after a look at its beginning; what can be opened again is closed."""
        if self.rereadable:
            opened.close()
        else:
            opened.push(looked_at)
            self._kept = opened

    def head(self, size: int = 2**16) -> bytes:
        """The beginning up to a whole line that says something, at most `size` bytes; nothing is consumed."""
        opened = self.open()
        seen = b""
        try:
            while len(seen) < size and not any(map(says_something, seen.split(b"\n")[:-1])):
                piece = opened.read(size - len(seen), 1)
                if not piece:
                    break
                seen += piece
        except InputError:
            opened.close()
            raise
        self.keep(opened, seen)
        return seen

    def seekable(self) -> BinaryIO:
        """A file that can be read at any place: the file itself, or a temporary copy, decompressed.

        The copy has one reading position, so passes over it must follow each other.
        """
        if self._spooled is None:
            opened = self.open()
            self._arriving = None  # what is cut short has no meaning
            if opened.finished:
                raise KeyboardInterrupt
            if self.rereadable and opened.compression is None:
                opened.close()
                return store.anywhere(self.path) if is_store(self.path) else open(self.path, "rb")
            with opened:
                self._spooled = _spool(opened)
            weakref.finalize(self, self._spooled.close)
        self._spooled.seek(0)
        return cast(BinaryIO, os.fdopen(os.dup(self._spooled.fileno()), "rb"))


def _unheard(why: str) -> None:
    """Nobody asked."""


def _spool(opened: Opened) -> BinaryIO:
    copy: BinaryIO | None = None
    try:
        import tempfile

        copy = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 (kept for every pass)
        while piece := opened.read():
            copy.write(piece)
        copy.flush()
    except BaseException as error:
        if copy is not None:
            copy.close()
        if isinstance(error, OSError):
            raise InputError(f"a temporary copy cannot be written ({error.strerror})", opened.name) from error
        raise
    return copy


def _cannot_open(path: str, error: Exception) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError("there is no such file", path)
    if isinstance(error, PermissionError):
        return InputError("may not be read: permission denied", path)
    return InputError(f"cannot be opened ({getattr(error, 'strerror', None) or error})", path)


def _unbuffered(path: str) -> BinaryIO:
    return cast(BinaryIO, open(path, "rb", buffering=0))


def _standard_input() -> BinaryIO:
    """Without a buffer of its own: a thread that waits there would hold a lock when the process ends."""
    buffered = getattr(sys.stdin, "buffer", None) or io.BytesIO()
    return cast(BinaryIO, getattr(buffered, "raw", buffered))


def _some(file: BinaryIO, size: int) -> bytes:
    read = getattr(file, "read1", file.read)
    return cast(bytes, read(size)) or b""


def _fill(file: Any, buffer: Any) -> int:
    return getattr(file, "readinto1", file.readinto)(buffer) or 0


def _head_of(file: BinaryIO) -> bytes:
    head = b""
    while len(head) < _HEAD and _may_be_compressed(head) and (piece := _some(file, _HEAD - len(head))):
        head += piece
    return head


def _decompressed(counted: _Counted, kind: str | None) -> Any:
    buffered = io.BufferedReader(counted, CHUNK)
    if kind == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=buffered, mode="rb")
    if kind == "bzip2":
        import bz2

        return bz2.BZ2File(buffered)
    if kind == "xz":
        import lzma

        return lzma.LZMAFile(buffered)
    if kind == "zstd":
        import pyarrow

        return pyarrow.CompressedInputStream(pyarrow.PythonFile(buffered, mode="r"), "zstd")
    return buffered


def _lzma_error() -> type[Exception]:
    import lzma

    return lzma.LZMAError


MOST = 16  # pieces of memory that are looked after
LEAST = 2**16  # bytes: new ones are as quick if they are smaller


def _references(kept: deque[Any], i: int) -> int:
    return sys.getrefcount(kept[i])


_NONE = _references(deque([bytearray()]), 0)  # how often what nobody refers to counts as referred to


class Buffers:
    """Text and arrays for the pieces of a stream; several threads may ask at once.

    Every slice of an array refers to the memory that it is cut from, so that rows which somebody keeps stay as they
    are: their memory is not taken again, and forgotten here when others are asked for.
    """

    def __init__(self) -> None:
        self._kept: deque[Any] = deque(maxlen=MOST)
        self._lock = Lock()

    def text(self, size: int) -> bytearray:
        """`size` bytes, whatever they held before."""
        with self._lock:
            found = self._free(bytearray, size, size)
            if found is None:
                found = bytearray(size)
                self._kept.append(found)
            assert isinstance(found, bytearray)
            return found

    def array(self, count: int, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """An array of `count` elements, whatever they held before."""
        size = count * np.dtype(dtype).itemsize
        if size < LEAST:
            return np.empty(count, dtype)
        with self._lock:
            found = self._free(np.ndarray, size, 2 * size)
            if found is None:
                found = np.empty(size + size // 8, np.uint8)
                self._kept.append(found)
            return found[:size].view(dtype)  # type: ignore[no-any-return]

    def clear(self) -> None:
        """Forget all of it; what is in use stays."""
        with self._lock:
            self._kept.clear()

    def _free(self, kind: type, least: int, most: int) -> Any:
        """One of the kind that nobody uses, of a fitting size."""
        for i in range(len(self._kept)):
            fits = type(self._kept[i]) is kind and least <= len(self._kept[i]) <= most
            if fits and _references(self._kept, i) == _NONE:
                return self._kept[i]
        return None
