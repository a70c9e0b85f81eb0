"""Where answers go: a stream or a topic. They are handed on before the position behind them is saved.

So each answer is there at least once. After a stop without a save the events since the last save are played and
answered again, with the same bits and the same position of the event, by which a reader tells the second answer from
the first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from noregret.live.address import Address

AT_ONCE = 500  # answers handed on together


class Sink(ABC):
    """A place for answers."""

    def __init__(self, where: Address) -> None:
        self.where, self.name = where, str(where)
        self._held: list[bytes] = []

    def write(self, answer: bytes) -> None:
        """One of them; it may be handed on later, with others."""
        self._held.append(answer)
        if len(self._held) >= AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Hand on all of them, and wait until the broker has them."""
        if self._held:
            self._hand_on(self._held)
            self._held = []

    @abstractmethod
    def _hand_on(self, answers: list[bytes]) -> None:
        """Those, in order."""

    @abstractmethod
    def check(self) -> None:
        """A sentence if the broker cannot be reached."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the broker."""
