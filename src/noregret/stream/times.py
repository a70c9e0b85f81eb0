"""A column of a table that says when: a number or a date for each line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import EmptyError, InputError
from noregret.stream.base import Stream
from noregret.stream.block import Block, Ints
from noregret.stream.cells import Strings
from noregret.stream.reading import read
from noregret.stream.written import NOT_THERE, instants

Vector = NDArray[np.float64]
Times = dict[tuple[str, int], float]


def column_of(path: str, name: str, **reading: Any) -> Stream:
    """A column as the labels of a stream without features."""
    others = list(read(path, label=name, missing="skip", recognise=False, **reading).columns)
    return read(path, label=name, ignore=others, missing="skip", recognise=False, **reading)


def numbers_of(stream: Stream) -> tuple[Times, bool]:
    """The number, or the instant in microseconds, that stands in each line; and whether they are dates."""
    found: Times = {}
    dates = False
    for block in _filled(stream):
        dates = dates or block.labels.dtype == object
        values = _microseconds(block)[0] if block.labels.dtype == object else np.asarray(block.labels, np.float64)
        for line, value in zip(block.lines.tolist(), values.tolist(), strict=True):
            found[block.source, line] = value
    return found, dates


def clocks_of(stream: Stream) -> tuple[Times, Times]:
    """Of a column of dates the instant of each line and what its own clock shows, in microseconds."""
    found: Times = {}
    shown: Times = {}
    for block in _filled(stream):
        if block.labels.dtype != object:
            raise InputError(
                f"a date such as 2024-01-31 was expected, got {block.labels[0]:g}", block.source, int(block.lines[0])
            )
        instant, clock = _microseconds(block)
        for line, now, says in zip(block.lines.tolist(), instant.tolist(), clock.tolist(), strict=True):
            if now < math.inf:
                found[block.source, line], shown[block.source, line] = now, says
    return found, shown


def at(values: Mapping[tuple[str, int], float], block: Block, missing: float) -> Vector:
    """What stands on the lines of a block."""
    return np.array([values.get((block.source, line), missing) for line in block.lines.tolist()], np.float64)


def _filled(stream: Stream) -> Iterator[Block]:
    """The rows in which the column is not empty; there may be none."""
    with suppress(EmptyError):
        yield from stream.blocks()


def _microseconds(block: Block) -> tuple[Vector, Ints]:
    found, clock, wrong = instants(Strings.of([str(label) for label in block.labels.tolist()]), "ymd")
    if len(wrong):
        row = int(wrong[0])
        sentence = f"a time must be a number or a date such as 2024-01-31, got {block.labels[row]!r}"
        raise InputError(sentence, block.source, int(block.lines[row]))
    return np.where(found == NOT_THERE, math.inf, found.astype(np.float64)), clock
