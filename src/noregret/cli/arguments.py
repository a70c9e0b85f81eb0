"""Options that several commands take, each written once, and those that always come together as groups.

A group is a class whose annotated fields are options: a command takes a few objects, and the command line shows all
that they hold side by side. The options of learners are made from the settings that learners declare, without reading
a learner's file: one stands for a setting of one learner or of several, and its help says whose it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from noregret.learner import LEARNERS, settings_of
from noregret.learner.settings import Prepared, Sure, Tied
from noregret.setting import Setting, fields

if TYPE_CHECKING:
    from noregret.learner import Core
    from noregret.stream import Stream
    from noregret.stream.opening import Input


class Group:
    """Options that belong together, each an annotated field with its default."""

    @classmethod
    def options(cls) -> dict[str, tuple[Any, Any]]:
        """The annotation and the default of each option."""
        return {name: (kind, getattr(cls, name)) for name, kind in get_type_hints(cls, include_extras=True).items()}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Any:
        """The group with what was given."""
        made = cls()
        vars(made).update(given)
        return made


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command for the command line: the options of its groups as its own."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, tuple[type[Group], list[str]]] = {}
    flat: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        kind = hints[name]
        if isinstance(kind, type) and issubclass(kind, Group):
            options = kind.options()
            groups[name] = (kind, list(options))
            flat += [_parameter(each, annotation, default) for each, (annotation, default) in options.items()]
        else:
            flat.append(_parameter(name, kind, parameter.default))

    def flattened(**given: Any) -> None:
        made = {name: kind.of({each: given.pop(each) for each in own}) for name, (kind, own) in groups.items()}
        command(**given, **made)

    flattened.__name__, flattened.__doc__ = command.__name__, command.__doc__
    flattened.__annotations__ = {one.name: one.annotation for one in flat}
    flattened.__signature__ = Signature(flat)  # type: ignore[attr-defined]
    return flattened


def _parameter(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


STREAM_HELP = (
    "A file (svmlight, VW, CSV, JSON Lines, Parquet, Arrow, .npz; .gz .bz2 .xz .zst), a folder or a pattern in quotes"
    " ('logs/*.csv') for several files as one stream, s3://BUCKET/KEY, or - for standard input."
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
Interactions = Annotated[
    str | None,
    typer.Option(help="Pairs of columns such as a:b, separated by commas: each becomes features of both together."),
]
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
Cluster = Annotated[
    str | None,
    typer.Option(
        help="Work on shards: local:N (N processes on this machine) or HOST:PORT of a Ray cluster, or serial:N, one"
        " after another in this process. All give the same bits.",
        metavar="WHERE",
    ),
]
Gap = Annotated[
    float | None, typer.Option(help="How wide an interval may be, as a share of the comparator's loss (default 1e-4).")
]
Seconds = Annotated[
    float | None, typer.Option(help="Stop solving after this many seconds, with the interval proved by then.")
]
Surrogate = Annotated[
    str | None,
    typer.Option(
        help="Of a perceptron: compare its mistakes with this convex loss too (hinge, margin-hinge:ρ, exponential, …).",
        metavar="LOSS",
    ),
]
Scores = Annotated[
    bool | None,
    typer.Option(
        "--scores/--no-scores",
        help="Whether the receipt holds the score of every round (default: up to 100,000 rounds).",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no table and show no progress bar.")]


LISTS = ("text", "categorical", "numeric", "date", "keep", "interactions", "ignore")  # options that name columns
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
    interactions: Interactions = None
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

    def stream(self, path: str | Input, recipe: dict[str, Any], core: Core | None = None) -> Stream:
        """The stream, read by `recipe`; one that a learner goes on with has its features, which know their columns."""
        from noregret.stream import read

        beside = ("positive", "class_weight", *(LISTS[:-1] if core is not None else ()))
        how: dict[str, Any] = {
            key: recipe[key] or () if key in LISTS else recipe[key] for key in recipe if key not in beside
        }
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


class LearnerSettings(dict[str, Any], Group):
    """The settings of the learner: every one of every learner, None where nothing was said."""

    @classmethod
    def wanted(cls) -> dict[str, dict[str, Setting]]:
        """The settings, and what each learner that has one says of it."""
        return settings_by_name()

    @classmethod
    def options(cls) -> dict[str, tuple[Any, Any]]:
        wanted = cls.wanted()
        return {name: (Annotated[_kind(owners) | None, _option(name, owners)], None) for name, owners in wanted.items()}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> LearnerSettings:
        return cls(given)


COMMON = tuple(name for name in fields(Prepared) if name not in fields(Sure))


class CommonSettings(LearnerSettings):
    """How every learner takes its rows."""

    @classmethod
    def wanted(cls) -> dict[str, dict[str, Setting]]:
        return {name: owners for name, owners in settings_by_name().items() if name in COMMON}


def settings_by_name() -> dict[str, dict[str, Setting]]:
    """Every setting that a text can give, with what each learner that has it says of it: the most common ones first."""
    found: dict[str, dict[str, Setting]] = {}
    for learner in LEARNERS:
        for name, one in settings_of(learner).items():
            if one.kind is not object:
                found.setdefault(name, {})[learner] = one
    return dict(sorted(found.items(), key=lambda item: (item[0] in fields(Tied), -len(item[1]))))


def sentence(owners: Mapping[str, Setting]) -> str:
    """What a setting means, which learners have it, and with which default."""
    return Counter(one.about for one in owners.values()).most_common(1)[0][0] + _whose(owners)


def _kind(owners: Mapping[str, Setting]) -> type:
    """The type of an option: text, where learners read it in different ways."""
    kinds = {one.kind for one in owners.values()}
    return kinds.pop() if len(kinds) == 1 else str


def _option(name: str, owners: Mapping[str, Setting]) -> Any:
    if _kind(owners) is bool:
        return typer.Option(f"--{name.replace('_', '-')}", help=sentence(owners), show_default=False)
    return typer.Option(help=sentence(owners))


def _whose(owners: Mapping[str, Setting]) -> str:
    groups: dict[str, list[str]] = {}
    for learner, one in owners.items():
        shown = "" if one.default is None or one.kind is bool else _shown(one.default)
        groups.setdefault(shown, []).append(learner)
    if len(groups) == 1 and len(owners) > len(LEARNERS) / 2:
        (shown,) = groups
        return f" Default: {shown}." if shown else ""
    parts = [f"{', '.join(who)}{f' (default {shown})' if shown else ''}" for shown, who in groups.items()]
    return f" For {', '.join(parts)}."


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
