"""Whether a class shatters a mistake tree of depth d: the search of THEORY §5, resumable between any two steps.

ge(V, d): some point x splits V into V₀ and V₁ with ge(V₀, d−1) and ge(V₁, d−1). A version space V is kept as the set of
its distinct splits: each column over the rows of V, renumbered 0, 1, …, turned so that row 0 is 0, constant ones and
repetitions dropped, in the order of their bits. Version spaces with the same set have the same dimension, so the set
is the key under which lo ≤ Ldim ≤ hi is remembered; keys are kept whole and compared bit by bit.

The stack is a frame a level. Level 0 holds the columns as given; the version space asked about is level 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from noregret._kernel import compiled
from noregret._kernel.finite import FULL, ONE, ZERO, Ints, Words, count, hashed, order, plan, sort_columns, squeeze

# The fields of a frame.
SIZE, COLUMNS, LENGTH, BASE, TARGET, CANDIDATES, AT, SECOND, CHOICE, HASH = range(10)
FRAME = 10
# The fields of a remembered version space; `RANK` is the column of level 1 … that a tree of depth `LOWER` begins with.
KEY_HASH, KEY_AT, KEY_SIZE, KEY_COLUMNS, LOWER, UPPER, RANK = range(7)
ENTRY = 7
ENTRIES, FILLED = range(2)  # how much of the memory is used
LEVEL, BOTTOM, WORK, BUDGET, NODES, NAMED = range(6)  # where the search stands
CLOCK = 6
FRESH = -1
NO, YES, OPEN = 0, 1, -1


class Stack(NamedTuple):
    """The frames of a search, and the room that building one takes."""

    columns: Words
    scratch: Words
    mask: Words
    moves: Words
    places: Ints
    origin: Ints  # [level, column] → column of the class
    flipped: Ints  # [level, column] → whether the column was turned
    candidates: Ints
    frames: Ints
    clock: Ints


class Memory(NamedTuple):
    """What is known of version spaces seen: an open hash table, and the keys end to end."""

    table: Ints
    keys: Words
    used: Ints


@compiled
def sauer(columns: int, d: int) -> int:
    """Σ_{i<d} C(columns, i), or 2⁶² where that is more: a class with more rows shatters d points (Sauer, Shelah)."""
    total, term = 0, 1
    for i in range(d):
        total += term
        if total > 2**61 or float(term) * (columns - i) > 2.0**61:
            return 2**62
        term = term * (columns - i) // (i + 1)
    return total


@compiled
def build(stack: Stack, level: int) -> None:
    """Level + 1: the rows of `level` that stack.mask names, their distinct splits in order."""
    above, below = stack.frames[level], stack.frames[level + 1]
    length, base = above[LENGTH], above[BASE]
    size = count(stack.mask, 0, length)
    words = (size + 63) // 64
    plan(stack.mask, length, stack.moves)
    last = FULL if size % 64 == 0 else (ONE << np.uint64(size % 64)) - ONE
    kept = 0
    for j in range(above[COLUMNS]):
        to = j * words
        squeeze(stack.columns, base + j * length, stack.mask, stack.moves, length, stack.scratch, to)
        turned = size > 0 and (stack.scratch[to] & ONE) != ZERO
        if turned:
            for i in range(words):
                stack.scratch[to + i] ^= FULL if i < words - 1 else last
        if count(stack.scratch, to, words):
            stack.places[kept] = j
            kept += 1
        stack.candidates[level + 1, j] = turned
    sort_columns(stack.scratch, words, stack.places, kept)
    below[BASE] = base + above[COLUMNS] * length
    _lay_down(stack, level, words, kept)
    below[SIZE], below[LENGTH], below[AT] = size, words, FRESH
    stack.clock[WORK] += above[COLUMNS] * (length + 8)


@compiled
def _lay_down(stack: Stack, level: int, words: int, kept: int) -> None:
    """The ordered columns from the scratch room onto the stack, each once."""
    base, distinct = stack.frames[level + 1, BASE], 0
    for k in range(kept):
        j = stack.places[k]
        if k and order(stack.scratch, stack.places[k - 1] * words, j * words, words) == 0:
            continue
        for i in range(words):
            stack.columns[base + distinct * words + i] = stack.scratch[j * words + i]
        stack.origin[level + 1, distinct] = stack.origin[level, j]
        stack.flipped[level + 1, distinct] = stack.flipped[level, j] ^ stack.candidates[level + 1, j]
        distinct += 1
    stack.frames[level + 1, COLUMNS] = distinct


@compiled
def side(stack: Stack, level: int, column: int, value: int) -> None:
    """stack.mask: the rows of a level where a column has a value."""
    frame = stack.frames[level]
    length = frame[LENGTH]
    at = frame[BASE] + column * length
    for i in range(length):
        stack.mask[i] = stack.columns[at + i] if value else stack.columns[at + i] ^ FULL
    if frame[SIZE] % 64:
        stack.mask[length - 1] &= (ONE << np.uint64(frame[SIZE] % 64)) - ONE


@compiled
def find(stack: Stack, memory: Memory, level: int) -> Any:
    """The place in the table of a level's version space, or of the free entry where it would stand."""
    frame = stack.frames[level]
    length = frame[COLUMNS] * frame[LENGTH]
    slots = memory.table.shape[0]
    at = frame[HASH] % slots
    while memory.table[at, KEY_SIZE]:
        entry = memory.table[at]
        if entry[KEY_HASH] == frame[HASH] and entry[KEY_SIZE] == frame[SIZE] and entry[KEY_COLUMNS] == frame[COLUMNS]:
            same, i = True, 0
            while same and i < length:
                same = memory.keys[entry[KEY_AT] + i] == stack.columns[frame[BASE] + i]
                i += 1
            if same:
                return at
        at = (at + 1) % slots
    return at


