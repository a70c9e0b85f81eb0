"""A number known to lie between two others: every operation rounds outward, so that the true value stays inside.

>>> third = Interval.of(1.0) / Interval.of(3.0)
>>> third.lo < 1 / 3 <= third.hi, (third * 3.0).holds(1.0)
(True, True)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic

Vector = NDArray[np.float64]


def down(x: float) -> float:
    return math.nextafter(x, -math.inf)


def up(x: float) -> float:
    return math.nextafter(x, math.inf)


@dataclass(frozen=True, slots=True)
class Interval:
    """The real numbers from lo to hi; an end that is not a number is no end at all."""

    lo: float
    hi: float

    @classmethod
    def of(cls, x: Interval | float) -> Interval:
        """An interval as it is; a float as itself and nothing else."""
        return x if isinstance(x, Interval) else cls(float(x), float(x))

    @classmethod
    def around(cls, value: float, error: float) -> Self:
        """value ± error."""
        return cls(down(value - error), up(value + error)) if error else cls(value, value)

    @classmethod
    def outward(cls, lo: float, hi: float) -> Interval:
        """One step further out at both ends: what a single rounding may have moved them."""
        return cls(down_or_none(lo), up_or_none(hi))

    @property
    def exact(self) -> bool:
        return self.lo == self.hi

    def holds(self, x: float) -> bool:
        return self.lo <= x <= self.hi

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __add__(self, other: Interval | float) -> Interval:
        other = Interval.of(other)
        return _checked(self.lo + other.lo, self.hi + other.hi, (self, other))

    __radd__ = __add__

    def __sub__(self, other: Interval | float) -> Interval:
        return self + -Interval.of(other)

    def __rsub__(self, other: Interval | float) -> Interval:
        return Interval.of(other) - self

    def __mul__(self, other: Interval | float) -> Interval:
        other = Interval.of(other)
        if self.lo == self.hi == 0.0 or other.lo == other.hi == 0.0:
            return Interval(0.0, 0.0)
        ends = [_times(a, b) for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Interval.outward(min(ends), max(ends))

    __rmul__ = __mul__

    def __truediv__(self, other: Interval | float) -> Interval:
        other = Interval.of(other)
        if other.lo <= 0.0 <= other.hi:
            return Interval(-math.inf, math.inf)
        ends = [a / b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Interval.outward(min(ends), max(ends))

    def __rtruediv__(self, other: Interval | float) -> Interval:
        return Interval.of(other) / self

    def square(self) -> Interval:
        low = 0.0 if self.holds(0.0) else min(abs(self.lo), abs(self.hi))
        high = max(abs(self.lo), abs(self.hi))
        return Interval(max(down(low * low), 0.0), up(high * high))

    def sqrt(self) -> Interval:
        """The root of what is not below 0 (a lower end that rounding put there counts as 0)."""
        low = math.sqrt(max(self.lo, 0.0))
        return Interval(max(down(low), 0.0), up(math.sqrt(max(self.hi, 0.0))))

    def log(self) -> Interval:
        low = arithmetic.log(self.lo) if self.lo > 0.0 else -math.inf
        return Interval(_steps(low, -4), _steps(arithmetic.log(self.hi), 4))

    def positive(self) -> Interval:
        """max(·, 0)."""
        return Interval(max(self.lo, 0.0), max(self.hi, 0.0))

    def floor(self) -> int:
        """The largest whole number that the true value can have as a floor."""
        return math.floor(self.hi)


def largest(*parts: Interval | float) -> Interval:
    """max of several."""
    found = [Interval.of(part) for part in parts]
    return Interval(max(part.lo for part in found), max(part.hi for part in found))


def least(*parts: Interval | float) -> Interval:
    """min of several."""
    found = [Interval.of(part) for part in parts]
    return Interval(min(part.lo for part in found), min(part.hi for part in found))


def total(lo: Vector, hi: Vector) -> Interval:
    """The sum of many intervals given by their ends; `math.fsum` rounds only once, in whatever order they come."""
    if lo is hi:
        value = _fsum(lo)
        return Interval(value, value) if _is_sum(value, lo) else Interval.outward(value, value)
    low, high = _fsum(lo), _fsum(hi)
    return Interval(low if _is_sum(low, lo) else down_or_none(low), high if _is_sum(high, hi) else up_or_none(high))


def _is_sum(found: float, values: Vector) -> bool:
    """Whether the rounded sum is the sum itself."""
    return math.isfinite(found) and _fsum(np.append(values, -found)) == 0.0


def down_or_none(x: float) -> float:
    return -math.inf if math.isnan(x) else down(x)


def up_or_none(x: float) -> float:
    return math.inf if math.isnan(x) else up(x)


def whole(x: float) -> bool:
    """Whether x is a whole number below 2⁵³: such numbers add without rounding."""
    return abs(x) < 2**53 and x == int(x)


def _fsum(values: Vector) -> float:
    try:
        return math.fsum(values.tolist())
    except OverflowError:
        return math.nan


def _checked(lo: float, hi: float, parts: tuple[Interval, Interval]) -> Interval:
    if lo == hi and all(part.exact and whole(part.lo) for part in parts) and whole(lo):
        return Interval(lo, hi)
    return Interval.outward(lo, hi)


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0.0 or b == 0.0 else a * b


def _steps(x: float, steps: int) -> float:
    for _ in range(abs(steps)):
        x = down(x) if steps < 0 else up(x)
    return x


def ends(triples: NDArray[np.float64]) -> tuple[Vector, Vector]:
    """Lower and upper ends of numbers carried as (s, c, error); see native/exact.hpp."""
    s, c, error = triples[:, 0], triples[:, 1], triples[:, 2]
    value = s + c
    part = value - s
    exact = (error == 0.0) & ((s - (value - part)) + (c - part) == 0.0)
    low = np.nextafter(np.nextafter(value, -np.inf) - 1.0000001 * error, -np.inf)
    high = np.nextafter(np.nextafter(value, np.inf) + 1.0000001 * error, np.inf)
    return np.where(exact, value, low), np.where(exact, value, high)
