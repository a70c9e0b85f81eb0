"""The model file: a learner's settings, its whole state and the recipe of its features. No pickle, nothing executable.

Layout, little-endian: the eight bytes `NOREGRET`; the format version (u32); the header's length (u32); the header
(MessagePack); the arrays, raw, each at the offset the header gives, counted from the header's end; SHA-256 of all that
(32 bytes). Saving, loading and going on is the same, bit for bit, as never having stopped.
"""

from __future__ import annotations

import hashlib
import math
import os
import struct
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from noregret.atomic import alone, whole_file
from noregret.errors import ModelFileError, SettingError
from noregret.fingerprint import fingerprint
from noregret.kernel import Kernel
from noregret.kernel import parse as parse_kernel
from noregret.learner import LEARNERS
from noregret.learner.core import Core, fit
from noregret.learner.selected import Selected
from noregret.loss import Loss
from noregret.state import check_places, new_state
from noregret.stream.features import Features

MAGIC = b"NOREGRET"
VERSION = 2  # 2: what columns were recognised as
_FRONT = struct.Struct("<8sII")
_TYPES = ("<f8", "<f4", "<i8", "<i4", "<u8", "<u4", "|u1", "|i1", "|b1")  # of the arrays in a file
_WRONG = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)  # what forged fields cause
Whole = Annotated[int, msgspec.Meta(ge=0)]


class Stored(msgspec.Struct):
    """Where an array lies."""

    name: str
    dtype: str
    shape: list[int]
    offset: int


class Segment(msgspec.Struct):
    """One call of `learn`, as a file that anybody may have written must hold it."""

    rows: Whole
    skipped: Whole
    digest: str | None
    begin: Whole
    end: Whole
    passes: Whole
    ended: bool
    shuffle: Whole | None
    class_weight: dict[str, float] | None


class Options(msgspec.Struct):
    """How streams were read, as a file that anybody may have written must hold it."""

    label: str | None = None
    positive: str | None = None
    text: list[str] | None = None
    categorical: list[str] | None = None
    numeric: list[str] | None = None
    date: list[str] | None = None
    keep: list[str] | None = None
    ignore: list[str] | None = None
    interactions: list[str] | None = None
    hash_bits: Annotated[int, msgspec.Meta(ge=1, le=30)] | None = None
    missing: str | None = None
    class_weight: dict[str, float] | None = None


class Assumed(msgspec.Struct):
    """An assumption of a certificate."""

    statement: str
    checked: bool
    holds: bool | None


class Promised(msgspec.Struct):
    """What a selection was promised, as a file that anybody may have written must hold it."""

    theorem: str
    source: str
    verdict: str
    assumptions: list[Assumed]
    values: dict[str, float]
    points: list[str]
    bound: float | None = None
    observed: float | None = None


class Chosen(msgspec.Struct):
    """A selection, likewise."""

    how: str
    confidence: float
    rounds: int
    candidates: int
    every_round: bool
    round: int | None
    tail: int | None
    errors: int | None
    empirical: float | None
    mistakes: int | None
    certificates: list[Promised]
    held_out: int | None = None
    distinct: int | None = None
    draw: int | None = None


class AlarmSettings(msgspec.Struct, forbid_unknown_fields=True):
    """What an alarm watches, as a file that anybody may have written must hold it."""

    null: str
    false_alarm: float
    after: Whole
    loss: str | None
    on_alarm: str


class Earlier(msgspec.Struct):
    """What a learner did before another went on, likewise."""

    rounds: Whole
    loss: float | None = None
    mistakes: Whole | None = None


class Largest(msgspec.Struct):
    """The largest e-value of an alarm, and the round of its test after which it was reached."""

    e_value: float
    after: Whole


class Told(msgspec.Struct):
    """What an alarm tells, as a file that anybody may have written must hold it."""

    null: str
    false_alarm: float
    after: Whole
    loss: str
    on_alarm: str
    words: str
    threshold: float
    tests: Whole
    e_value: float
    largest: Largest
    rang: list[Whole]
    rounds: Whole
    watched: Whole
    unlabelled: Whole
    unseen: Whole
    waiting: Whole
    earlier: list[Earlier]


class Alarmed(msgspec.Struct):
    """An alarm, likewise; what it goes on with it checks itself."""

    settings: AlarmSettings
    figures: Told


class Watched(msgspec.Struct):
    """What watches a learner, likewise."""

    alarm: Alarmed | None = None
    windows: dict[str, Any] | None = None  # checked where they are gone on with


class Own(msgspec.Struct):
    """A loss or a kernel of the user's own."""

    name: str
    fingerprint: int


