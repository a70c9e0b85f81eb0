"""`noregret report`: receipts, proofs and models as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Receipts, proofs and model files; a model is shown with the receipt of its run.", metavar="FILE..."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.", metavar="FILE.html")] = Path(
        "report.html"
    ),
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Write one self-contained page: what the results mean, figures, pictures, theorems, and how to verify them.

    Example: noregret report receipt.json spam.nr -o report.html
    """
    from noregret.cli.options import check_writable
    from noregret.reporting import report as made

    for file in files:
        check_writable(str(file), output, what="a file of the report")
    text = made(*files, output=output)
    if not quiet:
        print(f"{output}: {len(text.encode()) / 1000:,.0f} KB")
