"""`noregret learn`: one pass over a stream."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from noregret.cli.signals import stop_code

if TYPE_CHECKING:
    from collections.abc import Callable

    from noregret.cli.choosing import Chosen
    from noregret.learner import Core
    from noregret.receipt import Receipt
    from noregret.rounds import Rounds
    from noregret.run import Run
    from noregret.stream import Stream

LEARNING, READING, RESULTS = "Learning", "Reading", "Results"


def learn(
    stream: StreamFile,
    learner: Annotated[
        str | None,
        typer.Option(
            help="Default: adagrad for two classes, multiclass for more, vaw for numbers. Also perceptron, averaged,"
            " voted, kernel, second-order, pa, pa1, pa2, ogd, ogd-strong, ftrl, coin.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    task: TaskName = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="logistic (default; of ogd hinge), hinge, margin-hinge:ρ, squared-hinge, perceptron, exponential;"
            " for numbers squared, absolute, huber:δ, pinball:τ."
        ),
    ] = None,
    radius: Annotated[
        float | None, typer.Option(help="Weights stay within this distance of 0 (default 10; inf for no limit).")
    ] = None,
    domain: Annotated[
        str | None, typer.Option(help="What the radius is the radius of: ball (default), box, l1 or simplex.")
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(help="auto (default), constant:η, sqrt:η, horizon:T, horizon:T:G, doubling, doubling:G."),
    ] = None,
    sigma: Annotated[
        float | None, typer.Option(help="Strength of the regulariser (σ/2)‖w‖² of ogd-strong (default 0.1).")
    ] = None,
    ridge: Annotated[
        float | None, typer.Option(help="The a of aI + Σx·xᵀ in second-order and vaw (default 1).")
    ] = None,
    kernel: Annotated[str | None, typer.Option(help="rbf (default), poly, laplace, linear or precomputed.")] = None,
    degree: Annotated[int | None, typer.Option(help="Of the poly kernel (default 2).")] = None,
    coef0: Annotated[float | None, typer.Option(help="The constant in the poly kernel (default 1).")] = None,
    gamma: Annotated[
        float | None, typer.Option(help="The scale of the kernels poly, rbf, laplace (default 1).")
    ] = None,
    budget: Annotated[int | None, typer.Option(help="How many rows a kernel learner may keep (default all).")] = None,
    forget: Annotated[str | None, typer.Option(help="What goes over the budget: oldest (default) or random.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of --forget random (default 0).")] = None,
    update: Annotated[
        str | None, typer.Option(help="How multiclass learns: max-score (default) or one-vs-rest.")
    ] = None,
    aggressiveness: Annotated[
        float | None, typer.Option(help="C of pa1 and pa2, which limits a step (default 1/max‖x‖² so far).")
    ] = None,
    beta: Annotated[float | None, typer.Option(help="β of ftrl, which shortens its first steps (default 0).")] = None,
    l1: Annotated[
        float | None, typer.Option(help="λ₁ of ftrl and ogd, which makes weights exactly 0 (default 0).")
    ] = None,
    l2: Annotated[
        float | None, typer.Option(help="λ₂ of ftrl and ogd, which makes weights smaller (default 0).")
    ] = None,
    gradient_bound: Annotated[
        float | None, typer.Option(help="G of coin: no gradient is longer; a longer one stops the run.")
    ] = None,
    wealth: Annotated[float | None, typer.Option(help="What coin starts to bet with (default 1).")] = None,
    tie: Annotated[str | None, typer.Option(help="What a score of 0 counts as: mistake (default), +1 or -1.")] = None,
    bias: Annotated[
        bool | None, typer.Option("--bias", help="Append a constant 1 to every row.", show_default=False)
    ] = None,
    unit_norm: Annotated[
        bool | None, typer.Option("--unit-norm", help="Scale every row to norm 1.", show_default=False)
    ] = None,
    scale: Scale = None,
    class_weight: Annotated[str | None, typer.Option(help="Weights by label, for example spam=2,ham=1.")] = None,
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
    predictions: Annotated[
        Path | None, typer.Option(help="Write every prediction, made before its label was seen, to this file.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write the model; Ctrl-C then leaves one to go on from.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with a saved model; its settings hold.")] = None,
    skip: Annotated[str | None, typer.Option(help="seen: pass over the rows that the resumed model has seen.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="With --resume: learn once more from rows that the model has seen.")
    ] = False,
    certify: Annotated[
        bool,
        typer.Option(
            "--certify", help="Solve for the best model in hindsight and evaluate every theorem.", show_default=False
        ),
    ] = False,
    receipt: Annotated[
        Path | None, typer.Option(help="Write all that with its proof to this file; implies --certify.")
    ] = None,
    gap: Gap = None,
    seconds: Seconds = None,
    anytime: Annotated[
        bool, typer.Option("--anytime", help="With --certify: also the regret after 1, 2, 4, 8, … rounds.")
    ] = False,
    select: Annotated[
        str | None,
        typer.Option(help="Keep one predictor of the run: penalised, last, average or voted; with risk certificates."),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(help="With --select: the probability that a certificate holds (default 0.95).")
    ] = None,
    candidates: Annotated[
        str | None, typer.Option(help="With --select: how many predictors to choose from, or all.", metavar="K")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the error so far to this file (.png, .svg, .pdf; updates also .gif).")
    ] = None,
    picture: Annotated[
        str | None,
        typer.Option(
            help="What --plot draws: error (numbers: risk), risk, mistakes, reliability; of two features boundary and"
            " updates; with --certify regret and bounds.",
            metavar="KIND",
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn from a stream in one pass and say what the pass proves.

    Examples:

    noregret learn spam.svm.gz

    noregret learn clicks.csv --label clicked --learner ogd --loss logistic --radius 5 --save clicks.nr
    """
    from noregret import model
    from noregret.cli.choosing import Wanted, check_named, chosen, resumed
    from noregret.cli.drawing import PLANAR, check_plane
    from noregret.cli.interrupt import Interrupt
    from noregret.cli.notes import command_of
    from noregret.cli.options import check_writable, class_weights, names, with_defaults
    from noregret.cli.selecting import asked_for, check_learner, selected
    from noregret.errors import SettingError
    from noregret.protocol import play
    from noregret.rounds import Gathering
    from noregret.stream import read
    from noregret.stream.task import Task

    check_writable(stream, predictions, save, receipt, plot)
    if resume is not None:
        check_writable(str(resume), predictions, receipt, plot, what="the model")
    if skip not in (None, "seen"):
        raise SettingError(f'--skip accepts only "seen"; got {skip!r}')
    if skip is not None and resume is None:
        raise SettingError("--skip seen goes with --resume")
    if again and resume is None:
        raise SettingError("--again goes with --resume")
    if again and skip is not None:
        raise SettingError("--again learns from rows that the model has seen, --skip seen passes over them: give one")
    certify = certify or receipt is not None
    selecting = asked_for(select, confidence, candidates, resume)
    asked = _asked(certify, gap, seconds, anytime, resume)
    settings = {
        "loss": loss,
        "radius": radius,
        "domain": domain,
        "rate": rate,
        "sigma": sigma,
        "ridge": ridge,
        "kernel": kernel,
        "degree": degree,
        "coef0": coef0,
        "gamma": gamma,
        "budget": budget,
        "forget": forget,
        "seed": seed,
        "update": update,
        "aggressiveness": aggressiveness,
        "beta": beta,
        "l1": l1,
        "l2": l2,
        "gradient_bound": gradient_bound,
        "wealth": wealth,
        "tie": tie,
        "bias": bias,
        "unit_norm": unit_norm,
        "scale": scale,
    }
    reading = {
        "label": label,
        "positive": positive,
        "text": list(names(text)) or None,
        "categorical": list(names(categorical)) or None,
        "numeric": list(names(numeric)) or None,
        "date": list(names(date)) or None,
        "keep": list(names(keep)) or None,
        "ignore": list(names(ignore)) or None,
        "hash_bits": hash_bits,
        "missing": missing,
        "class_weight": class_weights(class_weight),
    }
    wanted = Wanted(learner, None if task is None else Task.parse(task), settings, reading, certify, select is not None)
    since = _resealed(resume, save)
    choice = None if resume is None else resumed(resume, wanted)
    if choice is None:
        check_named(wanted)
    kept = with_defaults(reading) if choice is None else choice.core.options
    said: dict[str, Any] = {key: kept[key] or () for key in ("text", "categorical", "numeric", "date", "keep")}
    if resume:
        said = {}  # the recipe knows its columns
    source = read(
        stream,
        label=kept["label"],
        **said,
        ignore=kept["ignore"] or (),
        hash_bits=kept["hash_bits"],
        missing=kept["missing"],
        features=None if choice is None else choice.core.features,
        threads=threads,
        cache=cache,
    )
    gathers = shuffle is not None or (passes > 1 and not source.rereadable)
    with ExitStack() as stack:
        with Interrupt(source, gently=not gathers) as interrupt:
            source = interrupt.stream
            choice = chosen(wanted, source) if choice is None else choice
            core = choice.core
            if choice.radius is not None:
                asked["radius"] = choice.radius
            if selecting is not None:
                check_learner(core)
            kind = _kind(core, plot, picture, certify, asked, resume)
            planar = kind in PLANAR
            if planar:
                check_plane(source)
            gathers_rounds = certify or selecting is not None or planar
            gathering = stack.enter_context(Gathering(bool(core.config["bias"][0]))) if gathers_rounds else None
            once = passes == 1 and not gathers
            with _watching(core, source, predictions, once, quiet or json, interrupt.asked) as watch:
                run = play(
                    core,
                    source,
                    passes=passes,
                    shuffle=shuffle,
                    digest=save is not None or gathers_rounds,
                    keep=gathering,
                    skip_seen=skip is not None,
                    again=again or resume is None,
                    class_weight=kept["class_weight"],
                    watch=_in_the_plane(watch, source) if planar else watch,
                    stop=interrupt.asked,
                )
        rounds = None if gathering is None or run.stopped else gathering.done()
        selection = None if rounds is None or selecting is None else selected(run, rounds, selecting)
        placed = save
        if save is not None:
            placed = model.save(run.learner if selection is None else selection.learner, save, since=since)
        found = None if rounds is None or not certify else _certified(run, rounds, asked, quiet or json)
    if found is not None and selection is not None:
        from noregret.receipt.make import with_selection

        found = with_selection(found, selection.to_dict())
    if kind is not None and plot is not None:
        _draw(run, rounds, found, kind, plot)
    if found is not None and receipt is not None:
        found.save(receipt)
    _finish(
        run,
        source,
        found,
        None if selection is None else selection.to_dict(),
        choice,
        asked["gap"],
        (save, placed),
        _again(passes, shuffle),
        command_of(stream, reading),
        json,
        quiet,
    )


