"""Hashed features: `column=value` goes to the slot MurmurHash3(UTF-8 bytes) mod 2^bits behind `hash_start`.

A categorical cell is one feature of value 1; a text cell is one feature a lower-cased word, its value the
word's count. Slots that coincide in a row are summed. An empty cell is no feature.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.stream.block import Floats, Indices, Ints, Sparse
from noregret.stream.features import Features

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """The lower-cased words of a text, in order, repeated as often as they occur.

    >>> words("Win £100 now, NOW!")
    ['win', '100', 'now', 'now']
    """
    return _WORD.findall(text.lower())


def written(value: Any) -> str | None:
    """A cell as the text that is hashed: whole floats without `.0`, booleans in lower case, None if empty."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        if math.isnan(value):
            return None
        return str(int(value)) if math.isfinite(value) and value == int(value) else repr(float(value))
    return str(value)


def tokens(column: str, cell: Any, is_text: bool) -> list[str]:
    """The `column=value` strings of one cell."""
    value = written(cell)
    if value is None or not value.strip():
        return []
    return [f"{column}={word}" for word in words(value)] if is_text else [f"{column}={value}"]


def slots(found: Sequence[str], features: Features, learn: bool) -> Indices:
    """The feature index of each `column=value` string; while learning, the recipe remembers which they were."""
    from noregret._kernel.hashing import murmur3

    encoded = [token.encode("utf-8", "surrogatepass") for token in found]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), out=offsets[1:])
    hashes = np.empty(len(encoded), dtype=np.uint32)
    murmur3(np.frombuffer(bytearray(b"".join(encoded)), dtype=np.uint8), offsets, hashes)
    places: Indices = (hashes & np.uint32(features.slots - 1)) + np.uint32(features.hash_start or 0)
    if learn:
        features.note(found, places)
    return places


def hashed_cells(
    columns: Iterable[tuple[str, bool, Sequence[Any]]], features: Features, learn: bool
) -> tuple[Ints, Indices]:
    """The (row, feature index) of every hashed value of a block, column by column, repeats and all."""
    found: list[str] = []
    rows: list[int] = []
    for name, is_text, cells in columns:
        for row, cell in enumerate(cells):
            new = tokens(name, cell, is_text)
            found += new
            rows += [row] * len(new)
    return np.array(rows, dtype=np.int64), slots(found, features, learn)


def summed(rows: Ints, indices: NDArray[Any], values: Floats, count: int) -> Sparse:
    """`count` compressed rows from (row, index, value) triples: indices ascending, coinciding ones summed."""
    keys = rows.astype(np.int64) << 32 | indices.astype(np.int64)
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    indptr = np.searchsorted(keys[first], np.arange(count + 1, dtype=np.int64) << 32).astype(np.int64)
    totals = np.add.reduceat(values, first) if keys.size else values
    return Sparse(indptr, (keys[first] & 0xFFFFFFFF).astype(np.uint32), totals)
