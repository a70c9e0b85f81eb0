"""Prediction files: comma-separated text, a line a round, written whole or not at all."""

from __future__ import annotations

import csv
import io
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from noregret.learner import Core
from noregret.loss import probability
from noregret.stream.block import Block


class Predictions:
    """Writes `row,label,score,prediction`: the place of each row, its label, and what was said before it was known."""

    def __init__(self, file: IO[bytes], core: Core, labels: bool, probability: bool = False) -> None:
        self._text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        self._writer = csv.writer(self._text, lineterminator="\n")
        self._core = core
        self._labels = labels
        self._probability = probability
        named = [("row", True), ("label", labels), ("score", True), ("probability", probability), ("prediction", True)]
        self._writer.writerow([name for name, wanted in named if wanted])

    def write(self, block: Block, scores: NDArray[np.float64]) -> None:
        """The rounds of a block; rows of weight 0 were no rounds and are left out."""
        played = np.flatnonzero(~np.isnan(scores))
        said = self._said(scores[played])
        columns: list[Any] = [block.lines[played].tolist()]
        if self._labels:
            columns.append([shown(label) for label in block.labels[played].tolist()])
        columns.append([repr(score) for score in scores[played].tolist()])
        if self._probability:
            columns.append([repr(p) for p in probability(scores[played]).tolist()])
        columns.append(said)
        self._writer.writerows(zip(*columns, strict=True))

    def _said(self, scores: NDArray[np.float64]) -> list[str]:
        if self._core.labels is None:
            return [repr(score) for score in scores.tolist()]
        negative, positive = (shown(label) for label in self._core.labels.classes)
        return [positive if score > 0.0 else negative for score in scores.tolist()]

    def close(self) -> None:
        self._text.flush()
        self._text.detach()


def shown(label: Any) -> str:
    """A label as people write it: 1, not 1.0."""
    if label is None:
        return ""
    return f"{label:.17g}" if isinstance(label, float) else str(label)
