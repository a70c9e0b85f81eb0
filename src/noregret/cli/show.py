"""Tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from noregret.run import Run
from noregret.summary import at_least, at_most, counted, number, run_rows, share, title_of

__all__ = ["at_least", "at_most", "counted", "number", "share", "show_run", "table", "title_of"]


def table(rows: Sequence[Sequence[str]], head: Sequence[str] | None = None, title: str | None = None) -> None:
    """Aligned columns on standard output: words to the left, figures to the right."""
    from rich.console import Console
    from rich.table import Table

    grid = Table(box=None, show_header=head is not None, title=title, title_justify="left", pad_edge=False)
    for i in range(len(rows[0])):
        grid.add_column(head[i] if head else "", justify="left" if i == 0 else "right", no_wrap=True)
    for row in rows:
        grid.add_row(*row)
    console = Console(highlight=False, soft_wrap=True)
    console.width = max(console.width, 1000)  # better a line that the terminal breaks than a figure cut off
    console.print(grid)


def show_run(run: Run, told: str = "") -> None:
    """The table of one run."""
    table(run_rows(run), ("", "total", "a round"), title=title_of(run) + told)
