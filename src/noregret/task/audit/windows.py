"""Windows of a log: the ledger of each, and what comparators that change at their limits can have gained."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from noregret.domain import Domain
from noregret.errors import SettingError, spelled
from noregret.loss import Loss
from noregret.rounds import Rounds
from noregret.watch.part import Counter, Part
from noregret.watch.retention import limits
from noregret.watch.told import told_parts
from noregret.watch.windows import Windows


def checked_windows(length: Any, segment_by: str | None) -> Windows | None:
    """The windows that were asked for, once it is known that a log can have them."""
    if length is None:
        return None
    if str(length) in ("day", "week"):
        raise SettingError(
            f"audit: {spelled('windows')} must be a number of rounds such as 1000, or every:1000; got {length!r}:"
            f" for days use a column of days and {spelled('segment_by')}"
        )
    if segment_by is not None:
        raise SettingError(f"audit: {spelled('windows')} and {spelled('segment_by')} cannot be combined")
    return Windows(str(length))


def windows_of_log(asked: Windows, rounds: Rounds, loss: Loss, radius: float) -> dict[str, Any]:
    """Every window of logged rounds, in their order, as plain numbers."""
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