def _resealed(resume: Path | None, save: Path | None) -> bytes | None:
    """What tells the model that is resumed, and saved over, from one that another process puts there meanwhile."""
    from noregret import model

    same = resume is not None and save is not None and os.path.realpath(resume) == os.path.realpath(save)
    return model.seal(resume) if same and resume is not None else None


def _again(passes: int, shuffle: int | None) -> str:
    """The options that a run which goes on must be given again."""
    return (f" --passes {passes}" if passes > 1 else "") + (f" --shuffle {shuffle}" if shuffle is not None else "")


@contextmanager
def _watching(
    core: Core, source: Stream, predictions: Path | None, once: bool, quiet: bool, stopped: Callable[[], bool]
) -> Iterator[Callable[..., None]]:
    """What goes on beside the rounds: the bar and the prediction file."""
    from noregret.atomic import whole_file
    from noregret.cli.predictions import Predictions
    from noregret.cli.progress import Progress

    with ExitStack() as stack:
        writer = None
        if predictions is not None:
            writer = Predictions(stack.enter_context(whole_file(predictions)), core, labels=True)
        bar = stack.enter_context(Progress(source, core, quiet, once))
        played = False

        def watch(block: Any, y: Any, scores: Any) -> None:
            nonlocal played
            played = True
            bar.update()
            if writer is not None:
                writer.write(block, scores, y)

        yield watch
        if stopped() and not played:
            print("noregret: stopped before the first round: nothing was written", file=sys.stderr)
            raise typer.Exit(stop_code())
        if writer is not None:
            writer.close()


