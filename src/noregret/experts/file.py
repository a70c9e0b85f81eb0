"""The file of experts: settings and named arrays. Saving, loading and going on is, bit for bit, never having stopped.

Layout: the eight bytes `NREXPERT`; the version (u32, little-endian); MessagePack of {kind, settings, arrays}, an array
being [dtype, shape, bytes]; SHA-256 of all that (32 bytes). Nothing in it is executable.
"""

from __future__ import annotations

import hashlib
import os
import struct
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from noregret.atomic import whole_file
from noregret.errors import ModelFileError
from noregret.experts.engine import State, fresh

MAGIC = b"NREXPERT"
VERSION = 1
_FRONT = struct.Struct("<8sI")


class Stored(msgspec.Struct):
    """What the file holds: the kind of object, its settings, its arrays."""

    kind: str
    settings: dict[str, Any]
    arrays: dict[str, tuple[str, list[int], bytes]]


def save(path: str | os.PathLike[str], kind: str, settings: dict[str, Any], state: State) -> None:
    """Write the file; it appears whole or an older one stays as it was."""
    arrays = {name: (part.dtype.str, list(part.shape), part.tobytes()) for name, part in state.items()}
    body = _FRONT.pack(MAGIC, VERSION) + msgspec.msgpack.encode(Stored(kind, settings, arrays))
    with whole_file(path) as file:
        file.write(body + hashlib.sha256(body).digest())


def load(path: str | os.PathLike[str]) -> Stored:
    """What a file holds; a file that is none, or is damaged, gets one sentence."""
    name = os.fspath(path)
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror}", name) from error
    if not data.startswith(MAGIC):
        raise ModelFileError("is not an experts file", name)
    if len(data) < _FRONT.size + 32 or hashlib.sha256(data[:-32]).digest() != data[-32:]:
        raise ModelFileError("the experts file is damaged or truncated: its checksum does not match", name)
    _, version = _FRONT.unpack_from(data)
    if version != VERSION:
        raise ModelFileError(f"is an experts file of version {version}; this noregret reads version {VERSION}", name)
    try:
        return msgspec.msgpack.decode(data[_FRONT.size : -32], type=Stored)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise ModelFileError(f"the experts file is damaged ({error})", name) from error


def state_of(stored: Stored, experts: int, name: str) -> State:
    """The arrays of a file, each of the shape and type that this number of experts needs."""
    found: State = {}
    for key, like in fresh(experts).items():
        if key not in stored.arrays:
            raise ModelFileError(f"the experts file is damaged (there is no array {key!r})", name)
        found[key] = _array(key, stored.arrays[key], like, name)
    clock = found["clock"]
    if clock[0] < 0 or clock[1] < 1:
        raise ModelFileError("the experts file is damaged (its clock is wrong)", name)
    return found


def _array(key: str, part: tuple[str, list[int], bytes], like: NDArray[Any], name: str) -> NDArray[Any]:
    dtype, shape, data = part
    if dtype != like.dtype.str or tuple(shape) != like.shape or len(data) != like.nbytes:
        raise ModelFileError(f"the experts file is damaged (its array {key!r} has the wrong shape)", name)
    return np.frombuffer(data, like.dtype).reshape(like.shape).copy()