@compiled
def forget(memory: Memory) -> None:
    """Empty the memory: what it held can be found again."""
    for i in range(memory.table.shape[0]):
        memory.table[i, KEY_SIZE] = 0
    memory.used[ENTRIES] = memory.used[FILLED] = 0


@compiled
def remember(stack: Stack, memory: Memory, level: int, verdict: int) -> None:
    """Keep that a level's version space reaches its target, with the column that shows it, or that it does not."""
    frame = stack.frames[level]
    at = find(stack, memory, level)
    if not memory.table[at, KEY_SIZE]:
        length = frame[COLUMNS] * frame[LENGTH]
        if length > memory.keys.shape[0]:
            return
        full = memory.used[FILLED] + length > memory.keys.shape[0]
        if full or 2 * memory.used[ENTRIES] > memory.table.shape[0]:
            forget(memory)
            at = find(stack, memory, level)
        entry = memory.table[at]
        entry[KEY_AT] = memory.used[FILLED]
        entry[KEY_HASH], entry[KEY_SIZE], entry[KEY_COLUMNS] = frame[HASH], frame[SIZE], frame[COLUMNS]
        entry[LOWER], entry[UPPER], entry[RANK] = 0, 64, -1
        for i in range(length):
            memory.keys[memory.used[FILLED] + i] = stack.columns[frame[BASE] + i]
        memory.used[FILLED] += length
        memory.used[ENTRIES] += 1
    entry = memory.table[at]
    if verdict == NO:
        entry[UPPER] = min(entry[UPPER], frame[TARGET] - 1)
    elif frame[TARGET] > entry[LOWER]:
        entry[LOWER], entry[RANK] = frame[TARGET], frame[CHOICE]


@compiled
def at_once(size: int, columns: int, d: int) -> int:
    """What the numbers of rows and of distinct splits alone say of ge(V, d)."""
    if size < (1 << d) or columns < d:
        return NO
    return YES if d <= 1 or size > sauer(columns, d) else OPEN


@compiled
def enter(stack: Stack, memory: Memory, level: int) -> int:
    """Decide a fresh frame by what is known at once or remembered; else lay out its candidates, most balanced first.

    Where the column is asked for, at the bottom, a mere yes is not enough.
    """
    frame = stack.frames[level]
    d = frame[TARGET]
    named = level == stack.clock[BOTTOM] and stack.clock[NAMED] != 0 and d > 0
    frame[CHOICE] = -1
    verdict = at_once(frame[SIZE], frame[COLUMNS], d)
    if verdict == NO or (verdict == YES and not named):
        return verdict
    frame[HASH] = hashed(stack.columns, frame[BASE], frame[COLUMNS] * frame[LENGTH], frame[SIZE])
    entry = memory.table[find(stack, memory, level)]
    stack.clock[WORK] += frame[COLUMNS] * frame[LENGTH]
    if entry[KEY_SIZE]:
        if entry[UPPER] < d:
            return NO
        if entry[LOWER] >= d:
            frame[CHOICE] = entry[RANK]
            return YES
    _lay_out(stack, level)
    frame[AT], frame[SECOND] = 0, 0
    if d <= 2 and frame[CANDIDATES]:  # two rows are enough for depth 1
        frame[CHOICE] = stack.candidates[level, 0]
        return YES
    return OPEN


