"""Numbers as text: what Python's `float` reads, without its underscores; and how a number is said to be missing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

NOT_THERE = frozenset(("", "na", "n/a", "nan", "null", "none", "?"))


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no number.

    >>> is_missing(" NA "), is_missing("0")
    (True, False)
    """
    return cell.strip().lower() in NOT_THERE


def number(token: str) -> float | None:
    """The number that a token writes, or None.

    >>> number("+1"), number("1_000"), number("spam")
    (1.0, None, None)
    """
    try:
        return None if "_" in token else float(token)
    except ValueError:
        return None


def numbers(cells: Sequence[str]) -> NDArray[np.float64] | int:
    """The numbers of a column, a missing one being NaN; or the place of the first cell that is none."""
    try:
        if "_" not in "".join(cells):
            return np.array(list(map(float, cells)), dtype=np.float64)
    except ValueError:
        pass
    found = np.empty(len(cells))
    for place, cell in enumerate(cells):
        value = math.nan if is_missing(cell) else number(cell)
        if value is None:
            return place
        found[place] = value
    return found