def _asked(
    certify: bool, gap: float | None, seconds: float | None, anytime: bool, resume: Path | None
) -> dict[str, Any]:
    """What is asked of the certificates."""
    from noregret.cli.options import flag
    from noregret.cli.solving import checked_gap, checked_seconds
    from noregret.errors import SettingError

    for name, value in (("gap", gap), ("seconds", seconds), ("anytime", anytime or None)):
        if value is not None and not certify:
            raise SettingError(f"{flag(name)} goes with --certify or --receipt")
    if certify and resume is not None:
        raise SettingError(
            "--certify needs every round, and a resumed model holds none:"
            " save it and use noregret certify MODEL STREAM..."
        )
    return {
        "gap": checked_gap(gap),
        "seconds": checked_seconds(seconds),
        "anytime": anytime,
    }


def _kind(
    core: Core, plot: Path | None, picture: str | None, certify: bool, asked: dict[str, Any], resume: Path | None
) -> str | None:
    """The picture to draw, once it is known that it can be."""
    from noregret.cli.drawing import PLANAR, asked_kind, check_boundary, check_certified
    from noregret.errors import SettingError

    kinds = ("risk",) if core.regression else ("error", "risk", "mistakes", "reliability", *PLANAR)
    kind = asked_kind(plot, picture, (*kinds, "regret", "bounds"))
    if kind in ("regret", "bounds"):
        if not certify:
            raise SettingError(f"--picture {kind} goes with --certify or --receipt")
        check_certified(kind, core, asked.get("radius"))
        asked["anytime"] |= kind == "regret"
    if kind in PLANAR:
        if resume is not None:
            raise SettingError(f"--picture {kind} needs every round, and a resumed model holds none")
        check_boundary(core)
    return kind


