"""`read`: a stream from whatever holds rows, and the settings that every reader takes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from noregret.errors import InputError, SettingError, spelled
from noregret.stream import formats, store
from noregret.stream.base import Stream
from noregret.stream.block import BLOCK_VALUES
from noregret.stream.features import Features, Kind
from noregret.stream.files import Files, files_of
from noregret.stream.interactions import check_pairs, sides
from noregret.stream.opening import Input
from noregret.stream.scheme import is_store

MISSING_RULES = ("error", "zero", "mean", "skip")
DECLARING = ("categorical", "text", "numeric", "date")  # what says what a column is
# What says what columns are, which a recipe then knows.
DECLARED: dict[str, Any] = dict.fromkeys((*DECLARING, "keep", "interactions"), ()) | {"columns": None}
# What has no part in the rows that a cache keeps, or has it through the recipe.
APART = (*DECLARED, "recognise", "hash_bits", "features", "frozen", "missing", "block_rows", "threads")


@dataclass(frozen=True, slots=True)
class Settings:
    """What `read` was asked for, checked."""

    label: str | None = None
    text: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    interactions: tuple[str, ...] = ()
    columns: Mapping[str, str] | None = None
    recognise: bool = True
    hash_bits: int = 18
    missing: str = "error"
    features: Features | None = None
    frozen: bool = False
    labels: bool = True
    block_rows: int | None = None
    threads: int | None = None  # None: as many as there are cores

    def __post_init__(self) -> None:
        if self.missing not in MISSING_RULES:
            raise SettingError(f"{spelled('missing')} must be one of {', '.join(MISSING_RULES)}, got {self.missing!r}")
        if not (type(self.hash_bits) is int and 1 <= self.hash_bits <= 30):
            raise SettingError(f"{spelled('hash_bits')} must be a whole number from 1 to 30, got {self.hash_bits!r}")
        if self.block_rows is not None and self.block_rows < 1:
            raise SettingError(f"{spelled('block_rows')} must be at least 1, got {self.block_rows!r}")
        if self.threads is not None and not (type(self.threads) is int and self.threads >= 1):
            raise SettingError(f"{spelled('threads')} must be a whole number from 1 on, got {self.threads!r}")
        if self.frozen and self.features is None:
            raise SettingError("frozen needs the features of a model")
        self._check_columns()

    def _check_columns(self) -> None:
        """Every column is said to be one thing."""
        said: dict[str, str] = {}
        for option in DECLARING:
            for name in getattr(self, option):
                if said.setdefault(name, option) != option:
                    raise SettingError(f"column {name!r} cannot be both {said[name]} and {option}")
        if self.frozen and said:
            *others, last = DECLARING
            raise SettingError(f"{', '.join(others)} and {last} cannot be given: the model's recipe is frozen")
        check_pairs(self.interactions)
        if self.frozen and self.interactions:
            raise SettingError(f"{spelled('interactions')} cannot be given: the model's recipe is frozen")
        for name in set(self.ignore) & {*said, *self.keep, *self.named("interactions"), self.label}:
            raise SettingError(f"column {name!r} cannot be ignored and used too")
        if self.label in (*said, *self.keep):
            raise SettingError(f"column {self.label!r} is the label: it cannot be a feature too")
        if self.columns is not None and (said or self.keep or self.features is not None):
            raise SettingError(
                f"columns gives the kind of every column: leave out {', '.join(DECLARING)}, keep and features"
            )

    def named(self, option: str) -> tuple[str, ...]:
        """The columns that an option names."""
        given: tuple[str, ...] = getattr(self, option)
        return given if option != "interactions" else tuple(name for pair in given for name in sides(pair))

    def rows_per_block(self, usual: int, width: int = 1) -> int:
        """`block_rows` when given; else the usual number, fewer when rows are wide."""
        return self.block_rows or max(1, min(usual, BLOCK_VALUES // max(width, 1)))

    def refuse_columns(self, who: str) -> None:
        """Say that what names a column means nothing where there are no columns with names."""
        for option in ("label", *DECLARING, "keep", "ignore", "interactions", "columns"):
            if getattr(self, option):
                raise SettingError(f"{spelled(option)} names a column, but {who} has no named columns")

    def numbered(self, kind: Kind, columns: int, source: str) -> Features:
        """The features of a source without names: the model's own when they are without names too, of one width."""
        features = Features(kind, columns) if self.features is None else self.features
        if features.kind == "names":
            if features.width:
                raise InputError("the rows must name their features, as the model's do", source)
            features.kind = kind
            features.reach(columns)
        if kind == features.kind == "columns" and features.width != columns:
            raise InputError(f"expected {features.width} columns as the model has, got {columns}", source)
        return features


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
    interactions: Sequence[str] = (),
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

    A folder, or a pattern such as `"logs/*.csv"`, is one stream: its files one after another, sorted by name with
    numbers as numbers, by the recipe of the first.

    What the columns of a table are is recognised from its first thousand rows: numbers, written amounts, dates, free
    text, categories, and identities, which are left out. `decisions` of the stream has a line for each that is not
    plain, with what overrides it: columns named in `text`, `categorical`, `numeric` and `date` are that, and those in
    `keep` are not left out. With `recognise` false a column is what its type says. `columns` says it all instead, as
    a receipt does: those that it does not name are plain numbers.

    `interactions` such as `"a:b"` are features made of two columns: the product of two numbers, and for a category a
    hashed feature of each of its values, with the other's value or with the number.

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
        _names(numeric),
        _names(date),
        _names(keep),
        _names(ignore),
        _names(interactions),
        columns,
        recognise,
        hash_bits,
        missing,
        features,
        frozen,
        labels,
        block_rows,
        threads,
    )
    if isinstance(source, (str, os.PathLike)):
        return _file(os.fspath(source), settings, cache)
    if isinstance(source, Input):
        return _one(source, settings, cache)
    if cache:
        raise SettingError("cache is for files: what is in memory needs none")
    return _in_memory(source, settings)


