"""Mistake trees, shattered sets, and the checkers that trust neither search.

Node 1 is the root; from node i label y leads to node 2i + y: left for 0, right for 1 (the printed text of
Shalev-Shwartz & Ben-David 21.1.1 has the sides the other way round, its formula and figure do not).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import product

from noregret.errors import SettingError
from noregret.finite.hypotheses import HypothesisClass


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
