"""The compiled searches with their room: how deep a mistake tree some hypotheses shatter, and which points.

Each question can be asked for a slice of work at a time, so that a clock may be looked at in between.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from noregret._kernel import finite_search as kernel
from noregret._kernel import finite_shatter as shatter
from noregret.errors import SettingError
from noregret.finite.hypotheses import HypothesisClass, packed

SLOTS, KEYS = 2**20, 2**25  # of the memory; the system gives a page only once it is written to
FOREVER = 2**62
FIRST, SLICE = 2**20, 0.05  # work before the first look at the clock, seconds between two looks


class Slices:
    """A budget of work whose slices take about as long as `SLICE` says."""

    def __init__(self) -> None:
        self.work = FIRST

    def run(self, clock: NDArray[np.int64], budget: int, work: int, step: Callable[[], int]) -> int:
        """One slice of a search whose clock has its budget and its work at the given places."""
        clock[budget] = clock[work] + self.work
        began = time.perf_counter()
        found = step()
        took = time.perf_counter() - began
        if took < SLICE / 2:
            self.work = min(2 * self.work, 1 << 40)
        elif took > 2 * SLICE:
            self.work = max(self.work // 2, 1)
        return found


class Depths:
    """ge(V, d) for version spaces V of one class: remembers across questions what it has found of any of them.

    After `seconds` it answers no more questions that need a search.
    """

    def __init__(self, hypotheses: HypothesisClass, seconds: float = math.inf) -> None:
        self.hypotheses = hypotheses
        self.give(seconds)
        self.memory = kernel.Memory(
            np.zeros((SLOTS, kernel.ENTRY), dtype=np.int64),
            np.empty(KEYS, dtype=np.uint64),
            np.zeros(2, dtype=np.int64),
        )
        self.slices = Slices()
        self._pair = Question(self), Question(self)
        self._known = {0: -1}

    def give(self, seconds: float) -> None:
        """So much time from now on."""
        self.end = time.perf_counter() + seconds

    @property
    def nodes(self) -> int:
        """How many version spaces were looked at."""
        return sum(question.nodes for question in self._pair)

    def dimension(self, version_space: int) -> int:
        """Ldim of a version space, found whatever time it takes or until `end`; −1 of the empty one."""
        found = self.dimension_in_time(version_space)
        if found is None:
            raise SettingError("the time is over, and a Littlestone dimension that the learner needs is not found")
        return found

    def dimension_in_time(self, version_space: int) -> int | None:
        """The same, None where the time is over."""
        if version_space not in self._known:
            for lower, upper in self.closing_in(version_space):
                if lower < upper and time.perf_counter() >= self.end:
                    return None
            self._known[version_space] = lower
        return self._known[version_space]

    def closing_in(self, version_space: int) -> Iterator[tuple[int, int]]:
        """lower ≤ Ldim ≤ upper of a nonempty version space after each slice of work, until they meet.

        Two searches take turns: one asks for the largest depth not yet refuted, one for the smallest not yet reached.
        They share their memory, and the first one to know closes the interval from its side.
        """
        high, low = self._pair
        high.turn_to(version_space)
        low.turn_to(version_space)
        lower, upper = low.least, high.most
        yield lower, upper
        while lower < upper:
            found = high.advance(upper)
            lower, upper = (upper, upper) if found else (lower, upper - (found is False))
            if lower < upper:
                found = low.advance(lower + 1)
                lower, upper = (lower + 1, upper) if found else (lower, lower if found is False else upper)
            yield lower, upper

    def tree(self, version_space: int, depth: int) -> list[int]:
        """A shattered tree of a depth that the version space is known to reach: the columns at nodes 1, 2, …"""
        question = self._pair[0]
        question.turn_to(version_space)
        return question.tree(depth)


class Question:
    """How deep trees one version space shatters, searched in slices."""

    def __init__(self, depths: Depths) -> None:
        self._depths = depths
        self._stack = _stack(depths.hypotheses)
        self._target = -1

    def turn_to(self, version_space: int) -> None:
        """Ask about this version space, a nonempty bitset, from now on."""
        length = len(self._stack.mask)
        self._stack.mask[:] = np.frombuffer(version_space.to_bytes(8 * length, "little"), dtype="<u8")
        kernel.build(self._stack, 0)
        self._target = -1
        root = self._stack.frames[1]
        size, splits = int(root[kernel.SIZE]), int(root[kernel.COLUMNS])
        self.most = min(size.bit_length() - 1, splits)
        self.least = max(d for d in range(self.most + 1) if kernel.at_once(size, splits, d) == kernel.YES)

    @property
    def nodes(self) -> int:
        """How many version spaces were looked at."""
        return int(self._stack.clock[kernel.NODES])

    def advance(self, d: int) -> bool | None:
        """Go on for a slice with the question whether Ldim ≥ d; None while that is open."""
        frame, clock = self._stack.frames[1], self._stack.clock
        if d != self._target:
            frame[kernel.TARGET], frame[kernel.AT], self._target = d, kernel.FRESH, d
            clock[kernel.LEVEL] = clock[kernel.BOTTOM] = 1
        memory = self._depths.memory
        found = self._depths.slices.run(clock, kernel.BUDGET, kernel.WORK, lambda: kernel.search(self._stack, memory))
        return None if found == kernel.OPEN else found == kernel.YES

    def tree(self, depth: int) -> list[int]:
        """A shattered tree of a depth that is known to be reached."""
        nodes = np.full(1 << depth, -1, dtype=np.int64)
        self._stack.clock[kernel.BUDGET] = FOREVER
        if depth > 0:
            found = kernel.grow(self._stack, self._depths.memory, depth, nodes)
            assert found == kernel.YES, "the depth was proved before"
        return [int(column) for column in nodes[1:]]


def _stack(hypotheses: HypothesisClass) -> kernel.Stack:
    """The room of a search, level 0 filled with the columns of the class."""
    columns, length = hypotheses.words.shape
    levels = max(len(hypotheses).bit_length(), 1) + 3
    stack = kernel.Stack(
        columns=np.empty(levels * max(hypotheses.words.size, 1), dtype=np.uint64),
        scratch=np.empty(hypotheses.words.size + 1, dtype=np.uint64),
        mask=np.zeros(length, dtype=np.uint64),
        moves=np.empty(6 * length, dtype=np.uint64),
        places=np.empty(columns + 1, dtype=np.int64),
        origin=np.empty((levels, columns + 1), dtype=np.int64),
        flipped=np.zeros((levels, columns + 1), dtype=np.int64),
        candidates=np.empty((levels, columns + 1), dtype=np.int64),
        frames=np.zeros((levels, kernel.FRAME), dtype=np.int64),
        clock=np.zeros(kernel.CLOCK, dtype=np.int64),
    )
    stack.columns[: hypotheses.words.size] = hypotheses.words.ravel()
    stack.origin[0, :columns] = np.arange(columns)
    given = stack.frames[0]
    given[kernel.SIZE], given[kernel.COLUMNS], given[kernel.LENGTH] = len(hypotheses), columns, length
    return stack


def splits(hypotheses: HypothesisClass) -> list[int]:
    """The columns that cut the class in two, one of each that cut it in the same way."""
    seen: dict[int, int] = {}
    for j, column in enumerate(hypotheses.columns):
        cut = column ^ hypotheses.everything if column & 1 else column
        if cut:
            seen.setdefault(cut, j)
    return list(seen.values())


class Shattering:
    """The search for the largest shattered set of points of a nonempty class."""

    def __init__(self, hypotheses: HypothesisClass) -> None:
        rows, distinct = len(hypotheses), np.array(splits(hypotheses), dtype=np.int64)
        self.most = min(rows.bit_length() - 1, len(distinct))
        self.least = max(d for d in range(self.most + 1) if rows > kernel.sauer(len(distinct), d))
        ones = hypotheses.matrix.sum(axis=0, dtype=np.int64)[distinct]
        self._origin = distinct[np.argsort(np.abs(rows - 2 * ones), kind="stable")]
        self._cells = self._room(packed(hypotheses.matrix[:, self._origin]), len(distinct))
        self._slices = Slices()

    def _room(self, bits: NDArray[np.uint64], columns: int) -> shatter.Cells:
        rows, length, depths = *bits.shape, self.most + 2
        cells = shatter.Cells(
            bits=bits,
            rows=np.empty((depths, rows), dtype=np.int64),
            starts=np.zeros((2 << self.most) + self.most + 3, dtype=np.int64),
            candidates=np.zeros((depths, length), dtype=np.uint64),
            chosen=np.zeros(depths, dtype=np.int64),
            best=np.zeros(depths, dtype=np.int64),
            clock=np.zeros(shatter.CLOCK, dtype=np.int64),
        )
        cells.rows[0], cells.starts[2] = np.arange(rows), rows
        cells.candidates[0] = packed(np.ones((1, columns), dtype=np.uint8))[0]
        cells.clock[shatter.LEAST], cells.clock[shatter.MOST] = self.least, self.most
        return cells

    @property
    def nodes(self) -> int:
        return int(self._cells.clock[shatter.NODES])

    @property
    def best(self) -> list[int]:
        """The columns of the largest shattered set found so far."""
        found = self._cells.best[: self._cells.clock[shatter.BEST]]
        return sorted(int(self._origin[place]) for place in found)

    def at_most(self, limit: int) -> None:
        """A limit known from elsewhere: beyond it nothing is searched."""
        self.most = min(self.most, limit)
        self._cells.clock[shatter.MOST] = self.most

    def advance(self) -> bool:
        """Go on for a slice; True when nothing larger than `best` is left to find."""
        clock = self._cells.clock
        return bool(
            self._slices.run(clock, shatter.BUDGET, shatter.WORK, lambda: shatter.largest_shattered(self._cells))
        )