def _file(path: str, settings: Settings, cache: bool) -> Stream:
    """One file, or the parts that a folder or a pattern stands for."""
    paths = files_of(path)
    if paths is None:
        return _one(Input(path), settings, cache)

    def part(path: str, features: Features | None) -> Stream:
        known = settings if features is None else replace(settings, features=features, **DECLARED)
        return _file(path, known, cache)

    return Files(store.shown(path) if is_store(path) else path, paths, part)


def _one(file: Input, settings: Settings, cache: bool) -> Stream:
    """One file, or standard input."""
    return _cached(file, settings) if cache else formats.opened(file, settings)


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _in_memory(source: Any, settings: Settings) -> Stream:
    from noregret.stream.formats.arrays import Arrays
    from noregret.stream.formats.dicts import DictRows
    from noregret.stream.formats.frames import is_frame, read_frame, read_frame_with

    if is_frame(source):
        return read_frame(source, settings)
    if isinstance(source, tuple) and _is_matrix_and_labels(source):
        X, y, *rest = source
        if not is_frame(X):
            return Arrays(X, y, rest[0] if rest else None, settings)
        if rest:
            raise SettingError("read: a frame takes no weights: pass arrays (X, y, weights) instead")
        return read_frame_with(X, y, settings)
    if not settings.labels and (hasattr(source, "tocsr") or hasattr(source, "__array__")):
        return Arrays(source, None, None, settings)
    if isinstance(source, Iterable) and not isinstance(source, (Mapping, bytes)) and not hasattr(source, "__array__"):
        return DictRows(source, settings)
    raise SettingError(
        f"read: expected a path, (X, y), a table or an iterable of (dict, label), got {type(source).__name__}"
    )


def _is_matrix_and_labels(source: tuple[Any, ...]) -> bool:
    if len(source) not in (2, 3):
        return False
    first = source[0]
    if isinstance(first, Mapping):  # SciPy's dictionary of keys is a mapping too
        return hasattr(first, "tocsr")
    return not (isinstance(first, tuple) and first and isinstance(first[0], Mapping))


def _cached(file: Input, settings: Settings) -> Stream:
    """The same through a cache, which is made in the first pass."""
    from noregret.stream.cache.cached import Cached

    if is_store(file.path):
        raise InputError("cannot be cached: only files of this machine have a cache beside them", file.name)
    if not file.rereadable:
        raise InputError("cannot be cached, for it can be read only once: give a file", file.name)

    def reopened(features: Features) -> Stream:
        again = replace(settings, features=features, **DECLARED)  # the recipe knows its columns
        return formats.opened(Input(file.path), again)

    asked = {field.name: getattr(settings, field.name) for field in fields(settings) if field.name not in APART}
    rules = {name: list(value) if isinstance(value, tuple) else value for name, value in asked.items()}
    return Cached(formats.opened(file, settings), file.path, rules, reopened, settings.block_rows)
