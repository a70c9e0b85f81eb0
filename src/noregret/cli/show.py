"""Tables for people."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from unicodedata import combining, east_asian_width

from noregret.run import Run
from noregret.summary import at_least, at_most, counted, number, run_rows, share, title_of

DECISIONS = 20  # lines shown of what was recognised

__all__ = ["at_least", "at_most", "counted", "number", "share", "show_decisions", "show_run", "table", "title_of"]


def table(rows: Sequence[Sequence[str]], head: Sequence[str] | None = None, title: str | None = None) -> None:
    """Aligned columns on standard output: words to the left, figures to the right."""
    lines = [*([] if head is None else [head]), *rows]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    bold, plain = ("\x1b[1m", "\x1b[0m") if _styled() else ("", "")
    if title is not None:
        print(title)
    for line in lines:
        cells = [_padded(cell, width, i == 0) for i, (cell, width) in enumerate(zip(line, widths, strict=True))]
        text = "  ".join(cells).rstrip()
        print(f"{bold}{text}{plain}" if line is head else text)


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


def show_run(run: Run, told: str = "") -> None:
    """The table of one run."""
    table(run_rows(run), ("", "total", "a round"), title=title_of(run) + told)


def show_decisions(decisions: Sequence[str]) -> None:
    """The lines about what was recognised in the columns of a table."""
    for line in decisions[:DECISIONS]:
        print(line)
    if len(decisions) > DECISIONS:
        print(f"and {len(decisions) - DECISIONS:,} lines more, on other columns")
