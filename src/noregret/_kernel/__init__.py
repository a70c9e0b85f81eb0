"""Every compiled loop. Arrays and scalars in, given arrays filled, a count or a sum returned; nothing here raises.

Convention: each kernel is plain Python that numba compiles; with NUMBA_DISABLE_JIT=1 the same code runs uncompiled.
A sum's order depends on the row alone, and a single round runs through the same machine code as a block: results never
depend on how a stream was cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from noregret._kernel.light import imported

numba = imported()

from noregret._kernel.keeping import kept  # noqa: E402 (numba comes first)

F = TypeVar("F", bound=Callable[..., Any])


# `_nrt=False`: kernels allocate nothing, and so need no reference counts, which are atomic and slow in a loop.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


def compiled(function: F) -> F:
    """Compile on first call, cache on disk, release the interpreter lock; IEEE division, no reordering of sums."""
    return kept(cast(F, numba.njit(**OPTIONS)(function)))


def unkept(function: F) -> F:
    """As `compiled`, without the cache on disk: for functions that another process could not find again."""
    return cast(F, numba.njit(**OPTIONS)(function))


def foreign(function: F, keep: bool) -> F:
    """For a function of the user's own that may make arrays; with `keep` false it is not cached on disk."""
    made = cast(F, numba.njit(**{**OPTIONS, "_nrt": True})(function))
    return kept(made) if keep else made


def inlined(function: F) -> F:
    """As `compiled`, for what runs inside another kernel's loop without the cost of a call."""
    return kept(cast(F, numba.njit(**OPTIONS, forceinline=True)(function)))
