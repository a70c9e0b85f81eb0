"""`noregret warmup`: compile everything once."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from noregret.cli.arguments import Quiet
from noregret.cli.visible import below


def warmup(
    only: Annotated[
        str | None, typer.Option(help="Only the parts whose name holds this text, for example hinge.", metavar="TEXT")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Compile everything once and keep it on disk, so that no later command waits for the compiler.

    Example: noregret warmup
    """
    from contextlib import ExitStack

    from noregret._kernel.keeping import package_folder
    from noregret.cli.show import table
    from noregret.errors import SettingError
    from noregret.warming import jobs, warm

    parts = {name: job for name, job in jobs().items() if only is None or only in name}
    if not parts:
        raise SettingError(f"warmup: no part's name holds {only!r}; there are {', '.join(jobs())}")
    with ExitStack() as stack:
        bar = None
        if not quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

            columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
            bar = stack.enter_context(Progress(*columns, console=Console(file=below(sys.stderr)), transient=True))
            task = bar.add_task("compiling", total=len(parts))

        def told(name: str) -> None:
            if bar is not None:
                bar.update(task, description=f"compiling: {name}")

        took = []
        for found in warm(parts, told):
            took.append(found)
            if bar is not None:
                bar.advance(task)
    if quiet:
        return
    rows = [(name, f"{seconds:.2f} s") for name, seconds in took]
    table([*rows, ("all", f"{sum(seconds for _, seconds in took):.2f} s")])
    folder = package_folder()
    print(f"\nKept in {folder}" if folder is not None else "\nNothing could be kept: no folder can be written")
