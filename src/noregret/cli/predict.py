"""`noregret predict`: what a saved model says of new rows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from noregret.cli.arguments import Cache, Threads


def predict(
    model: Annotated[Path, typer.Argument(help="A model file written by learn --save.")],
    stream: Annotated[str, typer.Argument(help="The rows, in any format that learn reads; a label is not needed.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file instead of standard output.")
    ] = None,
    threads: Threads = None,
    cache: Cache = False,
) -> None:
    """Score new rows with a saved model: row, score and prediction as comma-separated text.

    Example: noregret predict spam.nr new.svm -o predictions.csv
    """
    from noregret import model as models
    from noregret.atomic import whole_file
    from noregret.cli.options import check_writable
    from noregret.cli.predictions import Predictions
    from noregret.cli.terminal import telling
    from noregret.learner import Core
    from noregret.stream import Stream, read

    check_writable(stream, output)
    check_writable(str(model), output, what="the model")
    core, _ = models.load(model)
    source = read(
        stream,
        label=core.options.get("label"),
        missing=core.options.get("missing") or "error",
        features=core.features,
        frozen=True,
        labels=False,
        threads=threads,
        cache=cache,
    )

    def write(file: object, core: Core, source: Stream, tell: Callable[[str], None]) -> None:
        writer = Predictions(file, core, labels=False)  # type: ignore[arg-type]
        done = 0
        for block in source.blocks():
            writer.write(block, core.scores(block.rows, ahead=done))
            done += len(block)
            tell(f"{done:,} rows scored")
        writer.close()

    to_terminal = output is None and sys.stdout.isatty()  # where the rows themselves are seen
    with telling("scoring", quiet=to_terminal) as tell:
        if output is None:
            write(sys.stdout.buffer, core, source, tell)
        else:
            with whole_file(output) as file:
                write(file, core, source, tell)
