"""Lines under the table of a run: what was recognised, how rows were prepared, what to try next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from noregret.advice import advice
from noregret.cli.options import flag
from noregret.learner import settings_of
from noregret.learner.default import MATRIX
from noregret.stream.labels import shown_label
from noregret.stream.task import Task
from noregret.summary import title_of

if TYPE_CHECKING:
    from noregret.cli.choosing import Chosen
    from noregret.run import Run


def title(run: Run, choice: Chosen) -> str:
    """The first line: the learner, whether it is the default, its settings."""
    name, colon, settings = title_of(run).partition(":")
    if choice.named:
        return title_of(run)
    wide = choice.task is Task.REGRESSION and run.features > MATRIX
    many = f" with more than {MATRIX} features, including hashed slots" if wide else ""
    return f"{name} (the default for {choice.task.words}{many}){colon}{settings}"


def as_read(run: Run, choice: Chosen) -> list[str]:
    """What was recognised, and what the figures speak of."""
    lines = []
    if choice.seen is not None and not choice.task_given:
        met = _some([shown_label(label) for label in choice.seen.labels])
        met += ", no second label yet" if choice.task is Task.BINARY and len(choice.seen.labels) == 1 else ""
        lines.append(
            f"task: {choice.task.words} ({met}), recognised from the first {choice.seen.rows:,} rows (override: --task)"
        )
    prepared = [
        *(["each feature divided by its largest absolute value so far"] if run.learner.preparation.scale else []),
        *(["rows scaled to norm 1"] if run.learner.preparation.unit_norm else []),
    ]
    if prepared:
        lines.append(f"prepared: {', '.join(prepared)}; losses, bounds and hindsight refer to the prepared rows")
    return lines


def _some(names: list[str]) -> str:
    return ", ".join(names[:4]) + (", …" if len(names) > 4 else "")


def task_told(choice: Chosen) -> dict[str, Any]:
    """The same for `--json`."""
    given = choice.task_given or choice.seen is None
    return {"name": str(choice.task), "recognised_from": None if given or choice.seen is None else choice.seen.rows}


def advised(run: Run, choice: Chosen, command: str) -> list[str]:
    """What to try next, a line each."""
    found = advice(run, choice.seen, choice.task_given)
    stream = command.partition(" ")[2]
    return [
        f"advice: {one.finding}: noregret "
        + (f"compare {stream}" if one.options is None else f"{command} {_added(run, choice, one.options)}")
        for one in found
    ]


def _added(run: Run, choice: Chosen, options: str) -> str:
    """Options to try beside those that chose the learner of this run, or instead of them."""
    if not choice.named or options.startswith(("--learner", "--task")):
        return options
    learner = run.learner
    kept = [f"--learner {learner.name}"]
    if "loss" in settings_of(learner.name):
        kept.append(f"--loss {learner.loss.spec}")
    kept += [flag(key) for key in ("bias", "unit_norm") if learner.settings.get(key)]
    return " ".join([*kept, options])


def command_of(stream: str, reading: Mapping[str, Any]) -> str:
    """`learn` with the stream and the options by which it was read.

    >>> command_of("a b.csv", {"label": "y", "text": ["m", "n"], "class_weight": {"1": 2.0}, "positive": None})
    "learn 'a b.csv' --label y --text m,n --class-weight 1=2"
    """
    said = [f"{flag(key)} {shlex.quote(_said(value))}" for key, value in reading.items() if value is not None]
    return " ".join(["learn", shlex.quote(stream), *said])


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{label}={weight:g}" for label, weight in value.items())
    return ",".join(value) if isinstance(value, list | tuple) else str(value)
