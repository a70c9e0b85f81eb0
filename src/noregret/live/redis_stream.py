"""Streams of Redis: entries whose field `event` is an event.

They are read by XRANGE from a position on, without a consumer group: a group keeps a position and a list of what is not
acknowledged of its own, which could disagree with the model file, the only place that knows what was learned. There is
nothing to acknowledge; trimming is the owner's business, and trimming too early is noticed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from noregret.errors import InputError, reason
from noregret.live.address import Address
from noregret.live.answers import Sink
from noregret.live.reader import MANY, PATIENCE, PAUSE, Message, Position, Reader, Unreachable

FIELD = b"event"
ANSWER = b"answer"
SECONDS = 10.0  # for a connection, and for an answer
LOST = (redis.ConnectionError, redis.TimeoutError)


def _client(where: Address) -> redis.Redis:
    host, port = where.hosts[0]
    return redis.Redis(
        host=host,
        port=port,
        db=where.part or 0,
        username=where.user,
        password=where.password,
        ssl=where.scheme == "rediss",
        socket_timeout=SECONDS,
        socket_connect_timeout=SECONDS,
        retry=Retry(NoBackoff(), 0),
    )


def _sentence(error: redis.RedisError, name: str) -> InputError:
    """What went wrong, as a sentence."""
    said = reason(error)
    if isinstance(error, redis.AuthenticationError) or said.startswith(("NOAUTH", "WRONGPASS", "invalid username")):
        return InputError(f"the user or the password is refused ({said})", name)
    if isinstance(error, redis.exceptions.NoPermissionError):
        return InputError(f"the user may not do this ({said})", name)
    if isinstance(error, LOST):
        return Unreachable(f"cannot be reached ({said})", name)
    if said.startswith("WRONGTYPE"):
        return InputError("is no stream: its key holds something else", name)
    return InputError(f"the server refuses ({said})", name)


def _lost(error: redis.RedisError) -> bool:
    """Whether the server may be back in a moment."""
    return isinstance(error, LOST) and not isinstance(error, redis.AuthenticationError)


class RedisReader(Reader):
    """Reads a stream of Redis."""

    example = "1700000000000-0"
    lacks = "expected a field named event with the event as JSON"
    _client: redis.Redis | None = None

    def _begin(self, at: str | None, inclusive: bool) -> None:
        self._client = client = _client(self.where)
        self._from = "-" if at is None else at if inclusive else f"({at}"
        self._known = False  # whether the entry at that place was handed out already
        try:
            if not client.exists(self.where.name):
                raise InputError("there is no such stream", self.name)
        except redis.RedisError as error:
            raise _sentence(error, self.name) from error

    def _next(self) -> list[Message] | None:
        assert self._client is not None
        try:
            found = self._range_of(self._client)
            if not found:
                behind = self._from.lstrip("(") if self._from != "-" else "0-0"
                self._client.xread({self.where.name: behind}, count=1, block=int(1000.0 * PAUSE))
                found = self._range_of(self._client)
        except redis.RedisError as error:
            if not _lost(error):
                raise _sentence(error, self.name) from error
            time.sleep(PAUSE)
            return None
        if found:
            self._from, self._known = found[-1].at, True
        return found

    def _range_of(self, client: redis.Redis) -> list[Message]:
        """The entries that come next; the last one handed out must still be there."""
        found = cast("list[Any]", client.xrange(self.where.name, self._from, "+", MANY + self._known))
        if self._known:
            if not found or found[0][0].decode() != self._from:
                raise self._gone(self._from)
            found = found[1:]
        return [Message(at.decode(), fields.get(FIELD)) for at, fields in found]

    def key(self, at: str) -> tuple[int, ...]:
        first, dash, second = at.partition("-")
        if not dash or not (first + second).isascii() or not (first.isdecimal() and second.isdecimal()):
            raise ValueError(at)
        return int(first), int(second)

    def acknowledge(self, position: Position | None) -> None:
        """Nothing: the model file has the position, and Redis keeps none."""

    def close(self) -> None:
        if self._client is not None:
            with suppress(redis.RedisError):
                self._client.close()


class RedisSink(Sink):
    """Adds each answer to a stream of Redis, in the field `answer`."""

    def __init__(self, where: Address) -> None:
        super().__init__(where)
        self._client = _client(where)

    def check(self) -> None:
        try:
            kind = self._client.type(self.where.name)
        except redis.RedisError as error:
            raise _sentence(error, self.name) from error
        if kind not in (b"none", b"stream"):
            raise InputError("is no stream: its key holds something else", self.name)

    def _hand_on(self, answers: list[bytes]) -> None:
        def add() -> None:
            lines = self._client.pipeline(transaction=False)
            for answer in answers:
                lines.xadd(self.where.name, {ANSWER: answer})
            lines.execute()

        _patiently(add, self.name)

    def close(self) -> None:
        with suppress(redis.RedisError):
            self._client.close()


def _patiently(do: Callable[[], None], name: str) -> None:
    """Do it, again where the server was lost meanwhile."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return do()
        except redis.RedisError as error:
            if not _lost(error) or time.monotonic() > end:
                raise _sentence(error, name) from error
            time.sleep(PAUSE)
