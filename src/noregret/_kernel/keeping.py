"""Machine code kept on disk, one file for each function and signature, named by all that it was compiled from.

A file's name holds a digest of the function, of every function it calls, of this package's source, of the options and
of the compiler: what was edited or upgraded is compiled anew, and a file that is there is right. Loading one asks the
compiler for nothing, so a process whose kernels are all kept starts without importing what numba needs only to compile,
which takes a second, without looking through all installed packages for extensions of numba, and without numpy.ma.

Functions that one kernel calls keep the names that numba gave them, and of two with one name a process uses the first
that it meets. Numba counts from 1 in every process; here they are numbered at random, so that what two processes have
compiled can be loaded into a third.

The files lie in NUMBA_CACHE_DIR where that is set, in `__pycache__` beside the source, or, where that cannot be
written, in the user's own cache folder. Where nothing can be written every process compiles for itself.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import llvmlite.binding as llvm
import numba
import numpy as np
from numba import types
from numba.core import bytecode, compiler, entrypoints, serialize
from numba.np.numpy_support import from_dtype, map_layout

from noregret._kernel.stamp import fingerprint, kernel_source

F = TypeVar("F", bound=Callable[..., Any])
config: Any = numba.config
dumps: Any = serialize.dumps
result_type: Any = compiler.CompileResult
identity: Any = bytecode.FunctionIdentity
tuple_type: Any = types.BaseTuple
find_extensions: Any = entrypoints.init_all
identity._unique_ids = iter(lambda: int.from_bytes(os.urandom(7)), None)


DIGEST = hashlib.sha256().digest_size  # bytes at the beginning of a file, of all that follow


def kept(dispatcher: F) -> F:
    """The compiled function, looking on disk before it compiles; a function that is not compiled stays as it is."""
    if hasattr(dispatcher, "_cache"):
        whole: Any = dispatcher
        whole._cache = Kept(dispatcher)
        whole._compilation_chain_init_hook = lambda: None  # `load_overload` looks for extensions before it compiles
        whole.typeof_pyval = partial(_type_of, dispatcher, whole.typeof_pyval)
    return dispatcher


def _type_of(dispatcher: Any, usual: Callable[[Any], Any], value: Any) -> Any:
    """What numba's own `typeof_pyval` finds; for arrays without importing numpy.ma to see whether they are masked."""
    found = _array_type(value)
    if found is None:
        return usual(value)
    dispatcher._types_active_call.add(found)
    return found


def _array_type(value: Any) -> Any:
    """The type of an array or of a tuple of arrays; None for anything else."""
    if type(value) is np.ndarray and value.dtype != object:
        return types.Array(from_dtype(value.dtype), value.ndim, map_layout(value), readonly=not value.flags.writeable)
    if type(value) is tuple and value:
        parts = [_array_type(part) for part in value]
        return None if None in parts else tuple_type.from_types(parts, tuple)
    return None


class Kept:
    """What numba asks for machine code, and gives it to: its own cache would ready the whole compiler first."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The machine code of a signature, or None once the compiler is ready to make it."""
        path = self._path(signature, context.codegen())
        if path is not None and path.exists():
            if self._dispatcher.targetoptions.get("_nrt", True):
                context.refresh()  # code that makes arrays needs the compiler's own runtime
            try:
                return Parts.read(path.read_bytes()).rebuilt(context)
            except Exception:  # cut short, or of another making: compiled anew and written over
                path.unlink(missing_ok=True)
        find_extensions()
        context.refresh()
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Write what was compiled, under a temporary name first; a disk that is full is no reason to stop."""
        path = self._path(signature, result.codegen)
        if path is None or result.lifted or result.library.has_dynamic_globals:
            return
        try:
            with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
                file.write(Parts.of(*lean(result._reduce())).written())
            os.replace(file.name, path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        function = self._dispatcher.py_func
        folder = folder_of(os.path.dirname(function.__code__.co_filename))
        if folder is None:
            return None
        maker = numba.__version__, sys.implementation.cache_tag, config.BOUNDSCHECK, config.OPT, codegen.magic_tuple()
        told = f"{signature!r} {maker!r} {fingerprint(self._dispatcher)} {kernel_source().hex()}"
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        return folder / f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:24]}.nbc"

    cache_path = None

    def enable(self) -> None:
        """Always on."""

    def disable(self) -> None:
        """Always on."""

    def flush(self) -> None:
        """Nothing is held back."""


def lean(state: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a compiled function is rebuilt from, without what only costs time.

    That is its source told with types, and the environments that hold nothing: to rebuild one its module is imported,
    and there is one for every function of numba's that was compiled into ours.
    """
    *parts, _, initialisers, environments = state
    return *parts, "", initialisers, tuple(environment for environment in environments if environment.consts)


class Parts(NamedTuple):
    """What is kept of a compiled function."""

    state: tuple[Any, ...]  # what it is rebuilt from: machine code and a description of it
    names: set[str]  # of what the machine code defines
    bitcode: bytes  # what it is compiled into other functions from

    @classmethod
    def of(cls, library: tuple[str, str, tuple[bytes, bytes]], *others: Any) -> Parts:
        name, kind, (machine_code, bitcode) = library
        module = llvm.parse_bitcode(bitcode)
        defined = {value.name for value in (*module.functions, *module.global_variables) if not value.is_declaration}
        nothing = llvm.parse_assembly("").as_bitcode()
        return cls(((name, kind, (machine_code, nothing)), *others), defined, bitcode)

    @classmethod
    def read(cls, found: bytes) -> Parts:
        if hashlib.sha256(found[DIGEST:]).digest() != found[:DIGEST]:
            raise ValueError("damaged")
        return cls(*pickle.loads(found[DIGEST:]))

    def written(self) -> bytes:
        stored: bytes = dumps(tuple(self))
        return hashlib.sha256(stored).digest() + stored

    def rebuilt(self, context: Any) -> Any:
        """The compiled function; its bitcode is read when another function that calls it is compiled."""
        context.codegen()._engine._defined_symbols.update(self.names)
        result = result_type._rebuild(context, *self.state)
        result.library._get_module_for_linking = cache(lambda: llvm.parse_bitcode(self.bitcode))
        return result


@cache
def folder_of(source: str) -> Path | None:
    """Where the machine code of the files in a folder is kept; None, once with a warning, where nothing can be."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    for place in (chosen,) if chosen else (os.path.join(source, "__pycache__"), user_folder()):
        try:
            os.makedirs(place, exist_ok=True)
            tempfile.TemporaryFile(dir=place).close()
        except OSError:
            continue
        return Path(place)
    warn_once()
    return None


def user_folder() -> str:
    """The user's own cache folder on this platform; XDG_CACHE_HOME decides wherever it is set."""
    if os.environ.get("XDG_CACHE_HOME"):
        base = os.environ["XDG_CACHE_HOME"]
    elif sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.path.expanduser("~/.cache")
    return os.path.join(base, "noregret")


@cache
def warn_once() -> None:
    warnings.warn(
        "noregret: compiled code cannot be kept, every process compiles anew:"
        " neither the installation nor the user's cache folder can be written (NUMBA_CACHE_DIR chooses another)",
        RuntimeWarning,
        stacklevel=2,
    )


def package_folder() -> Path | None:
    """Where this package's own machine code is kept."""
    return folder_of(os.path.dirname(__file__))
