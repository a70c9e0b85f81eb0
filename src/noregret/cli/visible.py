"""What is printed for people: control characters of names never reach the terminal, they are shown escaped.

Output goes through a stream that does so, whatever is printed by whom; only our own styling, and bars that draw
themselves, write past it. The escapes are those of JSON, so that JSON which is printed keeps its meaning.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import Any, TextIO, cast

# C0 but for the end of a line, DEL, C1, and what turns the direction of the text or ends a line without looking so
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str, *, line: bool = False) -> str:
    r"""The text with control characters escaped; of one `line` the ends of lines too.

    >>> print(visible("a\x1b[31mb"), visible("a\nb", line=True))
    a\u001b[31mb a\u000ab
    """
    text = text.replace("\n", "\\u000a") if line else text
    return text if text.isascii() and text.isprintable() else _CONTROL.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


class Visible(TextIOWrapper):
    """A stream of text that shows control characters escaped."""

    below: TextIO

    def write(self, text: str) -> int:
        return super().write(visible(text))

    def styled(self, text: str) -> None:
        """Text whose control characters are our own."""
        super().write(text)


@contextmanager
def escaped_output() -> Iterator[None]:
    """Standard output and standard error show control characters escaped, and letters that they cannot show as `?`."""
    before = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    made = {name: _over(stream) for name, stream in before.items() if isinstance(stream, TextIOWrapper)}
    for name, stream in made.items():
        setattr(sys, name, stream)
    try:
        yield
    finally:
        for name, stream in made.items():
            setattr(sys, name, before[name])
            with suppress(OSError, ValueError):  # the reader of the output may have gone
                stream.flush()
            with suppress(OSError, ValueError):
                stream.detach()  # it would close what it was laid over


def _over(stream: TextIOWrapper) -> Visible:
    stream.flush()
    made = Visible(
        stream.buffer,
        encoding=stream.encoding,
        errors="replace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
    made.below = stream
    return made


def below(stream: Any) -> TextIO:
    """The stream without escapes, for bars that draw themselves; what was printed comes before."""
    stream.flush()
    return cast("TextIO", getattr(stream, "below", stream))


def put(text: str, styled: bool) -> None:
    """A line on standard output; control characters in it are our own if it is `styled`."""
    if styled and isinstance(sys.stdout, Visible):
        sys.stdout.styled(text + "\n")
    else:
        print(text)


def put_json(answer: Any) -> None:
    """An answer for programs: one JSON object on standard output."""
    import msgspec

    print(msgspec.json.encode(answer).decode())
