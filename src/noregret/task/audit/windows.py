"""Windows of a log: the ledger of each, and what comparators that change at their limits can have gained."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from noregret.domain import Domain
from noregret.errors import SettingError, spelled
from noregret.loss import Loss
from noregret.rounds import Rounds
from noregret.watch.calendar import Calendar
from noregret.watch.part import Counter, Part
from noregret.watch.retention import limits
from noregret.watch.told import told_parts
from noregret.watch.windows import Windows


def checked_windows(length: Any, time: str | None, time_zone: str | None, segment_by: str | None) -> Windows | None:
    """The windows that were asked for, once it is known that a log can have them."""
    if length is None:
        for name, given in {"time": time, "time_zone": time_zone}.items():
            if given is not None:
                raise SettingError(f"audit: {spelled(name)} goes with {spelled('windows', 'day', 'week')}")
        return None
    if segment_by is not None:
        raise SettingError(f"audit: {spelled('windows')} and {spelled('segment_by')} cannot be combined")
    return Windows(str(length), time=time, time_zone=time_zone)


def calendar_of(asked: Windows, log: Any) -> Calendar | None:
    """What says in which day or week a row lies, where windows are of that."""
    if asked.period is None:
        return None
    if not isinstance(log, str | os.PathLike):
        raise SettingError(f"audit: {spelled('time')} reads the log twice: give a file")
    return Calendar(os.fspath(log), str(asked.time), asked.period, asked.time_zone)


def windows_of_log(
    asked: Windows, rounds: Rounds, loss: Loss, radius: float, days: Sequence[tuple[int, int]]
) -> dict[str, Any]:
    """Every window of logged rounds, in their order, as plain numbers; `days` says how many lie in each day or week."""
    if asked.period is not None:
        ends = [0, *accumulate(count for _, count in days)]
        parts = [_part(rounds.part(first, last), loss, (first, last), False) for first, last in pairwise(ends)]
        keys = [key for key, _ in days]
        return told_parts(asked, parts, loss, Domain("ball", radius), chosen="asked", raw=True, keys=keys)
    full = len(rounds) // asked.every
    begins = limits(full) if asked.joins else list(range(full + 1))
    ends = [begin * asked.every for begin in begins]
    if ends[-1] < len(rounds):
        ends.append(len(rounds))
    parts = [
        _part(rounds.part(first, last), loss, (first, last), last % asked.every != 0) for first, last in pairwise(ends)
    ]
    return told_parts(asked, parts, loss, Domain("ball", radius), chosen="asked", raw=True)


def _part(rounds: Rounds, loss: Loss, limits_: tuple[int, int], more: bool) -> Part:
    assert rounds.scores is not None
    counter = Counter(loss, False, not loss.regression)  # the constant 1 of a bias is a column here
    if not loss.regression:
        counter.count(int(np.count_nonzero(rounds.scores * rounds.y <= 0.0)))
    assert counter.tally is not None
    counter.tally.add(rounds.rows, rounds.y, rounds.weights, rounds.scores)
    return Part((limits_[0], limits_[1]), limits_, counter.measured, (), open=more)
