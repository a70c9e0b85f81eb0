"""Errors of candidates on the rounds they had not seen, many candidates at once by matrix products.

A score so near 0 that another order of summation could turn its sign counts as an error: the count is then no less than
that of the saved model on any machine, and an upper limit made from it holds for that model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret import _native, arithmetic
from noregret.errors import SettingError
from noregret.rounds import Rounds
from noregret.selection.candidates import Candidate, rounding
from noregret.stream.block import Dense

Vector = NDArray[np.float64]
ROWS = 4096  # scored at once
TOGETHER = 64  # candidates
ROOM = 20_000_000  # weights held at once
MOST = 4e11  # products, some minutes


@dataclass(frozen=True)
class Tails:
    """errors[i] of the predictor before round i on the rounds i … T, and whether it erred on round i itself."""

    errors: NDArray[np.int64]
    own: NDArray[np.bool_]


def tails(rounds: Rounds, candidates: Iterable[Candidate], whole: bool = True) -> Tails:
    """Every candidate on the rounds from its start on; on its own rounds alone where not the `whole` tail is wanted."""
    found = Tails(np.zeros(len(rounds), np.int64), np.zeros(len(rounds), np.bool_))
    together = max(1, min(TOGETHER, ROOM // max(rounds.width, 1)))
    batch: list[Candidate] = []
    spent, entries = 0.0, rounds.rows.values.size / max(len(rounds), 1)
    norms = row_norms(rounds)
    for one in candidates:
        batch.append(one)
        spent += entries * (len(rounds) - one.start if whole else one.stop - one.start)
        if spent > MOST:
            raise SettingError("select: this many candidates and rounds take too long: use fewer candidates")
        if len(batch) == together:
            _count(rounds, norms, batch, whole, found)
            batch = []
    if batch:
        _count(rounds, norms, batch, whole, found)
    return found


def _count(rounds: Rounds, norms: Vector, batch: list[Candidate], whole: bool, found: Tails) -> None:
    """Candidates one after another in time, on the rounds from the first one's start on."""
    W = np.stack([one.w for one in batch])
    begins = np.array([one.start for one in batch])
    near = rounding(rounds) * np.sqrt(arithmetic.row_totals(W * W))
    tail = np.zeros(len(batch), np.int64)
    end = len(rounds) if whole else batch[-1].stop
    for start in range(batch[0].start, end, ROWS):
        stop = min(start + ROWS, end)
        part = rounds.part(start, stop)
        times = np.arange(start, stop)
        margins = part.y[:, None] * _scores(part, W)
        wrong = ~(margins > norms[start:stop, None] * near) & (times[:, None] >= begins)
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
        _native.score_linear(part.given, w, 1.0, 0.0, scores)
    return found.T


def row_norms(rounds: Rounds) -> Vector:
    """‖x‖ of every round."""
    rows = rounds.rows
    if isinstance(rows, Dense):
        return np.sqrt(arithmetic.row_totals(np.square(rows.X, dtype=np.float64)))
    row = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
    return np.sqrt(np.bincount(row, rows.values**2, minlength=len(rows)))
