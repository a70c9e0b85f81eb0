"""Where a source's cache lies: beside it as FILE.nrcache, or in the user's own folder where that may not be written.

One source has one cache: asked for with other settings, it is made anew in the same place.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from noregret.errors import InputError
from noregret.stream.cache.file import MAGIC

ENDING = ".nrcache"


def places(source: str) -> tuple[Path, Path]:
    """Beside the source, and in the user's cache folder; both of the file itself, not of a link to it."""
    real = os.path.realpath(source)
    itself = Path(real if os.path.islink(source) else source)
    name = hashlib.sha256(os.fsencode(real)).hexdigest()[:32]
    return itself.with_name(itself.name + ENDING), _own_folder() / (name + ENDING)


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
        raise InputError(f"its cache would be written over {found}, which is no cache: move that away", source)
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
