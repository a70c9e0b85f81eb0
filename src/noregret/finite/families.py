"""The classes that the theory names, by name and size: `family("intervals:12")`.

Points are numbered from 0 unless stated; a point of a Boolean family is the word of its n bits. Unions and intervals
include the empty set, singletons do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, gcd

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError
from noregret.finite.hypotheses import HypothesisClass, Matrix

ROOM = 2**28  # entries of a matrix, a byte each


@dataclass(frozen=True)
class Family:
    """A family: its parameters' names, its size in rows and columns (an upper limit), and how it is made."""

    parameters: tuple[str, ...]
    rows: Callable[..., int]
    columns: Callable[..., int]
    make: Callable[..., HypothesisClass]


def family(name: str) -> HypothesisClass:
    """Make a named class, such as `thresholds:15`, `unions:2,10` or `halfspaces:4`.

    >>> len(family("intervals:4")), len(family("subsets:2,4"))
    (11, 6)
    """
    kind, _, rest = name.partition(":")
    if kind not in FAMILIES:
        raise SettingError(f"unknown family {kind!r}; the families are {listed()}")
    found = FAMILIES[kind]
    sizes = _sizes(kind, found.parameters, rest)
    rows, columns = found.rows(*sizes), found.columns(*sizes)
    if rows * columns > ROOM:
        raise SettingError(
            f"{name}: {_large(rows)} hypotheses on {_large(columns)} points are too many;"
            f" rows times columns may be {ROOM:,} at most"
        )
    return found.make(*sizes)


def listed() -> str:
    """The families with their parameters, in one line."""
    return ", ".join(f"{kind}:{','.join(one.parameters)}" for kind, one in FAMILIES.items())


def _sizes(kind: str, parameters: tuple[str, ...], rest: str) -> list[int]:
    parts = rest.split(",") if rest else []
    if not parts:
        example = ",".join("8" if one == "n" else "2" for one in parameters)
        raise SettingError(
            f"the family {kind} needs its size: {kind}:{','.join(parameters)} with whole numbers, such as"
            f" {kind}:{example}"
        )
    if len(parts) != len(parameters) or not all(part.strip().isascii() and part.strip().isdigit() for part in parts):
        raise SettingError(f"{kind}: expected {kind}:{','.join(parameters)} with whole numbers, got {kind}:{rest}")
    sizes = [int(part) if len(part) < 10 else 10**9 for part in parts]
    if sizes[-1] < 1:
        raise SettingError(f"{kind}: {parameters[-1]} must be at least 1, got {sizes[-1]}")
    return sizes


def _large(number: int) -> str:
    return f"{number:,}" if number < 10**15 else "more than 10^15"


def _power(base: int) -> Callable[[int], int]:
    return lambda n: int(base ** min(n, 100))


def singletons(n: int) -> HypothesisClass:
    """h_i(x) = 1[x = i], i = 0 … n−1."""
    return HypothesisClass(np.eye(n, dtype=np.uint8))


def thresholds(n: int) -> HypothesisClass:
    """h_a(x) = 1[x < a] on the points 0 … n−1, a = 0 … n."""
    return HypothesisClass(_below(n))


def two_sided_thresholds(n: int) -> HypothesisClass:
    """1[x < a] and 1[x ≥ a]."""
    below = _below(n)
    return HypothesisClass(np.vstack([below, 1 - below]))


def intervals(n: int) -> HypothesisClass:
    """1[a ≤ x < b] on n points, and the empty set."""
    return unions(1, n)


def unions(k: int, n: int) -> HypothesisClass:
    """Unions of at most k intervals on n points: rows that rise at most k times."""
    rows: list[NDArray[np.uint8]] = []
    for pieces in range(k + 1):
        for ends in combinations(range(n + 1), 2 * pieces):
            row = np.zeros(n, dtype=np.uint8)
            for start, stop in zip(ends[::2], ends[1::2], strict=True):
                row[start:stop] = 1
            rows.append(row)
    return HypothesisClass(np.array(rows))


def subsets(k: int, n: int) -> HypothesisClass:
    """The sets of exactly k of n points."""
    return HypothesisClass(_sets(n, [k]))


def at_most(k: int, n: int) -> HypothesisClass:
    """The sets of at most k of n points."""
    return HypothesisClass(_sets(n, range(min(k, n) + 1)))


def cube(n: int) -> HypothesisClass:
    """All 2ⁿ labellings of n points."""
    return HypothesisClass(_corners(n))


def parities(n: int) -> HypothesisClass:
    """x ↦ ⟨a, x⟩ mod 2 for every a in {0,1}ⁿ, on {0,1}ⁿ."""
    x = _corners(n).astype(np.int64)
    return HypothesisClass((x @ x.T) % 2, points=_named(x))


