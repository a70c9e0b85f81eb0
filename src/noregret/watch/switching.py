"""Comparators that may change: what a run can have lost more than a sequence of models, one after another.

With limits between m parts given, Σ C over the parts bounds the regret against one model per part. For at most k
changes, at limits that nobody named beforehand, it is the largest Σ C over all ways to join the parts to k + 1 blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from noregret.interval import up

MOST = 64  # parts: every pair of them costs a norm
SWITCHES = (1, 2, 3)


def best_switching(parts: int, bound: Callable[[int, int], float], switches: int = SWITCHES[-1]) -> list[float]:
    """The largest Σ of bound(i, j) over partitions of 0 … parts into at most s + 1 blocks, for s = 0 … `switches`.

    The bounds of blocks are upper ends, and so are the sums.

    >>> best_switching(3, lambda i, j: [[0, 1, 0, 0], [0, 0, 5, 0], [0, 0, 0, 1]][i][j], 2)
    [0, 1.0000000000000002, 7.000000000000002]
    """
    reached = [-math.inf] * (parts + 1)
    cost = {(i, j): bound(i, j) for i in range(parts) for j in range(i + 1, parts + 1)}
    best: list[float] = []
    for blocks in range(1, switches + 2):
        if blocks == 1:
            found = [-math.inf, *(cost[0, j] for j in range(1, parts + 1))]
        else:
            found = [-math.inf] * (parts + 1)
            for j in range(blocks, parts + 1):
                found[j] = max(up(reached[i] + cost[i, j]) for i in range(blocks - 1, j))
        best.append(max(found[parts], *best) if best else found[parts])
        reached = found
    return best
