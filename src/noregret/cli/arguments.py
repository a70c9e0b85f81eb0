"""Arguments that several commands take, each written once, and those that always come together as groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.groups import Group

if TYPE_CHECKING:
    from noregret.learner import Core
    from noregret.stream import Stream

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


LISTS = ("text", "categorical", "numeric", "date", "keep", "ignore")  # options that name columns
SAID = ("label", "positive", *LISTS, "hash_bits", "missing")  # what is kept with a model of how its rows were read


class Columns(Group):
    """What the columns of a table hold."""

    label: Label = None
    text: Text = None
    categorical: Categorical = None
    numeric: Numeric = None
    date: Date = None
    keep: Keep = None
    ignore: Ignore = None
    hash_bits: HashBits = None

    def said(self) -> dict[str, Any]:
        """All of it, columns as lists: None where nothing was said."""
        from noregret.cli.options import names

        given = {key: getattr(self, key) for key in SAID if hasattr(self, key)}
        return {key: list(names(value)) or None if key in LISTS else value for key, value in given.items()}

    def recipe(self) -> dict[str, Any]:
        """All of it, with defaults, as `read` takes it."""
        from noregret.cli.options import with_defaults

        return {key: value or () if key in LISTS else value for key, value in with_defaults(self.said()).items()}


class Rows(Columns):
    """How the rows of a stream are read, and which label is +1."""

    positive: Positive = None
    missing: Missing = None

    def recipe(self) -> dict[str, Any]:
        return {key: value for key, value in super().recipe().items() if key != "positive"}


class Reading(Rows):
    """How a stream is read."""

    threads: Threads = None
    cache: Cache = False

    def stream(self, path: str, kept: dict[str, Any], core: Core | None = None) -> Stream:
        """The stream, read as is `kept`; one that a learner goes on with has its features, which know their columns."""
        from noregret.stream import read

        beside = ("positive", "class_weight", *(LISTS[:-1] if core is not None else ()))
        how: dict[str, Any] = {key: kept[key] or () if key in LISTS else kept[key] for key in kept if key not in beside}
        features = None if core is None else core.features
        return read(path, **how, features=features, threads=self.threads, cache=self.cache)


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
