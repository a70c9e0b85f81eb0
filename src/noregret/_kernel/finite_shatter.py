"""The largest shattered set of points: a search over sets of columns that takes up where it stopped.

A set of j columns that is shattered cuts the rows into 2ʲ cells, none of them empty. It can grow by columns that cut
every cell, and only by those of them that stood behind the column taken last. Which columns cut a cell is one pass over
its rows, for all columns at once: where both a 0 and a 1 were seen. Only sets that could still grow beyond the largest
one known are looked at; a set of `target` columns needs 2^(target − j) rows in every cell.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from noregret._kernel import compiled, inlined
from noregret._kernel.finite import FULL, ONE, ZERO, Ints, Words, ones

DEPTH, BEST, LEAST, MOST, WORK, BUDGET, NODES = range(7)
CLOCK = 7


class Cells(NamedTuple):
    """The search: the rows as bitsets of columns, and for every depth j its cells and its candidates."""

    bits: Words  # [row, word]
    rows: Ints  # [j, …]: the rows, cell after cell
    starts: Ints  # [2ʲ + j + c]: where cell c of depth j begins in rows[j]
    candidates: Words  # [j, word]: the columns to try next
    chosen: Ints
    best: Ints
    clock: Ints


@inlined
def bit(cells: Cells, row: int, column: int) -> Any:
    return np.int64((cells.bits[row, column >> 6] >> np.uint64(column & 63)) & ONE)


@compiled
def first_of(cells: Cells, depth: int) -> Any:
    """Take the first candidate of a depth away; there must be one."""
    i = 0
    while cells.candidates[depth, i] == ZERO:
        i += 1
    word = cells.candidates[depth, i]
    cells.candidates[depth, i] = word & (word - ONE)
    return 64 * i + ones(word ^ (word - ONE)) - 1


@compiled
def cut(cells: Cells, depth: int, cell: int, column: int) -> Any:
    """Cells 2c and 2c + 1 of depth + 1: the rows of cell c with 0 to its front, with 1 to its back; the least size."""
    begin, end = cells.starts[(1 << depth) + depth + cell], cells.starts[(1 << depth) + depth + cell + 1]
    front, back = begin, end
    for i in range(begin, end):
        row = cells.rows[depth, i]
        if bit(cells, row, column):
            back -= 1
            cells.rows[depth + 1, back] = row
        else:
            cells.rows[depth + 1, front] = row
            front += 1
    below = (2 << depth) + depth + 1 + 2 * cell
    cells.clock[WORK] += end - begin
    cells.starts[below], cells.starts[below + 1], cells.starts[below + 2] = begin, front, end
    return min(front - begin, end - front)


@compiled
def sift(cells: Cells, depth: int, cell: int) -> None:
    """Drop the candidates of a depth that do not cut one of its cells: those without a 0 or without a 1 in it."""
    length = cells.bits.shape[1]
    first = (1 << depth) + depth + cell
    begin, end = cells.starts[first], cells.starts[first + 1]
    for i in range(length):
        wanted, some, every, k = cells.candidates[depth, i], ZERO, FULL, begin
        while k < end and (some & (every ^ FULL) & wanted) != wanted:
            some |= cells.bits[cells.rows[depth, k], i]
            every &= cells.bits[cells.rows[depth, k], i]
            k += 1
        cells.candidates[depth, i] = wanted & some & (every ^ FULL)
        cells.clock[WORK] += k - begin + 1


@compiled
def grow(cells: Cells, depth: int, column: int, target: int) -> None:
    """Depth + 1: its cells and its candidates, of which none is left as soon as `target` is out of reach."""
    length = cells.bits.shape[1]
    for i in range(length):
        cells.candidates[depth + 1, i] = cells.candidates[depth, i]
    reach = True
    for cell in range(1 << depth):
        reach = reach and cut(cells, depth, cell, column) >= 1 << max(target - depth - 1, 0)
        if reach:
            sift(cells, depth + 1, 2 * cell)
            sift(cells, depth + 1, 2 * cell + 1)
            reach = depth + 1 + count_candidates(cells, depth + 1) >= target
        if not reach:
            break
    if not reach:
        for i in range(length):
            cells.candidates[depth + 1, i] = ZERO


@compiled
def count_candidates(cells: Cells, depth: int) -> int:
    total = 0
    for i in range(cells.candidates.shape[1]):
        total += ones(cells.candidates[depth, i])
    return total


@compiled
def largest_shattered(cells: Cells) -> int:
    """1 when no set is larger than the best one found, 0 when the budget is spent: called again it goes on."""
    clock = cells.clock
    while clock[BEST] < clock[MOST]:
        depth = clock[DEPTH]
        target = max(clock[BEST] + 1, clock[LEAST])
        if depth + count_candidates(cells, depth) < target:
            if depth == 0:
                return 1
            clock[DEPTH] -= 1
            continue
        if clock[WORK] > clock[BUDGET]:
            return 0
        column = first_of(cells, depth)
        cells.chosen[depth] = column
        clock[NODES] += 1
        if depth + 1 > clock[BEST]:
            clock[BEST] = depth + 1
            for i in range(depth + 1):
                cells.best[i] = cells.chosen[i]
        grow(cells, depth, column, max(clock[BEST] + 1, clock[LEAST]))
        clock[DEPTH] += 1
    return 1
