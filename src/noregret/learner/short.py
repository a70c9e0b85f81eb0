"""One example at a time for a pool: the calls of a round with all that they are given, made once and repeated.

Looking for the arrays of a round costs more than the round. While no feature is new and the same members play they stay
where they are: the calls of a round are kept, and made again for each example. They are the calls that play a block, so
that both give the same bits. What needs a closer look is left to the usual way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret._native import OTHERWISE, PLAYED, Chain, norm2, read_values
from noregret.learner.core import NO_WEIGHTS, Call, NativeRows, Vector
from noregret.stream.block import Dense, Rows, Sparse
from noregret.stream.formats.dicts import one_dict

if TYPE_CHECKING:
    from noregret.learner.auto import Auto

MOST = 300  # features: in wider rows each costs more than the calls
LARGE = 1e300  # Σ‖x‖² and Σ‖g‖² that no round of such a size can bring to overflow
PATIENCE = 16  # rounds until the calls of a row are asked for again


@dataclass(frozen=True)
class Step:
    """A call of a round; of one that may refuse it, where its score goes and whose it is (None: the mixture)."""

    call: Call
    said: Vector | None = None
    member: int | None = None

    @property
    def given(self) -> tuple[Call, tuple[Any, ...], Vector | None]:
        """As a chain takes it: it reads the arguments of a call to the core but once."""
        call = self.call
        return (call.func, call.args, self.said) if isinstance(call, partial) else (call, (), self.said)


class Short:
    """The rounds of a pool while its arrays stay where they are; `play` and `score` as `_native.Single` has them."""

    def __init__(self, pool: Auto, between: int) -> None:
        self.pool, self.between = pool, between  # rounds between reviews of the members
        self.rounds, self.slopes = pool.state["rounds"], pool.state["gradient2"]
        self.y, self.scores = np.zeros(1), np.zeros(1)
        self.base = np.zeros((1, pool.width))
        self.last: Any = None  # the values of the example before
        self.made = False  # whether the calls are for these
        self.learning, self.scoring = Chain([]), Chain([])
        self.members: list[int | None] = []  # whose each step of learning is
        self.wait = 0  # until this round

    def name(self, index: Any, names: Any, slots: int) -> None:
        """As `_native.Single`: here names are looked up in the recipe itself."""

    def forget(self) -> None:
        """The usual way was gone: arrays may lie elsewhere."""
        self.made = False

    def play(self, x: Any, y: float) -> int:
        """One round of weight 1; one so large that it may be refused is looked at closely before a member learns it."""
        with self.pool.lock:
            if self.rounds.item() % self.between == 0 or not self._read(x) or self.slopes.item() > LARGE:
                return OTHERWISE
            self.y[0] = y
            failed = self.learning.play()
            if failed is not None:
                self._retire(failed)
            return PLAYED

    def score(self, x: Any) -> float | None:
        """The score of an example, None where it needs a closer look."""
        with self.pool.lock:
            if not self._read(x):
                return None
            self.scoring.play()
            score: float = self.scores.item()
            return score if math.isfinite(score) else None

    def _retire(self, failed: list[int]) -> None:
        """Members that would overflow sleep from now on; a mixture that would overflow is an error."""
        for member in (self.members[step] for step in failed):
            if member is None:
                self.pool._diverged()
            self.pool.out[member], self.made = True, False

    def _read(self, x: Any) -> bool:
        """Whether the example now stands in the arrays that the calls are for."""
        features, width = self.pool.features, self.base.shape[1]
        if features is None or features.width != width:
            return False
        if type(x) is np.ndarray:
            if features.kind != "columns" or x.dtype != np.float64 or x.shape != (width,):
                return False
            self.base[0] = x
            return norm2(x) < LARGE and self._ready(self.base)
        if type(x) is not dict or not features.plain_names:
            return False
        memo = features.memo
        if memo is None or memo.unknown or not read_values(x, memo.keys, memo.row[2]):
            given, memo = one_dict(features, x, False), features.memo
            if memo is None or given is not memo.row or memo.unknown:
                return False
        return norm2(memo.row[2]) < LARGE and self._ready(memo.row[2])

    def _ready(self, values: Vector) -> bool:
        """Whether the calls are for these arrays: they are made for arrays that come twice in turn."""
        if values is self.last and self.made:
            return True
        if values is not self.last:
            self.last, self.made = values, False
        elif self.rounds.item() >= self.wait:
            self.wait = self.rounds.item() + PATIENCE
            self.made = self._make()
        return self.made

    def _row(self) -> Rows:
        """The example as a row."""
        if self.last is self.base:
            return Dense(self.base)
        assert self.pool.features is not None and self.pool.features.memo is not None
        return Sparse(*self.pool.features.memo.row, self.base.shape[1])

    def _make(self) -> bool:
        """Make the calls for a row; False where a member has yet to see all of its features."""
        pool, row = self.pool, self._row()
        awake = np.flatnonzero(pool._awake(pool._width_so_far)).tolist()
        views = sorted({pool.view_of[i] for i in awake})
        learned = {view: pool.views[view].again(row, self.y, True) for view in views}
        scored = {view: pool.views[view].again(row, self.y, False) for view in views}
        if any(pool.cores[i].width < learned[pool.view_of[i]][1].width for i in awake):
            return False
        said, guess = pool._silence(1), pool._silence(1)
        learning = [Step(call) for calls, _ in learned.values() for call in calls]
        scoring = [Step(call) for calls, _ in scored.values() for call in calls]
        for i in awake:
            mine, mine_looked_at = learned[pool.view_of[i]][1], scored[pool.view_of[i]][1]
            learning += self._to_learn(i, mine.native, said[i])
            scoring += self._to_score(i, mine_looked_at.native, guess[i])
        mix, mix_scores = pool.mix_calls(row.native, self.y, said, guess, self.scores)
        learning.append(Step(mix, np.zeros(1)))
        self.members = [step.member for step in learning]
        self.learning = Chain([step.given for step in learning])
        self.scoring = Chain([step.given for step in (*scoring, Step(mix_scores))])
        return True

    def _to_learn(self, i: int, row: NativeRows, said: Vector) -> list[Step]:
        """The round of a member; a score that is no log-odds is scaled after it."""
        core, scaling = self.pool.cores[i], self.pool.scalings.get(i)
        raw = said if scaling is None else np.zeros(1)
        played = Step(core.round_call(row, self.y, NO_WEIGHTS, raw), raw, i)
        return [played] if scaling is None else [played, Step(scaling.round_call(raw, self.y, NO_WEIGHTS, said))]

    def _to_score(self, i: int, row: NativeRows, guess: Vector) -> list[Step]:
        """The same for its score alone."""
        core, scaling = self.pool.cores[i], self.pool.scalings.get(i)
        raw = guess if scaling is None else np.zeros(1)
        scored = Step(core.score_call(row, raw))
        return [scored] if scaling is None else [scored, Step(scaling.score_call(raw, guess))]