class Header(msgspec.Struct):
    """Everything of a learner that is not an array."""

    learner: str
    settings: dict[str, Any]
    custom_loss: Own | None
    features: dict[str, Any] | None
    labels: dict[str, Any] | None
    segments: list[dict[str, Any]]
    width: Annotated[int, msgspec.Meta(ge=0, le=2**31)]
    paired: bool
    arrays: list[Stored]
    estimator: dict[str, Any] | None = None  # what the scikit-learn shell adds
    options: dict[str, Any] = {}  # how the streams were read: label, missing, class weights
    selection: dict[str, Any] | None = None  # of a model that was selected from a run: how, and the risk promised
    custom_kernel: Own | None = None  # name and fingerprint of a kernel of the user's own
    late: dict[str, Any] | None = None  # rounds that wait for their labels
    watched: dict[str, Any] | None = None  # what watches its rounds


def save(
    core: Core,
    path: str | os.PathLike[str],
    estimator: dict[str, Any] | None = None,
    *,
    since: bytes | None = None,
) -> Path:
    """Write the learner, and say where; the file appears whole or an older one stays as it was.

    `since` is the seal that the file at `path` had when this learner was loaded from it. Where it has another now,
    somebody else has saved there meanwhile: that file stays, and this one is written beside it.
    """
    settings, custom = dict(core.settings), None
    if core.loss.custom:
        custom = Own(core.loss.name, core.loss.fingerprint)
        settings["loss"] = None
    own = settings.get("kernel")
    if isinstance(own, Kernel):
        settings["kernel"] = None
    arrays = arrays_of(core)
    stored, offset = [], 0
    for name, array in arrays.items():
        stored.append(Stored(name, array.dtype.str, list(array.shape), offset))
        offset += array.nbytes
    header = msgspec.msgpack.encode(
        Header(
            core.name,
            settings,
            custom,
            core.features.to_dict() if core.features else None,
            core.labels.to_dict() if core.labels else None,
            core.segments,
            core.width,
            core.paired,
            stored,
            estimator,
            core.options,
            core.selection if isinstance(core, Selected) else None,
            Own(**own_kernel(own)) if isinstance(own, Kernel) else None,
            core.late,
            core.watched,
        )
    )
    digest, placed = hashlib.sha256(), Path(path)

    def place(temporary: Path, target: Path) -> None:
        nonlocal placed
        with alone(target):
            if since is not None and seal(target) not in (since, None):
                target = target.with_name(f"{target.stem}-{digest.hexdigest()[:8]}{target.suffix}")
                placed = target if placed.is_symlink() else placed.with_name(target.name)
            temporary.replace(target)

    with whole_file(path, place=place) as file:
        parts: list[bytes | memoryview] = [_FRONT.pack(MAGIC, VERSION, len(header)), header]
        for data in (*parts, *map(_raw, arrays.values())):
            digest.update(data)
            file.write(data)
        file.write(digest.digest())
    return placed


def arrays_of(core: Core) -> dict[str, NDArray[Any]]:
    """Everything that a learner has learned, as arrays by name; `put_back` takes them."""
    return {
        **core.kept(),
        **core.preparation.arrays(),
        **{f"state.{name}": core.state[name] for name in core.state.dtype.names or ()},
    }


def put_back(core: Core, arrays: dict[str, NDArray[Any]], width: int, paired: bool) -> None:
    """Set a new learner to what another had learned; one of _WRONG where that does not fit together."""
    state = new_state()
    fit(arrays, {"peak": (len(arrays["peak"]),)})
    for field in state.dtype.names or ():
        part = arrays[f"state.{field}"]
        if part.shape != state[field].shape or part.dtype != state[field].dtype:
            raise ValueError(f"{field} does not fit")
        state[field] = part
    check_places(state)
    core.restore(arrays, width, paired)
    core.preparation.restore(arrays)
    if core.sure is not None:
        core.sure.restore(arrays)
    core.plain = not core.preparation.active
    core.state = state


def seal(path: str | os.PathLike[str]) -> bytes | None:
    """The checksum that a model file ends with, which tells one from another; None where no file can be read."""
    try:
        with Path(path).open("rb") as file:
            file.seek(-min(32, os.fstat(file.fileno()).st_size), os.SEEK_END)
            return file.read()
    except OSError:
        return None


def own_kernel(kernel: Kernel) -> dict[str, Any]:
    """What is kept of a kernel of the user's own."""
    return {"name": kernel.name, "fingerprint": fingerprint(kernel.function)}  # type: ignore[arg-type]


