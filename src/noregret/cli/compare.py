"""`noregret compare`: several learners on the same rounds."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from noregret.cli.arguments import (
    Cache,
    Categorical,
    Date,
    Gap,
    HashBits,
    Ignore,
    Json,
    Keep,
    Label,
    Missing,
    Numeric,
    Passes,
    Positive,
    Quiet,
    Scale,
    Seconds,
    Shuffle,
    StreamFile,
    TaskName,
    Text,
    Threads,
)
from noregret.cli.visible import below, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from noregret.comparison import Comparison, Contender
    from noregret.learner import Core


WHOLE = ("degree", "budget", "seed")  # settings of a SPEC that are whole numbers
REAL = ("radius", "sigma", "ridge", "coef0", "gamma", "aggressiveness", "beta", "l1", "l2", "gradient_bound", "wealth")


def compare(
    stream: StreamFile,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            help="A learner with its settings, once for each: perceptron, ogd:loss=logistic,radius=5,rate=sqrt:0.5"
            " (default: a line-up for the task, sorted).",
            metavar="SPEC",
        ),
    ] = None,
    task: TaskName = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Solve for the best models in hindsight; show regrets and theorems.")
    ] = False,
    radius: Annotated[
        float | None,
        typer.Option(help="The radius of learners whose SPEC gives none, and of the perceptron's comparator."),
    ] = None,
    bias: Annotated[bool, typer.Option("--bias", help="Append a constant 1 to every row.")] = False,
    unit_norm: Annotated[bool, typer.Option("--unit-norm", help="Scale every row to norm 1.")] = False,
    scale: Scale = None,
    passes: Passes = 1,
    shuffle: Shuffle = None,
    label: Label = None,
    positive: Positive = None,
    text: Text = None,
    categorical: Categorical = None,
    numeric: Numeric = None,
    date: Date = None,
    keep: Keep = None,
    ignore: Ignore = None,
    hash_bits: HashBits = None,
    missing: Missing = None,
    threads: Threads = None,
    cache: Cache = False,
    gap: Gap = None,
    seconds: Seconds = None,
    confidence: Annotated[
        float, typer.Option(help="Confidence of the intervals for differences between learners.")
    ] = 0.95,
    plot: Annotated[Path | None, typer.Option(help="Draw the curves so far to this file (.png, .svg, .pdf).")] = None,
    picture: Annotated[
        str | None, typer.Option(help="What --plot draws: overview (default), error or risk.", metavar="KIND")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run several learners on the same rows and compare their mistakes, losses, regrets and bounds.

    Examples:

    noregret compare spam.svm

    noregret compare spam.svm --learner perceptron --learner ogd:loss=logistic,radius=5 --certify

    noregret compare clicks.csv --label clicked --learner ogd --learner ogd-strong:sigma=0.01 --plot curves.svg
    """
    from noregret.cli.drawing import asked_kind, draw
    from noregret.cli.naming import naming_options
    from noregret.cli.options import check_writable, names
    from noregret.comparison import compare as play_all
    from noregret.stream import read

    check_writable(stream, plot)
    kind = asked_kind(plot, picture, ("overview", "error", "risk"))
    common = {"bias": bias or None, "unit_norm": unit_norm or None, "scale": scale}
    _check_asked(learner, {**common, "radius": radius}, {"gap": gap, "seconds": seconds}, certify)
    cores = None if learner is None else _learners(learner, radius, common, positive)
    source = read(
        stream,
        label=label,
        text=names(text),
        categorical=names(categorical),
        numeric=names(numeric),
        date=names(date),
        keep=names(keep),
        ignore=names(ignore),
        hash_bits=18 if hash_bits is None else hash_bits,
        missing=missing or "error",
        threads=threads,
        cache=cache,
    )
    with naming_options(), Bar(quiet or json) as bar:
        comparison = play_all(
            source,
            cores,
            task=task,
            positive=positive if learner is None else None,
            certify=certify,
            passes=passes,
            shuffle=shuffle,
            radius=radius,
            gap=1e-4 if gap is None else gap,
            seconds=float("inf") if seconds is None else seconds,
            confidence=confidence,
            watch=bar.show,
        )
    draw(comparison, kind=kind, to=plot)
    columns = {
        "text": text,
        "categorical": categorical,
        "numeric": numeric,
        "date": date,
        "keep": keep,
        "ignore": ignore,
    }
    reading: dict[str, Any] = {"label": label, "positive": positive, "hash_bits": hash_bits, "missing": missing}
    reading |= {key: names(given) for key, given in columns.items()}
    command = _command(
        stream, {**reading, "task": task, "passes": None if passes == 1 else passes}, comparison, shuffle
    )
    if json:
        import msgspec

        print(msgspec.json.encode({**comparison.to_dict(), "command": command}).decode())
    elif not quiet:
        from noregret.cli.show import show_lines

        _show(comparison)
        show_lines(source.decisions)
        print(f"to run only the best: {command}")
    _leave_if_broken(comparison)