def monotone_conjunctions(n: int) -> HypothesisClass:
    """The conjunctions of variables, the empty one (always 1) included, on {0,1}ⁿ."""
    x = _corners(n).astype(np.int64)
    return HypothesisClass(x @ (1 - x).T == 0, points=_named(x))


def conjunctions(n: int) -> HypothesisClass:
    """The 3ⁿ conjunctions of variables and negated variables, and the constant 0, on {0,1}ⁿ."""
    x = _corners(n)
    rows = [np.zeros(len(x), dtype=bool)]
    for signs in product((0, 1, 2), repeat=n):  # 0: not in it, 1: the variable, 2: its negation
        row = np.ones(len(x), dtype=bool)
        for i, sign in enumerate(signs):
            if sign:
                row &= x[:, i] == (sign == 1)
        rows.append(row)
    return HypothesisClass(np.array(rows), points=_named(x))


def variables(n: int) -> HypothesisClass:
    """x ↦ x_i for i = 0 … n−1, on {0,1}ⁿ."""
    x = _corners(n)
    return HypothesisClass(x.T, points=_named(x))


def halfspaces(k: int) -> HypothesisClass:
    """The affine halfspaces on the k×k grid, both constants included.

    A line that cuts the grid can be moved until it goes through two grid points; back from there, a point on the line
    being turned about, it takes with one side of the line a first or a last part of the points on it.
    """
    grid = [(a, b) for a in range(k) for b in range(k)]
    x, y = np.array(grid).T
    rows = {bytes(k * k), bytes([1]) * (k * k)}
    for dx, dy in _directions(k):
        level, along = dx * y - dy * x, dx * x + dy * y
        for value in np.unique(level):
            on = level == value
            for side in (level > value, level < value):
                for cut in (*np.unique(along[on]), k * k * k * k):
                    rows.add((side | (on & (along < cut))).tobytes())
                    rows.add((side | (on & (along >= cut))).tobytes())
    ordered = [np.frombuffer(row, dtype=np.uint8) for row in sorted(rows)]
    return HypothesisClass(np.array(ordered), points=grid)


def _directions(k: int) -> Iterator[tuple[int, int]]:
    """The primitive directions between points of the grid, one of each opposite pair."""
    for dx in range(k):
        for dy in range(-k + 1, k):
            if gcd(dx, dy) == 1 and (dx > 0 or dy > 0):
                yield dx, dy


def _below(n: int) -> Matrix:
    return np.tri(n + 1, n, -1, dtype=np.uint8)


def _sets(n: int, sizes: range | list[int]) -> Matrix:
    chosen = [one for k in sizes for one in combinations(range(n), k)]
    rows = np.zeros((len(chosen), n), dtype=np.uint8)
    for row, places in zip(rows, chosen, strict=True):
        row[list(places)] = 1
    return rows


def _corners(n: int) -> Matrix:
    """{0,1}ⁿ in counting order."""
    numbers = np.arange(2**n)
    return (numbers[:, None] >> np.arange(n - 1, -1, -1) & 1).astype(np.uint8)


def _named(corners: NDArray[np.integer]) -> list[str]:
    return ["".join(map(str, corner)) for corner in corners.tolist()]


FAMILIES: dict[str, Family] = {
    "singletons": Family(("n",), lambda n: n, lambda n: n, singletons),
    "thresholds": Family(("n",), lambda n: n + 1, lambda n: n, thresholds),
    "two-sided-thresholds": Family(("n",), lambda n: 2 * n, lambda n: n, two_sided_thresholds),
    "intervals": Family(("n",), lambda n: n * (n + 1) // 2 + 1, lambda n: n, intervals),
    "unions": Family(
        ("k", "n"), lambda k, n: sum(comb(n + 1, 2 * i) for i in range(min(k, n) + 1)), lambda k, n: n, unions
    ),
    "subsets": Family(("k", "n"), lambda k, n: comb(n, k), lambda k, n: n, subsets),
    "at-most": Family(("k", "n"), lambda k, n: sum(comb(n, i) for i in range(min(k, n) + 1)), lambda k, n: n, at_most),
    "cube": Family(("n",), _power(2), lambda n: n, cube),
    "parities": Family(("n",), _power(2), _power(2), parities),
    "conjunctions": Family(("n",), lambda n: _power(3)(n) + 1, _power(2), conjunctions),
    "monotone-conjunctions": Family(("n",), _power(2), _power(2), monotone_conjunctions),
    "halfspaces": Family(("k",), lambda k: k**4 + 2, lambda k: k * k, halfspaces),
    "variables": Family(("n",), lambda n: n, _power(2), variables),
}
