"""How weights are mixed: c₁w₁ + … + c_S·w_S, divided by Σc, for whole numbers c.

The shares μ_i = c_i/Σc are exact rationals. The sum begins with the first shard and ends with the last; each product,
each addition and the division is rounded once, so that the same parts give the same bits everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError

Vector = NDArray[np.float64]
UNIFORM, MISTAKES, ONCE = "uniform", "mistakes", "once"
RULES = (UNIFORM, MISTAKES, ONCE)
COUNTEREXAMPLE = (
    "one-shot averaging has no mistake bound: one shard holds (3,3) with +1, the other (3,2) with −1; both perceptrons"
    " end without a mistake, their mean (0, ½) is wrong on (3,2) forever, and (−1, 1.4) separates the rows"
)


def check_rule(mixing: str) -> None:
    if mixing not in RULES:
        raise SettingError(f"mixing must be {', '.join(RULES[:-1])} or {RULES[-1]}, got {mixing!r}")


def counts_of(rule: str, mistakes: Sequence[int]) -> list[int]:
    """The c of an epoch: 1 for every shard, or its mistakes; where nobody made one, 1 again."""
    by_mistakes = rule == MISTAKES and any(mistakes)
    return list(mistakes) if by_mistakes else [1] * len(mistakes)


def shares(counts: Sequence[int]) -> list[Fraction]:
    """The μ of an epoch.

    >>> shares([2, 3])
    [Fraction(2, 5), Fraction(3, 5)]
    """
    return [Fraction(count, sum(counts)) for count in counts]


def mixed(parts: Sequence[Vector], counts: Sequence[int]) -> Vector:
    """The mixture of the weights of the shards.

    >>> mixed([np.array([1.0, 3.0]), np.array([2.0, -1.0])], [1, 3]).tolist()
    [1.75, 0.0]
    """
    found = np.zeros(len(parts[0]))
    for part, count in zip(parts, counts, strict=True):
        if count:
            found = found + float(count) * part
    return found / float(sum(counts))
