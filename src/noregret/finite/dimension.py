"""VC and Littlestone dimension of a finite class, exact or, when the time is over, as the interval proved by then.

Whatever is said has its witness: a shattered set of points for the lower end of VC, a shattered mistake tree for the
lower end of Ldim. The upper ends are what the search refuted, ⌊log2 |H|⌋ or the number of distinct splits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from noregret._native import TREE_OPEN, TREE_YES, SetSearch, TreeMemory, TreeSearch, sauer, tree_at_once
from noregret.errors import SettingError
from noregret.finite.hypotheses import HypothesisClass, packed

Progress = Callable[[str, int, int, int], None]


@dataclass(frozen=True)
class Bounds:
    """lower ≤ a dimension ≤ upper, both proved."""

    lower: int
    upper: int

    @property
    def exact(self) -> bool:
        return self.lower == self.upper

    def __str__(self) -> str:
        return str(self.lower) if self.exact else f"{self.lower} to {self.upper}"

    def to_dict(self) -> dict[str, int]:
        return {"lower": self.lower, "upper": self.upper}


@dataclass(frozen=True)
class Dimensions:
    """The dimensions of a class with their witnesses: `shattered` has vc.lower points, `tree` depth littlestone.lower.

    For the empty class both dimensions are −1 and there is no witness.
    """

    hypotheses: HypothesisClass
    vc: Bounds
    littlestone: Bounds
    shattered: tuple[Hashable, ...]
    tree: MistakeTree
    version_spaces: int  # how many were looked at
    seconds: float

    def to_dict(self, witness: bool = False) -> dict[str, Any]:
        """The figures; `vc` is a number where it is known exactly, `vc_bounds` always the interval."""
        found: dict[str, Any] = {
            "hypotheses": len(self.hypotheses),
            "points": len(self.hypotheses.points),
            "vc": self.vc.lower if self.vc.exact else None,
            "vc_bounds": self.vc.to_dict(),
            "littlestone": self.littlestone.to_dict(),
            "log2_size": self.hypotheses.log2_size if len(self.hypotheses) else None,
            "seconds": self.seconds,
        }
        if witness:
            found["shattered"] = [plain(point) for point in self.shattered]
            found["tree"] = [plain(point) for point in self.tree.nodes]
        return found


def plain(point: Hashable) -> int | str:
    """A point as JSON knows it: a number, else its text."""
    return point if isinstance(point, int) else str(point)


def dimensions(
    hypotheses: HypothesisClass, *, seconds: float = math.inf, progress: Progress | None = None
) -> Dimensions:
    """Compute the VC and the Littlestone dimension; after `seconds`, the result is what is proved so far.

    `progress` is called from time to time with the dimension that is searched ("Littlestone" or "VC"), its two ends,
    and the number of version spaces or sets searched.

    >>> from noregret.finite import family
    >>> found = dimensions(family("thresholds:15"))
    >>> str(found.vc), str(found.littlestone)
    ('1', '4')
    """
    if not seconds > 0.0:
        raise SettingError(f"dimensions: seconds must be positive, got {seconds}")
    began = time.perf_counter()
    tell = progress or _silent
    if not len(hypotheses):
        return Dimensions(hypotheses, Bounds(-1, -1), Bounds(-1, -1), (), MistakeTree(0, ()), 0, 0.0)
    depths = Depths(hypotheses)
    littlestone, tree = _littlestone(depths, began + seconds * 2 / 3, tell)
    shattering = Shattering(hypotheses)
    shattering.at_most(littlestone.upper)
    vc = _vc(shattering, began + seconds, tell)
    shattered = tuple(hypotheses.points[j] for j in shattering.best)
    if vc.lower > littlestone.lower:  # a shattered set is a shattered tree that asks the same point on a whole level
        littlestone = Bounds(vc.lower, littlestone.upper)
        asked = (shattered[node.bit_length() - 1] for node in range(1, 2**vc.lower))
        tree = MistakeTree(vc.lower, tuple(asked))
    took = time.perf_counter() - began
    return Dimensions(hypotheses, vc, littlestone, shattered, tree, depths.nodes, took)


def mistake_tree(depths: Depths, progress: Progress | None = None) -> MistakeTree:
    """A shattered tree as deep as the Littlestone dimension of a nonempty class, found whatever time it takes."""
    return deepest_tree(depths, progress)[1]


def deepest_tree(depths: Depths, progress: Progress | None = None) -> tuple[Bounds, MistakeTree]:
    """The ends of Ldim of a nonempty class that are proved by `depths.end`, and a shattered tree for the lower one."""
    return _littlestone(depths, depths.end, progress or _silent)


def _silent(what: str, lower: int, upper: int, looked: int) -> None:
    pass


def _littlestone(depths: Depths, end: float, tell: Progress) -> tuple[Bounds, MistakeTree]:
    """The ends of Ldim when they met or the time was over, and a tree for the lower one."""
    hypotheses = depths.hypotheses
    for lower, upper in depths.closing_in(hypotheses.everything):
        tell("Littlestone", lower, upper, depths.nodes)
        if time.perf_counter() >= end:
            break
    columns = depths.tree(hypotheses.everything, lower)
    return Bounds(lower, upper), MistakeTree(lower, tuple(hypotheses.points[j] for j in columns))


def _vc(shattering: Shattering, end: float, tell: Progress) -> Bounds:
    """The ends of VC: the largest shattered set found, and what no set can exceed."""
    while not shattering.advance():
        tell("VC", len(shattering.best), shattering.most, shattering.nodes)
        if time.perf_counter() >= end:
            return Bounds(len(shattering.best), shattering.most)
    return Bounds(len(shattering.best), len(shattering.best))


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


@dataclass(frozen=True)
class MistakeTree:
    """A complete binary tree of points: `nodes[i - 1]` is the point at node i, i = 1 … 2^depth − 1."""

    depth: int
    nodes: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        if len(self.nodes) != 2**self.depth - 1:
            raise SettingError(
                f"MistakeTree: depth {self.depth} takes {2**self.depth - 1} points, got {len(self.nodes)}"
            )

    def point(self, node: int) -> Hashable:
        return self.nodes[node - 1]

    def path(self, labels: Sequence[int]) -> list[int]:
        """The nodes that labels y_1, y_2, … lead through: i ← 2i + y from i = 1.

        >>> MistakeTree(2, ("v1", "v2", "v3")).path([1, 0])
        [1, 3]
        """
        nodes, node = [], 1
        for label in labels:
            nodes.append(node)
            node = 2 * node + label
        return nodes


def shatters_tree(hypotheses: HypothesisClass, tree: MistakeTree) -> bool:
    """Whether every way down the tree is the way of some hypothesis (Definition 21.4)."""
    index = {point: j for j, point in enumerate(hypotheses.points)}
    found = set()
    for row in hypotheses.matrix.tolist():
        node = 1
        for _ in range(tree.depth):
            node = 2 * node + row[index[tree.point(node)]]
        found.add(node)
    return len(found) == 1 << tree.depth


def shatters_set(hypotheses: HypothesisClass, points: Sequence[Hashable]) -> bool:
    """Whether every labelling of the points is that of some hypothesis."""
    index = {point: j for j, point in enumerate(hypotheses.points)}
    found = {tuple(row[index[point]] for point in points) for row in hypotheses.matrix.tolist()}
    return all(labels in found for labels in product((0, 1), repeat=len(points)))
