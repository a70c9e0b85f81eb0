"""The best sequence of experts that changes at most m times, by dynamic programming.

Sums are kept as pairs of floats, to some 32 figures, so that the sequence found is a best one; what it loses is then
added up without rounding but one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from noregret._native import best_path
from noregret.errors import SettingError
from noregret.interval import Interval, total

ROOM = 2**31  # bytes for the way back


@dataclass(frozen=True)
class Switching:
    """`parts` are (first round, last round, expert), rounds counted from 1."""

    switches: int  # the number allowed
    loss: Interval
    parts: tuple[tuple[int, int, int], ...]

    def path(self) -> NDArray[np.int64]:
        """The expert of every round."""
        sizes = [last - first + 1 for first, last, _ in self.parts]
        return np.repeat(np.array([who for *_, who in self.parts], dtype=np.int64), sizes)


def best_switching(costs: NDArray[np.float64], switches: int) -> Switching:
    """The least loss of any sequence of experts that changes at most `switches` times.

    >>> best_switching(np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), 1).parts
    ((1, 2, 0), (3, 3, 1))
    """
    costs = np.ascontiguousarray(costs, dtype=np.float64)
    if costs.ndim != 2 or not costs.size or not np.isfinite(costs).all():
        raise SettingError("best_switching: costs must be a matrix of finite numbers, rounds × experts")
    rounds, experts = costs.shape
    allowed = min(switches, rounds - 1)
    if allowed < 0:
        raise SettingError(f"best_switching: switches must be at least 0, got {switches}")
    if rounds * (allowed + 1) * (experts + 8) > ROOM:
        room = f"{rounds} rounds × {allowed + 1} × {experts} experts"
        raise SettingError(f"best_switching: the way back over {room} needs more than 2 GiB; ask for fewer switches")
    now = np.zeros((allowed + 1, 2 * experts))
    came = np.zeros((rounds, allowed + 1), dtype=np.int64)
    moved = np.zeros((rounds * (allowed + 1), experts), dtype=np.uint8)
    best_path(costs, now, np.empty_like(now), came, moved)
    path = _way_back(now[-1].reshape(experts, 2), came, moved.reshape(rounds, allowed + 1, experts))
    taken = costs[np.arange(rounds), path]
    return Switching(switches, total(taken, taken), _parts(path))


def _way_back(last: NDArray[np.float64], came: NDArray[np.int64], moved: NDArray[np.uint8]) -> NDArray[np.int64]:
    k = came.shape[1] - 1
    i = int(np.argmin([math.fsum(pair) for pair in last.tolist()]))
    path = np.empty(len(came), dtype=np.int64)
    for t in range(len(came) - 1, -1, -1):
        path[t] = i
        if moved[t, k, i]:
            i = int(came[t, k - 1])
            k -= 1
    return path


def _parts(path: NDArray[np.int64]) -> tuple[tuple[int, int, int], ...]:
    starts = [0, *(np.flatnonzero(np.diff(path)) + 1).tolist(), len(path)]
    return tuple((a + 1, b, int(path[a])) for a, b in pairwise(starts))
