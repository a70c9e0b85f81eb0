"""VC and Littlestone dimension of a finite class, exact or, when the time is over, as the interval proved by then.

Whatever is said has its witness: a shattered set of points for the lower end of VC, a shattered mistake tree for the
lower end of Ldim. The upper ends are what the search refuted, ⌊log2 |H|⌋ or the number of distinct splits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from noregret.errors import SettingError
from noregret.finite.hypotheses import HypothesisClass
from noregret.finite.search import Depths, Shattering
from noregret.finite.tree import MistakeTree

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
