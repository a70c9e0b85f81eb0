"""Rounds that lie in windows: each piece of a block in one, and told to whoever keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError, spelled
from noregret.guarded import Guard, Play, guarded
from noregret.learner.core import Core
from noregret.rounds import Keeper
from noregret.stream.base import Stream
from noregret.stream.block import Block

Vector = NDArray[np.float64]


class Windowed(Keeper, Protocol):
    """What keeps windows of the rounds of a learner."""

    def go_beside(self, stream: Stream, *, shuffled: bool = False) -> None: ...

    def cut(self, block: Block, y: Vector, weights: Vector | None) -> Iterator[tuple[Block, Vector, Vector | None]]: ...

    def take(self, block: Block, y: Vector, weights: Vector | None, scores: Vector) -> None: ...

    def keep(self) -> None: ...

    @property
    def figures(self) -> dict[str, Any]: ...


class Windowing(Protocol):
    """Windows as they are asked for."""

    def over(self, core: Core) -> Windowed: ...


def set_windows(windows: Windowing | None, core: Core, passes: int) -> Windowed | None:
    """What keeps the windows of this learner, once it is known that it can."""
    if windows is None:
        if (core.watched or {}).get("windows") is not None:
            raise SettingError("play: the model keeps windows, which must see every round: give windows too")
        return None
    if passes > 1:
        raise SettingError(f"{spelled('windows')} are of predictions of new rows: give one pass, got {passes}")
    return windows.over(core)


def in_windows(
    core: Core,
    block: Block,
    y: Vector,
    weights: Vector | None,
    keep: Keeper | None,
    guard: Guard | None,
    windows: Windowed | None,
    play: Play,
) -> Iterator[tuple[Block, Vector, Vector | None, Vector, bool]]:
    """The block as it is played, in pieces that each lie in one window."""
    if windows is None:
        yield from guarded(core, block, y, weights, keep, guard, play)
        return
    for piece, some, weighed in windows.cut(block, y, weights):
        for played in guarded(core, piece, some, weighed, keep, guard, play):
            windows.take(*played[:4])
            yield played