def _check_asked(
    learner: list[str] | None, common: dict[str, Any], solving: dict[str, float | None], certify: bool
) -> None:
    """What belongs to named learners, or to --certify, is refused without them."""
    from noregret.cli.options import flag
    from noregret.errors import SettingError

    for key, value in solving.items():
        if value is not None and not certify:
            raise SettingError(f"{flag(key)} needs --certify")
    for key, value in common.items():
        if value is not None and learner is None:
            raise SettingError(f"{flag(key)} needs --learner: the default line-up has its own settings")


def _command(stream: str, reading: dict[str, Any], comparison: Comparison, shuffle: int | None) -> str:
    """`learn` with the best learner, its settings, and the options by which the stream was read."""
    from noregret.cli.notes import command_of

    best = comparison.best
    name, _, rest = best.spec.partition(":")
    own = dict(part.split("=", 1) for part in rest.split(",")) if rest else {}
    own = {key.strip().replace("-", "_"): value.strip() for key, value in own.items()}
    given = {key: value for key, value in reading.items() if value not in (None, ())}
    radius = best.run.learner.settings.get("radius")
    if radius is not None and "radius" not in own and radius != 10.0 and math.isfinite(float(radius)):
        own["radius"] = f"{float(radius):g}"
    said = command_of(stream, {**given, "learner": name, **own, "shuffle": shuffle})
    settings = best.run.learner.settings
    flags = [f"--{key.replace('_', '-')}" for key in ("bias", "unit_norm") if settings.get(key)]
    scale = settings.get("scale")
    return " ".join(["noregret", said, *([f"--scale {scale}"] if scale else []), *flags])


def _leave_if_broken(comparison: Comparison) -> None:
    """A theorem that breaks is a bug alarm."""
    broken = [f"{name} ({one.spec})" for one in comparison.contenders for name in one.broken]
    if broken:
        said = f"broken: {', '.join(broken)}: every assumption holds and the bound is exceeded"
        print(f"noregret: {said}; this is a bug, please report it with the stream", file=sys.stderr)
        raise typer.Exit(1)


def _learners(specs: list[str], radius: float | None, common: dict[str, Any], positive: str | None) -> dict[str, Core]:
    """The learners by the text that asked for each."""
    from noregret.cli.options import positive_label
    from noregret.errors import SettingError

    found: dict[str, Core] = {}
    for spec in specs:
        if spec in found:
            raise SettingError(f"--learner {spec} is given twice")
        found[spec] = core = parse(spec, radius, common)
        if positive is not None:
            core.labels = positive_label(core, positive)
    return found


def parse(spec: str, radius: float | None, common: dict[str, Any]) -> Core:
    """A learner from `name:key=value,key=value`; `radius` is that of a spec without one.

    >>> parse("ogd:loss=logistic,rate=sqrt:0.5", 5.0, {"bias": True}).settings["rate"]
    'sqrt:0.5'
    """
    from noregret.cli.options import COMMON, flag, make_learner, own_settings
    from noregret.errors import SettingError
    from noregret.learner import LEARNERS

    name, colon, rest = spec.partition(":")
    if name not in LEARNERS:
        make_learner(name, {})  # which says what there is
    own = own_settings(name)
    given: dict[str, Any] = {}
    for part in rest.split(",") if colon else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        key = key.replace("-", "_")
        if key in COMMON:
            raise SettingError(f"--learner {spec}: {flag(key)} applies to all learners, so it cannot be part of a SPEC")
        if not (equals and value) or key in given:
            raise SettingError(f"--learner {spec}: expected key=value, each key once, got {part!r}")
        if key not in own:
            raise SettingError(f"--learner {spec}: {name} has {', '.join(own)}, not {key!r}")
        given[key] = _number(spec, key, value) if key in WHOLE + REAL else value
    if "radius" in own:
        given.setdefault("radius", radius)
    return make_learner(name, {**given, **common})


def _number(spec: str, key: str, value: str) -> float:
    from noregret.errors import SettingError

    try:
        return int(value) if key in WHOLE else float(value)
    except ValueError:
        kind = "a whole number" if key in WHOLE else "a number"
        raise SettingError(f"--learner {spec}: {key} must be {kind}, got {value!r}") from None


