"""Streams of a broker, Redis or Kafka: events that are read from a position on, and a place where answers go.

The position that counts is the one in the model file: it is saved in the same file, at the same moment, as what was
learned up to it. A broker is told afterwards, and whoever starts again begins with the saved position, whatever the
broker says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.errors import SettingError
from noregret.live.address import Address, address_of

if TYPE_CHECKING:
    from noregret.live.answers import Sink
    from noregret.live.reader import Reader

EXTRAS = {"redis": ("redis", "redis"), "rediss": ("redis", "redis"), "kafka": ("kafka", "confluent_kafka")}


def follow(address: str, *, until_idle: float | None = None, after: str | None = None) -> Reader:
    """A stream of events at a broker, for `play_late`: from the position that the learner has, or from its beginning.

    It goes on until nothing has come for `until_idle` seconds (0: until all that is there was read; default: for as
    long as it is not stopped). `after` is a position that it goes on behind instead, such as one that a sentence named.
    After each save of the learner, `acknowledge` tells the broker.
    """
    where = address_of(address)
    _check_extra(where)
    if until_idle is not None and not until_idle >= 0.0:
        raise SettingError(f"until_idle must be a number of seconds, at least 0, got {until_idle!r}")
    if where.scheme == "kafka":
        from noregret.live.kafka_topic import KafkaReader

        return KafkaReader(where, until_idle=until_idle, after=after)
    from noregret.live.redis_stream import RedisReader

    return RedisReader(where, until_idle=until_idle, after=after)


def sink(address: str) -> Sink:
    """Where answers go: a stream or a topic. Each is there at least once."""
    where = address_of(address)
    _check_extra(where)
    if where.scheme == "kafka":
        from noregret.live.kafka_topic import KafkaSink

        return KafkaSink(where)
    from noregret.live.redis_stream import RedisSink

    return RedisSink(where)


def _check_extra(where: Address) -> None:
    """A sentence where the client of the broker is not installed."""
    from importlib.util import find_spec

    extra, module = EXTRAS[where.scheme]
    if find_spec(module) is None:
        raise SettingError(f"{where.scheme}:// needs the extra [{extra}]: pip install 'noregret[{extra}]'")
