"""Vowpal Wabbit's text into compressed rows of hashed features: the plain lines of a piece of text, in one go.

A feature is MurmurHash3 of namespace^name, modulo the slots. A line that is not plain (a malformed one, a number for
the exact routine) is left to the simple reader: the kernel stops in front of it and is called again behind it.

Convention: data[:stop] is whole lines, each ended by a newline, with 32 bytes or more behind them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._kernel import compiled, inlined
from noregret._kernel.bits import byte
from noregret._kernel.decimal import FINE, number
from noregret._kernel.hashing import absorbed, finished, mixed

TAB, NEWLINE, RETURN, SPACE, QUOTE, COLON, HAT, BAR = 9, 10, 13, 32, 39, 58, 94, 124
AT, LINE, ROWS, PAIRS, NEW, WEIGHTED = range(6)  # what `done` counts: bytes, lines, rows, entries, hints, weights

PART_OF_NAME, PART_OF_TOKEN = 1, 2
KINDS = np.full(256, PART_OF_NAME | PART_OF_TOKEN, dtype=np.uint8)
KINDS[[TAB, NEWLINE, RETURN, SPACE, BAR]] = 0
KINDS[COLON] = PART_OF_TOKEN

Slots = NDArray[np.uint32]
Places = NDArray[np.int64]
Floats = NDArray[np.float64]


@inlined
def _past_blanks(data: Any, i: Any) -> Any:
    one = byte(data, i)
    while one in (SPACE, TAB, RETURN):
        i += 1
        one = byte(data, i)
    return i


@inlined
def _past(data: Any, i: Any, kind: Any) -> Any:
    """Where a name or token that begins at i ends."""
    while KINDS[np.uint64(byte(data, i))] & kind:
        i += 1
    return i


@inlined
def _scale(data: Any, i: Any) -> Any:
    """The number behind a colon at i, 1 where there is none; where it ends, and whether all that is plain."""
    if byte(data, i) != COLON:
        return 1.0, i, True
    value, end, status = number(data, i + 1)
    return value, end, status == FINE and KINDS[np.uint64(byte(data, end))] == 0


@inlined
def _label(data: Any, begin: Any, end: Any) -> Any:
    """The label's value, NaN for a word, and whether it is plain."""
    value, i, status = number(data, begin)
    if status == FINE and i == end:
        return value, True
    for k in range(begin, end):
        if byte(data, k) == COLON:
            return np.nan, False
    return np.nan, True


@inlined
def _before_bar(data: Any, i: Any, tokens: Any, row: Any) -> Any:
    """What stands before the first bar: the label, the importance (−1 for none), where the bar is, whether it is plain.

    A token that touches the bar, or begins with a quote, is a tag.
    """
    label, weight, fields = np.nan, -1.0, 0
    tokens[row, 0] = tokens[row, 1] = i
    while True:
        i = _past_blanks(data, i)
        begin = i
        i = _past(data, i, PART_OF_TOKEN)
        one = byte(data, i)
        if one == BAR:
            return label, weight, i, True
        if byte(data, begin) == QUOTE:
            i = _past_blanks(data, i)
            return label, weight, i, byte(data, i) == BAR
        if i == begin or fields == 2:  # no bar at all, or an initial value
            return label, weight, i, False
        if fields == 0:
            tokens[row, 0], tokens[row, 1] = begin, i
            label, plain = _label(data, begin, i)
        else:
            weight, end, status = number(data, begin)
            plain = status == FINE and end == i and weight >= 0.0
        if not plain:
            return label, weight, i, False
        fields += 1


@inlined
def _hash(data: Any, i: Any, state: Any, pending: Any, held: Any, length: Any) -> Any:
    """The hash of what is under way and the name at i, and where that ends."""
    one = byte(data, i)
    while KINDS[np.uint64(one)] & PART_OF_NAME:
        pending |= one << (8 * held)
        held += 1
        length += 1
        if held == 4:
            state, pending, held = mixed(state, pending), 0, 0
        i += 1
        one = byte(data, i)
    return finished(state, pending, length), i


