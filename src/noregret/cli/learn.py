"""`noregret learn`: one pass over a stream."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from noregret.learner import Linear
    from noregret.run import Run
    from noregret.stream import Stream

LEARNING, READING, RESULTS = "Learning", "Reading", "Results"


def learn(
    stream: Annotated[
        str,
        typer.Argument(
            help="A file (svmlight, CSV, Parquet, Arrow, .npz; .gz .bz2 .xz .zst), or - for standard input.",
            metavar="STREAM",
        ),
    ],
    learner: Annotated[
        str | None, typer.Option(help="perceptron (default), ogd or ogd-strong.", rich_help_panel=LEARNING)
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="hinge (default), margin-hinge:ρ, squared-hinge, perceptron, logistic;"
            " for numbers squared, absolute, huber:δ, pinball:τ."
        ),
    ] = None,
    radius: Annotated[
        float | None, typer.Option(help="Weights stay within this distance of 0 (default 10; inf for no limit).")
    ] = None,
    domain: Annotated[str | None, typer.Option(help="ball (default) or box: what the radius is the radius of.")] = None,
    rate: Annotated[
        str | None,
        typer.Option(help="auto (default), constant:η, sqrt:η, horizon:T, horizon:T:G, doubling, doubling:G."),
    ] = None,
    sigma: Annotated[
        float | None, typer.Option(help="Strength of the regulariser (σ/2)‖w‖² of ogd-strong (default 0.1).")
    ] = None,
    tie: Annotated[str | None, typer.Option(help="What a score of 0 counts as: mistake (default), +1 or -1.")] = None,
    bias: Annotated[
        bool | None, typer.Option("--bias", help="Append a constant 1 to every row.", show_default=False)
    ] = None,
    unit_norm: Annotated[
        bool | None, typer.Option("--unit-norm", help="Scale every row to norm 1.", show_default=False)
    ] = None,
    scale: Annotated[str | None, typer.Option(help="max: divide each feature by its largest size so far.")] = None,
    class_weight: Annotated[str | None, typer.Option(help="Weights by label, for example spam=2,ham=1.")] = None,
    passes: Annotated[int, typer.Option(help="How many times to go over the stream.")] = 1,
    shuffle: Annotated[
        int | None, typer.Option(help="Seed of a full permutation of the rows, a new one each pass.", metavar="SEED")
    ] = None,
    label: Annotated[str | None, typer.Option(help="The column that holds the label (default: label).")] = None,
    positive: Annotated[str | None, typer.Option(help="Which of the two labels is +1.")] = None,
    text: Annotated[str | None, typer.Option(help="Columns of free text, separated by commas: hashed by word.")] = None,
    categorical: Annotated[str | None, typer.Option(help="Columns to hash by value, separated by commas.")] = None,
    ignore: Annotated[str | None, typer.Option(help="Columns to leave out, separated by commas.")] = None,
    hash_bits: Annotated[
        int | None, typer.Option(help="Hashed columns share 2^B features (default 18).", metavar="B")
    ] = None,
    missing: Annotated[
        str | None, typer.Option(help="What to do with a missing value: error (default), zero or skip.")
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Write every prediction, made before its label was seen, to this file.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write the model; Ctrl-C then leaves one to go on from.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with a saved model; its settings hold.")] = None,
    skip: Annotated[str | None, typer.Option(help="seen: pass over the rows that the resumed model has seen.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the error so far to this file (.png, .svg, .pdf).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no table and show no progress bar.")] = False,
) -> None:
    """Learn from a stream in one pass and say what the pass proves.

    Examples:

    noregret learn spam.svm.gz

    noregret learn clicks.csv --label clicked --learner ogd --loss logistic --radius 5 --save clicks.nr
    """
    from noregret.cli.options import check_writable, class_weights, names
    from noregret.protocol import play
    from noregret.stream import read

    check_writable(stream, predictions, save, plot)
    if plot is not None:
        from noregret.picture.error import check_picture

        check_picture(plot)
    settings = {
        "loss": loss,
        "radius": radius,
        "domain": domain,
        "rate": rate,
        "sigma": sigma,
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
        "ignore": list(names(ignore)) or None,
        "hash_bits": hash_bits,
        "missing": missing,
        "class_weight": class_weights(class_weight),
    }
    core = _core(learner, settings, reading, resume, skip)
    kept = core.options
    source = read(
        stream,
        label=kept["label"],
        text=() if resume else kept["text"] or (),  # a resumed model's recipe knows its columns
        categorical=() if resume else kept["categorical"] or (),
        ignore=kept["ignore"] or (),
        hash_bits=kept["hash_bits"],
        missing=kept["missing"],
        features=core.features,
    )
    gathers = shuffle is not None or (passes > 1 and not source.rereadable)
    with _watching(core, source, predictions, passes == 1 and not gathers, gathers, quiet or json) as (watch, stop):
        run = play(
            core,
            source,
            passes=passes,
            shuffle=shuffle,
            digest=save is not None,
            skip_seen=skip is not None,
            class_weight=kept["class_weight"],
            watch=watch,
            stop=stop,
        )
    _finish(run, save, plot, json, quiet)


def _core(
    name: str | None, settings: dict[str, Any], reading: dict[str, Any], resume: Path | None, skip: str | None
) -> Linear:
    """The learner to play: a new one, or the resumed one once no option contradicts it."""
    from noregret import model
    from noregret.cli.options import check_same, learner_settings, make_learner, with_defaults
    from noregret.errors import SettingError
    from noregret.stream import Labels

    if skip not in (None, "seen"):
        raise SettingError(f"--skip must be seen, got {skip!r}")
    if resume is None:
        if skip is not None:
            raise SettingError("--skip seen goes with --resume")
        core = make_learner(name or "perceptron", settings)
        if core.labels is None:
            _refuse_for_regression(reading, settings)
        elif reading["positive"] is not None:
            core.labels = Labels(reading["positive"])
        core.options = with_defaults(reading)
        return core
    core, _ = model.load(resume)
    check_same({"learner": core.name}, {"learner": name}, "model")
    check_same(core.settings, learner_settings(core.name, settings), "model")
    core.options = with_defaults({key: core.options.get(key) for key in reading})
    check_same(core.options, reading, "model")
    return core


def _refuse_for_regression(reading: dict[str, Any], settings: dict[str, Any]) -> None:
    from noregret.cli.options import flag
    from noregret.errors import SettingError

    for key, value in (
        ("positive", reading["positive"]),
        ("class_weight", reading["class_weight"]),
        ("tie", settings["tie"]),
    ):
        if value is not None:
            raise SettingError(f"{flag(key)} is for two classes; the loss {settings['loss']} is for numbers")


@contextmanager
def _watching(
    core: Linear, source: Stream, predictions: Path | None, once: bool, gathers: bool, quiet: bool
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


def _finish(run: Run, save: Path | None, plot: Path | None, json: bool, quiet: bool) -> None:
    from noregret import model

    if plot is not None:
        from noregret.picture.error import draw_error

        draw_error({run.learner.name: run}, plot)
    if save is not None:
        model.save(run.learner, save)
    if json:
        import msgspec

        print(msgspec.json.encode(run.to_dict()).decode())
    elif not quiet:
        from noregret.cli.show import show_run

        show_run(run)
    if run.stopped:
        went = f"; go on with --resume {save} --skip seen" if save is not None else ""
        print(f"noregret: stopped after {run.rounds:,} rounds{went}", file=sys.stderr)
        raise typer.Exit(130)
