"""`noregret learn`: one pass over a stream."""

from __future__ import annotations

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
    Text,
    Threads,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from noregret.learner import Core
    from noregret.receipt import Receipt
    from noregret.rounds import Rounds
    from noregret.run import Run
    from noregret.stream import Stream

LEARNING, READING, RESULTS = "Learning", "Reading", "Results"
# those without a radius of their own: one that is given is that of the models they are compared with
COMPARED_ONLY = ("perceptron", "averaged", "voted", "second-order", "pa", "pa1", "pa2", "coin")


def learn(
    stream: StreamFile,
    learner: Annotated[
        str | None,
        typer.Option(
            help="perceptron (default), averaged, voted, multiclass, kernel, second-order, pa, pa1, pa2,"
            " ogd, ogd-strong, adagrad, ftrl, coin; vaw for numbers.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="hinge (default), margin-hinge:ρ, squared-hinge, perceptron, logistic, exponential;"
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
    from noregret.cli.drawing import PLANAR, check_plane
    from noregret.cli.options import check_writable, class_weights, names
    from noregret.cli.selecting import asked_for, check_learner, selected
    from noregret.protocol import play
    from noregret.rounds import Gathering
    from noregret.stream import read

    check_writable(stream, predictions, save, receipt, plot)
    if resume is not None:
        check_writable(str(resume), predictions, receipt, plot, what="the model")
    certify = certify or receipt is not None
    wanted = asked_for(select, confidence, candidates, resume)
    asked = _asked(certify, gap, seconds, anytime, resume)
    if certify and radius is not None and (learner or "perceptron") in COMPARED_ONLY:
        asked["radius"], radius = radius, None  # not of its weights: of those it is compared with
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
    core = _core(learner, settings, reading, resume, skip)
    if wanted is not None:
        check_learner(core)
    kind = _kind(core, plot, picture, certify, asked, resume)
    kept = core.options
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
        features=core.features,
        threads=threads,
        cache=cache,
    )
    planar = kind in PLANAR
    if planar:
        check_plane(source)
    gathers = shuffle is not None or (passes > 1 and not source.rereadable)
    with ExitStack() as stack:
        gathers_rounds = certify or wanted is not None or planar
        gathering = stack.enter_context(Gathering(bool(core.config["bias"][0]))) if gathers_rounds else None
        with _watching(core, source, predictions, passes == 1 and not gathers, gathers, quiet or json) as (watch, stop):
            run = play(
                core,
                source,
                passes=passes,
                shuffle=shuffle,
                digest=save is not None or gathers_rounds,
                keep=gathering,
                skip_seen=skip is not None,
                class_weight=kept["class_weight"],
                watch=_in_the_plane(watch, source) if planar else watch,
                stop=stop,
            )
        rounds = None if gathering is None or run.stopped else gathering.done()
        chosen = None if rounds is None or wanted is None else selected(run, rounds, wanted)
        if save is not None:
            model.save(run.learner if chosen is None else chosen.learner, save)
        found = None if rounds is None or not certify else _certified(run, rounds, asked, quiet or json)
    if found is not None and chosen is not None:
        from noregret.receipt.make import with_selection

        found = with_selection(found, chosen.to_dict())
    if kind is not None and plot is not None:
        _draw(run, rounds, found, kind, plot)
    if found is not None and receipt is not None:
        found.save(receipt)
    _finish(
        run,
        source,
        found,
        None if chosen is None else chosen.to_dict(),
        asked["gap"],
        save,
        _again(passes, shuffle),
        json,
        quiet,
    )


def _again(passes: int, shuffle: int | None) -> str:
    """The options that a run which goes on must be given again."""
    return (f" --passes {passes}" if passes > 1 else "") + (f" --shuffle {shuffle}" if shuffle is not None else "")


def _core(
    name: str | None, settings: dict[str, Any], reading: dict[str, Any], resume: Path | None, skip: str | None
) -> Core:
    """The learner to play: a new one, or the resumed one once no option contradicts it."""
    from noregret import model
    from noregret.cli.options import check_same, learner_settings, make_learner, positive_label, with_defaults
    from noregret.errors import SettingError
    from noregret.learner.selected import REFUSAL

    if skip not in (None, "seen"):
        raise SettingError(f"--skip must be seen, got {skip!r}")
    if resume is None:
        if skip is not None:
            raise SettingError("--skip seen goes with --resume")
        core = make_learner("perceptron" if name is None else name, settings)
        if core.labels is None:
            _refuse_for_regression(reading, settings, core.loss.name)
        elif reading["positive"] is not None:
            core.labels = positive_label(core, reading["positive"])
        core.options = with_defaults(reading)
        return core
    core, _ = model.load(resume)
    if not core.learns:
        raise SettingError(f"{resume}: {REFUSAL}")
    check_same({"learner": core.name}, {"learner": name}, "model")
    check_same(core.settings, learner_settings(core.name, settings), "model")
    core.options = with_defaults({key: core.options.get(key) for key in reading})
    core.options["label"] = core.options["label"] or (core.features.label if core.features else None)
    check_same(core.options, reading, "model")
    return core


def _refuse_for_regression(reading: dict[str, Any], settings: dict[str, Any], loss: str) -> None:
    from noregret.cli.options import flag
    from noregret.errors import SettingError

    for key, value in (
        ("positive", reading["positive"]),
        ("class_weight", reading["class_weight"]),
        ("tie", settings["tie"]),
    ):
        if value is not None:
            raise SettingError(f"{flag(key)} is for two classes; the loss {loss} is for numbers")


@contextmanager
def _watching(
    core: Core, source: Stream, predictions: Path | None, once: bool, gathers: bool, quiet: bool
) -> Iterator[tuple[Callable[..., None], Callable[[], bool]]]:
    """What goes on beside the rounds: the bar, the prediction file, and an ear for Ctrl-C."""
    from noregret.atomic import whole_file
    from noregret.cli.interrupt import Interrupt
    from noregret.cli.predictions import Predictions
    from noregret.cli.progress import Progress

    with ExitStack() as stack:
        writer = None
        if predictions is not None:
            writer = Predictions(stack.enter_context(whole_file(predictions)), core, labels=True)
        bar = stack.enter_context(Progress(source, core, quiet, once))
        interrupt = stack.enter_context(Interrupt(source, gently=not gathers))

        played = False

        def watch(block: Any, y: Any, scores: Any) -> None:
            nonlocal played
            played = True
            bar.update()
            if writer is not None:
                writer.write(block, scores)

        yield watch, interrupt.asked
        if interrupt.asked() and not played:
            print("noregret: stopped before the first round: nothing was written", file=sys.stderr)
            raise typer.Exit(130)
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
    gap: float,
    save: Path | None,
    again: str,
    json: bool,
    quiet: bool,
) -> None:
    from noregret.cli.selecting import show_selection
    from noregret.cli.solving import certified, leave_if_broken, show_receipt

    if json:
        import msgspec

        answer = run.to_dict() if receipt is None else certified(run.to_dict(), receipt)
        answer |= {"columns": source.columns, "decisions": source.decisions}
        print(msgspec.json.encode(answer if selection is None else {**answer, "selection": selection}).decode())
    elif not quiet:
        from noregret.cli.show import show_decisions, show_run

        show_run(run)
        show_decisions(source.decisions)
        if receipt is not None:
            print()
            show_receipt(receipt, gap)
        if selection is not None:
            print()
            show_selection(selection, run.learner.segments[-1]["shuffle"] is not None)
    if receipt is not None:
        leave_if_broken(receipt)
    if run.stopped:
        went = f"; go on with --resume {save} --skip seen{again}" if save is not None else ""
        print(f"noregret: stopped after {run.rounds:,} rounds{went}", file=sys.stderr)
        raise typer.Exit(130)
