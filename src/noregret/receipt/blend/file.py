"""The receipt of a blend as a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import msgspec

from noregret.atomic import whole_file
from noregret.errors import ReceiptError
from noregret.receipt.form import checksum, decoded, is_blend


@dataclass(frozen=True)
class BlendReceipt:
    """What a blend claims, as JSON takes it; `points` holds the forecasts, losses and last weights."""

    body: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return self.body

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the receipt; the file appears whole or not at all."""
        whole = msgspec.json.encode({**self.body, "checksum": checksum(self.body)})
        with whole_file(path) as file:
            file.write(msgspec.json.format(whole, indent=1) + b"\n")


def load_blend(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The body of a receipt file, its checksum still in it."""
    found = decoded(path)
    if not is_blend(found):
        raise ReceiptError("is not the receipt of a blend", os.fspath(path))
    if "checksum" not in found:
        raise ReceiptError("the receipt was damaged or changed: it has no checksum", os.fspath(path), failed=True)
    return dict(found)
