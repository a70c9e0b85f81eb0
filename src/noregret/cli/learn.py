"""`noregret learn`: its options. What is done with them is in learning.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.arguments import (
    Cluster,
    Group,
    LearnerSettings,
    Playing,
    Reading,
    Scores,
    Shown,
    Solving,
    StreamFile,
    Surrogate,
    TaskName,
    grouped,
)
from noregret.learner import LEARNERS

if TYPE_CHECKING:
    from noregret.cli.learning import Learning


class Named(Group):
    """Which learner plays."""

    learner: Annotated[
        str | None,
        typer.Option(help=f"Default: auto, a mixture of many learners. One of {', '.join(LEARNERS)}."),
    ] = None
    task: TaskName = None


class Asked(Shown, Solving, Reading, Playing):
    """What else is asked: how rows are read and played, what is proved, selected, drawn and written."""

    class_weight: Annotated[str | None, typer.Option(help="Weights by label, for example spam=2,ham=1.")] = None
    predictions: Annotated[
        str | None,
        typer.Option(
            help="Write every prediction, made before its label was seen, to this file. - is standard output, row by"
            " row; what else is printed then goes to standard error. With --events also redis://HOST/STREAM or"
            " kafka://HOST/TOPIC, each at least once.",
            metavar="FILE",
        ),
    ] = None
    save: Annotated[Path | None, typer.Option(help="Write the model; Ctrl-C then leaves one to go on from.")] = None
    every: Annotated[
        str | None,
        typer.Option(help="With --save: save also every N rows (10000) or seconds (10s).", metavar="N"),
    ] = None
    resume: Annotated[Path | None, typer.Option(help="Go on with a saved model; its settings hold.")] = None
    skip: Annotated[str | None, typer.Option(help="seen: pass over the rows that the resumed model has seen.")] = None
    again: Annotated[
        bool, typer.Option("--again", help="With --resume: learn once more from rows that the model has seen.")
    ] = False
    certify: Annotated[
        bool,
        typer.Option(
            "--certify", help="Solve for the best model in hindsight and evaluate every theorem.", show_default=False
        ),
    ] = False
    receipt: Annotated[
        Path | None, typer.Option(help="Write all that with its proof to this file; implies --certify.")
    ] = None
    ledger: Annotated[
        Path | None,
        typer.Option(
            help="Write the ledger of the run to this file: what bounds its regret, for verify and merge.",
            metavar="FILE",
        ),
    ] = None
    anytime: Annotated[
        bool, typer.Option("--anytime", help="With --certify: also the regret after 1, 2, 4, 8, … rounds.")
    ] = False
    surrogate: Surrogate = None
    scores: Scores = None
    rows_out: Annotated[
        Path | None,
        typer.Option(help="Write the rows as they were played, after all preparation, to this file.", metavar="FILE"),
    ] = None
    select: Annotated[
        str | None,
        typer.Option(
            help="Keep one predictor of the run, with risk certificates: penalised, holdout, gibbs, last, average or"
            " voted."
        ),
    ] = None
    confidence: Annotated[
        float | None, typer.Option(help="With --select: the probability that a certificate holds (default 0.95).")
    ] = None
    candidates: Annotated[
        str | None, typer.Option(help="With --select: how many predictors to choose from, or all.", metavar="K")
    ] = None
    holdout: Annotated[
        int | None,
        typer.Option(
            help="With --select holdout: how many of the last rounds to hold out (default a fifth).", metavar="M"
        ),
    ] = None
    draw: Annotated[
        int | None,
        typer.Option(help="With --select gibbs: the seed that draws the predictor (default 0).", metavar="SEED"),
    ] = None
    plot: Annotated[
        Path | None, typer.Option(help="Draw the error so far to this file (.png, .svg, .pdf; updates also .gif).")
    ] = None
    picture: Annotated[
        str | None,
        typer.Option(
            help="What --plot draws: error (numbers: risk), risk, mistakes, reliability; of auto weights; of two"
            " features boundary and updates; of a perceptron lifting and surrogate; of linear learners tangent; with"
            " --windows windows; with --certify regret and bounds.",
            metavar="KIND",
        ),
    ] = None

    @property
    def proves(self) -> bool:
        return self.certify or self.receipt is not None


class Watch(Group):
    """What rings an alarm, and what happens then."""

    alarm: Annotated[
        str | None,
        typer.Option(
            help="Say so when the mean loss has surely risen above level:M (level:0.1), that of the baseline"
            " (baseline), or that of a saved model (challenger:MODEL).",
            metavar="NULL",
        ),
    ] = None
    false_alarm: Annotated[
        float | None,
        typer.Option(
            help="With --alarm: the probability that it ever rings for nothing, in the whole life of the run"
            " (default 0.01).",
            metavar="P",
        ),
    ] = None
    after: Annotated[
        int | None,
        typer.Option(help="With --alarm: leave out the first N rounds of learning (default 0).", metavar="N"),
    ] = None
    alarm_loss: Annotated[
        str | None,
        typer.Option(
            help="With --alarm: what is watched: zero-one (default for classes), brier (two classes), or, of numbers,"
            " clip:B, which is min(|error|, B)/B.",
            metavar="LOSS",
        ),
    ] = None
    on_alarm: Annotated[
        str | None,
        typer.Option(
            help="With --alarm: continue (default), restart (a new learner from the next round on) or reshare (of auto:"
            " its weights start again from their prior).",
            metavar="WHAT",
        ),
    ] = None
    fail_on_alarm: Annotated[
        bool,
        typer.Option("--fail-on-alarm", help="With --alarm: exit with code 3 if it rang.", show_default=False),
    ] = False

    @property
    def said(self) -> dict[str, Any]:
        """The settings of the alarm, as far as they were given."""
        names = {"null": "alarm", "loss": "alarm_loss"}
        return {
            name: getattr(self, names.get(name, name)) for name in ("null", "false_alarm", "after", "loss", "on_alarm")
        }


class InWindows(Group):
    """Windows of the run, and what is compared in them."""

    windows: Annotated[
        str | None,
        typer.Option(
            help="Tell how each window went: of N rounds (1000; older ones are joined), every:N (all are kept), or each"
            " day or week of the column --time.",
            metavar="WINDOWS",
        ),
    ] = None
    challenger: Annotated[
        str | None,
        typer.Option(
            help="With --windows: saved models, separated by commas, that learn nothing beside; their losses are"
            " measured.",
            metavar="MODEL,...",
        ),
    ] = None
    time_zone: Annotated[
        str | None,
        typer.Option(
            help="With --windows day or week: whose days, such as Europe/Paris (default: those of the column, UTC where"
            " it states no zone).",
            metavar="ZONE",
        ),
    ] = None


class Late(Group):
    """When labels come, and what happens where they do not."""

    events: Annotated[
        bool,
        typer.Option(
            "--events",
            help="Read a log of events (JSON Lines), redis://HOST/STREAM or kafka://HOST/TOPIC: rows to predict, and"
            " labels that follow by id.",
            show_default=False,
        ),
    ] = False
    delay: Annotated[
        int | None, typer.Option(help="Learn each label only after this many further rows.", metavar="ROWS")
    ] = None
    arrival: Annotated[
        str | None,
        typer.Option(
            help="Column with the row (1 is the first) after which the label is known; with --time, when it is.",
            metavar="COLUMN",
        ),
    ] = None
    time: Annotated[
        str | None,
        typer.Option(
            help="With --arrival, --windows day or week: the column with the time of each row.", metavar="COLUMN"
        ),
    ] = None
    expire: Annotated[
        int | None,
        typer.Option(
            help="Give up a label that has not come after this many further rows (default: never).", metavar="ROWS"
        ),
    ] = None
    default_label: Annotated[
        str | None,
        typer.Option(help="Learn this label in place of one that is given up.", metavar="LABEL"),
    ] = None
    pending: Annotated[
        int | None,
        typer.Option(
            help="At most this many rows wait for labels (default 1,000,000); the oldest is given up.", metavar="ROWS"
        ),
    ] = None

    until_idle: Annotated[
        float | None,
        typer.Option(
            help="Of Redis or Kafka: stop when nothing has come for so long; 0: with what is there (default: go on).",
            metavar="SECONDS",
        ),
    ] = None
    after_position: Annotated[
        str | None,
        typer.Option(
            help="Of Redis or Kafka: read what comes behind this position, not behind the model's.", metavar="POSITION"
        ),
    ] = None

    @property
    def asked(self) -> bool:
        """Whether labels come late."""
        apart = ("events", "time")  # windows need the time of a row too
        return self.events or any(getattr(self, name) is not None for name in self.options() if name not in apart)


class Shards(Group):
    """Learning from parts of the rows at once, here or on a cluster."""

    cluster: Cluster = None
    shards: Annotated[
        int | None,
        typer.Option(
            help="With --cluster: cut the rows into S contiguous parts (default: every file is one; of one file N"
            " parts).",
            metavar="S",
        ),
    ] = None
    mixing: Annotated[
        str | None,
        typer.Option(
            help="With --cluster: how the shards' weights are mixed after each pass: uniform (default), mistakes, or"
            " once, at the end alone, which has no guarantee."
        ),
    ] = None


@grouped
def learn(
    stream: StreamFile,
    named: Named,
    settings: LearnerSettings,
    asked: Asked,
    watch: Watch,
    kept: InWindows,
    late: Late,
    shards: Shards,
) -> None:
    """Learn from a stream in one pass and say what the pass proves.

    Examples:

    noregret learn spam.svm.gz

    noregret learn clicks.csv --label clicked --learner ogd --loss logistic --radius 5 --save clicks.nr

    noregret learn clicks.csv --label clicked --alarm level:0.1 --fail-on-alarm

    noregret learn events.jsonl --events --task binary --predictions -

    noregret learn 'clicks/*.parquet' --learner ogd --loss logistic --cluster local:4 --passes 5

    noregret learn redis://localhost/clicks --events --task binary --save clicks.nr --every 10s
    """
    from noregret.cli.late import learning
    from noregret.errors import SettingError

    if shards.cluster is not None:
        from noregret.cli.cluster import Clustered

        work: Learning = Clustered(stream, asked, watch, kept, late, shards)
    else:
        for name in ("shards", "mixing"):
            if getattr(shards, name) is not None:
                raise SettingError(f"--{name} goes with --cluster")
        work = learning(stream, asked, watch, kept, late)
    work.check()
    work.play(named.learner, named.task, settings)
    work.finish()
