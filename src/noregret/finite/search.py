"""The compiled searches with their room: how deep a mistake tree some hypotheses shatter, and which points.

Each question can be asked for a slice of work at a time, so that a clock may be looked at in between.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

import numpy as np

from noregret._native import TREE_OPEN, TREE_YES, SetSearch, TreeMemory, TreeSearch, sauer, tree_at_once
from noregret.errors import SettingError
from noregret.finite.hypotheses import HypothesisClass, packed

SLOTS, KEYS = 2**20, 2**25  # of the memory: twice as many version spaces as are kept, words of their splits
FIRST, SLICE = 2**20, 0.05  # work before the first look at the clock, seconds between two looks


class Slices:
    """A budget of work whose slices take about as long as `SLICE` says."""

    def __init__(self) -> None:
        self.work = FIRST

    def run(self, advance: Callable[[int], int]) -> int:
        """One slice of a search, of a given amount of work."""
        began = time.perf_counter()
        found = advance(self.work)
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
        self.memory = TreeMemory(SLOTS, KEYS)
        self.slices = Slices()
        self._pair = Question(self), Question(self)
        self._known = {0: -1}

    def give(self, seconds: float) -> None:
        """Allow this much time from now on."""
        self.end = time.perf_counter() + seconds

    @property
    def nodes(self) -> int:
        """How many version spaces were looked at."""
        return sum(question.nodes for question in self._pair)

    def dimension(self, version_space: int) -> int:
        """Ldim of a version space, found whatever time it takes or until `end`; −1 of the empty one."""
        found = self.dimension_in_time(version_space)
        if found is None:
            raise SettingError("time ran out before a Littlestone dimension that the learner needs was found")
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
        self._search = TreeSearch(depths.hypotheses.words, len(depths.hypotheses))

    def turn_to(self, version_space: int) -> None:
        """Ask about this version space, a nonempty bitset, from now on."""
        length = self._depths.hypotheses.words.shape[1]
        rows = np.frombuffer(version_space.to_bytes(8 * length, "little"), dtype="<u8")
        self._search.turn_to(self._depths.memory, rows.astype(np.uint64))
        size, splits = self._search.size, self._search.columns
        self.most = min(size.bit_length() - 1, splits)
        self.least = max(d for d in range(self.most + 1) if tree_at_once(size, splits, d))

    @property
    def nodes(self) -> int:
        """How many version spaces were looked at."""
        return self._search.nodes

    def advance(self, d: int) -> bool | None:
        """Go on for a slice with the question whether Ldim ≥ d; None while that is open."""
        found = self._depths.slices.run(lambda work: self._search.advance(self._depths.memory, d, work))
        return None if found == TREE_OPEN else found == TREE_YES

    def tree(self, depth: int) -> list[int]:
        """A shattered tree of a depth that is known to be reached."""
        nodes = np.full(1 << depth, -1, dtype=np.int64)
        if depth > 0:
            found = self._search.grow(self._depths.memory, depth, nodes)
            assert found, "the depth was proved before"
        return [int(column) for column in nodes[1:]]


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
        self.least = max(d for d in range(self.most + 1) if rows > sauer(len(distinct), d))
        ones = hypotheses.matrix.sum(axis=0, dtype=np.int64)[distinct]
        self._origin = distinct[np.argsort(np.abs(rows - 2 * ones), kind="stable")]
        bits = packed(hypotheses.matrix[:, self._origin])
        self._search = SetSearch(bits, len(distinct), self.least, self.most)
        self._slices = Slices()

    @property
    def nodes(self) -> int:
        return self._search.nodes

    @property
    def best(self) -> list[int]:
        """The columns of the largest shattered set found so far."""
        return sorted(int(self._origin[place]) for place in self._search.best)

    def at_most(self, limit: int) -> None:
        """A limit known from elsewhere: beyond it nothing is searched."""
        self.most = min(self.most, limit)
        self._search.at_most(self.most)

    def advance(self) -> bool:
        """Go on for a slice; True when nothing larger than `best` is left to find."""
        return bool(self._slices.run(self._search.advance))
