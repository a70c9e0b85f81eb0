"""A fingerprint of plain Python functions: what a model or receipt says of a loss or kernel of the user's own."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np


def fingerprint(*functions: Callable[..., Any]) -> int:
    """An integer that changes with the functions' code, constants, defaults, cells and the globals they use."""
    import hashlib

    digest = hashlib.sha256()
    seen: set[int] = set()
    for function in functions:
        _absorb(digest, function, seen)
    return int.from_bytes(digest.digest()[:7], "big")


FOREIGN = ("numpy", "scipy", "numba", "math", "builtins")  # their functions count by name


def _absorb(digest: Any, item: Any, seen: set[int], names: tuple[str, ...] = ()) -> None:
    if isinstance(item, types.FunctionType):
        _absorb_function(digest, item, seen)
    elif isinstance(item, types.CodeType):
        _absorb_code(digest, item, seen)
    elif isinstance(item, types.ModuleType):
        digest.update(f"{item.__name__} {getattr(item, '__version__', '')}".encode())
        for name in (
            () if _foreign(item.__name__) else names
        ):  # the attributes that a function using the module may read
            if name in vars(item) and id(vars(item)[name]) not in seen:
                digest.update(name.encode())
                _absorb(digest, vars(item)[name], seen, names)
    elif isinstance(item, np.ndarray):
        digest.update(f"{item.dtype.str}{item.shape}".encode() + item.tobytes())
    elif isinstance(item, tuple):
        for part in item:
            _absorb(digest, part, seen, names)
    elif hasattr(item, "py_func"):  # a function that is compiled already
        digest.update(repr([(key, _ordered(item.targetoptions[key])) for key in sorted(item.targetoptions)]).encode())
        _absorb(digest, item.py_func, seen)
    elif _foreign(getattr(item, "__module__", None)) and hasattr(item, "__qualname__"):
        digest.update(f"{item.__module__}.{item.__qualname__};".encode())
    else:
        digest.update(f"{type(item).__name__}:{item!r};".encode())


def _foreign(module: str | None) -> bool:
    return bool(module) and str(module).partition(".")[0] in FOREIGN


def _ordered(option: Any) -> Any:
    return sorted(option) if isinstance(option, set) else option


def _absorb_function(digest: Any, function: types.FunctionType, seen: set[int]) -> None:
    if id(function) in seen:
        return
    seen.add(id(function))
    if _foreign(function.__module__):
        digest.update(f"{function.__module__}.{function.__qualname__}".encode())
        return
    _absorb_code(digest, function.__code__, seen)
    names = _names(function.__code__)
    for part in (function.__defaults__, *(cell.cell_contents for cell in function.__closure__ or ())):
        _absorb(digest, part, seen, names)
    for name in names:
        if name in function.__globals__:
            digest.update(name.encode())
            _absorb(digest, function.__globals__[name], seen, names)


def _absorb_code(digest: Any, code: types.CodeType, seen: set[int]) -> None:
    digest.update(code.co_code)
    digest.update(repr(code.co_names).encode())
    for constant in code.co_consts:
        _absorb(digest, constant, seen)


def _names(code: types.CodeType) -> tuple[str, ...]:
    """The global names and attributes that a function and the functions inside it use."""
    inner = [name for constant in code.co_consts if isinstance(constant, types.CodeType) for name in _names(constant)]
    return (*code.co_names, *inner)
