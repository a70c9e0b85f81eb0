"""`noregret demo`: the default and two learners on real data that comes with scikit-learn, one certified, a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from noregret.proof.receipt import Receipt
    from noregret.run import Run

PROMISE = "ogd-linearised"


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to; created if missing.")] = Path(
        "demo"
    ),
) -> None:
    """Run the default and two learners on 569 real examinations, certify one run and write a report for the browser.

    Example: noregret demo
    """
    from noregret import learner as learners
    from noregret import model
    from noregret.cli.solving import leave_if_broken
    from noregret.cli.terminal import telling
    from noregret.picture.canvas import can_draw
    from noregret.picture.curves import draw_error
    from noregret.picture.explain import draw_story, story
    from noregret.proof.certify import certify
    from noregret.protocol import play
    from noregret.reporting import report
    from noregret.stream import read

    rows = _written(output)
    with telling("playing three learners"):
        runs = {
            "auto, the default": play(learners.Auto(), read(rows), shuffle=0),
            "perceptron": play(learners.Perceptron(scale="max", bias=True), read(rows), shuffle=0),
            "gradient descent": play(
                learners.OnlineGradientDescent(loss="logistic", radius=3.0, scale="max", bias=True),
                read(rows),
                shuffle=0,
                digest=True,
            ),
        }
    run = runs["gradient descent"]
    print("569 breast examinations, 30 measurements each: is the tumour benign? One pass: predict, then learn.\n")
    _show(runs)
    with telling("certifying one run"):
        receipt = certify(run, read(rows), anytime=True, gap=1e-6)
    _show_regret(receipt)
    receipt.save(output / "receipt.json")
    model.save(run.learner, output / "tumours.nr")
    if can_draw():
        with telling("drawing"):
            draw_error(runs, output / "errors.png")
            draw_story(story(run, read(rows)), run, output / "explains.svg")
    report(output / "receipt.json", output / "tumours.nr", output=output / "report.html")
    if can_draw():
        print(f"error over time: {output / 'errors.png'}")
        print(f"loss, regret and bound over time: {output / 'explains.svg'}")
    else:
        print("no pictures: they need matplotlib (pip install 'noregret[plot]')")
    print(f"receipt, checked by: noregret verify {output / 'receipt.json'} {rows}")
    print(f"report, to open in a browser: {output / 'report.html'}")
    leave_if_broken(receipt.broken)


def _written(output: Path) -> Path:
    """The rows in the folder, which is made if it is missing."""
    from sklearn.datasets import dump_svmlight_file, load_breast_cancer

    from noregret.atomic import whole_file
    from noregret.errors import InputError

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"is not a folder and cannot be created: {error.strerror}", str(output)) from error
    data = load_breast_cancer()
    with whole_file(output / "tumours.svm") as file:
        dump_svmlight_file(data.data, data.target, file, zero_based=False)
    return output / "tumours.svm"


def _show(runs: dict[str, Run]) -> None:
    """The learners beside the two rules that look at no measurement."""
    from noregret.cli.show import table
    from noregret.summary import BASELINES, share

    first = next(iter(runs.values()))
    rows = [(name, str(run.mistakes), share(run.mistakes or 0, run.rounds)) for name, run in runs.items()]
    for key, mistakes in first.baselines.items():
        rows.append((BASELINES[key], f"{mistakes:.0f}", share(mistakes, first.rounds)))
    table(rows, ("", "mistakes", "per row"))


def _show_regret(receipt: Receipt) -> None:
    """What gradient descent lost, what hindsight would have, what was promised."""
    from noregret.summary import at_least, at_most, number

    regret = receipt.regret
    assert regret is not None
    promised = next(one["bound"] for one in receipt.certificates if one["theorem"] == PROMISE)
    best = regret["comparator"]
    print(f"\ngradient descent, total logistic loss: {number(receipt.figure('loss'))}")
    print(f"best fixed weights, chosen in hindsight: {at_least(best['lower'])} to {at_most(best['upper'])}")
    print(f"certified regret, the difference: {at_least(regret['lower'])} to {at_most(regret['upper'])}")
    print(f"bound from theory: {at_most(promised)}\n")
