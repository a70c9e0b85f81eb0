"""Where a stop is shown: words, pictures drawn in place on a terminal, a key to continue; in a pipe all at once."""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Iterable, Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

WIDTH = 78
LOOK = 0.2  # seconds between two looks at the keyboard
READING = 2.5  # seconds that a screen stays when the tour goes on by itself


class Stage:
    """`auto`: nobody presses a key; `moving`: pictures are drawn in place, which only a terminal can show."""

    def __init__(self, auto: bool) -> None:
        plain = getattr(sys.stdout, "below", sys.stdout)  # past what shows control characters: these are our own
        self.console = Console(highlight=False, file=plain)
        self.console.width = min(self.console.width, WIDTH + 2)
        self.auto = auto or not sys.stdin.isatty()
        self.moving = self.console.is_terminal

    def begin(self, title: str) -> None:
        """An empty screen with a title."""
        if self.moving:
            self.console.clear()
        self.console.print(Text(title, style="bold"))

    def say(self, *sentences: str, style: str = "") -> None:
        """A paragraph."""
        self.console.print(Text(" ".join(sentences), style=style))

    def scene(self, frames: Iterable[Sequence[Text]], seconds: float) -> None:
        """Pictures one after another in one place; in a pipe only the last."""
        if not self.moving:
            *_, last = frames
            self.console.print(Group(*last))
            return
        with Live(console=self.console, auto_refresh=False, vertical_overflow="crop") as live:
            for frame in frames:
                live.update(Group(*frame), refresh=True)
                time.sleep(seconds)

    def ask(self, question: str, allowed: Sequence[str]) -> str | None:
        """An answer from the person at the terminal; None when nobody is there."""
        if self.auto:
            return None
        while True:
            self.console.print(Text(f"{question} ({' or '.join(allowed)}) ", style="bold"), end="")
            line = self._line()
            if line is None or line in allowed:
                return line

    def wait(self) -> None:
        """Until Enter is pressed."""
        if self.auto:
            if self.moving:
                time.sleep(READING)
            return
        self.console.print(Text("Press Enter to continue, Ctrl-C to quit ", style="dim"), end="")
        self._line()

    def _line(self) -> str | None:
        """What was typed; once the input has ended the tour goes on by itself."""
        while not select.select([sys.stdin], [], [], LOOK)[0]:  # a Ctrl-C that came just before the wait ends it too
            pass
        line = sys.stdin.readline()
        if not line:
            self.auto = True
            return None
        return line.strip()
