"""Columns of a 0/1 matrix as bitsets of 64-bit words: count, squeeze out a part of the rows, order, compare, hash.

Convention: every number that meets a word is a uint64, since a compiler that mixes signs falls back to floats; sums and
products stay below 2⁶⁴, so that the plain run warns of nothing. Bits beyond the last row are 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._kernel import compiled, inlined

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]

ZERO, ONE, FULL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
LOW = np.uint64(0xFFFFFFFF)
HALF, WORD = np.uint64(32), np.uint64(64)
PAIRS, FOURS, BYTES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
TWO, FOUR, EIGHT, SIXTEEN = np.uint64(2), np.uint64(4), np.uint64(8), np.uint64(16)
COUNT = np.uint64(127)
MIX, STIR = np.uint64(0xCC9E2D51), np.uint64(0x1B873593)
LEFT, RIGHT = np.uint64(13), np.uint64(19)
STEPS = 6  # moves by 1, 2, 4, 8, 16, 32 places bring any bit of a word where it belongs


@inlined
def ones(word: Any) -> Any:
    """How many bits of a word are set."""
    word = word - ((word >> ONE) & PAIRS)
    word = (word & FOURS) + ((word >> TWO) & FOURS)
    word = (word + (word >> FOUR)) & BYTES
    word = word + (word >> EIGHT)
    word = word + (word >> SIXTEEN)
    return np.int64((word + (word >> HALF)) & COUNT)


@compiled
def count(words: Words, start: int, length: int) -> int:
    """How many bits of `length` words from `start` on are set."""
    total = 0
    for i in range(start, start + length):
        total += ones(words[i])
    return total


@compiled
def plan(mask: Words, length: int, moves: Words) -> None:
    """For each word of a mask the six sets of bits that move, so that `squeeze` brings its bits together."""
    for i in range(length):
        rest = mask[i]
        gaps = (rest ^ FULL) << ONE
        for step in range(STEPS):
            odd = gaps ^ (gaps << ONE)
            odd ^= odd << TWO
            odd ^= odd << FOUR
            odd ^= odd << EIGHT
            odd ^= odd << SIXTEEN
            odd ^= odd << HALF
            moving = odd & rest
            moves[STEPS * i + step] = moving
            rest = (rest ^ moving) | (moving >> (ONE << np.uint64(step)))
            gaps &= odd ^ FULL


@compiled
def squeeze(words: Words, start: int, mask: Words, moves: Words, length: int, out: Words, to: int) -> None:
    """The bits of `words` at the set places of `mask`, side by side, into `out` from word `to` on."""
    filled = ZERO
    held = ZERO
    for i in range(length):
        kept = mask[i]
        if kept == ZERO:
            continue
        bits = words[start + i] & kept
        for step in range(STEPS):
            moving = bits & moves[STEPS * i + step]
            bits = (bits ^ moving) | (moving >> (ONE << np.uint64(step)))
        held |= bits << filled
        after = filled + np.uint64(ones(kept))
        if after >= WORD:
            out[to] = held
            to += 1
            held = bits >> (WORD - filled) if filled > ZERO else ZERO
            after -= WORD
        filled = after
    if filled > ZERO:
        out[to] = held


@compiled
def order(words: Words, a: int, b: int, length: int) -> int:
    """−1, 0 or 1: how the column at word a stands to the one at word b, both `length` words long."""
    for i in range(length):
        if words[a + i] != words[b + i]:
            return -1 if words[a + i] < words[b + i] else 1
    return 0


@inlined
def follows(words: Words, length: int, a: int, b: int) -> bool:
    """Whether column a comes after column b; equal ones stand in the order of their numbers."""
    found = order(words, a * length, b * length, length)
    return found > 0 or (found == 0 and a > b)


@compiled
def sort_columns(words: Words, length: int, places: Ints, n: int) -> None:
    """places[:n], numbers of columns of `words`, in the order of their content: a heap sort."""
    for top in range(n // 2 - 1, -1, -1):
        _sift(words, length, places, top, n)
    for end in range(n - 1, 0, -1):
        held = places[0]
        places[0] = places[end]
        places[end] = held
        _sift(words, length, places, 0, end)


@compiled
def _sift(words: Words, length: int, places: Ints, top: int, last: int) -> None:
    while 2 * top + 1 < last:
        child = 2 * top + 1
        if child + 1 < last and follows(words, length, places[child + 1], places[child]):
            child += 1
        if not follows(words, length, places[child], places[top]):
            return
        held = places[top]
        places[top] = places[child]
        places[child] = held
        top = child


@compiled
def hashed(words: Words, start: int, length: int, seed: int) -> Any:
    """A 32-bit number of the words; equal words have equal numbers, and more is not relied on."""
    state = np.uint64(seed) & LOW
    for i in range(start, start + length):
        for half in range(2):
            part = (words[i] >> HALF) if half else (words[i] & LOW)
            part = (part * MIX) & LOW
            part = ((part << np.uint64(15)) | (part >> np.uint64(17))) & LOW
            state ^= (part * STIR) & LOW
            state = ((state << LEFT) | (state >> RIGHT)) & LOW
            state = (state * np.uint64(5) + np.uint64(0xE6546B64)) & LOW
    state ^= state >> SIXTEEN
    state = (state * np.uint64(0x85EBCA6B)) & LOW
    state ^= state >> LEFT
    return np.int64(state)
