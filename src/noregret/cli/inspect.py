"""`noregret inspect`: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def inspect(
    model: Annotated[Path, typer.Argument(help="A model file written by learn --save.")],
    top: Annotated[int, typer.Option(help="How many of the largest weights to show.", metavar="K", min=0)] = 10,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the tables.")] = False,
) -> None:
    """Show a model's settings, its figures so far and its largest weights by feature name.

    Example: noregret inspect spam.nr --top 20
    """
    from noregret import model as models
    from noregret.learner import Selected
    from noregret.run import Run

    core, _ = models.load(model)
    run = Run.of(core)
    weights = _largest(core, top)
    if json:
        import msgspec

        shown = {
            key: value
            for key, value in run.to_dict().items()
            if key not in ("this_run", "seconds", "stopped", "digest")
        }
        shown |= {"bias": core.bias, "weights": [{"feature": name, "weight": w} for name, w in weights]}
        if core.supports is not None:
            shown |= {"supports": core.supports}
        shown |= {"labels": _labels(core), "segments": core.segments, "reading": core.options}
        if isinstance(core, Selected):
            shown["selection"] = core.selection
        print(msgspec.json.encode(shown).decode())
        return
    from noregret.cli.show import show_run, table

    show_run(run)
    print()
    labels = _labels(core)
    if labels is not None:
        print(f"labels: {labels['negative']} is −1, {labels['positive']} is +1")
    if core.config["bias"][0]:
        print(f"bias: {core.bias:+.6g}")
    if weights:
        table([(name, f"{weight:+.6g}") for name, weight in weights], ("feature", "weight"))
    if isinstance(core, Selected):
        from noregret.cli.selecting import show_selection

        print(f"\na selected model: it predicts with {_predictor(core)} and does not go on learning")
        show_selection(core.selection, any(segment["shuffle"] is not None for segment in core.segments))


def _predictor(core: Any) -> str:
    ways = {"last": "the last weights", "average": "the average of the run's weights", "penalised": "chosen weights"}
    return ways.get(core.selection["how"], f"the vote of {len(core.votes):,} rows of weights")


def _largest(core: Any, top: int) -> list[tuple[str, float]]:
    """The largest weights in size, by feature name."""
    import numpy as np

    weights = core.weights
    order = np.argsort(-np.abs(weights), kind="stable")[:top]
    name = core.features.name_of if core.features else str
    return [(name(int(i)), float(weights[i])) for i in order if weights[i] != 0.0]


def _labels(core: Any) -> dict[str, str] | None:
    from noregret.cli.predictions import shown

    if core.labels is None:
        return None
    negative, positive = core.labels.classes
    return {"negative": shown(negative), "positive": shown(positive)}
