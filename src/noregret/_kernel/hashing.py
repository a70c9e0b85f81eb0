"""MurmurHash3, the x86 32-bit variant with seed 0, over many byte strings, each in one piece or in two.

A hash that is under way is (state, pending, held): what the whole words so far made, and the `held` < 4 bytes behind
them. So the bytes before all cells of a column are read once.

Convention: plain whole numbers masked to 32 bits, so that the compiled and the plain run agree without a warning.
Nothing outside of the strings is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._kernel import compiled, inlined
from noregret._kernel.bits import byte, four_bytes

MASK = 0xFFFFFFFF
NOT_ASCII = 128

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]

WORD_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
# For each byte what it is in a lower-cased word; 0 where it is in none, or no ASCII.
LETTERS: Bytes = np.array([ord(c.lower()) if c in WORD_LETTERS else 0 for c in map(chr, range(256))], dtype=np.uint8)


@inlined
def _scramble(word: Any) -> Any:
    word = (word * 0xCC9E2D51) & MASK
    word = ((word << 15) | (word >> 17)) & MASK
    return (word * 0x1B873593) & MASK


@inlined
def mixed(state: Any, word: Any) -> Any:
    """The state after one more word of four bytes."""
    state ^= _scramble(word)
    state = ((state << 13) | (state >> 19)) & MASK
    return (state * 5 + 0xE6546B64) & MASK


@inlined
def absorbed(data: Any, begin: Any, end: Any, state: Any, pending: Any, held: Any) -> Any:
    """A hash under way after data[begin:end] too."""
    i = begin
    while i + 4 <= end:
        word = four_bytes(data, i)
        state = mixed(state, (pending | (word << (8 * held))) & MASK)
        pending = word >> (32 - 8 * held)
        i += 4
    while i < end:
        pending |= byte(data, i) << (8 * held)
        held += 1
        if held == 4:
            state, pending, held = mixed(state, pending), 0, 0
        i += 1
    return state, pending, held


@inlined
def finished(state: Any, pending: Any, length: Any) -> Any:
    """The hash of `length` bytes that have all been absorbed."""
    state ^= _scramble(pending) ^ length
    state ^= state >> 16
    state = (state * 0x85EBCA6B) & MASK
    state ^= state >> 13
    state = (state * 0xC2B2AE35) & MASK
    return state ^ (state >> 16)


@compiled
def murmur3(data: Bytes, offsets: Places, out: NDArray[np.uint32]) -> None:
    """out[i] = MurmurHash3_x86_32(data[offsets[i]:offsets[i+1]], seed 0)."""
    for i in range(out.shape[0]):
        begin, end = int(offsets[i]), int(offsets[i + 1])
        state, pending, _ = absorbed(data, begin, end, 0, 0, 0)
        out[i] = finished(state, pending, end - begin)


@inlined
def _white(data: Any, i: Any, end: Any) -> Any:
    """How many bytes the white character at i has; 0 when there is none: as Python's `str.isspace` has it, in UTF-8."""
    one = byte(data, i)
    if one == 32 or 9 <= one <= 13 or 28 <= one <= 31:
        return 1
    if one < NOT_ASCII or i + 1 >= end:
        return 0
    two = byte(data, i + 1)
    if one == 0xC2:
        return 2 if two in (0x85, 0xA0) else 0
    if one < 0xE1 or one > 0xE3 or i + 2 >= end:
        return 0
    three = byte(data, i + 2)
    if one == 0xE1:
        return 3 if two == 0x9A and three == 0x80 else 0
    if one == 0xE3:
        return 3 if two == 0x80 and three == 0x80 else 0
    if two == 0x81:
        return 3 if three == 0x9F else 0
    wide = 0x80 <= three <= 0x8A or three in (0xA8, 0xA9, 0xAF)
    return 3 if two == 0x80 and wide else 0


@inlined
def _is_blank(data: Any, begin: Any, end: Any) -> Any:
    i = begin
    while i < end:
        size = _white(data, i, end)
        if size == 0:
            return False
        i += size
    return True


@compiled
def hash_values(head: Bytes, data: Bytes, starts: Places, stops: Places, rows: Places, out: NDArray[np.uint32]) -> int:
    """The hash of head + data[starts[i]:stops[i]] for every cell i that is not blank; how many there are.

    The k-th hash is out[k], its cell rows[k]; there is room for one a cell.
    """
    ahead = head.shape[0]
    first, after, over = absorbed(head, 0, ahead, 0, 0, 0)
    count = 0
    for i in range(starts.shape[0]):
        begin, end = int(starts[i]), int(stops[i])
        if _is_blank(data, begin, end):
            continue
        state, pending, _ = absorbed(data, begin, end, first, after, over)
        out[count] = finished(state, pending, ahead + end - begin)
        rows[count] = i
        count += 1
    return count


@compiled
def hash_words(
    head: Bytes,
    data: Bytes,
    starts: Places,
    stops: Places,
    rows: Places,
    out: NDArray[np.uint32],
    left: Places,
) -> tuple[int, int]:
    """As `hash_values`, for every lower-cased word of a cell; cells that are not ASCII are left out and listed.

    Returned are how many hashes and how many cells left out; a cell of n bytes needs room for (n + 1)/2 words.
    """
    ahead = head.shape[0]
    first, after, over = absorbed(head, 0, ahead, 0, 0, 0)
    count, others = 0, 0
    for i in range(starts.shape[0]):
        begin, end = int(starts[i]), int(stops[i])
        before, length, plain = count, 0, True
        state, pending, held = first, after, over
        for k in range(begin, end):
            one = byte(data, k)
            letter = int(LETTERS[one])
            if letter != 0:
                length += 1
                pending |= letter << (8 * held)
                held += 1
                if held == 4:
                    state, pending, held = mixed(state, pending), 0, 0
            elif one >= NOT_ASCII:
                plain = False
                break
            elif length != 0:
                out[count], rows[count] = finished(state, pending, ahead + length), i
                count += 1
                length = 0
                state, pending, held = first, after, over
        if not plain:
            count = before
            left[others] = i
            others += 1
        elif length != 0:
            out[count], rows[count] = finished(state, pending, ahead + length), i
            count += 1
    return count, others
