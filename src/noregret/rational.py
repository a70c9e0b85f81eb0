"""Between floats and exact numbers: a float is a multiple of a power of two, a rational lies between two floats."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.interval import Interval


def whole_numbers(*tables: NDArray[np.float64]) -> tuple[list[NDArray[Any]], Fraction]:
    """Tables of floats as Python's whole numbers, and the power of two that they are all multiples of.

    >>> (few, more), unit = whole_numbers(np.array([0.5, 3.0]), np.array([0.25]))
    >>> [float(one * unit) for one in [*few, *more]]
    [0.5, 3.0, 0.25]
    """
    split = [np.frexp(table) for table in tables]
    there = [exponents[parts != 0.0] for parts, exponents in split]
    least = min((int(exponents.min()) for exponents in there if exponents.size), default=0)
    whole = []
    for parts, exponents in split:
        shift = np.where(parts != 0.0, exponents - least, 0).astype(object)
        whole.append((parts * 2.0**53).astype(np.int64).astype(object) << shift)
    power = least - 53
    return whole, Fraction(2**power) if power >= 0 else Fraction(1, 2**-power)


def nearest(x: Fraction) -> Interval:
    """The floats around a rational number.

    >>> nearest(Fraction(1, 2)), nearest(Fraction(10) ** 400).hi
    (Interval(lo=0.5, hi=0.5), inf)
    """
    try:
        near = float(x)
    except OverflowError:
        largest = sys.float_info.max
        return Interval(largest, math.inf) if x > 0 else Interval(-math.inf, -largest)
    return Interval(near, near) if near == x else Interval.outward(near, near)
