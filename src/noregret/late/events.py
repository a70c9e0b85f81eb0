"""Events, a JSON object each: what is asked, what became known, in the order in which it is processed.

| event | what it says |
|---|---|
| `{"id", "x"}` | predict x; its label may come later, under this id |
| `{"id", "y"}` | the label of that round |
| `{"id", "x", "y"}`, `{"x", "y"}` | both at once |
| `{"id", "expire": true}` | the label will not come |
| `{"id", "y", "revise": true}` | another label for a round that has one |

x is an object of numbers and strings by name, or an array of numbers; `w` beside it is the weight of the round. The log
of events in this order is the stream: it is digested, replayed and verified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import msgspec
import numpy as np

from noregret.errors import InputError, NoregretError
from noregret.late.pending import Answer, Pending

MOST = 2**26  # bytes of a line
BOM = b"\xef\xbb\xbf"
SHAPES = {  # the keys of an event beside its weight, and what it asks for
    frozenset({"id", "x"}): "predict",
    frozenset({"id", "y"}): "label",
    frozenset({"id", "x", "y"}): "both",
    frozenset({"x", "y"}): "both",
    frozenset({"id", "expire"}): "expire",
    frozenset({"id", "y", "revise"}): "revise",
}


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One of them, as it is written."""

    id: str | int | None = None
    x: dict[str, float | int | str | bool | None] | list[float] | None = None
    y: str | float | int | bool | None = None
    w: float | None = None
    expire: Literal[True] | None = None
    revise: Literal[True] | None = None

    @property
    def asks(self) -> str | None:
        """predict, label, both, expire or revise; None for what asks for nothing."""
        given = frozenset(name for name in ("id", "x", "y", "expire", "revise") if getattr(self, name) is not None)
        return SHAPES.get(given) if self.w is None or "x" in given else None


_decode = msgspec.json.Decoder(Event).decode
_encode = msgspec.json.Encoder(order="sorted").encode


def event_of(said: Any) -> Event:
    """An event as a dict, a line of text, or one already; a sentence for what is none."""
    if isinstance(said, Event):
        found = said
    else:
        try:
            found = msgspec.convert(said, Event) if isinstance(said, Mapping) else _decode(said)
        except RecursionError:
            raise InputError("is nested too deeply for an event") from None
        except UnicodeError:
            raise InputError("is not UTF-8 text") from None
        except (msgspec.MsgspecError, TypeError) as error:
            raise InputError(f"is not an event: {_reason(error)}") from None
    if found.asks is None:
        given = ", ".join(name for name in Event.__struct_fields__ if getattr(found, name) is not None)
        raise InputError(
            'is not an event: expected {id, x}, {id, y}, {id, x, y}, {x, y}, {id, "expire": true} or'
            f' {{id, y, "revise": true}}, with w only beside x; got {given or "none of these keys"}'
        )
    return found


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def written(event: Event) -> bytes:
    """The one way to write an event, for digests and logs."""
    try:
        return _encode(event)
    except UnicodeError:
        raise InputError("is not text that UTF-8 can hold") from None


def apply(late: Pending, event: Event) -> Answer | None:
    """Do what the event asks; the answer where it asks for one."""
    x = np.array(event.x, np.float64) if isinstance(event.x, list) else event.x
    weight = 1.0 if event.w is None else event.w
    match event.asks:
        case "predict":
            return late.predict(event.id, x, weight)
        case "both":
            return late.both(x, event.y, event.id, weight)
        case "label":
            late.learn_one(event.id, event.y)
        case "revise":
            late.revise(event.id, event.y)
        case "expire":
            late.expire(event.id)
    return None


def lines_of(pieces: Iterable[bytes], source: str, whole: Callable[[], bool]) -> Iterator[tuple[int, list[bytes]]]:
    """The complete lines of each piece of text, with the number of the first; if `whole`, the last needs no end."""
    rest, number = b"", 1
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        if lines and number == 1:
            lines[0] = lines[0].removeprefix(BOM)
        if len(rest) > MOST:
            raise InputError(f"a line must be at most {MOST >> 20} MiB long", source, number + len(lines))
        if lines:
            yield number, lines
        number += len(lines)
    if rest.strip() and whole():
        yield number, [rest.removeprefix(BOM) if number == 1 else rest]


@contextmanager
def placed(source: str, line: int | None) -> Iterator[None]:
    """Name the line of the event that a sentence is about."""
    try:
        yield
    except NoregretError as error:
        if isinstance(error, InputError) and error.line is not None:
            raise
        sentence = error.sentence if isinstance(error, InputError) else str(error)
        raise InputError(sentence, source, line) from error
