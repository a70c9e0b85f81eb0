"""Drawing with characters: a canvas of cells, bars, and small curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.text import Text

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
