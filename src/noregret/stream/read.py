"""`read`: a stream from whatever holds rows, told apart by type, by extension, or by the first bytes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from importlib import import_module
from pathlib import PurePath
from typing import Any

from noregret.errors import InputError, SettingError
from noregret.stream.base import Stream
from noregret.stream.cache import CACHE_FILE
from noregret.stream.features import Features
from noregret.stream.numbers import number
from noregret.stream.opening import Input, says_something
from noregret.stream.pipeline import available
from noregret.stream.settings import Settings

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
# What says what columns are, which a recipe then knows.
DECLARED: dict[str, Any] = {"text": (), "categorical": (), "numeric": (), "date": (), "keep": (), "columns": None}
# What has no part in the rows that a cache keeps, or has it by way of the recipe.
APART = (*DECLARED, "recognise", "hash_bits", "features", "frozen", "missing", "block_rows", "threads")
Reader = Callable[[Input, Settings], Stream]
# What reads each kind of file, and the module that it is in: only the one that is asked for is loaded.
SVMLIGHT, VOWPAL, DELIMITED = ("svmlight", "Svmlight"), ("vw", "Vowpal"), ("delimited", "Delimited")
PARQUET, IPC, NPZ = ("arrow", "read_parquet"), ("arrow", "read_ipc"), ("npz", "Npz")
READERS = {
    ".svm": SVMLIGHT,
    ".svmlight": SVMLIGHT,
    ".libsvm": SVMLIGHT,
    ".vw": VOWPAL,
    ".csv": DELIMITED,
    ".tsv": DELIMITED,
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".arrow": IPC,
    ".arrows": IPC,
    ".feather": IPC,
    ".ipc": IPC,
    ".npz": NPZ,
}


def read(
    source: Any,
    *,
    label: str | int | None = None,
    text: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    date: Sequence[str] = (),
    keep: Sequence[str] = (),
    ignore: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    recognise: bool = True,
    hash_bits: int = 18,
    missing: str = "error",
    features: Features | None = None,
    frozen: bool = False,
    labels: bool = True,
    block_rows: int | None = None,
    threads: int | None = None,
    cache: bool = False,
) -> Stream:
    """The rows of a file, of standard input (`-`), or of arrays, frames and iterables in memory.

    What the columns of a table are is recognised from its first thousand rows: numbers, written amounts, dates, free
    text, categories, and identities, which are left out. `decisions` of the stream has a line for each that is not
    plain, with what overrides it: columns named in `text`, `categorical`, `numeric` and `date` are that, and those in
    `keep` are not left out. With `recognise` false a column is what its type says. `columns` says it all instead, as
    a receipt does: those that it does not name are plain numbers.

    With the `features` of a model, columns are matched by name and new ones are added to it, or left out when it is
    `frozen`. Columns in `ignore` are left out. With `labels` false rows need no label. `block_rows`, how much is read
    at a time, and `threads`, how many parse text (default: as many as there are cores), never change a result. With
    `cache` the parsed rows of a file are kept beside it, as FILE.nrcache, and read from there for as long as the file
    stays the same.

    >>> [len(block) for block in read(([[1.0], [2.0], [3.0]], [1, -1, 1]), block_rows=2).blocks()]
    [2, 1]
    """
    if isinstance(source, Stream):
        return source
    settings = Settings(
        None if label is None else str(label),
        _names(text),
        _names(categorical),
        hash_bits,
        missing,
        features,
        frozen,
        labels,
        block_rows,
        _names(ignore),
        available() if threads is None else threads,
        _names(numeric),
        _names(date),
        _names(keep),
        columns,
        recognise,
    )
    if isinstance(source, (str, os.PathLike)):
        file = Input(os.fspath(source))
        return _cached(file, settings) if cache else _read_file(file, settings)
    if cache:
        raise SettingError("cache is for files: what is in memory needs none")
    from noregret.stream.frame import is_frame, read_frame
    from noregret.stream.memory import Arrays
    from noregret.stream.rows import DictRows

    if is_frame(source):
        return read_frame(source, settings)
    if isinstance(source, tuple) and _is_matrix_and_labels(source):
        return _read_arrays(source, settings)
    if not labels and (hasattr(source, "tocsr") or hasattr(source, "__array__")):
        return Arrays(source, None, None, settings)
    if isinstance(source, Iterable) and not isinstance(source, (Mapping, bytes)) and not hasattr(source, "__array__"):
        return DictRows(source, settings)
    raise SettingError(
        f"read: expected a path, (X, y), a table or an iterable of (dict, label), got {type(source).__name__}"
    )


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _is_matrix_and_labels(source: tuple[Any, ...]) -> bool:
    if len(source) not in (2, 3):
        return False
    first = source[0]
    if isinstance(first, Mapping):  # SciPy's dictionary of keys is a mapping too
        return hasattr(first, "tocsr")
    return not (isinstance(first, tuple) and first and isinstance(first[0], Mapping))


def _read_arrays(source: tuple[Any, ...], settings: Settings) -> Stream:
    from noregret.stream.frame import is_frame, read_frame_with
    from noregret.stream.memory import Arrays

    X, y, *rest = source
    if not is_frame(X):
        return Arrays(X, y, rest[0] if rest else None, settings)
    if rest:
        raise SettingError("read: weights beside a frame are not known; give arrays instead")
    return read_frame_with(X, y, settings)


def _read_file(file: Input, settings: Settings) -> Stream:
    endings = PurePath(file.path).suffixes if file.path != "-" else []
    if endings and endings[-1].lower() in COMPRESSED:
        endings.pop()
    module, name = (READERS.get(endings[-1].lower()) if endings else None) or _kind_of(file)
    reader: Reader = getattr(import_module(f"noregret.stream.{module}"), name)
    return reader(file, settings)


def _cached(file: Input, settings: Settings) -> Stream:
    """The same by way of a cache, which is made in the first pass."""
    from noregret.stream.cache.cached import Cached

    if not file.rereadable:
        raise InputError("cannot be cached, for it can be read only once: give a file", file.name)

    def reopened(features: Features) -> Stream:
        again = replace(settings, features=features, **DECLARED)  # the recipe knows its columns
        return _read_file(Input(file.path), again)

    asked = {field.name: getattr(settings, field.name) for field in fields(settings) if field.name not in APART}
    rules = {name: list(value) if isinstance(value, tuple) else value for name, value in asked.items()}
    return Cached(_read_file(file, settings), file.path, rules, reopened, settings.block_rows)


def _kind_of(file: Input) -> tuple[str, str]:
    """What the first bytes ask for."""
    from noregret.stream.arrow import ARROW_FILE, PARQUET_FILE

    head = file.head()
    if head.startswith(PARQUET_FILE):
        return PARQUET
    if head.startswith((ARROW_FILE, b"\xff\xff\xff\xff")):
        return IPC
    if head.startswith(b"PK\x03\x04"):
        return NPZ
    if head.startswith(CACHE_FILE):
        raise InputError("is a cache: give the file that it was made of", file.name)
    if not head.strip():
        raise InputError("holds no rows", file.name)
    first = next(filter(says_something, head.removeprefix(b"\xef\xbb\xbf").split(b"\n")), b"")
    if looks_like_vowpal(first):
        return VOWPAL
    return SVMLIGHT if looks_like_svmlight(first) else DELIMITED


def looks_like_vowpal(line: bytes) -> bool:
    """Whether a | stands behind numbers alone, a label and an importance, or behind a tag that touches it.

    >>> looks_like_vowpal(b"-1 0.5 'a7|user age:3"), looks_like_vowpal(b"label|age|town")
    (True, False)
    """
    head, bar, _ = line.partition(b"|")
    fields = head.split()
    if fields and fields[-1].startswith(b"'"):
        fields.pop()
    elif fields and not head[-1:].isspace():
        return False  # a tag without a quote, or the name of a column
    numbers = [number(field.decode("utf-8", "replace")) for field in fields]
    return bool(bar) and len(fields) <= 2 and None not in numbers


def looks_like_svmlight(line: bytes) -> bool:
    """Whether a line is a label and INDEX:VALUE pairs, or a lone number.

    >>> looks_like_svmlight(b"+1 3:0.5"), looks_like_svmlight(b"age;time 10:30;label")
    (True, False)
    """
    tokens = line.partition(b"#")[0].split()
    rest = tokens[1:] if tokens and b":" not in tokens[0] else tokens
    pairs = all(re.fullmatch(rb"(?:\d+|qid):[^\s,;|]+", token) for token in rest)
    lone = not rest and len(tokens) == 1 and number(tokens[0].decode("utf-8", "replace")) is not None
    return lone or (bool(rest) and pairs)
