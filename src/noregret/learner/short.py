"""One example at a time for a pool: the calls of a round with all that they are given, made once and repeated.

Looking for the arrays of a round costs more than the round. While no feature is new and the same members play they stay
where they are: the calls of a round are kept, and made again for each example. They are the calls that play a block, so
that both give the same bits. What needs a closer look is left to the usual way.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret._native import OTHERWISE, PLAYED, norm2
from noregret.learner.core import NO_WEIGHTS, Call, NativeRows, Vector
from noregret.stream.block import Dense, Rows, Sparse
from noregret.stream.formats.dicts import one_dict

if TYPE_CHECKING:
    from noregret.learner.auto import Auto

MOST = 300  # features: in wider rows each costs more than the calls
PATIENCE = 16  # rounds until the calls of a row are asked for again


class Short:
    """The rounds of a pool while its arrays stay where they are; `play` and `score` as `_native.Single` has them."""

    def __init__(self, pool: Auto, between: int) -> None:
        self.pool, self.between = pool, between  # rounds between reviews of the members
        self.rounds = pool.state["rounds"]
        self.y, self.scores = np.zeros(1), np.zeros(1)
        self.base = np.zeros((1, pool.width))
        self.last: Any = None  # the values of the example before
        self.made = False  # whether the calls are for these
        self.wait = 0  # until this round

    def name(self, index: Any, names: Any, slots: int) -> None:
        """As `_native.Single`: here names are looked up in the recipe itself."""

    def forget(self) -> None:
        """The usual way was gone: arrays may lie elsewhere."""
        self.made = False

    def play(self, x: Any, y: float) -> int:
        """One round of weight 1."""
        with self.pool.lock:
            if self.rounds.item() % self.between == 0 or not self._read(x):
                return OTHERWISE
            self.y[0] = y
            for call in self.learning:
                call()
            for i, out, call, scale in self.members:
                if not call():
                    out[0], self.pool.out[i], self.made = math.nan, True, False
                if scale is not None:
                    scale()
            if not self.mix():
                self.pool._diverged()
            return PLAYED

    def score(self, x: Any) -> float | None:
        """The score of an example, None where it needs a closer look."""
        with self.pool.lock:
            if not self._read(x):
                return None
            for call in self.scoring:
                call()
            self.mix_scores()
            score: float = self.scores.item()
            return score if math.isfinite(score) else None

    def _read(self, x: Any) -> bool:
        """Whether the example now stands in the arrays that the calls are for."""
        features, width = self.pool.features, self.base.shape[1]
        if features is None or features.width != width:
            return False
        if type(x) is np.ndarray:
            if features.kind != "columns" or x.dtype != np.float64 or x.shape != (width,):
                return False
            self.base[0] = x
            return math.isfinite(norm2(x)) and self._ready(Dense(self.base), self.base)
        if type(x) is not dict or not features.plain_names:
            return False
        given = one_dict(features, x, False)
        if features.memo is None or given is not features.memo.row or features.memo.unknown:
            return False
        return math.isfinite(norm2(given[2])) and self._ready(Sparse(*given, width), given[2])

    def _ready(self, row: Rows, values: Any) -> bool:
        """Whether the calls are for these arrays: they are made for arrays that come twice in turn."""
        if values is self.last and self.made:
            return True
        if values is not self.last:
            self.last, self.made = values, False
        elif self.rounds.item() >= self.wait:
            self.wait = self.rounds.item() + PATIENCE
            self.made = self._make(row)
        return self.made

    def _make(self, row: Rows) -> bool:
        """Make the calls for a row; False where a member has yet to see all of its features."""
        pool = self.pool
        awake = np.flatnonzero(pool._awake(pool._width_so_far)).tolist()
        views = sorted({pool.view_of[i] for i in awake})
        learned = {view: pool.views[view].again(row, self.y, True) for view in views}
        scored = {view: pool.views[view].again(row, self.y, False) for view in views}
        if any(pool.cores[i].width < learned[pool.view_of[i]][1].width for i in awake):
            return False
        said, guess = pool._silence(1), pool._silence(1)
        self.learning = [call for calls, _ in learned.values() for call in calls]
        self.scoring = [call for calls, _ in scored.values() for call in calls]
        self.members: list[tuple[int, Vector, Call, Call | None]] = []
        for i in awake:
            self._add(i, learned[pool.view_of[i]][1].native, said[i], scored[pool.view_of[i]][1].native, guess[i])
        self.mix, self.mix_scores = pool.mix_calls(row.native, self.y, said, guess, self.scores)
        return True

    def _add(self, i: int, row: NativeRows, said: Vector, looked_at: NativeRows, guess: Vector) -> None:
        """The calls of a member; a score that is no log-odds is scaled after it."""
        core, scaling = self.pool.cores[i], self.pool.scalings.get(i)
        if scaling is None:
            self.members.append((i, said, core.round_call(row, self.y, NO_WEIGHTS, said), None))
            self.scoring.append(core.score_call(looked_at, guess))
            return
        raw, raw_guess = np.zeros(1), np.zeros(1)
        call = core.round_call(row, self.y, NO_WEIGHTS, raw)
        self.members.append((i, raw, call, scaling.round_call(raw, self.y, NO_WEIGHTS, said)))
        self.scoring += [core.score_call(looked_at, raw_guess), scaling.score_call(raw_guess, guess)]
