"""A progress bar on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from noregret.cli.visible import below, visible

if TYPE_CHECKING:
    from noregret.learner import Core
    from noregret.stream import Stream


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
