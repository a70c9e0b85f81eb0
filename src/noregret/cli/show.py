"""Tables for people."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from unicodedata import combining, east_asian_width

from noregret.cli.visible import put, visible
from noregret.run import Run
from noregret.summary import RUN_HEAD, at_least, at_most, counted, number, run_rows, share, title_of

LINES = 20  # lines shown of what was recognised

__all__ = [
    "at_least",
    "at_most",
    "counted",
    "number",
    "outward",
    "share",
    "show_lines",
    "show_run",
    "table",
    "title_of",
]


def table(rows: Sequence[Sequence[str]], head: Sequence[str] | None = None, title: str | None = None) -> None:
    """Aligned columns on standard output: words to the left, figures to the right."""
    lines = [[visible(cell, line=True) for cell in line] for line in (*([] if head is None else [head]), *rows)]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    bold, plain = ("\x1b[1m", "\x1b[0m") if _styled() else ("", "")
    if title is not None:
        print(visible(title, line=True))
    for place, line in enumerate(lines):
        cells = [_padded(cell, width, i == 0) for i, (cell, width) in enumerate(zip(line, widths, strict=True))]
        text = "  ".join(cells).rstrip()
        heading = head is not None and place == 0
        put(f"{bold}{text}{plain}" if heading else text, styled=heading)


def _styled() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


def _padded(text: str, width: int, left: bool) -> str:
    gap = " " * (width - _width(text))
    return text + gap if left else gap + text


def _width(text: str) -> int:
    """How many columns of a terminal a text takes: letters of East Asia two, marks over other letters none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def outward(lower: float, upper: float) -> str:
    """An interval in six figures that holds the whole of it.

    >>> outward(1.00000049, 2.0000001)
    '[1, 2.00001]'
    """
    return f"[{at_least(lower)}, {at_most(upper)}]"


def show_run(run: Run, title: str | None = None, task: str | None = None) -> None:
    """The table of one run."""
    rows = run_rows(run)
    told = [] if task is None else [("task", task, "")]
    table([*told, *rows], RUN_HEAD, title=title_of(run) if title is None else title)


def show_lines(lines: Sequence[str]) -> None:
    """Lines of their own under a table."""
    if lines:
        print()
    for line in lines[:LINES]:
        print(line)
    if len(lines) > LINES:
        print(f"and {len(lines) - LINES:,} more lines about other columns")
