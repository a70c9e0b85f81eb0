"""`noregret compare`: several learners on the same rounds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.arguments import (
    COMMON,
    CommonSettings,
    Group,
    Playing,
    Reading,
    Shown,
    Solving,
    StreamFile,
    TaskName,
    grouped,
)
from noregret.cli.terminal import put_json

if TYPE_CHECKING:
    from noregret.learner import Core
    from noregret.stream import Stream
    from noregret.task.compare import Comparison, Contender


class Contenders(Group):
    """Which learners play, and what they are compared by."""

    learner: Annotated[
        list[str] | None,
        typer.Option(
            help="A learner with its settings, once for each: perceptron, ogd:loss=logistic,radius=5,rate=sqrt:0.5"
            " (default: a line-up for the task, sorted).",
            metavar="SPEC",
        ),
    ] = None
    task: TaskName = None
    certify: Annotated[
        bool, typer.Option("--certify", help="Solve for the best models in hindsight; show regrets and theorems.")
    ] = False
    radius: Annotated[
        float | None,
        typer.Option(help="The radius of learners whose SPEC gives none, and of the perceptron's comparator."),
    ] = None


class Drawing(Group):
    """What is drawn, and how sure the differences are."""

    confidence: Annotated[float, typer.Option(help="Confidence of the intervals for differences between learners.")] = (
        0.95
    )
    plot: Annotated[Path | None, typer.Option(help="Draw the curves so far to this file (.png, .svg, .pdf).")] = None
    picture: Annotated[
        str | None, typer.Option(help="What --plot draws: overview (default), error or risk.", metavar="KIND")
    ] = None


@grouped
def compare(
    stream: StreamFile,
    contenders: Contenders,
    common: CommonSettings,
    playing: Playing,
    reading: Reading,
    solving: Solving,
    drawing: Drawing,
    shown: Shown,
) -> None:
    """Run several learners on the same rows and compare their mistakes, losses, regrets and bounds.

    Examples:

    noregret compare spam.svm

    noregret compare spam.svm --learner perceptron --learner ogd:loss=logistic,radius=5 --certify

    noregret compare clicks.csv --label clicked --learner ogd --learner ogd-strong:sigma=0.01 --plot curves.svg
    """
    from noregret.cli.drawing import asked_kind, draw
    from noregret.cli.options import check_writable, with_defaults
    from noregret.cli.solving import leave_if_broken

    check_writable(stream, drawing.plot)
    kind = asked_kind(drawing.plot, drawing.picture, ("overview", "error", "risk"))
    _check_asked(contenders, common, solving)
    cores = _learners(contenders, common, reading.positive)
    recipe = reading.said()
    source = reading.stream(stream, with_defaults(recipe))
    comparison = _played(source, cores, contenders, playing, reading, solving, drawing.confidence, shown)
    draw(comparison, kind=kind, to=drawing.plot)
    passes = None if playing.passes == 1 else playing.passes
    command = _command(stream, {**recipe, "task": contenders.task, "passes": passes}, comparison, playing.shuffle)
    if shown.json:
        put_json({**comparison.to_dict(), "command": command})
    elif not shown.quiet:
        from noregret.cli.show import show_lines

        _show(comparison)
        show_lines(source.decisions)
        print(f"to run only the best: {command}")
    leave_if_broken([f"{name} ({one.spec})" for one in comparison.contenders for name in one.broken], "the stream")


def _played(
    source: Stream,
    cores: dict[str, Core] | None,
    contenders: Contenders,
    playing: Playing,
    reading: Reading,
    solving: Solving,
    confidence: float,
    shown: Shown,
) -> Comparison:
    from noregret.cli.terminal import Bar
    from noregret.task.compare import compare as play_all

    with Bar(shown.silent) as bar:
        return play_all(
            source,
            cores,
            task=None if _asks_task(cores) else contenders.task,
            positive=reading.positive if cores is None else None,
            certify=contenders.certify,
            passes=playing.passes,
            shuffle=playing.shuffle,
            radius=contenders.radius,
            gap=1e-4 if solving.gap is None else solving.gap,
            seconds=float("inf") if solving.seconds is None else solving.seconds,
            confidence=confidence,
            watch=bar.show,
        )


def _asks_task(cores: dict[str, Core] | None) -> bool:
    """Whether a learner was named that plays for the task that it is given."""
    from noregret.learner import settings_of

    return any("task" in settings_of(core.name) for core in (cores or {}).values())


def _check_asked(contenders: Contenders, common: CommonSettings, solving: Solving) -> None:
    """What belongs to named learners, or to --certify, is refused without them."""
    from noregret.cli.options import flag
    from noregret.errors import SettingError

    for key, value in (("gap", solving.gap), ("seconds", solving.seconds)):
        if value is not None and not contenders.certify:
            raise SettingError(f"{flag(key)} needs --certify")
    for key, value in {**common, "radius": contenders.radius}.items():
        if value is not None and contenders.learner is None:
            raise SettingError(f"{flag(key)} needs --learner: the default line-up has its own settings")


def _command(stream: str, reading: dict[str, Any], comparison: Comparison, shuffle: int | None) -> str:
    """`learn` with the best learner, its settings, and the options by which the stream was read."""
    from noregret.cli.options import flag
    from noregret.cli.show import command_of
    from noregret.learner import settings_of

    best = comparison.best
    name, _, rest = best.spec.partition(":")
    own = dict(part.split("=", 1) for part in rest.split(",")) if rest else {}
    own = {key.strip().replace("-", "_"): value.strip() for key, value in own.items()}
    given = {key: value for key, value in reading.items() if value is not None}
    radius = best.run.learner.settings.get("radius")
    if radius is not None and "radius" not in own and radius != 10.0 and math.isfinite(float(radius)):
        own["radius"] = f"{float(radius):g}"
    said = command_of(stream, {**given, "learner": name, **own, "shuffle": shuffle})
    settings = best.run.learner.settings
    usual = {key: one.default for key, one in settings_of(best.run.learner.name).items()}
    flags = [flag(key) for key in ("bias", "unit_norm") if settings.get(key) and not usual[key]]
    scale = settings.get("scale")
    return " ".join(["noregret", said, *([f"--scale {scale}"] if scale else []), *flags])


def _learners(contenders: Contenders, common: CommonSettings, positive: str | None) -> dict[str, Core] | None:
    """The learners by the text that asked for each; None for the line-up."""
    from noregret.cli.options import positive_label
    from noregret.errors import SettingError
    from noregret.learner import LEARNERS, settings_of

    if contenders.learner is None:
        return None
    found: dict[str, Core] = {}
    for spec in contenders.learner:
        if spec in found:
            raise SettingError(f"--learner {spec} is given twice")
        name = spec.partition(":")[0]
        told = {"task": contenders.task} if name in LEARNERS and "task" in settings_of(name) else {}
        found[spec] = core = parse(spec, contenders.radius, {**common, **told})
        if positive is not None:
            core.labels = positive_label(core, positive)
    return found


def parse(spec: str, radius: float | None, common: dict[str, Any]) -> Core:
    """A learner from `name:key=value,key=value`; `radius` is that of a spec without one.

    >>> parse("ogd:loss=logistic,rate=sqrt:0.5", 5.0, {"bias": True}).settings["rate"]
    'sqrt:0.5'
    """
    from noregret.cli.options import make_learner, settings_of_text, spec_settings
    from noregret.learner import LEARNERS
    from noregret.learner.settings import Prepared
    from noregret.setting import fields

    name = spec.partition(":")[0]
    if name not in LEARNERS:
        make_learner(name, {})  # which says what there is
    own = {key: one for key, one in settings_of_text(name).items() if key not in (*fields(Prepared), "calibrate")}
    given = spec_settings(spec, own, COMMON)
    if "radius" in own:
        given.setdefault("radius", radius)
    return make_learner(name, {**given, **common})


def _show(comparison: Comparison) -> None:
    from noregret.cli.show import outward, table
    from noregret.summary import number

    first = comparison.contenders[0].run
    print(f"{number(first.rounds)} rounds of {number(first.features)} features, identical for every learner")
    if comparison.recognised is not None:
        task = comparison.recognised.task
        print(f"task: {task.words}; default line-up, best first; all but auto with a bias and scaled rows")
    errors = "mean absolute error" if first.mistakes is None else "mistakes"
    solved = ("regret", "bound", "slack") if comparison.certified else ()
    head = ("", errors, "loss", "per row", *solved, "seconds")
    table([*(_row(one, comparison.certified) for one in comparison.contenders), *_baselines(comparison)], head)
    for one in comparison.contenders if comparison.certified else ():
        print(_line_of(one))
    if comparison.left_out:
        print(f"left out: {'; '.join(f'{name} ({reason})' for name, reason in comparison.left_out)}")
    if comparison.differences:
        print()
        rows = [
            (f"{one.a} − {one.b}", one.figure, number(one.mean), outward(one.lower, one.upper))
            for one in comparison.differences
        ]
        table(rows, ("difference", "of the", "mean", f"{comparison.confidence:.4g} confidence"))
        print(f"if {comparison.differences[0].assumption}")


def _row(one: Contender, certified: bool) -> tuple[str, ...]:
    from noregret.cli.show import outward
    from noregret.summary import at_most, number

    run, bound, slack = one.run, "–", "–"
    if one.bound is not None and one.bound.bound is not None and one.bound.observed is not None:
        bound = at_most(one.bound.bound) + (" mistakes" if one.bounds_mistakes else "")
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
    from noregret.summary import number, share

    return "–" if mistakes is None else f"{number(mistakes)} ({share(mistakes, rounds)})"


def _line_of(one: Contender) -> str:
    """Whom the regret is against, in which loss, and by which theorem the bound stands."""
    said = "no regret: needs a radius"
    if one.hindsight is not None:
        whom = "any u" if math.isinf(one.hindsight.radius) else f"‖u‖ ≤ {one.hindsight.radius:g}"
        late = "" if one.hindsight.finished else " (time ran out: not fully solved)"
        said = f"regret in the {one.loss} loss against {whom}{late}"
    return f"{one.spec}: {said}; bound: {one.bound.theorem if one.bound else 'none that is useful'}"


def _baselines(comparison: Comparison) -> list[tuple[str, ...]]:
    """The two rules without features as rows of the table."""
    from noregret.loss import absolute
    from noregret.summary import BASELINES, number

    first = comparison.contenders[0].run
    blank = ("",) * (4 if comparison.certified else 1)
    rows: list[tuple[str, ...]] = []
    for key, value in comparison.baselines.items():
        name = BASELINES[key]
        if first.mistakes is None:
            loss = f"{number(value)} ({first.learner.loss.spec})"
            error = number(value / first.rounds) if first.learner.loss == absolute() else "–"
            rows.append((name, error, loss, number(value / first.rounds), *blank))
        else:
            rows.append((name, _mistakes(value, first.rounds), "", "", *blank))
    return rows
