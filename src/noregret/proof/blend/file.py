"""The receipt of a blend as a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from noregret.proof.receipt import body_of, decoded, write


@dataclass(frozen=True)
class BlendReceipt:
    """What a blend claims, as JSON takes it; `points` holds the forecasts, losses and last weights."""

    body: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return self.body

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the receipt; the file appears whole or not at all."""
        write(path, self.body)


def load_blend(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The body of a receipt file, its checksum checked."""
    return body_of(decoded(path), "blend", os.fspath(path))
