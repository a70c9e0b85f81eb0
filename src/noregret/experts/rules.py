"""The rules by which experts are weighed, and the best switching sequence of them in hindsight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import best_path
from noregret.errors import SettingError
from noregret.experts.engine import ADAPTIVE, ANYTIME, CONSTANT, DOUBLING, GRADIENT, SHARING, Rule
from noregret.interval import Interval, total

Vector = NDArray[np.float64]
ANYTIME_RATES = {"one": 1.0, "two": 2.0, "root-eight": math.sqrt(8.0)}  # c of η_t = c·√(ln N/t)


def horizon_rate(experts: int, rounds: int) -> float:
    """η = √(2 ln N/T), Theorem 21.11."""
    return math.sqrt(2.0 * arithmetic.log(float(experts)) / rounds)


def share_for(rounds: int, switches: int) -> float:
    """α = m/(T − 1), kept between 1/T² and 1/2: the share for which m switches are likeliest."""
    return min(max(switches / max(rounds - 1, 1), 1.0 / rounds**2), 0.5)


def switching_cost(experts: int, rounds: int, switches: int, share: float) -> float:
    """(m + 1) ln N + m ln(1/α) + (T − m − 1) ln(1/(1 − α)): what it costs to follow m switches among T rounds."""
    stays = max(rounds - switches - 1, 0)
    return (
        (switches + 1) * arithmetic.log(float(experts))
        - switches * arithmetic.log(share)
        - stays * arithmetic.log1p(-share)
    )


def weighted_majority(experts: int, width: float, rounds: int) -> Rule:
    return Rule(CONSTANT, horizon_rate(experts, rounds) / width)


def hedge(experts: int, width: float, rate: str) -> Rule:
    return Rule(ANYTIME, ANYTIME_RATES[rate] * math.sqrt(arithmetic.log(float(experts))) / width)


def doubling(experts: int, width: float) -> Rule:
    return Rule(DOUBLING, math.sqrt(2.0 * arithmetic.log(float(experts))) / width)


def adahedge(experts: int, lo: float, hi: float) -> Rule:
    """Costs in [lo, hi]: a first gap of no more than (N + 2)·2⁻⁵⁰ of the largest of them is taken for a rounding."""
    return Rule(ADAPTIVE, arithmetic.log(float(experts)), least=(experts + 2) * 2.0**-50 * max(abs(lo), abs(hi)))


def gradient(experts: int, size: float) -> Rule:
    """AdaHedge on linearised losses; a first gap of no more than (N + 2)·2⁻⁵⁰ of their size is taken for a rounding."""
    return Rule(GRADIENT, arithmetic.log(float(experts)), least=(experts + 2) * 2.0**-50 * size)


def fixed_share(experts: int, width: float, rounds: int, switches: int) -> Rule:
    share = share_for(rounds, switches)
    rate = math.sqrt(8.0 * switching_cost(experts, rounds, switches, share) / rounds)
    return Rule(SHARING, rate / width, share)


def mixture(rate: float) -> Rule:
    return Rule(CONSTANT, rate)


def whole(who: str, name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`, or a sentence."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise SettingError(f"{who}: {name} must be a whole number, got {value!r}")
    if int(value) < least:
        raise SettingError(f"{who}: {name} must be at least {least}, got {value}")
    return int(value)


def ends(who: str, given: Any) -> tuple[float, float]:
    """A range (low, high), or a sentence."""
    try:
        lo, hi = (float(end) for end in given)
    except (TypeError, ValueError):
        raise SettingError(f"{who}: range must be two numbers, low and high, got {given!r}") from None
    if not (math.isfinite(lo) and math.isfinite(hi) and lo < hi):
        raise SettingError(f"{who}: range must be finite with low < high, got {lo:g} and {hi:g}")
    return lo, hi


ROOM = 2**31  # bytes for the way back


@dataclass(frozen=True)
class Switching:
    """`stretches` are (first round, last round, expert), rounds counted from 1."""

    switches: int  # the number allowed
    loss: Interval
    stretches: tuple[tuple[int, int, int], ...]

    def path(self) -> NDArray[np.int64]:
        """The expert of every round."""
        sizes = [last - first + 1 for first, last, _ in self.stretches]
        return np.repeat(np.array([who for *_, who in self.stretches], dtype=np.int64), sizes)


def best_switching(costs: NDArray[np.float64], switches: int) -> Switching:
    """The least loss of any sequence of experts that changes at most `switches` times.

    >>> best_switching(np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), 1).stretches
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
        raise SettingError(f"best_switching: {room} need more than 2 GiB of memory; ask for fewer switches")
    now = np.zeros((allowed + 1, 2 * experts))
    came = np.zeros((rounds, allowed + 1), dtype=np.int64)
    moved = np.zeros((rounds * (allowed + 1), experts), dtype=np.uint8)
    best_path(costs, now, np.empty_like(now), came, moved)
    path = _way_back(now[-1].reshape(experts, 2), came, moved.reshape(rounds, allowed + 1, experts))
    taken = costs[np.arange(rounds), path]
    return Switching(switches, total(taken, taken), _stretches(path))


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


def _stretches(path: NDArray[np.int64]) -> tuple[tuple[int, int, int], ...]:
    starts = [0, *(np.flatnonzero(np.diff(path)) + 1).tolist(), len(path)]
    return tuple((a + 1, b, int(path[a])) for a, b in pairwise(starts))
