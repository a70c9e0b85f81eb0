"""What a stream's labels ask for: two classes, many classes, or numbers; recognised once, from the first rows.

Words are classes, and so are whole numbers of at most 20 values. All other numbers are regression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError, nearest
from noregret.stream.base import Stream
from noregret.stream.block import Block, Dense, Ints, Rows
from noregret.stream.labels import Label

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
