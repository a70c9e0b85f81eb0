"""What a stream's labels ask for: two classes, many classes, or numbers; recognised once, from the first rows.

Words are classes, and so are whole numbers of at most 20 values. All other numbers are regression.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError, SettingError, nearest
from noregret.stream.base import Stream
from noregret.stream.block import Block, Dense, Ints, Rows
from noregret.stream.cells import Strings, number, numbers
from noregret.stream.labels import Label
from noregret.stream.written import Mark, amounts

LOOKED_AT = 1000  # rows
EMPTY = np.empty(0, dtype=np.int64), np.empty(0)
CLASSES = 20  # whole numbers of more values than this are numbers


class Task(StrEnum):
    """What is to be predicted."""

    BINARY = "binary"
    MULTICLASS = "multiclass"
    REGRESSION = "regression"

    @property
    def words(self) -> str:
        return {"binary": "two classes", "multiclass": "many classes", "regression": "numbers"}[self]

    @classmethod
    def parse(cls, text: str) -> Task:
        """
        >>> Task.parse("binary")
        <Task.BINARY: 'binary'>
        """
        if text not in tuple(cls):
            raise SettingError(f"task must be one of {', '.join(cls)}, got {text!r}{nearest(text, cls)}")
        return cls(text)


@dataclass(frozen=True, slots=True)
class Recognised:
    """What the first rows of a stream show: the task, the labels in them, the sizes of the features."""

    task: Task
    labels: tuple[Label, ...]  # in order; of numbers that are not classes only the first 21
    rows: int  # how many were looked at
    sizes: tuple[Ints, NDArray[np.float64]]  # the features that are not 0 throughout, and the largest |value| of each


def recognise(stream: Stream) -> Recognised:
    """Look at the first rows of a stream; the next pass over it begins with them.

    >>> from noregret.stream import read
    >>> recognise(read(([[1.0]] * 3, ["cat", "dog", "cow"]))).task
    <Task.MULTICLASS: 'multiclass'>
    """
    blocks = _first(stream.head(LOOKED_AT))
    met = {label: None for block in blocks for label in block.labels.tolist() if label == label}
    numeric = not any(isinstance(label, str) for label in met)
    labels = tuple(sorted(met) if numeric else sorted(met, key=str))
    task = _task(labels, numeric)
    if task is Task.REGRESSION:
        labels = labels[: CLASSES + 1]
    return Recognised(task, labels, sum(map(len, blocks)), _sizes(blocks))


def _first(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, cut after the rows that are looked at."""
    kept, left = [], LOOKED_AT
    for block in blocks:
        kept.append(block if len(block) <= left else block.slice(0, left))
        left -= len(kept[-1])
    return kept


def _task(labels: Sequence[Label], numeric: bool) -> Task:
    if numeric and (len(labels) > CLASSES or any(label % 1.0 for label in labels if not isinstance(label, str))):
        return Task.REGRESSION
    return Task.BINARY if len(labels) <= 2 else Task.MULTICLASS


def _sizes(blocks: Sequence[Block]) -> tuple[Ints, NDArray[np.float64]]:
    """The features that are not 0 throughout and the largest |value| of each, in memory that grows with the entries."""
    found = [_largest(block.rows) for block in blocks]
    return _peaks(*(np.concatenate([np.empty(0), *parts]) for parts in zip(*found, strict=True))) if found else EMPTY


def _largest(rows: Rows) -> tuple[Ints, NDArray[np.float64]]:
    if isinstance(rows, Dense):
        return _peaks(np.arange(rows.width), np.abs(rows.X).max(axis=0))
    return _peaks(rows.indices, np.abs(rows.values))


def _peaks(features: NDArray[Any], sizes: NDArray[Any]) -> tuple[Ints, NDArray[np.float64]]:
    """Each feature once, with its largest size, if that is not 0."""
    known, places = np.unique(features[sizes > 0.0], return_inverse=True)
    largest = np.zeros(len(known))
    np.maximum.at(largest, places, sizes[sizes > 0.0])
    return known.astype(np.int64), largest


NOT_THERE = frozenset(("", "nan", "NaN", "NAN"))  # what no label is; other words for nothing may be classes


