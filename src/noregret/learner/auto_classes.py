"""`auto` for many classes: the mixture of a pool of learners that forecast a probability for every class.

The members share the mixture's escape, the probability of a class never seen (`forecaster.py`); what they say of the
classes known is mixed as for two classes (`native/mixture.hpp`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret import _native, arithmetic
from noregret._native import TOPS
from noregret.domain import Domain
from noregret.learner import settings
from noregret.learner.auto import MIXED, MIXING, Auto, Said
from noregret.learner.core import Arrays, NativeRows, Vector
from noregret.learner.forecaster import Forecaster
from noregret.loss import Loss
from noregret.rate import Rate
from noregret.stream.block import Rows, rows_of


class AutoClasses(Auto, Forecaster):
    """A pool of forecasters of many classes, and their mixture."""

    declared = settings.Auto
    gathers = 0

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        return Forecaster._rules(self)

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for core in self.cores:
            core.labels = self.labels  # classes that are declared are declared to all

    def _rounds(self, rows: Any, y: Vector, weights: Vector, *where: Any) -> int:
        raise AssertionError("the members play, and the mixture after them")

    def _expect(self, y: Vector) -> None:
        self._meet(y)

    def _silence(self, rows: int) -> Said:
        return np.full((len(self.members), rows, max(len(self.counts), 1)), np.nan)

    def _let_play(self, i: int, rows: Rows, y: Vector, weights: Vector, said: Said) -> None:
        core = self.cores[i]
        assert isinstance(core, Forecaster)
        core._meet(np.arange(float(self.known)))
        core.clock[0] = max(core.known, self.known)  # classes met while it slept are classes too
        _, forecasts = core.play_all(rows, y, weights if len(weights) else None)
        said[:, : forecasts.shape[1]] = forecasts

    def foretell(self, row: NativeRows, past: bool) -> tuple[Any, Said]:
        known = self.known
        said, scores, voices = self._guesses(rows_of(row), past), np.empty((1, known)), np.empty((TOPS, known))
        mine = np.ascontiguousarray(said[:, 0, :known])
        if known:
            _native.foretell_mixture_classes(mine, self.standing, self.tops, MIXING, self.rounds, scores, voices)
        return scores[0], np.concatenate([mine, voices])

    def hears(self, voices: Said) -> bool:
        return voices.ndim == 2 and len(voices) == len(self.members) + TOPS and voices.shape[1] <= self.known

    def _as_foretold(self, said: Said, before: Said) -> Said:
        if before.shape[1] != self.known:  # there are classes that are new since
            return said
        found = np.concatenate([said, np.zeros((TOPS, *said.shape[1:]))])
        found[:, 0, : self.known] = before
        found[: len(said)][self.out] = np.nan
        return found

    def _let_score(self, i: int, rows: Rows, said: Said) -> None:
        scores = self.cores[i]._score(rows)
        said[:, : scores.shape[1]] = scores
        said[:, scores.shape[1] :] = 0.0

    def _mix(self, rows: Rows, y: Vector, weights: Vector, said: Said, scores: Vector) -> int:
        if not self.rounds:
            self.standing[:, MIXED] = 1.0 / max(int(np.count_nonzero(~np.isnan(said[: len(self.members), 0, 0]))), 1)
        state = (said.reshape(-1, said.shape[2]), self.standing, self.tops, MIXING, self.history, self.beats)
        counted = (self.record, self.clock, self.counts, self.table, self._buffers)
        return _native.play_mixture_classes(rows.native, y, weights, *state, *counted, scores)

    def _mix_scores(self, said: Said) -> Vector:
        known = self.known
        scores = np.empty((said.shape[1], known))
        if known:
            mine = np.ascontiguousarray(said[:, :, :known]).reshape(-1, known)
            _native.score_mixture_classes(mine, self.standing, self.tops, MIXING, self.rounds, scores)
        return scores

    @property
    def _loss_beside_members(self) -> float:
        """−ln Σ π·e^(−L) over the tops: without the rounds that brought a new class, whose cost all members share."""
        found = self.tops[:, 0] - self.tops[:, 1]
        top = float(found.max())
        return -(top + arithmetic.log(arithmetic.total(arithmetic.exp(found - top))))

    def grow(self, width: int, sparse: bool) -> None:
        self.width = max(self.width, width)

    def arrays(self) -> Arrays:
        return {**Auto.arrays(self), **Forecaster.arrays(self)}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        self._restore_counts(arrays)
        super().restore(arrays, width, paired)
