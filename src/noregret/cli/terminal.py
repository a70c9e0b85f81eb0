"""What reaches the terminal: control characters of names are shown escaped, and a progress bar only where one is.

Output goes through a stream that escapes, whatever is printed by whom; only our own styling, and bars that draw
themselves, write past it. The escapes are those of JSON, so that JSON which is printed keeps its meaning.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO, cast

if TYPE_CHECKING:
    from noregret.learner import Core
    from noregret.stream import Stream


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


@contextmanager
def telling(first: str, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """A line on a terminal that says what is being done, and can be changed; silent in a pipe."""
    if quiet or not sys.stderr.isatty():
        yield lambda said: None
        return
    from rich.console import Console

    with Console(file=below(sys.stderr)).status(first) as status:
        yield lambda said: status.update(visible(said))


class Bar:
    """What is being done, and how far it is, on a terminal's stderr; nothing in a pipe."""

    def __init__(self, quiet: bool) -> None:
        self._bar: Any = None
        self.wanted = not quiet and sys.stderr.isatty()

    def __enter__(self) -> Self:
        if self.wanted:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            words = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[figures]}"))
            columns = (SpinnerColumn(), *words, TimeElapsedColumn())
            self._bar = Progress(*columns, console=Console(file=below(sys.stderr)), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("starting", total=None, figures="")
        return self

    def show(self, what: str, fraction: float | None, figures: str = "") -> None:
        """What is being done now, and how much of it is done, if that is known."""
        if self._bar is not None:
            total = None if fraction is None else 1.0
            how_far = {"total": total, "completed": fraction or 0.0}
            self._bar.update(self._task, description=visible(what), figures=figures, **how_far)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


class Progress(Bar):
    """Rounds per second and the mean loss so far, while a learner plays."""

    def __init__(self, stream: Stream, core: Core, quiet: bool, once: bool) -> None:
        super().__init__(quiet)
        self._stream = stream
        self._core = core
        self._once = once
        self._began, self._before = time.perf_counter(), core.rounds

    def update(self) -> None:
        """After a block: how far, how fast, at what loss."""
        if self.wanted:
            rounds = self._core.rounds
            speed = (rounds - self._before) / max(time.perf_counter() - self._began, 1e-9)
            mean = float(self._core.state["loss"][0]) / max(rounds, 1)
            fraction = self._stream.fraction() if self._once else None
            self.show("learning", fraction, f"{rounds:,} rounds  {speed:,.0f}/s  mean loss {mean:.4f}")
