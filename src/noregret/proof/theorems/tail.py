"""Upper confidence limits for a probability p of which k errors in n independent draws are known, rounded upward.

Every limit is the end of a bisection: a p that is *certainly* excluded, in outward-rounded arithmetic. What is excluded
stays so for every larger p, so that the smallest excluded float found is a limit as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from noregret import arithmetic
from noregret.interval import Interval, up

PI = Interval(3.141592653589793, 3.1415926535897936)
STEPS = 1200  # a bisection of floats between 0 and 1 ends long before
CLOSE = 1e-13  # a limit is no further above the true one, relatively
UNIT = 2.0**-53


def hoeffding(errors: int, draws: int, log: Interval) -> Interval:
    """k/n + √(log/(2n)): exceeded with probability at most e^(−log)."""
    return Interval.of(float(errors)) / float(draws) + (log / (2.0 * draws)).sqrt()


def divergence(errors: int, draws: int, p: float) -> Interval:
    """n·kl(k/n ‖ p) = k ln(k/(np)) + (n − k) ln((n − k)/(n(1 − p))), with 0·ln 0 = 0."""
    rest, n = draws - errors, float(draws)
    found = Interval.of(0.0)
    if errors:
        found += errors * (Interval.of(float(errors)) / (Interval.of(p) * n)).log()
    if rest:
        found += rest * (Interval.of(float(rest)) / ((Interval.of(1.0) - p) * n)).log()
    return found


def kl_limit(errors: int, draws: int, log: Interval) -> Interval:
    """The largest p with n·kl(k/n ‖ p) ≤ log, or a little more (Chernoff)."""
    return _limit(errors, draws, lambda p: divergence(errors, draws, p).lo > log.hi)


def binomial_limit(errors: int, draws: int, log: Interval) -> Interval:
    """The largest p with P(Bin(n, p) ≤ k) ≥ e^(−log), or a little more (Clopper & Pearson 1934)."""
    return _limit(errors, draws, lambda p: log_tail(errors, draws, p) < -log.hi)


def _limit(errors: int, draws: int, excluded: Callable[[float], bool]) -> Interval:
    """The end of the bisection as the upper end; 1 where no p below 1 is excluded."""
    low, high = errors / draws, 1.0
    if errors == draws:
        return Interval(1.0, 1.0)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        if high - low <= CLOSE * high:
            break
        low, high = (low, middle) if excluded(middle) else (middle, high)
    return Interval(low, high)


def log_tail(errors: int, draws: int, p: float) -> float:
    """No less than ln P(Bin(n, p) ≤ k), for k/n < p < 1.

    P(X ≤ k) = P(X = k)·(1 + r_k + r_k·r_{k−1} + …) with r_j = j(1 − p)/((n − j + 1)p), which falls with j: what is left
    behind some term is at most a geometric series. P(X = k) is e^(−n·kl(k/n ‖ p)) times Stirling's corrections.
    """
    if not errors:
        return (draws * (Interval.of(1.0) - p).log()).hi
    j = np.arange(errors, max(errors - 100_000, 0), -1, dtype=np.float64)
    ratios = j * (up(1.0 - p) / p) / (draws - j + 1.0) * (1.0 + 16.0 * UNIT)
    if ratios[0] >= 1.0:
        return 0.0
    terms = np.cumprod(ratios)
    last = ratios[-1] / (1.0 - ratios[-1]) * terms[-1] if j[-1] > 1.0 else 0.0
    series = (1.0 + (arithmetic.total(terms) + float(last))) * (1.0 + (len(j) + 64.0) * 8.0 * UNIT)
    return up((_log_mass(errors, draws, p) + Interval.of(series).log()).hi)


def _log_mass(errors: int, draws: int, p: float) -> Interval:
    """ln P(Bin(n, p) = k) for 0 < k < n."""
    return _at_mean(errors, draws) - divergence(errors, draws, p)


@lru_cache(maxsize=64)
def _at_mean(errors: int, draws: int) -> Interval:
    """ln P(Bin(n, k/n) = k) = ½ ln(n/(2πk(n − k))) and Stirling's corrections."""
    rest = draws - errors
    root = Interval.of(float(draws)) / (2.0 * PI * float(errors) * float(rest))
    return _stirling(draws) - _stirling(errors) - _stirling(rest) + 0.5 * root.log()


def _stirling(n: int) -> Interval:
    """ln n! − (n ln n − n + ½ ln 2πn): between two partial sums of its series 1/(12n) − 1/(360n³) + 1/(1260n⁵) − …"""
    one = Interval.of(1.0)
    if n < 16:
        main = n * Interval.of(float(n)).log() - float(n) + 0.5 * (2.0 * PI * float(n)).log()
        return Interval.of(float(math.factorial(n))).log() - main
    size = Interval.of(float(n))
    below = one / (12.0 * size) - one / (360.0 * size * size * size)
    return Interval(below.lo, (below + one / (1260.0 * size * size * size * size * size)).hi)
