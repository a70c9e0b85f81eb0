"""The reader of a stream of events: one entry after another, from a position on, and never past a gap.

Before anything behind a position is read, the entry *at* the position is read again: it must be there, and be the one
that was learned from. So nothing is lost in silence when a stream was trimmed, made again, or restored from an older
copy: that is a sentence.
"""

from __future__ import annotations

import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

from noregret.errors import InputError, SettingError, spelled
from noregret.live.address import Address

PATIENCE = 60.0  # seconds for which a broker that was lost is tried again
PAUSE = 0.2  # seconds between two looks at whether to stop
MANY = 1000  # entries asked for at once


class Message(NamedTuple):
    """An entry of a stream."""

    at: str  # its position
    body: bytes | None  # the event, as it is written; None where there is none


class Position(NamedTuple):
    """How far a stream was learned from."""

    stream: str  # its address, without password
    first: str  # the first entry that was learned from
    at: str  # the last one
    seal: str  # SHA-256 of that one's event

    def behind(self, message: Message) -> Position:
        """The position once this entry is learned from as well."""
        return self._replace(at=message.at, seal=seal_of(message.body))


def seal_of(body: bytes | None) -> str:
    """What tells an entry from another."""
    return hashlib.sha256(body or b"").hexdigest()


def position_of(said: Any) -> Position:
    """A position as a file that anybody may have written must hold it; ValueError for one that cannot be."""
    if not isinstance(said, dict) or set(said) != set(Position._fields):
        raise ValueError(f"a position must have {', '.join(Position._fields)}")
    if not all(isinstance(value, str) and len(value) < 2**16 for value in said.values()) or len(said["seal"]) != 64:
        raise ValueError("a position must hold text")
    return Position(**said)


class Unreachable(InputError):
    """A broker that does not answer."""


class Reader(ABC):
    """Reads a stream from a position on, and goes on waiting for entries that come later."""

    example: ClassVar[str]  # of a position
    lacks: ClassVar[str]  # what an entry without an event should have had

    def __init__(self, where: Address, *, until_idle: float | None = None, after: str | None = None) -> None:
        self.where, self.name = where, str(where)
        self.until_idle = until_idle
        self.after = None if after is None else self._checked(after)
        self.waits: Callable[[], bool] | None = None  # asked while nothing comes: whether to stop
        self.more = False  # whether another entry is at hand already
        self._range: tuple[str, str] | None = None

    # -- what a broker is asked for -------------------------------------------------------------------------------

    @abstractmethod
    def _begin(self, at: str | None, inclusive: bool) -> None:
        """Get ready to read from the entry at a position on, or behind it; None is the beginning of the stream."""

    @abstractmethod
    def _next(self) -> list[Message] | None:
        """The entries that come next; none if nothing came for a moment, None if that is not known."""

    @abstractmethod
    def key(self, at: str) -> tuple[int, ...]:
        """What positions are ordered by; a ValueError for what is none."""

    @abstractmethod
    def acknowledge(self, position: Position | None) -> None:
        """Tell the broker that what stands up to here was learned and saved."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the broker; reading again connects again."""

    # -- reading ------------------------------------------------------------------------------------------------------

    def between(self, first: str, last: str) -> Reader:
        """The reader of these entries alone, both included: what a receipt is about."""
        if self.key(self._checked(first)) > self.key(self._checked(last)):
            raise SettingError(f"the first position must not be behind the last, got {first} and {last}")
        self._range = first, last
        return self

    def messages(self, position: Position | None) -> Iterator[Message]:
        """Every entry behind the position, for as long as it is not stopped."""
        self.close()  # of an earlier call
        if self._range is not None:
            try:
                yield from self._ranged(*self._range)
            finally:
                self.close()
        elif self.after is not None or position is None:
            self._begin(self.after, inclusive=False)
            yield from self._read()
        else:
            self._check(position.at)
            self._begin(position.at, inclusive=True)
            yield from self._read(position)

    def _ranged(self, first: str, last: str) -> Iterator[Message]:
        self._begin(first, inclusive=True)
        expected: str | None = first
        self.until_idle = 0.0
        for message in self._read():
            if expected is not None and message.at != expected:
                raise InputError(f"the entry at {expected} is gone: the stream was trimmed or made again", self.name)
            expected = None
            if self.key(message.at) > self.key(last):
                break
            yield message
            if message.at == last:
                return
        raise InputError(f"the entry at {last} is not there: the stream was trimmed or made again", self.name)

    def _read(self, position: Position | None = None) -> Iterator[Message]:
        """The entries; the first must be that of the position, and is none of them."""
        quiet = lost = time.monotonic()
        while True:
            found = self._next()
            now = time.monotonic()
            if found is not None:
                lost = now
            elif now - lost > PATIENCE:
                raise Unreachable(f"did not answer for {PATIENCE:.0f} seconds", self.name)
            if found is not None and position is not None:
                self._same(found.pop(0) if found else None, position)
                position = None
            if found:
                yield from self._handed_out(found)
                quiet = lost = time.monotonic()
                continue
            if self.waits is not None and self.waits():
                return
            quiet = now if found is None else quiet
            if found is not None and self.until_idle is not None and now - quiet >= self.until_idle:
                return

    def _handed_out(self, found: list[Message]) -> Iterator[Message]:
        for place, message in enumerate(found, 1):
            if message.body is None:
                raise InputError(f"is not an event: {self.lacks}", self.spot(message))
            self.more = place < len(found)
            yield message

    def _same(self, message: Message | None, position: Position) -> None:
        """Whether this is the entry that the model learned from last."""
        if message is None or message.at != position.at:
            raise self._gone(position.at)
        if seal_of(message.body) != position.seal:
            raise InputError(
                f"the entry at {position.at} is not the one that the model has learned from: the stream was made"
                f" again; {self._way_on}",
                self.name,
            )

    def _gone(self, at: str) -> InputError:
        return InputError(
            f"the entry at {at}, up to which was read before, is gone: the stream was trimmed or made again, and"
            f" entries behind it may be lost; {self._way_on}",
            self.name,
        )

    @property
    def _way_on(self) -> str:
        return f"to go on all the same, give {spelled('after_position', python='after')} and a position"

    def _check(self, at: str) -> None:
        """Whether what a model has is a position of such a stream."""
        try:
            self.key(at)
        except ValueError:
            raise InputError(f"the model has the position {at}, which is none of such a stream", self.name) from None

    def _checked(self, at: str) -> str:
        try:
            self.key(at)
        except ValueError:
            raise SettingError(
                f"{spelled('after_position', python='after')} must be a position such as {self.example}, got {at!r}"
            ) from None
        return at

    def spot(self, message: Message) -> str:
        """Where an entry stands, for a sentence."""
        return f"{self.name}:{message.at}"
