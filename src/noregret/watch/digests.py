"""Digests of rounds as they are played: of their rows, and of their scores."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.digest import Digest
from noregret.stream.block import Rows

Vector = NDArray[np.float64]


class Scores:
    """Takes scores in as they are played; their digest, SHA-256 over the floats, comes out."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, rows: Rows, y: Vector, weights: Vector | None, scores: Vector, moves: Any = None) -> None:
        """One block; rows of weight 0 are no rounds."""
        said = scores if weights is None else scores[weights != 0.0]
        self._hash.update(np.ascontiguousarray(said, dtype="<f8").data)

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()


class Digests(Scores):
    """The same, and the digest of the rows."""

    def __init__(self) -> None:
        super().__init__()
        self._rows = Digest()

    def add(self, rows: Rows, y: Vector, weights: Vector | None, scores: Vector, moves: Any = None) -> None:
        """One block."""
        super().add(rows, y, weights, scores)
        self._rows.update(rows, y, weights)

    @property
    def rows(self) -> str:
        """The digest of the rows."""
        return self._rows.hexdigest()
