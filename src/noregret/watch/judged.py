"""What an alarm watches: a loss in [0, 1] of each prediction, and that of the baseline on the same rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import _native
from noregret.errors import SettingError, spelled
from noregret.learner.core import Core
from noregret.loss import probability

Vector = NDArray[np.float64]
ZERO_ONE, BRIER = "zero-one", "brier"


def loss_of(core: Core, asked: str | None) -> str:
    """The loss that is watched of this learner, or a sentence why it cannot be."""
    option = spelled("alarm_loss", python="Alarm: loss")
    if core.regression:
        if asked is None or not asked.startswith("clip:"):
            got = "nothing" if asked is None else asked
            raise SettingError(f"{option} must be clip:B for numbers, the error from which all count alike; got {got}")
        return asked
    if asked is not None and asked.startswith("clip:"):
        raise SettingError(f"{option} clip:B is for numbers, and the labels are classes: use zero-one; got {asked}")
    if asked == BRIER and (core.multiclass or not core.loss.probabilistic):
        raise SettingError(f"{option} brier needs probabilities of two classes, and {core.name} gives none")
    return asked or ZERO_ONE


def losses(core: Core, loss: str, clip: float, scores: Vector, y: Vector) -> Vector:
    """ℓ of each round, from the scores as `play` gives them: 0 or 1, the Brier score, or min(|error|, B)/B."""
    if loss == ZERO_ONE:
        return core.missed(scores, y).astype(np.float64)
    return _graded(loss, clip, scores, y)


def losses_of_scores(core: Core, loss: str, clip: float, scores: Vector, y: Vector) -> Vector:
    """The same from scores as a frozen model gives them: of many classes a column for each, a tie being a mistake."""
    if not core.multiclass:
        return losses(core, loss, clip, scores, y)
    own, found = y.astype(np.int64), np.ones(len(y))
    known = np.flatnonzero(own < scores.shape[1])
    if len(known):
        others = scores[known].copy()
        right = others[np.arange(len(known)), own[known]]
        others[np.arange(len(known)), own[known]] = -np.inf
        found[known] = (others.max(axis=1) >= right).astype(np.float64)
    return found


def _graded(loss: str, clip: float, said: Vector, y: Vector) -> Vector:
    if loss == BRIER:
        return np.asarray(np.square(probability(said) - (y > 0.0)))
    return np.minimum(np.abs(said - y), clip) / clip


class Baseline:
    """The most frequent label so far, its frequency where probabilities are asked for, of numbers the mean so far.

    It predicts before the label is seen. The first prediction of a class is wrong, that of a probability ½, that of a
    number 0.
    """

    def __init__(self, core: Core, loss: str, clip: float) -> None:
        self._core, self._loss, self._clip = core, loss, clip
        self.kept = np.zeros(2)  # Σ of the labels and their number, where a mean is predicted
        self.counts, self.leader = np.zeros(2, np.int64), np.array([-1], np.int64)

    def losses(self, y: Vector) -> Vector:
        """Its loss in each round; afterwards it knows these labels."""
        found = np.empty(len(y))
        if self._loss == ZERO_ONE:
            codes = y.astype(np.int64) if self._core.multiclass else (y > 0.0).astype(np.int64)
            most = int(codes.max(initial=0)) + 1
            if most > len(self.counts):
                self.counts = np.concatenate([self.counts, np.zeros(most, np.int64)])
            _native.follow_most_frequent(codes, self.counts, self.leader, found)
            return found
        labels = (y > 0.0).astype(np.float64) if self._loss == BRIER else np.ascontiguousarray(y)
        _native.follow_mean(labels, 0.5 if self._loss == BRIER else 0.0, self.kept, found)
        if self._loss == BRIER:
            return np.square(found - labels)
        return _graded(self._loss, self._clip, found, y)

    def stored(self) -> dict[str, Any]:
        return {"kept": self.kept.tolist(), "counts": self.counts.tolist(), "leader": int(self.leader[0])}

    def restore(self, stored: dict[str, Any]) -> None:
        """Go on from what was stored; a ValueError, KeyError or TypeError where it is not that."""
        self.kept, self.counts = np.array(stored["kept"], np.float64), np.array(stored["counts"], np.int64)
        self.leader = np.array([stored["leader"]], np.int64)
        if self.kept.shape != (2,) or self.counts.ndim != 1 or not -1 <= self.leader[0] < len(self.counts):
            raise ValueError("its baseline does not fit")