@compiled
def _lay_out(stack: Stack, level: int) -> None:
    """The columns whose smaller side could hold a tree of depth d − 1, by that side's size, largest first."""
    frame = stack.frames[level]
    least, found = 1 << (frame[TARGET] - 1), 0
    for j in range(frame[COLUMNS]):
        size = count(stack.columns, frame[BASE] + j * frame[LENGTH], frame[LENGTH])
        small = min(size, frame[SIZE] - size)
        if small >= least:
            stack.places[found] = -(small << 24) + j  # sorted by size, then by number
            found += 1
    _sort(stack.places, found)
    for k in range(found):
        stack.candidates[level, k] = stack.places[k] & 0xFFFFFF
    frame[CANDIDATES] = found


@compiled
def _sort(numbers: Ints, n: int) -> None:
    """numbers[:n], ascending: a shell sort."""
    gap = n // 2
    while gap:
        for i in range(gap, n):
            held, j = numbers[i], i
            while j >= gap and numbers[j - gap] > held:
                numbers[j] = numbers[j - gap]
                j -= gap
            numbers[j] = held
        gap //= 2


@compiled
def descend(stack: Stack, level: int) -> None:
    """Build the side of a frame's candidate that is next: the smaller one first."""
    frame = stack.frames[level]
    column = stack.candidates[level, frame[AT]]
    size = count(stack.columns, frame[BASE] + column * frame[LENGTH], frame[LENGTH])
    smaller = 1 if 2 * size <= frame[SIZE] else 0
    side(stack, level, column, smaller ^ frame[SECOND])
    build(stack, level)
    stack.frames[level + 1, TARGET] = frame[TARGET] - 1
    stack.clock[NODES] += 1


@compiled
def search(stack: Stack, memory: Memory) -> int:
    """YES or NO for the frame at the bottom, OPEN when the budget of work is spent: called again it goes on."""
    clock = stack.clock
    level, verdict = clock[LEVEL], OPEN
    while True:
        frame = stack.frames[level]
        if frame[AT] == FRESH:
            verdict = enter(stack, memory, level)
            if frame[AT] != FRESH and verdict == YES:
                remember(stack, memory, level, YES)
        elif frame[AT] == frame[CANDIDATES]:
            verdict = NO
            remember(stack, memory, level, NO)
        if verdict == OPEN and frame[AT] < frame[CANDIDATES]:
            if clock[WORK] > clock[BUDGET]:
                clock[LEVEL] = level
                return OPEN
            descend(stack, level)
            level += 1
            continue
        while verdict != OPEN:
            if level == clock[BOTTOM]:
                clock[LEVEL] = level
                return verdict
            level -= 1
            verdict = _tell(stack, memory, level, verdict)


@compiled
def _tell(stack: Stack, memory: Memory, level: int, verdict: int) -> int:
    """A frame hears of the side it asked about: on to the next candidate, to the other side, or done."""
    frame = stack.frames[level]
    if verdict == NO:
        frame[AT] += 1
        frame[SECOND] = 0
        return OPEN
    if frame[SECOND] == 0:
        frame[SECOND] = 1
        return OPEN
    frame[CHOICE] = stack.candidates[level, frame[AT]]
    remember(stack, memory, level, YES)
    return YES


@compiled
def grow(stack: Stack, memory: Memory, depth: int, tree: Ints) -> int:
    """A shattered tree of a depth that level 1 is known to reach, into tree[1 : 2^depth]; YES when all of it is there.

    The children of node i are 2i and 2i + 1: label 0 to the left, label 1 to the right.
    """
    level, node = 1, 1
    stack.frames[1, AT] = FRESH
    stack.clock[NAMED] = 1
    while level:
        frame = stack.frames[level]
        if frame[AT] == FRESH:
            stack.clock[LEVEL] = stack.clock[BOTTOM] = level
            frame[TARGET] = depth - level + 1
            if search(stack, memory) != YES:
                return NO
            tree[node] = stack.origin[level, frame[CHOICE]]
            frame[AT] = frame[SECOND] = 0
        if level == depth or frame[SECOND] == 2:
            level, node = level - 1, node // 2
            continue
        way = frame[SECOND]
        frame[SECOND] += 1
        side(stack, level, frame[CHOICE], way ^ stack.flipped[level, frame[CHOICE]])
        build(stack, level)
        level, node = level + 1, 2 * node + way
    stack.clock[NAMED] = 0
    return YES
