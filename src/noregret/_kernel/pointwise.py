"""A function of (z, y, p) over whole arrays: what the loop computes round by round, all at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from noregret._kernel import compiled, unkept

Function = Callable[[float, float, float], float]


def pointwise(function: Function, stamp: int, keep: bool = True) -> Callable[..., int]:
    """The compiled loop around `function`; `stamp` makes an edited function compile anew (see linear.py)."""

    @(compiled if keep else unkept)
    def fill(z: Any, y: Any, p: float, out: Any) -> int:
        for t in range(z.shape[0]):
            out[t] = function(z[t], y[t], p)
        return int(z.shape[0]) + 0 * stamp

    return fill
