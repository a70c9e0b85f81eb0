"""The formats of files, one module each: what a file is, its name tells, or else its first bytes.

A format is a line in FORMATS and the module that the line names, with a reader from an `Input` and `Settings` to a
`Stream`. A format without `magic` bytes is text: its module has a function `looks_like`, which is asked about the first
line that is neither blank nor a comment. Only the modules that are needed are loaded.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from noregret.errors import EmptyError, InputError
from noregret.stream.cache import CACHE_FILE
from noregret.stream.opening import Input, says_something
from noregret.stream.scheme import is_store

if TYPE_CHECKING:
    from noregret.stream.base import Stream
    from noregret.stream.reading import Settings

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Format(NamedTuple):
    """What reads a format, and how a file of it is known."""

    module: str
    reader: str
    suffixes: tuple[str, ...]
    magic: tuple[bytes, ...] = ()  # what the file begins with, if that tells
    unnamed: str = ""  # what a file without named columns is called when somebody names one


FORMATS = (
    Format("parquet", "read_parquet", (".parquet", ".pq"), (b"PAR1",)),
    Format("arrow", "read_ipc", (".arrow", ".arrows", ".feather", ".ipc"), (b"ARROW1", b"\xff\xff\xff\xff")),
    Format("npz", "Npz", (".npz",), (b"PK\x03\x04",), "an .npz archive"),
    Format("jsonlines", "JsonLines", (".jsonl", ".ndjson")),
    Format("vw", "Vowpal", (".vw",), unnamed="a Vowpal Wabbit file"),
    Format("svmlight", "Svmlight", (".svm", ".svmlight", ".libsvm"), unnamed="an svmlight file"),
    Format("delimited", "Delimited", (".csv", ".tsv")),  # the last: any text that is nothing else
)


def opened(file: Input, settings: Settings) -> Stream:
    """The rows of a file."""
    found = _named(file) or _recognised(file)
    if found.unnamed:
        settings.refuse_columns(found.unnamed)
    stream: Stream = getattr(_module(found), found.reader)(file, settings)
    return stream


def _module(found: Format) -> Any:
    return import_module(f"noregret.stream.formats.{found.module}")


def _named(file: Input) -> Format | None:
    """The format that the file's name tells."""
    endings = [ending.lower() for ending in PurePath(file.name if is_store(file.path) else file.path).suffixes]
    if endings and endings[-1] in COMPRESSED:
        endings.pop()
    return next((one for one in FORMATS if endings and endings[-1] in one.suffixes), None)


def _recognised(file: Input) -> Format:
    """The format that the first bytes tell."""
    head = file.head()
    if head.startswith(CACHE_FILE):
        raise InputError("is a cache: give the file that it was made of", file.name)
    if not head.strip():
        raise EmptyError("holds no rows", file.name)
    first = next(filter(says_something, head.removeprefix(BYTE_ORDER_MARK).split(b"\n")), b"")
    return next(one for one in FORMATS if (head.startswith(one.magic) if one.magic else _module(one).looks_like(first)))
