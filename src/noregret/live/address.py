"""The address of a stream of a broker: `redis://HOST[:PORT][/DB]/STREAM`, `kafka://HOST[:PORT]/TOPIC[/PARTITION]`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from noregret.errors import SettingError
from noregret.stream.scheme import BROKERS

FORMS = {
    "redis": "redis://HOST[:PORT][/DB]/STREAM",
    "rediss": "rediss://HOST[:PORT][/DB]/STREAM",
    "kafka": "kafka://HOST[:PORT]/TOPIC[/PARTITION]",
}
PORTS = {"redis": 6379, "rediss": 6379, "kafka": 9092}
PASSWORD = "NOREGRET_BROKER_PASSWORD"  # of the environment, so that no command line shows it


@dataclass(frozen=True)
class Address:
    """Where a stream is. What is shown or written of it holds neither its password nor its settings."""

    scheme: str
    hosts: tuple[tuple[str, int], ...]
    name: str  # of the stream or the topic
    part: int | None = None  # the number of a database, or of a partition
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    settings: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # librdkafka's own

    def __str__(self) -> str:
        hosts = ",".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.hosts)
        if self.scheme == "kafka":
            return f"kafka://{hosts}/{self.name}" + ("" if self.part is None else f"/{self.part}")
        return f"{self.scheme}://{hosts}" + (f"/{self.part}" if self.part else "") + f"/{self.name}"

    @property
    def same_stream(self) -> tuple[object, ...]:
        """What two addresses of one stream have in common."""
        return self.scheme.removesuffix("s"), self.hosts, self.name, self.part or 0


def address_of(text: str) -> Address:
    """The address that a text is.

    >>> print(address_of("redis://ana:secret@localhost/2/clicks"), address_of("kafka://a,b:9093/clicks/0"))
    redis://localhost:6379/2/clicks kafka://a:9092,b:9093/clicks/0
    """
    scheme = text.partition("://")[0]
    if scheme not in BROKERS:
        raise SettingError(f"the address of a stream must be {FORMS['redis']} or {FORMS['kafka']}")
    found = urlsplit(text)
    try:
        user, password, hosts = _hosts(found.netloc, PORTS[scheme])
        name, part = _place([unquote(piece) for piece in found.path.split("/")[1:]], scheme)
    except ValueError:
        raise SettingError(f"the address of a stream must be {FORMS[scheme]}, got {_shown(text)}") from None
    if scheme != "kafka" and (len(hosts) > 1 or found.query):
        raise SettingError(f"the address of a stream must be {FORMS[scheme]}, with one host and nothing after ?")
    settings = tuple(parse_qsl(found.query, keep_blank_values=True))
    return Address(scheme, hosts, name, part, user, password or os.environ.get(PASSWORD), settings)


def _shown(text: str) -> str:
    """An address without what nobody else may see."""
    scheme, _, rest = text.partition("://")
    return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"


def _hosts(netloc: str, usual: int) -> tuple[str | None, str | None, tuple[tuple[str, int], ...]]:
    known, _, hosts = netloc.rpartition("@")
    user, _, password = known.partition(":")
    made = []
    for one in hosts.split(","):
        split = urlsplit(f"//{one}")
        if not split.hostname:
            raise ValueError("no host")
        made.append((split.hostname, usual if split.port is None else split.port))
    return unquote(user) or None, unquote(password) or None, tuple(made)


def _place(pieces: list[str], scheme: str) -> tuple[str, int | None]:
    """The name, and the number in front of it or behind it."""
    if scheme == "kafka":
        name, number = pieces[0], pieces[1:]
    else:
        *number, name = pieces
    if not name or len(number) > 1 or not all(one.isascii() and one.isdecimal() for one in number):
        raise ValueError("no name")
    return name, int(number[0]) if number else None
