"""Rows that come as dicts: an iterable of (dict, label) or (dict, label, weight).

A number under a name is the feature of that name; under a whole number it is the feature of that index. A
string v under k is the feature `k=v` of value 1, hashed when the recipe hashes. True and False are 1 and 0,
None is missing. Under the recipe of a table, text under the name of a column is what it would be in the table.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError, SettingError
from noregret.stream.base import Stream
from noregret.stream.block import BLOCK_VALUES, MAX_INDEX, TEXT_ROWS, Block, Indices, Ints, Sparse
from noregret.stream.cells import Strings, is_missing
from noregret.stream.cells import number as number_in
from noregret.stream.features import Features, Memo, bounds, packer
from noregret.stream.hashing import slots, tokens
from noregret.stream.interactions import of_one
from noregret.stream.reading import DECLARING, Settings
from noregret.stream.recipe import Converted
from noregret.stream.task import row_labels
from noregret.stream.written import as_written

Row = Mapping[Any, Any]
Encoded = tuple[Indices, NDArray[np.float64]]
OneRow = tuple[Ints, Indices, NDArray[np.float64]]

_EMPTY: Encoded = (np.empty(0, dtype=np.uint32), np.empty(0))
SOURCE = "the rows"
NO_NUMBERS = (struct.error, OverflowError)  # a string or None among the values, or a whole number beyond all floats


def encode(features: Features, row: Row, grow: bool) -> Encoded:
    """One dict as (indices, values); unknown names are added when `grow` is true and dropped otherwise.

    The indices may be shared with later calls: they must not be written to.

    >>> encode(Features("names"), {"price": 3.5, "city": "Rome"}, grow=True)
    (array([0, 1], dtype=uint32), array([3.5, 1. ]))
    """
    return _encoded(features, row, _numbers(row), grow)


def one_dict(features: Features, row: Row, grow: bool) -> OneRow:
    """One dict as the row (bounds, indices, values) that kernels take; the next call may write over it."""
    keys = tuple(row)
    memo = features.memo
    if memo is None or memo.keys != keys or memo.keep is not None:
        memo = _all_known(features, keys)
    if memo is not None:
        memo.keys = keys  # the same strings again compare faster than equal ones
        try:
            memo.pack(memo.row[2], 0, *row.values())
            return memo.row
        except NO_NUMBERS:
            pass
    row = dict(row)  # a value that is asked for its number may change the dict that it came from
    numbers = _numbers(row)
    if grow and (numbers is None or not np.isfinite(numbers).all()):
        _refuse_strange(features, row)  # before a name of it is taken in
    indices, values = _encoded(features, row, numbers, grow)
    return bounds(len(values)), indices, values


def _all_known(features: Features, keys: tuple[Any, ...]) -> Memo | None:
    """The indices of plain names that are all known; None for other keys."""
    if not features.plain_names or not keys:
        return None
    places = np.empty(len(keys), dtype=np.uint32)
    try:
        packer(len(keys), "I")(places, 0, *map(features.index.__getitem__, keys))
    except KeyError:
        return None
    features.memo = memo = Memo(keys, places, [], 0)
    return memo


def _numbers(row: Row) -> NDArray[np.float64] | None:
    """The values of a dict, if all are numbers."""
    values = np.empty(len(row))
    try:
        packer(len(row))(values, 0, *row.values())
    except NO_NUMBERS:
        return None
    return values


def _encoded(features: Features, row: Row, numbers: NDArray[np.float64] | None, grow: bool) -> Encoded:
    """`encode`, for a dict whose values are these numbers, or, None, not all numbers."""
    memo = None if numbers is None else _look_up(features, tuple(row), grow)
    if numbers is None or memo is None:
        return _one_by_one(features, row, grow)
    return (memo.indices, numbers) if memo.keep is None else (memo.indices, numbers[memo.keep])


def refuse_missing(row: Row) -> None:
    """An example by itself must be whole: there is no rule to apply to what is not there."""
    for key, value in row.items():
        if value is None or (isinstance(value, float | np.floating) and not math.isfinite(value)):
            raise InputError(f"the value of {key!r} must be finite, got {value!r}")


def _refuse_strange(features: Features, row: Row) -> None:
    """`refuse_missing`, and what is neither a number nor a string."""
    refuse_missing(row)
    for key, value in row.items():
        if not (isinstance(value, str) or key in features.special or _is_hashed(features, key, value)):
            number = _number(key, value)
            if not math.isfinite(number):
                raise InputError(f"the value of {key!r} must be finite, got {value!r}")


def _look_up(features: Features, keys: tuple[Any, ...], grow: bool) -> Memo | None:
    """The indices of plain keys, kept for the next row; None when the keys need a closer look."""
    memo = features.memo
    if memo is not None and memo.keys == keys and (not memo.unknown or memo.width == features.width):
        places, unknown = memo.places, memo.unknown
        if not (unknown and grow):
            return memo
    else:
        found = _places(features, keys)
        if found is None:
            return None
        places, unknown = found
    if unknown and grow:
        if features.kind != "names" or not features.width:
            return None
        for at in unknown:
            places[at] = features.add(keys[at])
        unknown = []
    features.memo = Memo(keys, places, unknown, features.width)
    return features.memo


def _places(features: Features, keys: tuple[Any, ...]) -> tuple[Indices, list[int]] | None:
    """The index of each key, and where those stand that are not known, with index 0; None for keys of other kinds."""
    places: list[Any]
    if not keys:
        return None
    if features.interactions:
        return None
    if features.kind == "names":
        columns = {*features.categorical, *features.text, *features.special}
        if columns and not columns.isdisjoint(keys):
            return None
        places = list(map(features.index.get, keys))
    elif all(type(key) is int for key in keys) and 0 <= min(keys) <= max(keys) <= MAX_INDEX:
        width = features.width
        places = [key if key < width else None for key in keys]
    else:
        return None
    try:
        return np.array(places, dtype=np.uint32), []
    except TypeError:  # None is not a number
        unknown = [at for at, place in enumerate(places) if place is None]
    if features.kind == "names" and not all(isinstance(keys[at], str) for at in unknown):
        return None
    return np.array([place or 0 for place in places], dtype=np.uint32), unknown


def _one_by_one(features: Features, row: Row, grow: bool) -> Encoded:
    """The same for any dict, a key at a time; features that coincide are summed."""
    if not row:
        return _EMPTY
    _settle_kind(features, row, grow)
    found: dict[int, float] = {}
    hashed: list[tuple[str, float]] = []
    for key, value in row.items():
        place: int | None
        if features.table and isinstance(key, str) and (key in features.special or key in features.index):
            for place, number in _cell(features, key, value):
                found[place] = found.get(place, 0.0) + number
            continue
        if _is_hashed(features, key, value):
            hashed += [(token, 1.0) for token in tokens(key, value, key in features.text)]
            continue
        if isinstance(value, str):
            place, number = _named(features, f"{key}={value}" if value else None, grow), 1.0
        else:
            place, number = _place(features, key, grow), _number(key, value)
        if place is not None:
            found[place] = found.get(place, 0.0) + number
    for made, number in of_one(features, row, found) if features.interactions else ():
        if isinstance(made, str):
            hashed.append((made, number))
        else:
            found[made] = number
    if hashed:
        places = slots([token for token, _ in hashed], features, grow).tolist()
        for place, (_, number) in zip(places, hashed, strict=True):
            found[place] = found.get(place, 0.0) + number
    count = len(found)
    return np.fromiter(found, np.uint32, count), np.fromiter(found.values(), np.float64, count)


def _cell(features: Features, key: str, value: Any) -> Iterator[tuple[int, float]]:
    """The features of what stands under the name of a column that becomes numbers, as in the table."""
    kind = features.special.get(key)
    if kind is None or (kind.mark is not None and not isinstance(value, str)):
        yield features.index[key], _plain_number(key, value)
    elif kind.converted:
        text = Strings.of([as_written(value)])
        column = Converted(0, key, kind, tuple(features.index[name] for name in kind.names(key)))
        values, wrong = column.values(text)
        if wrong is not None:
            must = "a number" if kind.dates is None else "a date"
            raise InputError(f"the value of {key!r} must be {must} as in the rows learned from, got {value!r}")
        yield from ((place, one) for place, one in zip(column.features, values[0].tolist(), strict=True) if one != 0.0)


def _plain_number(key: str, value: Any) -> float:
    if not isinstance(value, str):
        return _number(key, value)
    found = math.nan if is_missing(value) else number_in(value)
    if found is None:
        raise InputError(f"the value of {key!r} must be a number, got {value!r}")
    return found


def _is_hashed(features: Features, key: Any, value: Any) -> bool:
    if features.hash_start is None or not isinstance(key, str):
        return False
    return isinstance(value, str) or key in features.categorical or key in features.text


def _settle_kind(features: Features, row: Row, grow: bool) -> None:
    """A recipe that knows nothing yet takes its kind from the first keys."""
    if grow and features.kind == "names" and not features.width and all(_is_whole(key) for key in row):
        features.kind = "index"


def _is_whole(key: Any) -> bool:
    return isinstance(key, (int, np.integer)) and not isinstance(key, bool)


def _place(features: Features, key: Any, grow: bool) -> int | None:
    if features.kind == "names":
        if not isinstance(key, str):
            raise InputError(f"the features have names: a key must be a string, got {key!r}")
        return _named(features, key, grow)
    if not _is_whole(key):
        raise InputError(f"the features are numbered: a key must be a whole number, got {key!r}")
    if not 0 <= key <= MAX_INDEX:
        raise InputError(f"a key must be a whole number from 0 to {MAX_INDEX}, got {key!r}")
    if key >= features.width:
        if not grow:
            return None
        if features.kind == "columns":
            raise InputError(f"feature {key} is beyond the model's {features.width} columns")
        features.reach(int(key) + 1)
    return int(key)


def _named(features: Features, name: str | None, grow: bool) -> int | None:
    if name is None:
        return None
    if features.kind != "names":
        value = name.partition("=")[2]
        raise InputError(f"the features are numbered: a value must be a number, got {value!r}")
    return features.add(name) if grow else features.index.get(name)


def _number(key: Any, value: Any) -> float:
    if value is None:
        return math.nan
    try:
        if isinstance(value, (bytes, list, tuple, dict)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"the value of {key!r} must be a number or a string, got {value!r}") from None


class DictRows(Stream):
    """Rows from an iterable of (dict, label) pairs; an iterator can be read once, a list again."""

    def __init__(self, rows: Iterable[Any], settings: Settings) -> None:
        features = Features("names") if settings.features is None else settings.features
        if settings.label is not None:
            raise SettingError("label names a column, but the label is given beside each dict")
        for option in (*DECLARING[2:], "keep", "interactions", "columns"):
            if getattr(settings, option):
                raise SettingError(f"{option} names a column of a table: in a dict a number is written as a number")
        if settings.text or settings.categorical:
            features.set_up_hashing(settings.hash_bits)
            features.declare(settings.categorical, settings.text)
        length = len(rows) if isinstance(rows, Sized) else None
        super().__init__(SOURCE, features, settings, length=length, rereadable=not isinstance(rows, Iterator))
        self._source = rows
        self._labels = settings.labels
        self._block_rows = settings.block_rows or TEXT_ROWS
        self._words: bool | None = None

    def _read(self) -> Iterator[Block]:
        self._words = None
        parts = _Gathered()
        for number, item in enumerate(self._source, 1):
            row, label, weight = self._flattened(item, number)
            try:
                parts.add(number, encode(self.features, row, not self.frozen), label, weight)
            except InputError as error:
                raise InputError(error.sentence, SOURCE, number) from error
            if len(parts.lines) >= self._block_rows or parts.size >= BLOCK_VALUES:
                yield parts.block()
                parts = _Gathered()
        if parts.lines:
            yield parts.block()

    def _flattened(self, item: Any, number: int) -> tuple[Row, Any, Any]:
        if isinstance(item, Mapping) and not self._labels:
            return item, None, None
        if not (isinstance(item, (tuple, list)) and len(item) in (2, 3) and isinstance(item[0], Mapping)):
            raise InputError(f"expected (dict, label), got {_brief(item)}", SOURCE, number)
        label = item[1]
        if isinstance(label, (str, int, float, np.number, np.bool_)):
            if self._words is None:
                self._words = isinstance(label, str)
            elif self._words is not isinstance(label, str):
                if self._labels:
                    sentence = f"the labels must be all strings or all numbers, got {label!r}"
                    raise InputError(sentence, SOURCE, number)
                label = None
        return item[0], label, item[2] if len(item) == 3 else None


class _Gathered:
    """Encoded rows on their way into a block."""

    def __init__(self) -> None:
        self.lines: list[int] = []
        self.indices: list[Indices] = []
        self.values: list[NDArray[np.float64]] = []
        self.labels: list[Any] = []
        self.weights: list[Any] = []
        self.size = 0

    def add(self, line: int, encoded: Encoded, label: Any, weight: Any) -> None:
        self.lines.append(line)
        self.indices.append(encoded[0])
        self.values.append(encoded[1])
        self.labels.append(label)
        self.weights.append(weight)
        self.size += len(encoded[0])

    def block(self) -> Block:
        indptr = np.zeros(len(self.lines) + 1, dtype=np.int64)
        np.cumsum([len(part) for part in self.indices], out=indptr[1:])
        rows = Sparse(indptr, np.concatenate(self.indices), np.concatenate(self.values))
        labels = row_labels(self.labels, SOURCE, self.lines)
        return Block(rows, labels, np.array(self.lines, dtype=np.int64), SOURCE, self._weights())

    def _weights(self) -> NDArray[np.float64] | None:
        if all(weight is None for weight in self.weights):
            return None
        try:
            return np.array([1.0 if weight is None else float(weight) for weight in self.weights])
        except (TypeError, ValueError):
            wrong = next(at for at, weight in enumerate(self.weights) if not _is_number(weight))
            sentence = f"the weight must be a number, got {self.weights[wrong]!r}"
            raise InputError(sentence, SOURCE, self.lines[wrong]) from None


def _is_number(weight: Any) -> bool:
    return weight is None or (hasattr(weight, "__float__") and not isinstance(weight, str))


def _brief(item: Any) -> str:
    shown = " ".join(repr(item).split())
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
