"""Every compiled loop. Arrays and scalars in, given arrays filled, a count or a sum returned; nothing here raises.

Convention: each kernel is plain Python that numba compiles; with NUMBA_DISABLE_JIT=1 the same code runs uncompiled.
Sums are taken in a fixed order (four or eight accumulators by position), so that results depend on the rows alone
and never on how a stream was cut into blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile on first call, cache on disk, release the interpreter lock; IEEE division, no reordering of sums."""
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=False)(function))


def inlined(function: F) -> F:
    """As `compiled`, for what runs inside another kernel's loop: no call, no reference counting."""
    return cast(
        F, numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=True)(function)
    )
