"""A fingerprint of plain Python functions, so that compiled code is kept under what it was compiled from."""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any


@cache
def kernel_source() -> bytes:
    """A digest of this package's own files: an edited helper must not leave the loops around it stale."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def stamp(*functions: Callable[..., Any]) -> int:
    """What loops compiled around the functions are kept under: it changes with them and with this package."""
    return fingerprint(*functions) ^ int.from_bytes(kernel_source()[:7], "big")


def fingerprint(*functions: Callable[..., Any]) -> int:
    """An integer that changes with the functions' code, constants, defaults, cells and the globals they use."""
    digest = hashlib.sha256()
    seen: set[int] = set()
    for function in functions:
        _absorb(digest, function, seen)
    return int.from_bytes(digest.digest()[:7], "big")


def _absorb(digest: Any, item: Any, seen: set[int]) -> None:
    if isinstance(item, types.FunctionType):
        if id(item) not in seen:
            seen.add(id(item))
            _absorb_code(digest, item.__code__, seen)
            _absorb(digest, item.__defaults__, seen)
            for cell in item.__closure__ or ():
                _absorb(digest, cell.cell_contents, seen)
            for name in _names(item.__code__):
                if name in item.__globals__:
                    digest.update(name.encode())
                    _absorb(digest, item.__globals__[name], seen)
    elif isinstance(item, types.CodeType):
        _absorb_code(digest, item, seen)
    elif isinstance(item, types.ModuleType):
        digest.update(item.__name__.encode())
    elif isinstance(item, tuple):
        for part in item:
            _absorb(digest, part, seen)
    elif hasattr(item, "py_func"):  # a function that is compiled already
        _absorb(digest, item.py_func, seen)
    else:
        digest.update(f"{type(item).__name__}:{item!r};".encode())


def _absorb_code(digest: Any, code: types.CodeType, seen: set[int]) -> None:
    digest.update(code.co_code)
    digest.update(repr(code.co_names).encode())
    for constant in code.co_consts:
        _absorb(digest, constant, seen)


def _names(code: types.CodeType) -> list[str]:
    """The global names that a function and the functions inside it use."""
    inner = [name for constant in code.co_consts if isinstance(constant, types.CodeType) for name in _names(constant)]
    return [*code.co_names, *inner]
