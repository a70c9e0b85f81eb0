"""Who does the work on shards: this process, one shard after another. Any other engine must give the same bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from noregret.shards.part import Agreement, Part, Survey
from noregret.shards.shard import Holder, Shard
from noregret.stream.features import Features

R = TypeVar("R")
Task = Callable[..., R]  # a pure function of a shard and of what it is given


class Engine(Protocol):
    """Shards in a stated order, and functions that are called with each of them."""

    def hold(self, parts: Sequence[Part], known: Features, labelled: bool) -> None:
        """Take on the shards: nothing is read before it is needed."""

    def survey(self) -> list[Survey]:
        """What each shard shows."""

    def agree(self, agreed: Agreement) -> None:
        """What the shards are read by from now on."""

    def each(self, task: Task[R], *shared: Any, own: Sequence[tuple[Any, ...]] | None = None) -> list[R]:
        """task(shard, *shared, *own[i]) of every shard, in their order."""

    def close(self) -> None:
        """Give everything back."""


class Serial:
    """The definition: every shard in this process, in order."""

    def __init__(self) -> None:
        self._holders: list[Holder] = []
        self._agreed: Agreement | None = None

    def hold(self, parts: Sequence[Part], known: Features, labelled: bool) -> None:
        self._holders = [Holder(part, known, labelled) for part in parts]

    def survey(self) -> list[Survey]:
        return [holder.survey() for holder in self._holders]

    def agree(self, agreed: Agreement) -> None:
        self._agreed = agreed

    def each(self, task: Task[R], *shared: Any, own: Sequence[tuple[Any, ...]] | None = None) -> list[R]:
        return [task(shard, *shared, *(own[place] if own else ())) for place, shard in enumerate(self.shards)]

    def close(self) -> None:
        self._holders = []

    @property
    def shards(self) -> list[Shard]:
        """The shards as all agreed to read them."""
        assert self._agreed is not None, "the shards have agreed"
        return [holder.shard(self._agreed) for holder in self._holders]
