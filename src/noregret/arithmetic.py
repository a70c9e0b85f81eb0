"""Sums and functions for every number that a run or a receipt states: the same bits on every machine.

NumPy's sums, BLAS and the exp and log of the C library depend on the processor and the build. These do not: a sum is
taken in four parts by position, part i of the entries i, i + 4, i + 8, …, then (0 + 2) + (1 + 3), a norm in sixteen
(native/vector.hpp); a function is the core's own, within 1 ulp of the exact value. Sums, products, quotients and roots
of two numbers are IEEE 754's anyway.

>>> total(np.array([0.1] * 10)), exp(1.0), log(np.array([1.0, 2.0])).tolist()
(1.0, 2.718281828459045, [0.0, 0.6931471805599453])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from noregret import _native

Array = NDArray[np.float64]


class Function:
    """A function of a number, or of every number of an array."""

    def __init__(self, one: Callable[[float], float], all_of: Callable[[Array, Array], None]) -> None:
        self._one, self._all = one, all_of

    @overload
    def __call__(self, x: NDArray[Any]) -> Array: ...
    @overload
    def __call__(self, x: float) -> float: ...
    def __call__(self, x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return self._one(x)
        out = np.empty(x.shape)
        self._all(np.ascontiguousarray(x, dtype=np.float64).reshape(-1), out.reshape(-1))
        return out


exp = Function(_native.exp, _native.exp_all)
expm1 = Function(_native.expm1, _native.expm1_all)
log = Function(_native.log, _native.log_all)  # −inf of 0, NaN below
log1p = Function(_native.log1p, _native.log1p_all)
LN2 = log(2.0)
log_gamma = Function(_native.log_gamma, _native.log_gamma_all)  # ln Γ, of positive numbers


def total(x: NDArray[Any]) -> float:
    """Σ x_i."""
    return _native.total(_flat(x))


def mean(x: NDArray[Any]) -> float:
    """Σ x_i/n, NaN of none."""
    return total(x) / x.size if x.size else math.nan


def inner(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Σ x_i·y_i."""
    return _native.inner(_flat(x), _flat(y))


def norm2(x: NDArray[Any]) -> float:
    """Σ x_i²."""
    return _native.norm2(_flat(x))


def norm(x: NDArray[Any]) -> float:
    """√Σ x_i², also where a square would overflow or vanish: x is brought near 1 by a power of two."""
    largest = _native.largest(_flat(x))
    if 2.0**-400 < largest < 2.0**400 or largest == 0.0 or not math.isfinite(largest):
        return math.sqrt(norm2(x))
    unit = math.ldexp(1.0, min(-math.frexp(largest)[1], 1000))
    return math.sqrt(norm2(_flat(x) * unit)) / unit


def row_totals(table: NDArray[Any]) -> Array:
    """Σ over the last axis, one entry after another: a running sum has one order only."""
    if not table.shape[-1]:
        return np.zeros(table.shape[:-1])
    return np.asarray(np.cumsum(table, axis=-1, dtype=np.float64)[..., -1])


def log_of_whole(n: int) -> float:
    """ln n, also where n is too large for a float."""
    more = max(n.bit_length() - 1000, 0)
    return log(float(n >> more)) + more * LN2


def log2_of_whole(n: int) -> float:
    """log₂ n, exact of a power of two."""
    power = n.bit_length() - 1
    return float(power) if n == 1 << power else log_of_whole(n) / LN2


def _flat(x: NDArray[Any]) -> Array:
    return np.asarray(x, dtype=np.float64).reshape(-1)
