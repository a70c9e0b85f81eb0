"""`noregret inspect`: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from noregret.cli.visible import put_json

MANY = 20  # classes that are named


def inspect(
    model: Annotated[Path, typer.Argument(help="A model file written by learn --save.")],
    top: Annotated[int, typer.Option(help="How many of the largest weights to show.", metavar="K", min=0)] = 10,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the tables.")] = False,
) -> None:
    """Show a model's settings, figures and largest weights by feature name.

    Example: noregret inspect spam.nr --top 20
    """
    from noregret import model as models
    from noregret.learner import Selected
    from noregret.run import Run

    core, _ = models.load(model)
    run = Run.of(core)
    weights = _largest(core, top)
    if json:
        shown = {
            key: value
            for key, value in run.to_dict().items()
            if key not in ("this_run", "seconds", "stopped", "digest")
        }
        shown |= {"bias": _bias(core), "weights": weights, **core.about()}
        if core.supports is not None:
            shown |= {"supports": core.supports}
        shown |= {"labels": _labels(core), "segments": core.segments, "reading": core.options}
        if core.features is not None and core.features.table:
            shown["columns"] = {name: str(kind) for name, kind in core.features.columns.items()}
        if isinstance(core, Selected):
            shown["selection"] = core.selection
        put_json(shown)
        return
    from noregret.cli.show import show_run, table

    show_run(run)
    print()
    labels = _labels(core)
    if isinstance(labels, dict):
        print(f"labels: {labels['negative']} is −1, {labels['positive']} is +1")
    elif labels is not None:
        print(f"{len(labels)} classes: {', '.join(labels[:MANY])}{', …' if len(labels) > MANY else ''}")
    for name, figure in core.about().items():
        print(f"{name.replace('_', ' ')}: {figure:,}")
    if core.config["bias"][0] and core.tally() is None:
        print(f"bias: {core.bias:+.6g}")
    if weights:
        head = tuple(weights[0])
        newest = "weights of the newest predictor:" if "predictors" in core.about() else None
        table([tuple(_cell(row[key]) for key in head) for row in weights], head, newest)
    if isinstance(core, Selected):
        from noregret.cli.selecting import show_selection

        print(f"\na selected model: it predicts with {_predictor(core)} and cannot learn any further")
        show_selection(core.selection, any(segment["shuffle"] is not None for segment in core.segments))


def _predictor(core: Any) -> str:
    ways = {"last": "the last weights", "average": "the average of the run's weights", "penalised": "chosen weights"}
    return ways.get(core.selection["how"], f"the vote of {len(core.votes):,} rows of weights")


def _cell(value: Any) -> str:
    return f"{value:+.6g}" if isinstance(value, float) else str(value)


def _bias(core: Any) -> Any:
    return core.bias if core.tally() is None else core.class_biases.tolist()


def _largest(core: Any, top: int) -> list[dict[str, Any]]:
    """The largest weights in size, by feature name, and by class where there are many."""
    import numpy as np

    from noregret.cli.predictions import shown

    weights = np.atleast_2d(core.weights)
    order = np.argsort(-np.abs(weights), axis=None, kind="stable")[:top]
    name = core.features.name_of if core.features else str
    found = []
    for k, i in zip(*np.unravel_index(order, weights.shape), strict=True):
        if weights[k, i] != 0.0:
            of = {} if core.tally() is None else {"class": shown(core.labels.classes[k])}
            found.append({"feature": name(int(i)), **of, "weight": float(weights[k, i])})
    return found


def _labels(core: Any) -> dict[str, str] | list[str] | None:
    from noregret.cli.predictions import shown

    if core.labels is None:
        return None
    if core.tally() is not None:
        return [shown(label) for label in core.labels.classes]
    negative, positive = core.labels.classes
    return {"negative": shown(negative), "positive": shown(positive)}