def load(
    path: str | os.PathLike[str], loss: Loss | None = None, kernel: Any = None
) -> tuple[Core, dict[str, Any] | None]:
    """The learner of a model file, and what its scikit-learn shell had added."""
    name = os.fspath(path)
    header, body = _read(name)
    core = _constructed(name, header, loss, kernel)
    arrays = {part.name: _array(name, part, body) for part in header.arrays}
    try:
        msgspec.convert(header.segments, list[Segment])
        msgspec.convert(header.options, Options)
        msgspec.convert(header.selection, Chosen | None)
        msgspec.convert(header.watched, Watched | None)
        return _restored(core, header, arrays), header.estimator
    except ModelFileError:
        raise
    except (*_WRONG, msgspec.ValidationError) as error:
        raise ModelFileError(f"the model file is damaged ({_reason(error)})", name) from error


def _restored(core: Core, header: Header, arrays: dict[str, NDArray[Any]]) -> Core:
    """The learner with all that it had learned; one of _WRONG where that does not fit together."""
    if header.selection is not None:
        core = Selected(core, header.selection)
    put_back(core, arrays, header.width, header.paired)
    core.features = Features.from_dict(header.features) if header.features is not None else None
    if (header.labels is None) != (core.labels is None):
        raise ValueError("its labels are not those of its loss")
    if header.labels is not None and core.labels is not None:
        core.labels = core.labels.from_dict(header.labels)
    core.segments, core.options = header.segments, header.options
    core.late, core.watched = header.late, header.watched
    return core


def _reason(error: Exception) -> str:
    """What is wrong, on one line."""
    return " ".join(str(error).split()) or type(error).__name__


def _raw(array: NDArray[Any]) -> memoryview:
    """An array's bytes, without a copy where that can be."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _read(name: str) -> tuple[Header, bytes]:
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror}", name) from error
    if not data.startswith(MAGIC):
        receipt = data.lstrip()[:1] == b"{" and (b'"receipt"' in data or b'"kind"' in data[:4096])
        raise ModelFileError(f"is {'a receipt' if receipt else 'not a noregret model file'}", name)
    if len(data) < _FRONT.size + 32:
        raise ModelFileError("the model file is cut short", name)
    _, version, length = _FRONT.unpack_from(data)
    if version != VERSION:
        raise ModelFileError(f"is a model file of version {version}, this noregret reads version {VERSION}", name)
    if hashlib.sha256(data[:-32]).digest() != data[-32:]:
        raise ModelFileError("the model file is damaged or cut short: its checksum does not match", name)
    try:
        header = msgspec.msgpack.decode(data[_FRONT.size : _FRONT.size + length], type=Header)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise ModelFileError(f"the header of the model file is damaged ({_reason(error)})", name) from error
    return header, data[_FRONT.size + length : -32]


def _constructed(name: str, header: Header, loss: Loss | None, kernel: Any) -> Core:
    if header.learner not in LEARNERS:
        raise ModelFileError(f"holds a learner {header.learner!r} that this noregret does not know", name)
    settings = dict(header.settings)
    if header.custom_loss is not None:
        wanted = header.custom_loss.name
        if loss is None:
            raise ModelFileError(
                f"was learned with the loss {wanted!r} of its own: in Python, give it with noregret.load(path, loss)",
                name,
            )
        if not isinstance(loss, Loss):
            raise SettingError(f"load: loss must be the loss {wanted!r} that the model was learned with, got {loss!r}")
        if loss.fingerprint != header.custom_loss.fingerprint:
            raise ModelFileError(f"was learned with another {wanted!r} than the loss given", name)
        settings["loss"] = loss
    if header.custom_kernel is not None:
        settings["kernel"] = _own_kernel(name, header.custom_kernel, kernel)
    try:
        return LEARNERS[header.learner](**settings)
    except _WRONG as error:
        raise ModelFileError(f"the settings in the model file cannot be used ({_reason(error)})", name) from error


def _own_kernel(name: str, wanted: Own, kernel: Any) -> Kernel:
    """The kernel given, if it is the one that was learned with."""
    if kernel is None:
        said = "in Python, give it with noregret.load(path, kernel=kernel)"
        raise ModelFileError(f"was learned with the kernel {wanted.name!r} of its own: {said}", name)
    found = parse_kernel(kernel)
    if not found.custom or fingerprint(found.function) != wanted.fingerprint:  # type: ignore[arg-type]
        raise ModelFileError(f"was learned with another {wanted.name!r} than the kernel given", name)
    return replace(found, name=wanted.name)


def _array(name: str, part: Stored, body: bytes) -> NDArray[Any]:
    try:
        if part.dtype not in _TYPES or any(not 0 <= size <= 2**31 for size in part.shape):
            raise ValueError("no array has such a type or shape")
        return np.frombuffer(body, np.dtype(part.dtype), math.prod(part.shape), part.offset).reshape(part.shape)
    except _WRONG as error:
        raise ModelFileError(
            f"the array {part.name!r} in the model file is damaged ({_reason(error)})", name
        ) from error
