"""Which limits between windows are kept: few that are old, many that are young.

At time T (in windows of the smallest size) a limit τ is kept iff T − τ < 2K·2^ν(τ), 2^ν the largest power of two that
divides τ; 0 is always kept. What is dropped is never kept again, so its two neighbours become one window by addition.
For every wanted length a ≤ T some kept limit has an age in [a, (1 + 2/K)a), or is 0.
"""

from __future__ import annotations

KEPT = 4  # K


def keeps(limit: int, now: int, kept: int = KEPT) -> bool:
    """Whether a limit is kept at time `now`.

    >>> [limit for limit in range(11) if keeps(limit, 10, 1)]
    [0, 4, 8, 9, 10]
    """
    return not limit or now - limit < 2 * kept * (limit & -limit)


def limits(now: int, kept: int = KEPT) -> list[int]:
    """All limits that are kept at time `now`, 0 and `now` among them."""
    return [limit for limit in range(now + 1) if keeps(limit, now, kept)]


def lengths(rounds: int) -> list[int]:
    """Numbers of last rounds that people ask for: 1000, 10,000, 100,000, … below the rounds that there are.

    >>> lengths(30000)
    [1000, 10000]
    """
    found, length = [], 1000
    while length < rounds:
        found.append(length)
        length *= 10
    return found