def _show(comparison: Comparison) -> None:
    from noregret.cli.show import number

    first = comparison.contenders[0].run
    print(f"{number(first.rounds)} rounds of {number(first.features)} features, identical for every learner")
    if comparison.recognised is not None:
        task = comparison.recognised.task
        print(f"task: {task.words}; default line-up, each learner with a bias and scaled rows, best first")
    errors = "mean absolute error" if first.mistakes is None else "mistakes"
    solved = ("regret", "bound", "slack") if comparison.certified else ()
    head = ("", errors, "loss", "per row", *solved, "seconds")
    aligned([*(_row(one, comparison.certified) for one in comparison.contenders), *_baselines(comparison)], head)
    for one in comparison.contenders if comparison.certified else ():
        print(_told(one))
    if comparison.left_out:
        print(f"left out: {'; '.join(f'{name} ({reason})' for name, reason in comparison.left_out)}")
    if comparison.differences:
        print()
        rows = [
            (f"{one.a} − {one.b}", one.figure, number(one.mean), outward(one.lower, one.upper))
            for one in comparison.differences
        ]
        aligned(rows, ("difference", "of the", "mean", f"{comparison.confidence:.4g} confidence"))
        print(f"if {comparison.differences[0].assumption}")


def _row(one: Contender, certified: bool) -> tuple[str, ...]:
    from noregret.cli.show import number

    run, bound, slack = one.run, "–", "–"
    if one.bound is not None and one.bound.bound is not None and one.bound.observed is not None:
        bound = _shown(one.bound.bound, up=True) + (" mistakes" if one.bounds_mistakes else "")
        slack = number(one.bound.bound - one.bound.observed)
    found = ("–" if one.regret is None else outward(one.regret.lo, one.regret.hi), bound, slack)
    return (
        one.spec,
        number(run.metrics["mae"]) if run.mistakes is None else _mistakes(run.mistakes, run.rounds),
        f"{number(run.loss)} ({run.learner.loss.spec})",
        number(run.sequential_risk),
        *(found if certified else ()),
        f"{run.seconds:.3f}",
    )


def _mistakes(mistakes: float | None, rounds: int) -> str:
    from noregret.cli.show import number, share

    return "–" if mistakes is None else f"{number(mistakes)} ({share(mistakes, rounds)})"


def _told(one: Contender) -> str:
    """Whom the regret is against, in which loss, and by which theorem the bound stands."""
    said = "no regret: needs a radius"
    if one.hindsight is not None:
        whom = "any u" if math.isinf(one.hindsight.radius) else f"‖u‖ ≤ {one.hindsight.radius:g}"
        late = "" if one.hindsight.finished else " (time ran out: not fully solved)"
        said = f"regret in the {one.loss} loss against {whom}{late}"
    return f"{one.spec}: {said}; bound: {one.bound.theorem if one.bound else 'none that is useful'}"


def _baselines(comparison: Comparison) -> list[tuple[str, ...]]:
    """The two rules without features as rows of the table."""
    from noregret.cli.show import number
    from noregret.summary import BASELINES

    first = comparison.contenders[0].run
    blank = ("",) * (4 if comparison.certified else 1)
    rows: list[tuple[str, ...]] = []
    for key, value in comparison.baselines.items():
        name = BASELINES[key]
        if first.mistakes is None:
            loss = f"{number(value)} ({first.learner.loss.spec})"
            error = number(value / first.rounds) if first.learner.loss.name == "absolute" else "–"
            rows.append((name, error, loss, number(value / first.rounds), *blank))
        else:
            rows.append((name, _mistakes(value, first.rounds), "", "", *blank))
    return rows


def aligned(rows: Sequence[tuple[str, ...]], head: tuple[str, ...]) -> None:
    """Columns on standard output, the first to the left, the others to the right; however wide, nothing is cut off."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        print("  ".join([row[0].ljust(widths[0]), *cells[1:]]).rstrip())


def outward(lower: float, upper: float) -> str:
    """An interval in six figures that holds the whole of it.

    >>> outward(1.00000049, 2.0000001)
    '[1, 2.00001]'
    """
    return f"[{_shown(lower, up=False)}, {_shown(upper, up=True)}]"


def _shown(value: float, up: bool) -> str:
    """Six figures, rounded up or down."""
    from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

    from noregret.cli.show import number

    if value == 0.0 or not math.isfinite(value):
        return number(value)
    exact = Decimal(value)
    step = Decimal(1).scaleb(min(exact.adjusted() - 5, 0))
    return number(float(exact.quantize(step, rounding=ROUND_CEILING if up else ROUND_FLOOR)))


class Bar:
    """What is being done, and how far it is, on a terminal's stderr; nothing in a pipe."""

    def __init__(self, quiet: bool) -> None:
        self._bar: Any = None
        self._wanted = not quiet and sys.stderr.isatty()

    def __enter__(self) -> Self:
        if self._wanted:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=Console(file=below(sys.stderr)), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("starting", total=None)
        return self

    def show(self, what: str, fraction: float | None) -> None:
        if self._bar is not None:
            total = None if fraction is None else 1.0
            self._bar.update(self._task, description=visible(what), total=total, completed=fraction or 0.0)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