class LabelTokens:
    """Labels read from text: numbers when the first one is a number, or a written amount by `mark`, otherwise words."""

    def __init__(self, source: str, needed: bool, numeric: bool | None = None, mark: Mark | None = None) -> None:
        self._source = source
        self._needed = needed
        self._numeric = numeric
        self._mark = mark

    def array(self, tokens: Sequence[str], lines: Sequence[int]) -> NDArray[Any]:
        """The labels of one block, in order."""
        if self._mark is not None:
            return self._amounts(tokens, lines, self._mark)
        if self._numeric is None:
            first = next((token for token in tokens if token not in NOT_THERE), None)
            self._numeric = None if first is None else number(first) is not None
        if self._numeric is False:
            return words([None if token in NOT_THERE else token for token in tokens])
        found = numbers(tokens)
        if isinstance(found, int):
            if self._needed:
                raise self._no_number(tokens[found], lines[found])
            return np.array([math.nan if (v := number(t)) is None else v for t in tokens], dtype=np.float64)
        return found

    def _amounts(self, tokens: Sequence[str], lines: Sequence[int], mark: Mark) -> NDArray[np.float64]:
        found, wrong = amounts(Strings.of(tokens), mark)
        if len(wrong) and self._needed:
            raise self._no_number(tokens[wrong[0]], lines[wrong[0]])
        return found

    def _no_number(self, token: str, line: int) -> InputError:
        return InputError(f"the label must be a number as in the rows before, got {token!r}", self._source, line)

    def numbers(
        self, found: NDArray[np.float64], tokens: Callable[[], Sequence[str]], lines: NDArray[np.int64]
    ) -> NDArray[Any]:
        """The labels of one block of which those that are plain numbers are known; the others are NaN."""
        if self._mark is not None or self._numeric is False or np.isnan(found).any():
            return self.array(tokens(), lines.tolist())
        self._numeric = True
        return found


def words(labels: Sequence[str | None]) -> NDArray[Any]:
    """Labels that are words, as the object array that a block holds."""
    found = np.empty(len(labels), dtype=object)
    found[:] = [label or "" for label in labels]
    return found


def no_labels(rows: int) -> NDArray[Any]:
    """The labels of rows that have none."""
    return np.full(rows, math.nan)


def label_array(y: Any, source: str) -> NDArray[Any]:
    """A user's labels: numbers and booleans as float64, strings as they are."""
    found = np.asarray(y)
    if found.ndim != 1:
        raise InputError(f"the labels must be one a row (one dimension), got {found.ndim} dimensions", source)
    if found.dtype.kind in "fiub":
        return found.astype(np.float64, copy=False)
    if found.dtype.kind == "U":
        return words(found.tolist())
    if found.dtype.kind == "S":
        return words([label.decode("utf-8", "replace") for label in found.tolist()])
    if found.dtype.kind == "O":
        return row_labels(found.tolist(), source, range(1, len(found) + 1))
    raise InputError(f"the labels must be numbers, booleans or strings, got type {found.dtype}", source)


def row_labels(labels: list[Any], source: str, lines: Sequence[int]) -> NDArray[Any]:
    """Labels held as Python objects: all numbers or all strings, None and NaN where one is missing."""
    strings = [_is_missing(label) or isinstance(label, str) for label in labels]
    if all(strings) and any(isinstance(label, str) for label in labels):
        return words([None if _is_missing(label) else label for label in labels])
    found = np.empty(len(labels))
    for place, label in enumerate(labels):
        if not _is_missing(label) and (isinstance(label, (str, bytes)) or not hasattr(label, "__float__")):
            kind = "all strings or all numbers"
            raise InputError(f"the labels must be {kind}, got {label!r}", source, lines[place])
        found[place] = math.nan if _is_missing(label) else float(label)
    return found


def _is_missing(label: Any) -> bool:
    return label is None or (isinstance(label, float) and math.isnan(label))


class WordCodes:
    """WordCodes as 0, 1, 2, … in the order in which they appear; NaN stands for none.

    >>> words = WordCodes()
    >>> words.code(np.array(["ham", "", "spam", "ham"], dtype=object)).tolist(), words.listed
    ([0.0, nan, 1.0, 0.0], ['ham', 'spam'])
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {"": -1}
        self._table = words([""])  # every word at its number, and at −1 none

    @property
    def listed(self) -> list[str]:
        return list(self._codes)[1:]

    def learn(self, more: Sequence[str]) -> None:
        """Number further words."""
        for word in more:
            self._codes.setdefault(word, len(self._codes) - 1)

    def code(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """The numbers of an object array of words, new ones learned."""
        self.learn(labels.tolist())
        found = np.fromiter(map(self._codes.__getitem__, labels.tolist()), np.float64, len(labels))
        return np.where(found < 0.0, np.nan, found)

    def labels(self, codes: NDArray[np.float64]) -> NDArray[Any]:
        """The words of numbers; an IndexError for a number that no word has."""
        if len(self._table) != len(self._codes):
            self._table = words([*self.listed, ""])
        return np.asarray(self._table[np.where(np.isnan(codes), -1.0, codes).astype(np.int64)])
