"""`noregret demo`: two learners on real data that comes with scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder for the picture; made if it is missing.")
    ] = Path("demo"),
) -> None:
    """Play two learners on 569 real examinations and draw how often each was wrong.

    Example: noregret demo
    """
    from sklearn.datasets import load_breast_cancer

    from noregret import learner as learners
    from noregret.cli.show import share, table
    from noregret.errors import InputError
    from noregret.picture.canvas import check_picture
    from noregret.picture.error import draw_error
    from noregret.protocol import play

    picture = output / "errors.png"
    check_picture(picture)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"is no folder and cannot be made one: {error.strerror}", str(output)) from error
    data = load_breast_cancer()
    runs = {
        "perceptron": play(learners.Perceptron(scale="max", bias=True), (data.data, data.target), shuffle=0),
        "gradient descent": play(
            learners.OnlineGradientDescent(loss="logistic", radius=3.0, scale="max", bias=True),
            (data.data, data.target),
            shuffle=0,
        ),
    }
    first = runs["perceptron"]
    print("569 breast examinations, 30 measurements each; is the tumour benign? One pass: predict, be told, update.\n")
    rows = [
        (name, str(run.mistakes), share(run.mistakes or 0, run.rounds), _regret(run.regret_upper))
        for name, run in runs.items()
    ]
    for name, key in (("always the commoner label", "majority_label"), ("the label that came last", "last_label")):
        mistakes = first.baselines[key]
        rows.append((name, f"{mistakes:.0f}", share(mistakes, first.rounds), ""))
    table(rows, ("", "mistakes", "of the rounds", "regret at most"))
    draw_error(runs, picture)
    print(f"\nThe error so far, round by round: {picture}")


def _regret(upper: float | None) -> str:
    return "" if upper is None else f"{upper:.1f}"
