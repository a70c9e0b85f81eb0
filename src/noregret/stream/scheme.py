"""What a name with a scheme stands for: a stream of a broker, an object of a store, or nothing of the kind."""

from __future__ import annotations

import re

BROKERS = ("redis", "rediss", "kafka")  # streams of events, which grow
STORES = ("s3", "file")  # files that are not opened by a path of this machine


def scheme_of(name: str) -> str | None:
    """The scheme of an address that is known here; None for the path of a file.

    >>> scheme_of("redis://localhost/clicks"), scheme_of("s3://bucket/part.parquet"), scheme_of("a/b.csv")
    ('redis', 's3', None)
    """
    found = re.match(r"([a-z0-9]+)://", name)
    return found[1] if found is not None and found[1] in (*BROKERS, *STORES) else None


def is_broker(name: str) -> bool:
    """Whether this is the address of a stream of a broker."""
    return scheme_of(name) in BROKERS


def is_store(name: str) -> bool:
    """Whether this is the address of an object of a store."""
    return scheme_of(name) in STORES
