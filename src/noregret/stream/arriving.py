"""Bytes that come when they come, from a pipe, a terminal or a socket, and a way to stop waiting for them.

Who asks such a source to finish still gets what was written to it by then: it ends where a read would wait.
"""

from __future__ import annotations

import io
import os
import select
import stat
from contextlib import suppress
from importlib import import_module
from threading import Lock
from typing import Any, BinaryIO, cast

fcntl: Any = import_module("fcntl") if os.name == "posix" else None
ROOM = 2**20  # bytes: what a pipe is asked to hold, so that a fast writer seldom waits
LAST = 2**22  # bytes taken after the request to finish, more than a pipe holds: a writer need never pause


class Arriving(io.RawIOBase):
    """A source on which a read may wait.

    >>> reading, writing = os.pipe()
    >>> source = Arriving(open(reading, "rb", buffering=0))
    >>> source.ready(), os.write(writing, b"1 3:0.5"), source.ready()
    (False, 7, True)
    >>> source.finish()
    >>> source.read(100), source.read(100)
    (b'1 3:0.5', b'')
    >>> source.close(), os.close(writing)
    (None, None)
    """

    def __init__(self, file: BinaryIO, owned: bool = True) -> None:
        self._file = file
        self._owned = owned  # and closed with it
        self.asked = False  # to finish
        self._ended = False
        self._left = LAST
        self._open = Lock()
        self._hears, self._bell = os.pipe()
        self._bytes, self._any = select.poll(), select.poll()
        for listener in (self._bytes, self._any):
            listener.register(file.fileno(), select.POLLIN)
        self._any.register(self._hears, select.POLLIN)
        with suppress(OSError, AttributeError):  # no pipe, or a system that cannot
            fcntl.fcntl(file.fileno(), fcntl.F_SETPIPE_SZ, ROOM)

    def readable(self) -> bool:
        return True

    def ready(self, seconds: float = 0.0) -> bool:
        """Whether a read would return at once, or within `seconds`: there are bytes, or the end is reached."""
        return self.asked or self._ended or bool(self._any.poll(1000.0 * seconds))

    def finish(self) -> None:
        """End where a read would wait. Any thread may ask for it, and so may what handles a signal."""
        self.asked = True
        if self._open.acquire(blocking=False):  # nobody closes it now: its numbers may then be those of other files
            try:
                if not self.closed:
                    os.write(self._bell, b"!")
            finally:
                self._open.release()

    def readinto(self, buffer: Any) -> int:
        count = None
        while count is None and not self._ended:
            if not self.asked:
                self._any.poll()
            room = memoryview(buffer)
            if self.asked:
                room = room[: self._left]
                if not self._bytes.poll(0):
                    break
            count = cast("Any", self._file).readinto(room)  # None where another reader was quicker
            self._left -= (count or 0) if self.asked else 0
        self._ended = not count
        return count or 0

    def close(self) -> None:
        with self._open:
            if not self.closed:
                super().close()
                for number in (self._hears, self._bell):
                    os.close(number)
                if self._owned:
                    self._file.close()


def may_wait(file: BinaryIO) -> bool:
    """Whether a read of the file may wait; the bytes of others are all there."""
    try:
        mode = os.fstat(file.fileno()).st_mode
    except (OSError, ValueError):  # bytes in memory have no descriptor
        return False
    return hasattr(select, "poll") and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode))


def arriving(file: BinaryIO, owned: bool = True) -> Arriving | None:
    """The file as a source that may have to be waited for; None for one of which all is there."""
    return Arriving(file, owned) if may_wait(file) else None
