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
    """Writes `row,label,score,prediction`: the place of each row, its label, and what was said before it was known.

    Of many classes the score is that of the class predicted.
    """

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
        scores, said = self._told(scores)
        played = np.flatnonzero(~np.isnan(scores))
        columns: list[Any] = [block.lines[played].tolist()]
        if self._labels:
            columns.append([shown(label) for label in block.labels[played].tolist()])
        columns.append([repr(score) for score in scores[played].tolist()])
        if self._probability:
            columns.append([repr(p) for p in probability(scores[played]).tolist()])
        columns.append([said[place] for place in played.tolist()])
        self._writer.writerows(zip(*columns, strict=True))

    def _told(self, scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[str]]:
        """One score a row, and what it says."""
        labels = self._core.labels
        if labels is None:
            return scores, [repr(score) for score in scores.tolist()]
        names = [shown(label) for label in labels.classes]
        if scores.ndim == 1:
            return scores, [names[score > 0.0] for score in scores.tolist()]
        best, chosen = self._best(scores)
        return best, [names[place] if place >= 0 else "" for place in chosen.tolist()]

    def _best(self, scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The highest score of many classes and its class; −1 before any class was known."""
        if self._labels:  # a round: its margin, the class predicted, its score
            return scores[:, 2], np.nan_to_num(scores[:, 1], nan=-1.0).astype(np.int64)
        chosen = scores.argmax(axis=1)
        return scores[np.arange(len(scores)), chosen], chosen

    def close(self) -> None:
        self._text.flush()
        self._text.detach()


def shown(label: Any) -> str:
    """A label as people write it: 1, not 1.0."""
    if label is None:
        return ""
    return f"{label:.17g}" if isinstance(label, float) else str(label)
