"""The receipt: what a run claims, with the vectors that prove it, in one JSON file.

Vectors are written as text: little-endian float64, zlib, base64. The checksum at the end tells a damaged file from a
false claim; it proves nothing, since anyone can compute it. What proves is `verify`.
"""

from __future__ import annotations

import base64
import hashlib
import math
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from noregret.atomic import whole_file
from noregret.errors import ReceiptError, SettingError

VERSION = 4
ARITHMETIC = "lanes-1"  # sums in stated lanes, functions of the core: the same bits everywhere; see docs/receipts.md
KINDS = ("run", "blend", "separation", "late", "cluster", "ledger", "watched", "period")
Vector = NDArray[np.float64]


def head(kind: str) -> dict[str, Any]:
    """What every receipt and proof begins with."""
    return {"kind": kind, "version": VERSION, "arithmetic": ARITHMETIC}


@dataclass(frozen=True, repr=False)
class Receipt:
    """Settings, streams, figures, regret and certificates of one run; `points` holds the vectors by name."""

    learner: dict[str, Any]
    reading: dict[str, Any]
    segments: list[dict[str, Any]]
    replay: dict[str, Any]  # what must come out again to the last bit
    figures: dict[str, Any]
    regret: dict[str, Any] | None
    curve: list[dict[str, Any]]
    certificates: list[dict[str, Any]]
    points: dict[str, Vector] = field(default_factory=dict)
    selection: dict[str, Any] | None = None
    kind: ClassVar[str] = "run"
    surrogate: Any = None  # the convex loss that mistakes are compared with: its text, or the fingerprint of your own

    def __repr__(self) -> str:
        ends = "" if self.regret is None else f", regret [{self.regret['lower']:.6g}, {self.regret['upper']:.6g}]"
        rounds, theorems = self.figures["rounds"], len(self.certificates)
        return f"<Receipt of {self.learner['name']}: {rounds} rounds{ends}, {theorems} theorems>"

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Every regret: the run's, those after fewer rounds, and those in other balls."""
        return [*([] if self.regret is None else [self.regret]), *self.curve]

    @property
    def broken(self) -> list[str]:
        """The theorems that this run breaks: a bug, in noregret or in the theorem."""
        return [part["theorem"] for part in self.certificates if part["verdict"] == "broken"]

    def figure(self, name: str) -> float:
        """A figure of the run as one number: the middle of the interval that the receipt claims."""
        said = self.figures[name]
        if not isinstance(said, dict):
            return float(said)
        lower, upper = float(said["lower"]), float(said["upper"])
        return lower if lower == upper else 0.5 * lower + 0.5 * upper

    def to_dict(self) -> dict[str, Any]:
        """All but the checksum, as JSON takes it."""
        asked = {"selection": self.selection, "surrogate": self.surrogate}
        return {
            **head("run"),
            "learner": self.learner,
            "reading": self.reading,
            "segments": self.segments,
            "replay": self.replay,
            "figures": self.figures,
            "regret": self.regret,
            "curve": self.curve,
            "certificates": self.certificates,
            **{name: value for name, value in asked.items() if value is not None},
            "points": {name: packed(point) for name, point in self.points.items()},
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the receipt; the file appears whole or not at all."""
        body = self.to_dict()
        write(path, body)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Receipt:
        """The receipt of a file; a file that is none, or was damaged, gets one sentence."""
        return _receipt(decoded(path), os.fspath(path))


def decoded(path: str | os.PathLike[str]) -> Any:
    """What a JSON file holds; a file that is none gets one sentence."""
    if not isinstance(path, str | os.PathLike):
        raise SettingError(f"a receipt must be a file or a Receipt, got {type(path).__name__}")
    name = os.fspath(path)
    try:
        data = Path(name).read_bytes()
        if data.startswith(b"NOREGRET"):
            raise ReceiptError("is a model file: a receipt of its run is written by noregret certify --receipt", name)
        return msgspec.json.decode(data)
    except OSError as error:
        raise ReceiptError(f"cannot be read: {error.strerror}", name) from error
    except RecursionError as error:
        raise ReceiptError("is not a receipt: its JSON is nested too deeply", name) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ReceiptError(f"is neither a receipt nor a proof: it is not JSON ({error})", name) from error


def write(path: str | os.PathLike[str], body: dict[str, Any]) -> None:
    """A receipt or a proof with its checksum; the file appears whole or not at all."""
    with whole_file(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode({**body, "checksum": checksum(body)}), indent=1) + b"\n")


def kind_of(found: Any, name: str | None = None) -> str:
    """Of which kind a receipt is; one of other rules than these is not wrong, but nothing can be said of it here."""
    if not isinstance(found, Mapping) or not {"kind", "receipt"} & set(found):
        raise ReceiptError("is not a receipt of noregret", name)
    said = found.get("version", found.get("receipt"))
    if said is None:
        raise ReceiptError("is a receipt without a version", name)
    if type(said) is not int or said != VERSION:
        raise ReceiptError(
            f"is a receipt of version {said}, this noregret reads version {VERSION}: make it again", name
        )
    kind = found.get("kind")
    if kind not in KINDS:
        raise ReceiptError(f"is a receipt of the kind {kind!r}; the kinds are {', '.join(KINDS)}", name)
    if found.get("arithmetic") != ARITHMETIC:
        said = found.get("arithmetic")
        stated = "states no arithmetic" if said is None else f"was made with the arithmetic {said!r}"
        raise ReceiptError(f"{stated}, this noregret checks only {ARITHMETIC!r}: make it again", name)
    return str(kind)


def body_of(found: Any, kind: str, name: str | None = None) -> dict[str, Any]:
    """The content of a receipt of that kind, without its checksum, which must match."""
    if kind_of(found, name) != kind:
        raise ReceiptError(f"is a receipt of the kind {found['kind']!r}, not of the kind {kind!r}", name)
    body = dict(found)
    if body.pop("checksum", None) != checksum(body):
        raise ReceiptError("the receipt was damaged or changed: its checksum does not match", name, failed=True)
    return body


def _receipt(found: Any, name: str) -> Receipt:
    return receipt_in(body_of(found, "run", name), name)


def receipt_in(body: Mapping[str, Any], name: str) -> Receipt:
    """The receipt of a run whose body this is."""
    try:
        said = {key: value for key, value in body.items() if key not in head("run")}
        said["points"] = {key: unpacked(text) for key, text in said["points"].items()}
        return Receipt(**said)
    except (KeyError, TypeError, AttributeError, ValueError, zlib.error) as error:
        raise ReceiptError(f"the receipt is damaged ({error})", name, failed=True) from error


def checksum(body: dict[str, Any]) -> str:
    """SHA-256 of the content, whatever the spacing and the order of keys."""
    return hashlib.sha256(msgspec.json.encode(body, order="deterministic")).hexdigest()


def packed(point: Vector) -> str:
    return base64.b64encode(zlib.compress(np.ascontiguousarray(point, dtype="<f8").tobytes(), 1)).decode()


def unpacked(text: str) -> Vector:
    return np.frombuffer(zlib.decompress(base64.b64decode(text, validate=True)), dtype="<f8").astype(np.float64)


def plain(value: Any) -> Any:
    """A setting as JSON can hold it: infinities as words."""
    return value if not isinstance(value, float) or math.isfinite(value) else str(value)
