"""`noregret inspect`: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.terminal import put_json

if TYPE_CHECKING:
    from noregret.learner.combined import Combined

MANY = 20  # classes that are named
NAMED = 4  # members that are named beside their weights


def inspect(
    model: Annotated[Path, typer.Argument(help="A model file written by learn --save.")],
    top: Annotated[int, typer.Option(help="How many of the largest weights to show.", metavar="K", min=0)] = 10,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the tables.")] = False,
) -> None:
    """Show a model's settings, figures and largest weights by feature name; of auto also its members.

    Example: noregret inspect spam.nr --top 20
    """
    from noregret import model as models
    from noregret.learner import Selected
    from noregret.learner.auto import Auto
    from noregret.run import Run, came_late
    from noregret.watch.late_windows import figures_of

    core, _ = models.load(model)
    run = Run.of(core, windows=figures_of(core))
    mixed = core.combined() if isinstance(core, Auto) else None
    weights = _largest(core, top, mixed)
    if json:
        shown = {
            key: value
            for key, value in run.to_dict().items()
            if key not in ("this_run", "seconds", "stopped", "digest")
        }
        shown |= {"bias": _bias(core), "weights": weights, **core.about()}
        if mixed is not None:
            bias = mixed.bias.tolist()
            shown |= {"bias": bias[0] if core.tally() is None else bias}
            shown |= {"weights_of": mixed.members, "effect": mixed.effect_words}
        if core.supports is not None:
            shown |= {"supports": core.supports}
        shown |= {"labels": _labels(core), "segments": core.segments, "reading": core.options}
        if core.features is not None and core.features.table:
            shown["columns"] = {name: str(kind) for name, kind in core.features.columns.items()}
        if isinstance(core, Selected):
            shown["selection"] = core.selection
        put_json(shown)
        return
    from noregret.cli.show import show_alarm, show_run, table

    show_run(run, leaders=None)
    if run.alarm is not None:
        print()
        show_alarm(run.alarm)
    if run.windows is not None:
        from noregret.cli.windows import show_windows

        print()
        show_windows(run.windows)
    if came_late(core):
        print("labels came late: these are the learner's own figures; learn printed those of its predictions")
    print()
    labels = _labels(core)
    if isinstance(labels, dict):
        print(f"labels: {labels['negative']} is −1, {labels['positive']} is +1")
    elif labels is not None:
        print(f"{len(labels)} classes: {', '.join(labels[:MANY])}{', …' if len(labels) > MANY else ''}")
    for name, figure in core.about().items():
        print(f"{name.replace('_', ' ')}: {figure:,}")
    if core.config["bias"][0] and core.tally() is None and run.members is None:
        print(f"bias: {core.bias:+.6g}")
    if weights:
        head = tuple(weights[0])
        newest = "weights of the newest predictor:" if "predictors" in core.about() else None
        told = newest if mixed is None else _mixture_title(mixed)
        table([tuple(_cell(row[key]) for key in head) for row in weights], head, told)
        if mixed is not None:
            print(
                f"effect: {mixed.effect_words}; bias: {', '.join(f'{one:+.6g}' for one in mixed.bias.tolist()[:MANY])}"
            )
    if isinstance(core, Selected):
        from noregret.cli.selecting import show_selection

        print(f"\na selected model: it predicts with {_predictor(core)} and cannot learn any further")
        show_selection(core.selection, any(segment["shuffle"] is not None for segment in core.segments))


def _predictor(core: Any) -> str:
    ways = {"last": "the last weights", "average": "the average of the run's weights"}
    ways |= dict.fromkeys(("penalised", "holdout"), "chosen weights") | {"gibbs": "weights drawn from the run"}
    return ways.get(core.selection["how"], f"the vote of {len(core.votes):,} rows of weights")


def _cell(value: Any) -> str:
    return f"{value:+.6g}" if isinstance(value, float) else str(value)


def _bias(core: Any) -> Any:
    return core.bias if core.tally() is None else core.class_biases.tolist()


def _mixture_title(mixed: Combined) -> str:
    """Of which members the weights are."""
    from noregret.summary import share

    named = ", ".join(one["name"] for one in mixed.members[:NAMED])
    more = f" and {len(mixed.members) - NAMED} more" if len(mixed.members) > NAMED else ""
    return (
        f"weights in the units of the columns: mean of the linear members by their shares ({named}{more};"
        f" {share(mixed.share, 1.0)} of the mixture)"
    )


def _largest(core: Any, top: int, mixed: Combined | None) -> list[dict[str, Any]]:
    """The largest weights in size, by feature name, and by class where there are many; of a mixture by effect."""
    import numpy as np

    from noregret.cli.predictions import shown

    weights = np.atleast_2d(core.weights) if mixed is None else mixed.weights
    sizes = weights if mixed is None else mixed.effect
    order = np.argsort(-np.abs(sizes), axis=None, kind="stable")[:top]
    found = []
    for k, i in zip(*np.unravel_index(order, weights.shape), strict=True):
        if sizes[k, i] != 0.0:
            of = {} if core.tally() is None else {"class": shown(core.labels.classes[k])}
            effect = {} if mixed is None else {"effect": float(sizes[k, i])}
            found.append({"feature": core.name_of(int(i)), **of, "weight": float(weights[k, i]), **effect})
    return found


def _labels(core: Any) -> dict[str, str] | list[str] | None:
    from noregret.cli.predictions import shown

    if core.labels is None:
        return None
    if core.tally() is not None:
        return [shown(label) for label in core.labels.classes]
    negative, positive = core.labels.classes
    return {"negative": shown(negative), "positive": shown(positive)}
