"""`auto` for numbers: the forecasts of a pool, mixed by the aggregating algorithm (`native/aggregate.hpp`).

Its squared loss is at most ℓ²(½ ln(1/π_i) + ⅓) above that of member i, with ℓ the length of the range that the labels
turned out to have, whatever they are. Nine tenths of the prior belong to three means of the members that follow who did
best, by how likely each one's errors are: they make the forecasts good, the rest makes them safe.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import _native, arithmetic
from noregret._native import CONSTANT, LEVEL_NUMBERS, MEANS, NUMBER_COLUMNS, RANGE_NUMBERS
from noregret.domain import Domain
from noregret.learner.auto import PRIOR, Auto, Said
from noregret.learner.core import Arrays, NativeRows, Vector
from noregret.loss import Loss, squared
from noregret.rate import Rate
from noregret.stream.block import Rows, rows_of

CLIPPED, SQUARES = 1, 2  # columns of the table
FOLLOWING = 0.9  # the prior of the three means together


class AutoNumbers(Auto):
    """A pool of members that forecast numbers, and their mixture."""

    columns = NUMBER_COLUMNS
    extra = MEANS
    reshares = False  # its means weigh members by the errors of all rounds
    _remedy = "divide the labels and the largest columns by a power of ten"

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        return squared(), Domain("ball", self.params.radius), Rate(CONSTANT, 1.0)

    def _begin_mixture(self, n: int) -> None:
        self.priors = [(1.0 - FOLLOWING) * prior for prior in self.priors]
        self.standing[:, PRIOR] = [arithmetic.log(one) for one in (*self.priors, *[FOLLOWING / MEANS] * MEANS)]
        self.range = np.zeros(RANGE_NUMBERS)
        self.level = np.zeros(LEVEL_NUMBERS)  # rounds, the mean of the labels, the mean of what they differ by
        self._begin_history(n)

    @property
    def mixture(self) -> Arrays:
        kept = {"standing": self.standing, "range": self.range, "level": self.level}
        return {**kept, "history": self.history, "beats": self.beats}

    @property
    def shares(self) -> Vector:
        """How likely the errors of each member are beside those of the others, were they Gaussian."""
        found = np.empty(len(self.members))
        asleep = ~self._awake(self._width_so_far)
        _native.aggregate_shares(self.standing, self.range, asleep, self.rounds, found)
        return found

    def member_figures(self) -> list[dict[str, Any]]:
        found = super().member_figures()
        squares = dict(zip((m.name for m in self.members), self.standing[:, SQUARES].tolist(), strict=False))
        own = self._loss_beside_members
        return [{**one, "loss": (lost := squares[one["name"]]), "price": own - lost} for one in found]

    def _largest(self, y: Vector) -> tuple[float, float]:
        """The forecast lies in the range, which is at most thrice as long once a label lay outside."""
        reach = 8.0 * max(_native.largest(y), _native.largest(self.range[:2]), 1.0)
        return 2.0 * reach, reach * reach

    def _said(self, rows: Rows, y: Vector, weights: Vector, awake: NDArray[np.bool_]) -> Said:
        """Members that know no units are given labels relative to those before, and what they say is put back."""
        means, sizes, relative = np.empty((3, len(y)))
        _native.relate(self.level, y, weights, means, sizes, relative)
        self._relative = relative
        said = super()._said(rows, y, weights, awake)
        for i, member in enumerate(self.members):
            if member.scaled:
                said[i] = means + sizes * said[i]
        return said

    def _let_play(self, i: int, rows: Rows, y: Vector, weights: Vector, said: Said) -> None:
        super()._let_play(i, rows, self._relative if self.members[i].scaled else y, weights, said)

    def _let_score(self, i: int, rows: Rows, said: Said) -> None:
        super()._let_score(i, rows, said)
        mean, spread = self.units_of(i)
        if self.members[i].scaled:
            said[:] = mean + spread * said

    def units_of(self, i: int) -> tuple[float, float]:
        _, mean, spread = self.level.tolist()
        return (mean, spread if spread > 0.0 else 1.0) if self.members[i].scaled else (0.0, 1.0)

    def foretell(self, row: NativeRows, past: bool) -> tuple[Any, Said]:
        said = self._guesses(rows_of(row), past)
        return self._mix_scores(said)[0], said[:, 0].copy()

    def hears(self, voices: Said) -> bool:
        return voices.shape == (len(self.members),)

    def _mix(self, rows: Rows, y: Vector, weights: Vector, said: Said, scores: Vector) -> int:
        state = (said, self.standing, self.range, self.history, self.beats, self.total, self.record, scores)
        return _native.play_aggregate(rows.native, y, weights, *state)

    def _mix_scores(self, said: Said) -> Vector:
        scores = np.empty(said.shape[1])
        _native.score_aggregate(said, self.standing, self.range, self.rounds, scores)
        return scores
