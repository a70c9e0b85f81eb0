"""The candidates: predictors along a run, each from the round before which it stood to the next one's; their errors.

Which rounds they stand before is fixed by the number of rounds alone, never by the rows: a union bound over a number
that depends on the rows would be no bound. Errors on the rounds that candidates had not seen are counted for many of
them at once. A score so near 0 that another order of summation could turn its sign counts as an error: the count is
then no less than that of the saved model on any machine, and an upper limit made from it holds for that model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from noregret import _native, arithmetic
from noregret.errors import SettingError, spelled
from noregret.learner import LEARNERS
from noregret.learner.core import Core
from noregret.rounds import Rounds
from noregret.stream.block import Dense, Sparse

Vector = NDArray[np.float64]
Places = NDArray[np.int64]
EVERY = 4096  # up to this number of rounds, every round has its candidate
GRID = 256  # candidates where there are more rounds
ROWS = 4096  # scored at once
TOGETHER = 64  # candidates
ROOM = 20_000_000  # weights held at once
MOST = 4e11  # products, some minutes


@dataclass(frozen=True)
class Candidate:
    """The weights before round `start` (counted from 0), the bias in front; the next candidate's start is `stop`."""

    start: int
    stop: int
    w: Vector


def starts(rounds: int, how: str, asked: int | str | None) -> NDArray[np.int64]:
    """The rounds, counted from 0, before which candidates stand: all, or as many as asked in even steps from the first.

    By default every round of a run of at most 4096, and 256 of a longer one; 256 voters at most.

    >>> starts(10, "penalised", 4).tolist()
    [0, 2, 5, 7]
    """
    if isinstance(asked, str):
        asked = rounds if asked == "all" else _whole(asked)
    if asked is None:
        asked = GRID if how == "voted" or rounds > EVERY else rounds
    if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or asked < 1:
        raise SettingError(f"select: candidates must be a whole number of at least 1, or all, got {asked!r}")
    count = min(int(asked), rounds)
    return np.arange(count, dtype=np.int64) * rounds // count


