"""What `cluster` says: who does the work, and how many shards one file is cut into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from noregret.errors import SettingError, spelled
from noregret.shards.engine import Engine, Serial

HERE = ("serial", "local")


def told(cluster: str | None) -> tuple[str, int | None]:
    """`serial`, `local` or an address; and N, where it was given.

    >>> told("local:4"), told("10.0.0.1:6379")
    (('local', 4), ('10.0.0.1:6379', None))
    """
    if cluster is None:
        return "serial", None
    name, _, number = cluster.rpartition(":")
    if name in HERE and number.isascii() and number.isdecimal() and int(number) > 0:
        return name, int(number)
    if name in HERE or not re.fullmatch(r"[\w.\-\[\]:]+", name) or not number.isdecimal():
        raise SettingError(f"cluster must be local:N, serial:N or HOST:PORT of a Ray cluster, got {cluster!r}")
    return cluster, None


def shards_of(cluster: str | None, shards: int | None, several: bool) -> int | None:
    """Into how many parts the rows are cut; None where every file is a shard."""
    if shards is not None:
        if shards < 1:
            raise SettingError(f"shards must be at least 1, got {shards}")
        return shards
    if several:
        return None
    who, number = told(cluster)
    if number is None and who != "serial":
        raise SettingError(f"one file on a cluster is cut into parts: say into how many with {spelled('shards')}")
    return number or 1


@contextmanager
def engine_of(cluster: str | None) -> Iterator[Engine]:
    """The engine, while it is used."""
    who, number = told(cluster)
    if who == "serial":
        yield Serial()
        return
    from noregret.cluster.ray_engine import RayEngine

    engine = RayEngine(number) if who == "local" else RayEngine(None, who)
    try:
        yield engine
    finally:
        engine.close()
