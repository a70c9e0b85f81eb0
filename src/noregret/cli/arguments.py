"""Arguments that several commands take, each written once."""

from __future__ import annotations

from typing import Annotated

import typer

STREAM_HELP = (
    "A file (svmlight, VW, CSV, JSON Lines, Parquet, Arrow, .npz; .gz .bz2 .xz .zst), or - for standard input."
)

StreamFile = Annotated[str, typer.Argument(help=STREAM_HELP, metavar="STREAM")]
Label = Annotated[
    str | None,
    typer.Option(help="The column that holds the label (default: label, target, class, outcome or y)."),
]
TaskName = Annotated[
    str | None,
    typer.Option(
        "--task",
        help="binary, multiclass or regression (default: recognised from the first 1,000 rows).",
        metavar="TASK",
    ),
]
Positive = Annotated[str | None, typer.Option(help="Which of the two labels is +1.")]
Text = Annotated[str | None, typer.Option(help="Columns of free text, separated by commas: hashed by word.")]
Categorical = Annotated[str | None, typer.Option(help="Columns to hash by value, separated by commas.")]
Numeric = Annotated[
    str | None, typer.Option(help="Columns of numbers, separated by commas: also written as $1,234.50 or 3,5 %.")
]
Date = Annotated[
    str | None,
    typer.Option(help="Columns of dates, separated by commas: days since the first row, weekday and hour."),
]
Keep = Annotated[
    str | None,
    typer.Option(help="Columns to keep, separated by commas, though they differ in nearly every row."),
]
Ignore = Annotated[str | None, typer.Option(help="Columns to leave out, separated by commas.")]
HashBits = Annotated[int | None, typer.Option(help="Hashed columns share 2^B features (default 18).", metavar="B")]
Missing = Annotated[
    str | None, typer.Option(help="What to do with a missing value: error (default), zero, mean or skip.")
]
Cache = Annotated[
    bool,
    typer.Option(
        "--cache", help="Keep the parsed rows beside the file, as FILE.nrcache, and read them from there next time."
    ),
]
Threads = Annotated[
    int | None, typer.Option(help="How many threads parse text (default: as many as there are cores).", metavar="N")
]
Scale = Annotated[str | None, typer.Option(help="max: divide each feature by its largest size so far.")]
Passes = Annotated[int, typer.Option(help="How many times to go over the stream.")]
Shuffle = Annotated[
    int | None, typer.Option(help="Seed of a full permutation of the rows, a new one each pass.", metavar="SEED")
]
Gap = Annotated[
    float | None, typer.Option(help="How wide an interval may be, as a share of the comparator's loss (default 1e-4).")
]
Seconds = Annotated[float | None, typer.Option(help="Stop solving after so long, with the interval proved by then.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no table and show no progress bar.")]
