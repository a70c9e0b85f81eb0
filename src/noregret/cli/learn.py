"""`noregret learn`: its options. What is done with them is in learning.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noregret.cli.arguments import Playing, Reading, Shown, Solving, StreamFile, TaskName
from noregret.cli.groups import Group, grouped
from noregret.cli.settings import LearnerSettings
from noregret.learner import LEARNERS


class Named(Group):
    """Which learner plays."""

    learner: Annotated[
        str | None,
        typer.Option(
            help="Default: adagrad for two classes, multiclass for more, vaw for numbers."
            f" One of {', '.join(LEARNERS)}."
        ),
    ] = None
    task: TaskName = None


class Weighing(Group):
    """What counts for more."""

    class_weight: Annotated[str | None, typer.Option(help="Weights by label, for example spam=2,ham=1.")] = None


class Files(Group):
    """What is written, and what is gone on with."""

    predictions: Annotated[
        Path | None, typer.Option(help="Write every prediction, made before its label was seen, to this file.")
    ] = None
    save: Annotated[Path | None, typer.Option(help="Write the model; Ctrl-C then leaves one to go on from.")] = None
    resume: Annotated[Path | None, typer.Option(help="Go on with a saved model; its settings hold.")] = None
    skip: Annotated[str | None, typer.Option(help="seen: pass over the rows that the resumed model has seen.")] = None
    again: Annotated[
        bool, typer.Option("--again", help="With --resume: learn once more from rows that the model has seen.")
    ] = False


class Proving(Group):
    """Whether the regret is proved."""

    certify: Annotated[
        bool,
        typer.Option(
            "--certify", help="Solve for the best model in hindsight and evaluate every theorem.", show_default=False
        ),
    ] = False
    receipt: Annotated[
        Path | None, typer.Option(help="Write all that with its proof to this file; implies --certify.")
    ] = None
    anytime: Annotated[
        bool, typer.Option("--anytime", help="With --certify: also the regret after 1, 2, 4, 8, … rounds.")
    ] = False

    @property
    def wanted(self) -> bool:
        return self.certify or self.receipt is not None


class Selecting(Group):
    """Whether one predictor of the run is kept."""

    select: Annotated[
        str | None,
        typer.Option(help="Keep one predictor of the run: penalised, last, average or voted; with risk certificates."),
    ] = None
    confidence: Annotated[
        float | None, typer.Option(help="With --select: the probability that a certificate holds (default 0.95).")
    ] = None
    candidates: Annotated[
        str | None, typer.Option(help="With --select: how many predictors to choose from, or all.", metavar="K")
    ] = None


class Drawing(Group):
    """What is drawn."""

    plot: Annotated[
        Path | None, typer.Option(help="Draw the error so far to this file (.png, .svg, .pdf; updates also .gif).")
    ] = None
    picture: Annotated[
        str | None,
        typer.Option(
            help="What --plot draws: error (numbers: risk), risk, mistakes, reliability; of two features boundary and"
            " updates; with --certify regret and bounds.",
            metavar="KIND",
        ),
    ] = None


@grouped
def learn(
    stream: StreamFile,
    named: Named,
    settings: LearnerSettings,
    weighing: Weighing,
    playing: Playing,
    reading: Reading,
    files: Files,
    proving: Proving,
    solving: Solving,
    selecting: Selecting,
    drawing: Drawing,
    shown: Shown,
) -> None:
    """Learn from a stream in one pass and say what the pass proves.

    Examples:

    noregret learn spam.svm.gz

    noregret learn clicks.csv --label clicked --learner ogd --loss logistic --radius 5 --save clicks.nr
    """
    from noregret.cli.learning import Learning
    from noregret.cli.options import class_weights
    from noregret.stream.task import Task

    work = Learning(stream, playing, reading, files, proving, solving, selecting, drawing, shown)
    work.check()
    recipe = {**reading.recipe(), "class_weight": class_weights(weighing.class_weight)}
    task = None if named.task is None else Task.parse(named.task)
    work.open(named.learner, task, settings, recipe)
    work.play()
    work.finish()
