"""A progress bar on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from noregret.cli.visible import below, visible
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


class Progress:
    """Rounds per second and the mean loss so far on stderr, while the block runs."""

    def __init__(self, stream: Stream, core: Core, quiet: bool, once: bool) -> None:
        self._stream = stream
        self._core = core
        self._once = once
        self._bar: Any = None
        self._wanted = not quiet and sys.stderr.isatty()

    def __enter__(self) -> Self:
        if self._wanted:
            from rich.console import Console
            from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[figures]}"),
                TimeRemainingColumn(),
                console=Console(file=below(sys.stderr)),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task("starting", total=None, figures="")
            self._began = time.perf_counter()
            self._before = self._core.rounds
        return self

    def update(self) -> None:
        """After a block: how far, how fast, at what loss."""
        if self._bar is None:
            return
        state, fraction = self._core.state, self._stream.fraction()
        rounds = self._core.rounds
        speed = (rounds - self._before) / max(time.perf_counter() - self._began, 1e-9)
        mean = float(state["loss"][0]) / max(rounds, 1)
        known = fraction is not None and self._once
        self._bar.update(
            self._task,
            description="learning",
            total=1.0 if known else None,
            completed=fraction if known else rounds,
            figures=f"{rounds:,} rounds  {speed:,.0f}/s  mean loss {mean:.4f}",
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
