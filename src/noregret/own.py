"""Functions of the user's own, a loss or a kernel: compiled by numba where that is installed, else called as they are.

The core calls a compiled function through its address. numba is the optional extra `own`; without it the function runs
as plain Python, several times slower, and one warning says so. Nothing compiled is kept on disk.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from noregret.errors import PlainPythonWarning, SettingError
from noregret.fingerprint import fingerprint

Function = Callable[..., float]

NUMBERS = "float64(float64, float64)"  # f(z, y)
ROWS = "float64(CPointer(float64), CPointer(float64), int64)"  # f(x, z) of two rows as long as each other


def compiled(function: Function, signature: str, who: str) -> int | None:
    """The address of the function as machine code, NUMBERS or ROWS; None where it is to be called as it is.

    `who`, such as "kernel", begins the sentence about a function that cannot be compiled. Where the function would
    raise an error, machine code returns NaN: ask the function itself for its error.
    """
    found = _machine_code(function, fingerprint(function), signature, who)
    return None if found is None else int(found.address)


@cache
def _machine_code(function: Function, key: int, signature: str, who: str) -> Any:
    """numba's compiled function, kept for as long as its address may be used; compiled again when `key` changes."""
    numba = _numba()
    if numba is None:
        return None
    called = numba.extending.register_jitable(function)
    carray = numba.carray

    def of_rows(x: Any, z: Any, length: int) -> float:
        try:
            return called(carray(x, (length,)), carray(z, (length,)))  # type: ignore[no-any-return]
        except Exception:
            return math.nan

    def of_numbers(z: float, y: float) -> float:
        try:
            return called(z, y)  # type: ignore[no-any-return]
        except Exception:
            return math.nan

    around = of_rows if signature == ROWS else of_numbers
    try:
        return numba.cfunc(signature, error_model="numpy")(around)
    except numba.core.errors.NumbaError as error:
        raise SettingError(f"{who}: {function.__name__} cannot be compiled: {_reason(error)}") from None


def _numba() -> Any:
    """The compiler, or None, said once, where it is not installed."""
    try:
        import numba
    except ImportError:
        _say_once()
        return None
    return numba


def _reason(error: Exception) -> str:
    """The first line of numba's pages that says what is wrong."""
    return str(error).strip().splitlines()[0]


@cache
def _say_once() -> None:
    warnings.warn(
        "your own loss or kernel runs as plain Python: pip install 'noregret[own]' to compile it with Numba",
        PlainPythonWarning,
        stacklevel=2,
    )