def _in_the_plane(watch: Callable[..., None], source: Stream) -> Callable[..., None]:
    """The same, and a sentence as soon as rows have more than two features."""
    from noregret.cli.drawing import check_plane

    def seen(*block: Any) -> None:
        check_plane(source)
        watch(*block)

    return seen


def _draw(run: Run, rounds: Rounds | None, receipt: Receipt | None, kind: str, plot: Path) -> None:
    """The picture of the run, or of its receipt; a run that was stopped has no rounds to be drawn among."""
    from noregret.cli.drawing import PLANAR, draw

    if kind in ("regret", "bounds"):
        if receipt is not None:
            draw(receipt, kind=kind, to=plot)
    elif kind not in PLANAR:
        draw(run, kind=kind, to=plot, receipt=receipt)
    elif rounds is not None:
        draw(run, rounds, kind=kind, to=plot)


def _certified(run: Run, rounds: Rounds, asked: dict[str, Any], quiet: bool) -> Receipt:
    """The receipt of a run whose rounds were kept."""
    from noregret.cli.solving import closing_in
    from noregret.receipt import receipt_of
    from noregret.receipt.replay import Replayed, chains

    played = Replayed(run, rounds, (run.digest or "",), (run.learner.segments[-1]["ended"],))
    with closing_in(quiet) as watch:
        return receipt_of(played, chains(run.learner), run.learner, watch=watch, **asked)


def _finish(
    run: Run,
    source: Stream,
    receipt: Receipt | None,
    selection: dict[str, Any] | None,
    choice: Chosen,
    gap: float,
    saved: tuple[Path | None, Path | None],
    again: str,
    command: str,
    json: bool,
    quiet: bool,
) -> None:
    from noregret.cli.notes import advised, as_read, task_told, title
    from noregret.cli.selecting import show_selection
    from noregret.cli.solving import certified, leave_if_broken, show_receipt

    if json:
        import msgspec

        answer = {**run.to_dict(), "task": task_told(choice), "advice": advised(run, choice, command)}
        answer |= {"columns": source.columns, "decisions": source.decisions}
        answer = answer if receipt is None else certified(answer, receipt)
        print(msgspec.json.encode(answer if selection is None else {**answer, "selection": selection}).decode())
    elif not quiet:
        from noregret.cli.show import show_lines, show_run

        show_run(run, title(run, choice), choice.task.words)
        show_lines([*as_read(run, choice), *source.decisions])
        if receipt is not None:
            print()
            show_receipt(receipt, gap)
        if selection is not None:
            print()
            show_selection(selection, run.learner.segments[-1]["shuffle"] is not None)
        show_lines(advised(run, choice, command))
    if receipt is not None:
        leave_if_broken(receipt)
    save, placed = saved
    if placed != save:
        said = f"{save}: was changed by another process meanwhile, and left as it is"
        print(f"noregret: {said}; the model of this run is {placed}", file=sys.stderr)
    if run.stopped:
        went = f"; go on with --resume {placed} --skip seen{again}" if placed is not None else ""
        print(f"noregret: stopped after {run.rounds:,} rounds{went}", file=sys.stderr)
        raise typer.Exit(stop_code())
    if placed != save:
        raise typer.Exit(1)