def holds_out(rounds: int, asked: int | None) -> int:
    """How many of the last rounds are held out: as many as asked, by default a fifth, and one at least.

    >>> holds_out(1000, None), holds_out(3, None)
    (200, 1)
    """
    if asked is None:
        return max(1, rounds // 5)
    if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or asked < 1:
        raise SettingError(f"{spelled('holdout')} must be a whole number of at least 1, got {asked!r}")
    if asked >= rounds > 1:
        raise SettingError(f"{spelled('holdout')} must leave a round to learn from: {rounds} were played, got {asked}")
    return int(asked)


def starts_before(rounds: int, how: str, asked: int | str | None) -> tuple[Places, int]:
    """Where candidates stand of whom the last has learned from all `rounds`, the first from none; and how many asked.

    >>> starts_before(10, "holdout", 3)
    (array([ 0,  3,  7, 10]), 3)
    """
    chosen = rounds - starts(rounds + 1, how, asked)
    return np.unique(np.append(chosen, 0)), len(chosen)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise SettingError(f"select: candidates must be a whole number of at least 1, or all, got {text!r}") from None


@dataclass
class Regeneration:
    """The run once more, on its rounds as they were prepared, stopping where a candidate stands."""

    core: Core
    rounds: Rounds
    begins: NDArray[np.int64]
    scores: list[Vector] = field(default_factory=list)  # as played this time

    def __iter__(self) -> Iterator[Candidate]:
        """Candidates in order; those with the same weights as the one before are one with it."""
        twin = LEARNERS[self.core.name](**self.core.settings)
        twin.take_prepared()
        twin.grow(self.rounds.width - int(self.rounds.bias), sparse=isinstance(self.rounds.rows, Sparse))
        ends = [*self.begins[1:].tolist(), len(self.rounds)]
        start, w, seen = 0, _weights(twin, self.rounds), 0
        for begin, end in zip(self.begins.tolist(), ends, strict=True):
            updates = int(twin.state["updates"][0])
            if begin and not (twin.perceptron_rounds and updates == seen):
                now = _weights(twin, self.rounds)
                if not np.array_equal(now, w):
                    yield Candidate(start, begin, w)
                    start, w = begin, now
                seen = updates
            part = self.rounds.part(begin, end)
            self.scores.append(twin.play(part.bare, np.ascontiguousarray(part.y), part.weights))
        yield Candidate(start, len(self.rounds), w)

    @property
    def mistakes(self) -> int:
        """Rounds with y·score ≤ 0, after the last candidate."""
        return int(np.count_nonzero(~(self.rounds.y * np.concatenate(self.scores) > 0.0)))


def _weights(core: Core, rounds: Rounds) -> Vector:
    """The weights as the rounds number their features."""
    bias = [core.bias] if rounds.bias else []
    found = np.concatenate([bias, core.weights])
    return np.concatenate([found, np.zeros(max(rounds.width - len(found), 0))])


def rounding(rounds: Rounds) -> float:
    """γ with |computed − true score| ≤ γ‖w‖‖x‖, in whatever order a score is summed, twice over."""
    rows = rounds.rows
    terms = rows.width if isinstance(rows, Dense) else int(np.diff(rows.indptr).max(initial=0))
    k = (terms + 8.0) * 2.0**-53
    return 2.0 * k / (1.0 - k) * (1.0 + 1e-9) if k < 0.5 else math.inf


# -- their errors ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tails:
    """errors[i] of the predictor before round i on the rounds i … T, and whether it erred on round i itself."""

    errors: NDArray[np.int64]
    own: NDArray[np.bool_]


def tails(rounds: Rounds, candidates: Iterable[Candidate], whole: bool = True) -> Tails:
    """Every candidate on the rounds from its start on; on its own rounds alone where not the `whole` tail is wanted."""
    found = Tails(np.zeros(len(rounds), np.int64), np.zeros(len(rounds), np.bool_))
    norms = row_norms(rounds)
    for batch in _batches(rounds, candidates, lambda one: (len(rounds) if whole else one.stop) - one.start):
        _count(rounds, norms, batch, whole, found)
    return found


def held_out(rounds: Rounds, candidates: Iterable[Candidate], begin: int) -> tuple[Places, Places]:
    """Where each candidate stands, and its errors on the rounds from `begin` on, all of which come after it."""
    norms, places, errors = row_norms(rounds), [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for batch in _batches(rounds, candidates, lambda one: len(rounds) - begin):
        W, near = _together(rounds, batch)
        tail = np.zeros(len(batch), np.int64)
        for start in range(begin, len(rounds), ROWS):
            tail += np.count_nonzero(_wrong(rounds, norms, W, near, start, min(start + ROWS, len(rounds))), axis=0)
        places.append(np.array([one.start for one in batch]))
        errors.append(tail)
    return np.concatenate(places), np.concatenate(errors)


def _batches(
    rounds: Rounds, candidates: Iterable[Candidate], wanted: Callable[[Candidate], int]
) -> Iterator[list[Candidate]]:
    """A few at a time; refused where they and the rounds `wanted` of each are too many."""
    together = max(1, min(TOGETHER, ROOM // max(rounds.width, 1)))
    batch: list[Candidate] = []
    spent, entries = 0.0, rounds.rows.values.size / max(len(rounds), 1)
    for one in candidates:
        batch.append(one)
        spent += entries * wanted(one)
        if spent > MOST:
            raise SettingError("select: this many candidates and rounds take too long: use fewer candidates")
        if len(batch) == together:
            yield batch
            batch = []
    if batch:
        yield batch


def _together(rounds: Rounds, batch: list[Candidate]) -> tuple[NDArray[np.float64], Vector]:
    """The weights of a few, a row each, and what their scores may be off by for a row of length 1."""
    W = np.stack([one.w for one in batch])
    return W, rounding(rounds) * np.sqrt(arithmetic.row_totals(W * W))


def _wrong(
    rounds: Rounds, norms: Vector, W: NDArray[np.float64], near: Vector, start: int, stop: int
) -> NDArray[np.bool_]:
    """Which of the rounds start … stop − 1 each errs on, or may err on."""
    part = rounds.part(start, stop)
    return np.asarray(~(part.y[:, None] * _scores(part, W) > norms[start:stop, None] * near))


def _count(rounds: Rounds, norms: Vector, batch: list[Candidate], whole: bool, found: Tails) -> None:
    """Candidates one after another in time, on the rounds from the first one's start on."""
    W, near = _together(rounds, batch)
    begins = np.array([one.start for one in batch])
    tail = np.zeros(len(batch), np.int64)
    end = len(rounds) if whole else batch[-1].stop
    for start in range(batch[0].start, end, ROWS):
        stop = min(start + ROWS, end)
        times = np.arange(start, stop)
        wrong = _wrong(rounds, norms, W, near, start, stop) & (times[:, None] >= begins)
        tail += np.count_nonzero(wrong, axis=0)
        owners = np.searchsorted(begins, times, side="right") - 1
        mine = times < batch[-1].stop
        found.own[times[mine]] = wrong[mine, owners[mine]]
    for one, total in zip(batch, tail.tolist(), strict=True):
        own = found.own[one.start : one.stop].astype(np.int64)
        before: NDArray[np.int64] = np.cumsum(own) - own
        found.errors[one.start : one.stop] = total - before


def _scores(part: Rounds, W: NDArray[np.float64]) -> NDArray[np.float64]:
    """⟨w, x⟩ of every round and candidate, as the core adds."""
    found = np.empty((len(W), len(part)))
    for w, scores in zip(W, found, strict=True):
        _native.score_linear(part.native, w, 1.0, 0.0, scores)
    return found.T


def row_norms(rounds: Rounds) -> Vector:
    """‖x‖ of every round."""
    rows = rounds.rows
    if isinstance(rows, Dense):
        return np.sqrt(arithmetic.row_totals(np.square(rows.X, dtype=np.float64)))
    row = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
    return np.sqrt(np.bincount(row, rows.values**2, minlength=len(rows)))
