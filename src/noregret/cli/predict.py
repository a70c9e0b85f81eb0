"""`noregret predict`: what a saved model says of new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noregret.cli.arguments import Cache, Threads
from noregret.cli.signals import stop_code


def predict(
    model: Annotated[Path, typer.Argument(help="A model file written by learn --save.")],
    stream: Annotated[str, typer.Argument(help="The rows, in any format that learn reads; a label is not needed.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file instead of standard output (-).")
    ] = None,
    threads: Threads = None,
    cache: Cache = False,
) -> None:
    """Score new rows with a saved model: row, score and prediction as comma-separated text.

    Example: noregret predict spam.nr new.svm -o predictions.csv
    """
    from noregret import model as models
    from noregret.cli.interrupt import Interrupt
    from noregret.cli.options import check_writable
    from noregret.cli.predictions import Predictions, answers, named
    from noregret.cli.terminal import telling
    from noregret.errors import EmptyError
    from noregret.stream import read
    from noregret.stream.files import files_of
    from noregret.stream.opening import Input

    check_writable(stream, named(output))
    check_writable(str(model), named(output), what="the model")
    core, _ = models.load(model)
    file = None if files_of(stream) is not None else Input(stream)
    with Interrupt(file, gently=True) as interrupt:
        try:
            source = read(
                stream if file is None else file,
                label=core.options.get("label"),
                missing=core.options.get("missing") or "error",
                features=core.features,
                frozen=True,
                labels=False,
                threads=threads,
                cache=cache,
            )
        except EmptyError:
            if interrupt.asked:
                raise KeyboardInterrupt from None
            raise
        with answers(output) as (opened, at_once), telling("scoring", quiet=opened.isatty()) as tell:
            writer, done = Predictions(opened, core, labels=False, at_once=at_once), 0
            for block in interrupt.watched(source).blocks():
                writer.write(block, core.scores(block.rows, ahead=done))
                done += len(block)
                tell(f"{done:,} rows scored")
            if interrupt.asked and not interrupt.whole:
                raise KeyboardInterrupt  # a file of some of the rows would look like one of all
            writer.close()
    if interrupt.asked:
        raise typer.Exit(stop_code())
