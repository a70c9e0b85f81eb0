"""Arguments that several commands take, each written once, and those that always come together as groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.groups import Group

if TYPE_CHECKING:
    from noregret.learner import Core
    from noregret.stream import Stream

STREAM_HELP = "A file (svmlight, VW, CSV, Parquet, Arrow, .npz; .gz .bz2 .xz .zst), or - for standard input."

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
COLUMNS = ("text", "categorical", "numeric", "date", "keep")  # options that name columns by what they hold


class Reading(Group):
    """How a stream is read."""

    label: Label = None
    positive: Positive = None
    text: Text = None
    categorical: Categorical = None
    numeric: Numeric = None
    date: Date = None
    keep: Keep = None
    ignore: Ignore = None
    hash_bits: HashBits = None
    missing: Missing = None
    threads: Threads = None
    cache: Cache = False

    def recipe(self) -> dict[str, Any]:
        """What was said, for the model file and for the command that comes next: None where nothing was."""
        from noregret.cli.options import names

        lists = {key: list(names(getattr(self, key))) or None for key in (*COLUMNS, "ignore")}
        told = {"label": self.label, "positive": self.positive, **lists}
        return {**told, "hash_bits": self.hash_bits, "missing": self.missing}

    def stream(self, path: str, recipe: dict[str, Any], core: Core | None = None) -> Stream:
        """The stream, read by a recipe; one that a learner goes on with has its features, which know their columns."""
        from noregret.stream import read

        columns: dict[str, Any] = {key: recipe[key] or () for key in COLUMNS} if core is None else {}
        return read(
            path,
            label=recipe["label"],
            **columns,
            ignore=recipe["ignore"] or (),
            hash_bits=recipe["hash_bits"],
            missing=recipe["missing"],
            features=None if core is None else core.features,
            threads=self.threads,
            cache=self.cache,
        )


class Playing(Group):
    """In which order the rows are played."""

    passes: Passes = 1
    shuffle: Shuffle = None


class Solving(Group):
    """How exactly hindsight is solved for."""

    gap: Gap = None
    seconds: Seconds = None


class Shown(Group):
    """What is printed."""

    json: Json = False
    quiet: Quiet = False

    @property
    def silent(self) -> bool:
        """Whether no progress is shown."""
        return self.quiet or self.json
