"""Entries (row, index, value) in any order into compressed rows, and which hashed slots are new among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._kernel import compiled, inlined

SHORT = 16  # so many entries are sorted by inserting them one by one

Places = NDArray[np.int64]
Slots = NDArray[np.uint32]


@compiled
def by_row(rows: Places, bounds: Places, order: Places) -> None:
    """The entries of row t are order[bounds[t]:bounds[t+1]], as they came; bounds are all zeros before."""
    count = bounds.shape[0] - 1
    for e in range(rows.shape[0]):
        bounds[rows[e]] += 1
    total = 0
    for t in range(count):
        size = bounds[t]
        bounds[t] = total
        total += size
    for e in range(rows.shape[0]):
        t = rows[e]
        order[bounds[t]] = e
        bounds[t] += 1
    for t in range(count, 0, -1):
        bounds[t] = bounds[t - 1]
    bounds[0] = 0


@inlined
def _insert(keys: Any, low: Any, high: Any) -> None:
    """Sort keys[low:high] one by one."""
    for k in range(low + 1, high):
        key = keys[k]
        at = k
        while at > low and keys[at - 1] > key:
            keys[at] = keys[at - 1]
            at -= 1
        keys[at] = key


@inlined
def _merge(keys: Any, low: Any, middle: Any, high: Any, room: Any) -> None:
    """Two sorted neighbours into one."""
    for k in range(low, middle):
        room[k - low] = keys[k]
    left, size, right = 0, middle - low, middle
    at = low
    while left < size and right < high:
        if keys[right] < room[left]:
            keys[at] = keys[right]
            right += 1
        else:
            keys[at] = room[left]
            left += 1
        at += 1
    while left < size:
        keys[at] = room[left]
        left += 1
        at += 1


@inlined
def _sort(keys: Any, count: Any, room: Any) -> None:
    for begin in range(0, count, SHORT):
        _insert(keys, begin, min(begin + SHORT, count))
    width = SHORT
    while width < count:
        for begin in range(0, count - width, 2 * width):
            _merge(keys, begin, begin + width, min(begin + 2 * width, count), room)
        width *= 2


@compiled
def merged(
    bounds: Places,
    order: Places,
    indices: Slots,
    values: NDArray[Any],
    keys: Places,
    room: Places,
    out_bounds: Places,
    out_indices: Slots,
    out_values: NDArray[Any],
) -> int:
    """Compressed rows: the entries of each row by index, coinciding ones summed as they came; how many are left.

    A row is sorted by (index, place in the row); for keys and room there is room for the longest row.
    """
    total = 0
    out_bounds[0] = 0
    for t in range(bounds.shape[0] - 1):
        low, begin = bounds[t], total
        count = bounds[t + 1] - low
        for k in range(count):
            keys[k] = np.int64(indices[order[low + k]]) << 32 | k
        _sort(keys, count, room)
        for k in range(count):
            index, value = keys[k] >> 32, values[order[low + (keys[k] & 0xFFFFFFFF)]]
            if total > begin and out_indices[total - 1] == index:
                out_values[total - 1] += value
            else:
                out_indices[total], out_values[total] = index, value
                total += 1
        out_bounds[t + 1] = total
    return total


@compiled
def repeated(codes: Places, bounds: Places, order: Places, slots: Slots, rows: Places, out: Slots) -> None:
    """The slots of cells that are given as numbers of distinct values, −1 for none: slots[order[bounds[c]:…]] of c."""
    total = 0
    for i in range(codes.shape[0]):
        if codes[i] >= 0:
            for k in range(bounds[codes[i]], bounds[codes[i] + 1]):
                rows[total], out[total] = i, slots[order[k]]
                total += 1


@compiled
def maybe_new(order: Places, first: int, slots: Slots, noted: NDArray[np.uint8], out: Places) -> int:
    """The entries e = order[k] − first ≥ 0 whose slot is not noted, repeats and all; how many they are."""
    count = 0
    for k in range(order.shape[0]):
        entry = order[k] - first
        if entry >= 0 and (noted[slots[entry] >> 3] >> (slots[entry] & 7)) & 1 == 0:
            out[count] = entry
            count += 1
    return count


@compiled
def newly(slots: Slots, noted: NDArray[np.uint8], out: Places) -> int:
    """Note every slot; out[:count] are the places of those that were not noted before."""
    count = 0
    for k in range(slots.shape[0]):
        at, bit = slots[k] >> 3, 1 << (slots[k] & 7)
        if noted[at] & bit == 0:
            noted[at] |= bit
            out[count] = k
            count += 1
    return count


@compiled
def ordinals(rows: Places, entries: Places, least: Places, out: Places) -> None:
    """out[k] = how many entries stand right before entries[k], from least[k] on, that are of the same row."""
    for k in range(entries.shape[0]):
        begin = entries[k]
        while begin > least[k] and rows[begin - 1] == rows[entries[k]]:
            begin -= 1
        out[k] = entries[k] - begin
