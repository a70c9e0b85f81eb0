"""The file that a cache was made of: what it looked like, whether it still is the same, and where its cache lies.

A file whose size, times and inode are unchanged is taken for the same when a sample of it agrees; but a file that was
written within two seconds of being looked at could be changed again without its times showing it, so then, and when
anything but the size differs, the digest of every byte decides.

One source has one cache, beside it as FILE.nrcache, or in the user's own folder where that may not be written: with
other settings it is made again in the same place.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import msgspec

from noregret.errors import InputError
from noregret.stream.cache import CACHE_ENDING, MAGIC

RACE = 2 * 10**9  # nanoseconds: the coarsest times that a file system keeps
PIECE = 2**16
SAMPLES = 8
CHUNK = 2**20


class Origin(msgspec.Struct, frozen=True):
    """A file as it was when somebody looked."""

    size: int
    modified: int  # nanoseconds
    changed: int  # of the inode: this one cannot be set by hand
    inode: int
    looked: int  # the time by the clock just before the look
    sample: str
    digest: str = ""  # SHA-256 of all of it, once that is known

    @classmethod
    def of(cls, path: str) -> Origin:
        looked = time.time_ns()
        found = os.stat(path)
        sample = _sample(path, found.st_size)
        return cls(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, looked, sample)

    @property
    def recent(self) -> bool:
        """Whether the file was written so shortly before the look that the times cannot tell a later change."""
        return max(self.modified, self.changed) + RACE >= self.looked

    def looks_like(self, other: Origin) -> bool:
        """Whether nothing that shows without reading the file is different."""
        return all(
            getattr(self, key) == getattr(other, key) for key in ("size", "modified", "changed", "inode", "sample")
        )

    def with_digest(self, digest: str) -> Origin:
        return msgspec.structs.replace(self, digest=digest)


def still(path: str, kept: Origin) -> Origin | None:
    """The origin that a cache should keep when the file is still that of `kept`, else None."""
    now = Origin.of(path)
    if now.looks_like(kept) and not kept.recent:
        return kept
    if now.size != kept.size or not same_bytes(path, kept):
        return None
    return now.with_digest(kept.digest) if now.looks_like(Origin.of(path)) else None


def same_bytes(path: str, kept: Origin) -> bool:
    """Whether every byte is that of the file `kept` was made of."""
    return Following(path, kept.size).finish() == kept.digest


def _sample(path: str, size: int) -> str:
    """SHA-256 of the head, the tail and some pieces between."""
    found = hashlib.sha256()
    with Path(path).open("rb", buffering=0) as file:
        for at in sorted({max(0, size - PIECE) * k // (SAMPLES - 1) for k in range(SAMPLES)}):
            file.seek(at)
            found.update(file.read(PIECE) or b"")
    return found.hexdigest()


class Following:
    """The digest of a file, taken behind a reader of it, while the bytes are still in memory."""

    def __init__(self, path: str, size: int) -> None:
        self._file = Path(path).open("rb", buffering=0)  # noqa: SIM115 (closed by close)
        self._size = size
        self._hash = hashlib.sha256()
        self._buffer = memoryview(bytearray(CHUNK))
        self._done = 0

    def up_to(self, fraction: float | None) -> None:
        """Go on to this share of the file."""
        wanted = int((fraction or 0.0) * self._size)
        while self._done + CHUNK <= wanted and self._more():
            pass

    def finish(self) -> str:
        """The digest of all of it, as hexadecimal digits."""
        while self._more():
            pass
        self.close()
        return self._hash.hexdigest()

    def _more(self) -> bool:
        count = self._file.readinto(self._buffer) or 0
        self._hash.update(self._buffer[:count])
        self._done += count
        return count > 0

    def close(self) -> None:
        self._file.close()


def places(source: str) -> tuple[Path, Path]:
    """Beside the source, and in the user's cache folder; both of the file itself, not of a link to it."""
    real = os.path.realpath(source)
    itself = Path(real if os.path.islink(source) else source)
    name = hashlib.sha256(os.fsencode(real)).hexdigest()[:32]
    return itself.with_name(itself.name + CACHE_ENDING), _own_folder() / (name + CACHE_ENDING)


def place_to_write(source: str) -> Path:
    """The first of the places that can be written to."""
    found, own = places(source)
    if not os.access(found.parent, os.W_OK):
        found = own
        try:
            found.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            said = f"no cache can be written beside it, nor in {found.parent} ({error.strerror})"
            raise InputError(said, source) from error
    if found.exists() and not is_cache(found):
        raise InputError(f"its cache would be written over {found}, which is not a cache: move that away", source)
    return found


def _own_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path("~/.cache").expanduser()) / "noregret" / "streams"


def is_cache(path: Path) -> bool:
    """Whether a file is a cache, perhaps a damaged one: most of its first bytes are those of one."""
    try:
        with path.open("rb") as file:
            head = file.read(len(MAGIC))
    except OSError:
        return False
    if not head.strip(b"\0"):
        return True  # what a machine that went down may leave of one
    alike = sum(ours == found for ours, found in zip(MAGIC, head, strict=False))
    return 2 * alike >= len(head)
