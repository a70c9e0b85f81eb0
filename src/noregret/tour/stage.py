"""Where a stop is shown: words, pictures drawn in place on a terminal, a key to continue; in a pipe all at once."""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

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


STEPS = " ▁▂▃▄▅▆▇█"
EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass
class Canvas:
    """Cells that show the rectangle [x0, x1] × [y0, y1]; what is put last is on top."""

    width: int
    height: int
    x: tuple[float, float]
    y: tuple[float, float]
    cells: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)

    def put(self, x: float, y: float, mark: str, style: str = "", under: bool = False) -> None:
        """A mark at a place, nothing outside; `under` leaves a cell that is taken as it is."""
        column, row = self.cell(x, y)
        if 0 <= column < self.width and 0 <= row < self.height and not (under and (row, column) in self.cells):
            self.cells[row, column] = (mark, style)

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """Column and row of a place."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return int(across * (self.width - 1) + 0.5), self.height - 1 - int(up * (self.height - 1) + 0.5)

    def line(self, normal: Sequence[float], mark: str, style: str = "") -> None:
        """The line ⟨normal, (x, y)⟩ = 0, under what is there."""
        a, b = normal
        for k in range(4 * self.width + 1):
            part = k / (4 * self.width)
            if abs(b) > abs(a):
                x = self.x[0] + part * (self.x[1] - self.x[0])
                self.put(x, -a * x / b, mark, style, under=True)
            elif a:
                y = self.y[0] + part * (self.y[1] - self.y[0])
                self.put(-b * y / a, y, mark, style, under=True)

    def lines(self) -> list[Text]:
        """The rows from top to bottom."""
        found = []
        for row in range(self.height):
            text = Text()
            for column in range(self.width):
                mark, style = self.cells.get((row, column), (" ", ""))
                text.append(mark, style=style)
            text.rstrip()
            found.append(text)
        return found


def bar(part: float, width: int) -> str:
    """A bar of a part of a width, to an eighth of a character.

    >>> bar(0.5, 4), bar(0.28, 4)
    ('██', '█▏')
    """
    eighths = round(min(max(part, 0.0), 1.0) * width * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (EIGHTHS[rest] if rest else "")


def spark(parts: Sequence[float], width: int) -> str:
    """Parts of 1 as a row of small columns.

    >>> spark([0.0, 0.5, 1.0], 3)
    ' ▄█'
    """
    many = min(width, len(parts))
    places = [int((k + 0.5) * len(parts) / many) for k in range(many)]
    return "".join(STEPS[round(min(max(parts[at], 0.0), 1.0) * 8)] for at in places)
