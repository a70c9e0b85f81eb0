"""Files that appear whole or not at all: written under a temporary name, synced, then renamed.

A temporary name is random and its file is locked while its writer lives. A lock that can be taken therefore means that
the writer died, by kill -9 or with its container, and the next file written to that folder takes the remains away.
What has no whole, a pipe, a terminal, standard output, is written to as it comes.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

from noregret.errors import InputError

# Where there are no such locks nothing is known of other writers, and their files are left alone.
fcntl: Any = import_module("fcntl") if os.name == "posix" else None
TEMPORARY = re.compile(r"\.noregret-[0-9a-f]{16}\.part")
_DESCRIPTOR = re.compile(r"/(?:dev|proc/(?:self|thread-self|\d+))/fd/(\d+)")
_LINKS = 40  # as many as the system itself follows

Place = Callable[[Path, Path], None]  # from the temporary name to its own


def _rename(temporary: Path, target: Path) -> None:
    temporary.replace(target)


@contextmanager
def whole_file(path: str | os.PathLike[str], *, sync: bool = True, place: Place = _rename) -> Iterator[IO[bytes]]:
    """A binary file to write that takes the place of `path` only once all of it is on the disk.

    Without `sync` it is there whole for every process, but may be lost or damaged if the machine itself goes down.
    """
    if not has_whole(path):
        with _flowing(path) as file:
            yield file
        return
    target = Path(os.path.realpath(path))  # what a link leads to, not the link
    if target.is_dir():
        raise InputError("is a folder, a file was expected", str(path))
    remove_remains(target.parent)
    made: list[Path] = []  # known before it is there: a signal may come at any moment
    try:
        temporary, file = _temporary(target.parent, made)
        with file:
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
            if fcntl is None:
                file.close()  # a system without these locks does not rename open files either
            place(temporary, target)
        if sync:
            sync_folder(target.parent)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from error
    finally:
        for one in made:
            one.unlink(missing_ok=True)


def has_whole(path: str | os.PathLike[str]) -> bool:
    """Whether a path leads to a file (or a folder, or nothing yet), not to a device, a pipe or our own open output."""
    if descriptor(path) is not None:
        return False
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def descriptor(path: str | os.PathLike[str]) -> int | None:
    """The number of the open descriptor of this process that a path such as /dev/stdout stands for.

    >>> descriptor("/dev/stdout"), descriptor("stdout")
    (1, None)
    """
    found = os.path.abspath(path)
    for _ in range(_LINKS):
        named = _DESCRIPTOR.fullmatch(found)
        if named is not None:
            return int(named[1]) if found.split("/")[2] in ("fd", "self", "thread-self", str(os.getpid())) else None
        try:
            found = os.path.normpath(os.path.join(os.path.dirname(found), os.readlink(found)))
        except OSError:
            return None
    return None


@contextmanager
def _flowing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A device as it is, or the output that is open already, from where it stands: nothing in it is lost."""
    number = descriptor(path)
    try:
        if number is not None:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            handle = os.dup(number)
        else:
            handle = os.open(path, os.O_WRONLY | os.O_APPEND)
        with os.fdopen(handle, "wb") as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from error


def _temporary(folder: Path, made: list[Path]) -> tuple[Path, IO[bytes]]:
    """A new file in the folder, locked as long as it is open; `made` names it before it exists."""
    while True:
        path = folder / f".noregret-{os.urandom(8).hex()}.part"
        made.append(path)
        file = cast("IO[bytes]", path.open("xb"))
        if _locked(file) and os.fstat(file.fileno()).st_nlink:
            return path, file
        file.close()  # somebody took it for remains before it was locked
        path.unlink(missing_ok=True)


def _locked(file: IO[bytes]) -> bool:
    """Lock a file if nobody has; a system without locks goes without."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
    return True


def remove_remains(folder: Path) -> None:
    """Remove what writers that died have left in a folder; the files of those that live are locked."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for name in [entry.name for entry in entries if TEMPORARY.fullmatch(entry.name)]:
            with suppress(OSError):
                _remove_remains(folder / name)


def _remove_remains(path: Path) -> None:
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(handle)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    finally:
        os.close(handle)


@contextmanager
def alone(target: Path) -> Iterator[None]:
    """While the file that is there now is locked: of several who look at it and then replace it, one after another."""
    while fcntl is not None and target.is_file():
        with suppress(FileNotFoundError), target.open("rb") as file:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(file.fileno()), os.stat(target)):
                yield
                return
    yield


def sync_folder(folder: Path) -> None:
    """The rename itself on the disk, where the system lets a folder be opened and synced."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)
