"""Rounds that something watches, which may have another learner go on after one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError, spelled
from noregret.learner.core import Core
from noregret.rounds import Keeper
from noregret.stream.base import Stream
from noregret.stream.block import Block

Vector = NDArray[np.float64]
Play = Callable[[Core, Block, Vector, Vector | None, Keeper | None], Vector]  # a block; the scores predicted


class Guard(Protocol):
    """What watches the rounds of a learner, which may go on as another after one of them."""

    def go_beside(self, stream: Stream, *, shuffled: bool = False) -> None: ...

    def beside(self, block: Block, y: Vector, weights: Vector | None) -> Vector: ...

    def take(self, y: Vector, scores: Vector, beside: Vector) -> int | None: ...

    def remember(self) -> dict[str, Any] | None: ...

    def set_back(self, before: dict[str, Any]) -> None: ...

    def change(self) -> None: ...

    def keep(self) -> None: ...


class Guarding(Protocol):
    """An alarm, which is set to guard a learner."""

    @property
    def changes(self) -> bool: ...

    def guard(self, core: Core) -> Guard: ...


def set_guard(alarm: Guarding | None, core: Core, passes: int, keep: Keeper | None) -> Guard | None:
    """What watches the learner, once it is known that it can."""
    if alarm is None:
        if (core.watched or {}).get("alarm") is not None:
            raise SettingError("play: the model is watched by an alarm, which must see every round: give alarm too")
        return None
    if passes > 1:
        raise SettingError(f"{spelled('alarm')} watches the predictions of new rows: give one pass, got {passes}")
    if alarm.changes and keep is not None:
        raise SettingError(
            f"{spelled('on_alarm')} restart and reshare let another learner go on; windows, ledgers and kept rounds"
            f" need one learner from the first round to the last: use {spelled('on_alarm', 'continue')}"
        )
    return alarm.guard(core)


def guarded(
    core: Core,
    block: Block,
    y: Vector,
    weights: Vector | None,
    keep: Keeper | None,
    guard: Guard | None,
    play: Play,
) -> Iterator[tuple[Block, Vector, Vector | None, Vector, bool]]:
    """The block as it is played: in one part, or in several where the learner changes behind the last row of one.

    The rows behind a round at which it changes are played twice: first by the learner as it was, from which it is set
    back to that round, then by the one that goes on.
    """
    if guard is None:
        yield block, y, weights, play(core, block, y, weights, keep), False
        return
    beside = guard.beside(block, y, weights)
    while True:
        before = guard.remember() if len(block) > 1 else None  # behind its last row it need not be set back
        scores = play(core, block, y, weights, keep)
        stop = guard.take(y, scores, beside)
        if stop is None:
            guard.keep()
            yield block, y, weights, scores, False
            return
        first, rest = block.slice(0, stop), block.slice(stop, len(block))
        if len(rest) and before is not None:
            guard.set_back(before)
            play(core, first, y[:stop], None if weights is None else weights[:stop], None)
        guard.change()
        yield first, y[:stop], None if weights is None else weights[:stop], scores[:stop], True
        if not len(rest):
            return
        block, y, weights, beside = rest, y[stop:], None if weights is None else weights[stop:], beside[stop:]
