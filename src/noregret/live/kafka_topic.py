"""Topics of Kafka: messages whose value is an event, from one partition, for events have one order.

The partition is assigned, not subscribed to, and read from the position in the model file. The offset behind it is
committed once that file is saved, for whoever watches the lag; it is never read back.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from noregret.errors import InputError, SettingError, reason
from noregret.live.address import Address
from noregret.live.answers import Sink
from noregret.live.reader import MANY, PATIENCE, PAUSE, Message, Position, Reader, Unreachable

SECONDS = 10.0  # for an answer about the topic
GROUP = "noregret"  # that offsets are committed for, unless the address has ?group.id=NAME
OURS = ("bootstrap.servers", "enable.auto.commit", "auto.offset.reset", "enable.partition.eof")
LOST = (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT, KafkaError._RESOLVE)
REFUSED = (
    KafkaError._AUTHENTICATION,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
)
_silent = logging.getLogger("noregret.live.kafka")
_silent.addHandler(logging.NullHandler())
_silent.propagate = False  # what librdkafka would write to standard error is told in a sentence


def _settings(where: Address, **own: Any) -> dict[str, Any]:
    """Those of librdkafka: the address's, and ours."""
    given = dict(where.settings)
    for name in sorted(given.keys() & {*OURS, *own}):
        raise SettingError(f"the address of a topic cannot set {name}: noregret does")
    known: dict[str, Any] = {}
    if where.user is not None:
        known = {"sasl.username": where.user, "sasl.password": where.password or "", "sasl.mechanism": "PLAIN"}
        known["security.protocol"] = "SASL_SSL"
    servers = ",".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in where.hosts)
    return {**known, **given, **own, "bootstrap.servers": servers}


def _sentence(error: KafkaError, name: str) -> InputError:
    """What went wrong, as a sentence."""
    code, said = error.code(), error.str().rstrip(".")
    if code in LOST:
        return Unreachable(f"cannot be reached ({said})", name)
    if code in REFUSED:
        return InputError(f"the user or the password is refused, or the user may not do this ({said})", name)
    if code in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION):
        return InputError("there is no such topic", name)
    return InputError(f"the broker refuses ({said})", name)


class KafkaReader(Reader):
    """Reads a partition of a topic."""

    example = "42"
    lacks = "the message has no value"
    _consumer: Any = None

    def _begin(self, at: str | None, inclusive: bool) -> None:
        self._fatal: KafkaError | None = None
        self._ended = self._down = False
        own = {"enable.auto.commit": False, "auto.offset.reset": "error", "enable.partition.eof": True}
        given = {"group.id": GROUP} if "group.id" not in dict(self.where.settings) else {}
        self._consumer = _made(Consumer, {**_settings(self.where, **own), **given, "error_cb": self._hear}, self.name)
        try:
            self._place = self._partition()
            low, high = self._consumer.get_watermark_offsets(self._place, timeout=SECONDS)
            start = low if at is None else int(at) if inclusive else max(low, int(at) + 1)
            if at is not None and not low <= start <= high - inclusive:
                raise self._gone(at)
            self._place.offset = start
            self._consumer.assign([self._place])
        except KafkaException as error:
            self._consumer.poll(0.0)  # hears why
            raise _sentence(self._fatal or error.args[0], self.name) from error

    def _partition(self) -> TopicPartition:
        """The one that is read."""
        found = self._consumer.list_topics(self.where.name, timeout=SECONDS).topics[self.where.name]
        if found.error is not None:
            raise _sentence(found.error, self.name)
        count, part = len(found.partitions), self.where.part
        if part is None and count > 1:
            wanted = "events have one order, and it has one for each: name one of them, as in"
            raise InputError(f"has {count} partitions; {wanted} {self.name}/0", self.name)
        if part is not None and part not in found.partitions:
            raise InputError(f"there is no such partition; the topic has {count}", self.name)
        return TopicPartition(self.where.name, part or 0)

    def _hear(self, error: KafkaError) -> None:
        self._down |= error.code() == KafkaError._ALL_BROKERS_DOWN
        if error.code() in REFUSED or error.fatal():
            self._fatal = error

    def _next(self) -> list[Message] | None:
        try:
            found = self._consumer.consume(MANY, PAUSE)
        except KafkaException as error:
            raise _sentence(error.args[0], self.name) from error
        if self._fatal is not None:
            raise _sentence(self._fatal, self.name)
        made = [self._message(one) for one in found if one.error() is None]
        ended = [self._told(one.error()) for one in found if one.error() is not None]
        self._ended = any(ended) or (self._ended and not made)
        self._down = self._down and not found and not self._back()
        return made if made or (self._ended and not self._down) else None

    def _message(self, one: Any) -> Message:
        self._place.offset = one.offset()
        body = one.value()
        return Message(str(one.offset()), None if body is None else bytes(body))

    def _told(self, error: KafkaError) -> bool:
        """Whether that is the end of the partition; a sentence for what the broker refuses."""
        if error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            raise self._gone(str(self._place.offset))
        ended = error.code() == KafkaError._PARTITION_EOF
        if not ended and error.code() not in LOST:
            raise _sentence(error, self.name)
        return ended

    def _back(self) -> bool:
        """Whether a broker that was lost answers again."""
        try:
            self._consumer.list_topics(self.where.name, timeout=1.0)
        except KafkaException:
            return False
        return True

    def key(self, at: str) -> tuple[int, ...]:
        if not (at.isascii() and at.isdecimal()):
            raise ValueError(at)
        return (int(at),)

    def acknowledge(self, position: Position | None) -> None:
        """Commit the offset behind it. Whether this succeeds changes nothing here: the model file has the position."""
        if position is not None and self._consumer is not None:
            done = TopicPartition(self._place.topic, self._place.partition, int(position.at) + 1)
            with suppress(KafkaException):
                self._consumer.commit(offsets=[done], asynchronous=False)

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None


class KafkaSink(Sink):
    """Sends each answer to a topic."""

    def __init__(self, where: Address) -> None:
        super().__init__(where)
        self._refused: KafkaError | None = None
        own = {"enable.idempotence": True, "message.timeout.ms": int(1000.0 * PATIENCE)}
        self._producer = _made(Producer, _settings(where, **own), self.name)

    def check(self) -> None:
        try:
            self._producer.list_topics(timeout=SECONDS)
        except KafkaException as error:
            raise _sentence(error.args[0], self.name) from error

    def _hand_on(self, answers: list[bytes]) -> None:
        where = {} if self.where.part is None else {"partition": self.where.part}
        for answer in answers:
            while True:
                try:
                    self._producer.produce(self.where.name, answer, on_delivery=self._hear, **where)
                    break
                except BufferError:  # its queue is full
                    self._producer.poll(PAUSE)
        end = time.monotonic() + PATIENCE
        while self._producer.flush(PAUSE) and self._refused is None and time.monotonic() < end:
            pass
        if self._refused is not None:
            raise _sentence(self._refused, self.name)
        if len(self._producer):
            raise Unreachable(f"did not take answers for {PATIENCE:.0f} seconds", self.name)

    def _hear(self, error: KafkaError | None, message: Any) -> None:
        self._refused = self._refused or error

    def close(self) -> None:
        self._producer.flush(0.0)


def _made(kind: Any, settings: dict[str, Any], name: str) -> Any:
    """A client of librdkafka; what it says of its settings is a sentence."""
    try:
        return kind(settings, logger=_silent)
    except (KafkaException, TypeError, ValueError) as error:
        said = error.args[0].str() if isinstance(error, KafkaException) else reason(error)
        raise InputError(f"its settings cannot be used ({said})", name) from error