@inlined
def _summed(first: Any, stop: Any, indices: Any, values: Any, table: Any) -> Any:
    """Sum the entries of a row whose indices coincide, into the first of them; where the row ends now.

    The table holds (index, place) pairs, an index as near as possible behind its last bits.
    """
    size = 2
    while size < 2 * (stop - first):
        size *= 2
    for k in range(size):
        table[k] = -1
    end = first
    for k in range(first, stop):
        index = np.int64(indices[np.uint64(k)])
        slot = index & (size - 1)
        while table[slot] >= 0 and table[slot] >> 32 != index:
            slot = (slot + 1) & (size - 1)
        if table[slot] >= 0:
            values[first + (table[slot] & 0xFFFFFFFF)] += values[k]
        else:
            table[slot] = index << 32 | (end - first)
            indices[np.uint64(end)], values[np.uint64(end)] = indices[np.uint64(k)], values[np.uint64(k)]
            end += 1
    return end


@compiled
def vowpal(
    data: NDArray[np.uint8],
    stop: int,
    start: int,
    slots: int,
    noted: NDArray[np.uint8],
    labels: Floats,
    tokens: Places,
    weights: Floats,
    lines: Places,
    bounds: Places,
    indices: Slots,
    values: Floats,
    new: Places,
    table: Places,
    done: Places,
) -> bool:
    """Append the rows from data[done[AT]] on; false when it stopped in front of a line that is not plain.

    The slots begin at `start`; their number is a power of two. Where a slot is not noted, new[k] = (slot, where its
    namespace begins, where its name begins and ends). There is room for as many rows as there are newlines, and entries
    as there are other white bytes; the table has room for four times the entries, and two more.
    """
    i, line, row, pair = int(done[AT]), int(done[LINE]), int(done[ROWS]), int(done[PAIRS])
    hints, weighted = int(done[NEW]), int(done[WEIGHTED])
    mask = slots - 1
    plain = True
    while i < stop:
        begin, first, hints_before = i, pair, hints
        i = _past_blanks(data, i)
        if byte(data, i) == NEWLINE:
            i += 1
            line += 1
            continue
        label, weight, i, plain = _before_bar(data, i, tokens, row)
        while plain and byte(data, i) == BAR:
            space = i + 1
            space_end = _past(data, space, PART_OF_NAME)
            scale, i, plain = _scale(data, space_end)
            plain = plain and (space_end > space or i == space_end)
            state, pending, held = absorbed(data, space, space_end, 0, 0, 0)
            pending |= HAT << (8 * held)
            held += 1
            if held == 4:
                state, pending, held = mixed(state, pending), 0, 0
            while plain:
                i = _past_blanks(data, i)
                if KINDS[np.uint64(byte(data, i))] == 0:
                    break
                name = i
                found, i = _hash(data, i, state, pending, held, space_end - space + 1)
                name_end = i
                value, i, plain = _scale(data, i)
                plain = plain and name_end > name
                slot = found & mask
                indices[np.uint64(pair)] = start + slot
                values[np.uint64(pair)] = scale * value
                pair += 1
                if (noted[np.uint64(slot >> 3)] >> (slot & 7)) & 1 == 0:
                    new[hints, 0], new[hints, 1], new[hints, 2], new[hints, 3] = slot, space, name, name_end
                    hints += 1
        if not plain:
            i, pair, hints = begin, first, hints_before
            break
        pair = _summed(first, pair, indices, values, table)
        labels[row], lines[row], bounds[row + 1] = label, line, pair
        weights[row] = 1.0 if weight < 0.0 else weight
        weighted += weight >= 0.0
        row += 1
        i += 1
        line += 1
    done[AT], done[LINE], done[ROWS], done[PAIRS] = i, line, row, pair
    done[NEW], done[WEIGHTED] = hints, weighted
    return plain
