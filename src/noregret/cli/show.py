"""Tables for people, and the lines under the table of a run: what was recognised, what to try next."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import combining, east_asian_width

from noregret.advice import advice
from noregret.cli.options import flag
from noregret.cli.terminal import put, visible
from noregret.learner import settings_of
from noregret.stream.labels import shown_label
from noregret.stream.task import Task
from noregret.summary import (
    LEADERS,
    RUN_HEAD,
    alarm_rows,
    at_least,
    at_most,
    late_rows,
    member_rows,
    members_head,
    price,
    run_rows,
    title_of,
)

if TYPE_CHECKING:
    from noregret.cli.choosing import Chosen
    from noregret.late.playing import LateRun
    from noregret.run import Run

LINES = 20  # lines shown of what was recognised


def table(rows: Sequence[Sequence[str]], head: Sequence[str] | None = None, title: str | None = None) -> None:
    """Aligned columns on standard output: words to the left, figures to the right."""
    lines = [[visible(cell, line=True) for cell in line] for line in (*([] if head is None else [head]), *rows)]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    bold, plain = ("\x1b[1m", "\x1b[0m") if _styled() else ("", "")
    if title is not None:
        print(visible(title, line=True))
    for place, line in enumerate(lines):
        cells = [_padded(cell, width, i == 0) for i, (cell, width) in enumerate(zip(line, widths, strict=True))]
        text = "  ".join(cells).rstrip()
        heading = head is not None and place == 0
        put(f"{bold}{text}{plain}" if heading else text, styled=heading)


def _styled() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


def _padded(text: str, width: int, left: bool) -> str:
    gap = " " * (width - _width(text))
    return text + gap if left else gap + text


def _width(text: str) -> int:
    """How many columns of a terminal a text takes: letters of East Asia two, marks over other letters none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def outward(lower: float, upper: float) -> str:
    """An interval in six figures that holds the whole of it.

    >>> outward(1.00000049, 2.0000001)
    '[1, 2.00001]'
    """
    return f"[{at_least(lower)}, {at_most(upper)}]"


def show_run(run: Run, title: str | None = None, task: str | None = None, leaders: int | None = LEADERS) -> None:
    """The table of one run, and of a mixture its leading members."""
    rows = run_rows(run)
    told = [] if task is None else [("task", task, "")]
    table([*told, *rows], RUN_HEAD, title=title_of(run) if title is None else title)
    if run.members is not None and run.rounds:
        print()
        table(member_rows(run, leaders), members_head(run))
        print(price(run))


def show_late(late: LateRun, title: str, task: str) -> None:
    """The table of predictions whose labels came late, and of a mixture its leading members."""
    run = late.run
    table([("task", task, ""), *late_rows(late)], RUN_HEAD, title=title)
    if run.members is not None and run.rounds:
        print()
        table(member_rows(run), members_head(run))
        print("members, and the mixture, are judged by what they said when a row came")


def show_alarm(alarm: Mapping[str, Any]) -> None:
    """What an alarm watches, and whether it rang: words to the left, and again to the left."""
    rows = alarm_rows(alarm)
    room = max(_width(what) for what, _ in rows)
    for what, told in rows:
        put(visible(f"{_padded(what, room, True)}  {told}", line=True), styled=False)


def show_lines(lines: Sequence[str]) -> None:
    """Lines of their own under a table."""
    if lines:
        print()
    for line in lines[:LINES]:
        print(line)
    if len(lines) > LINES:
        print(f"and {len(lines) - LINES:,} more lines about other columns")


def title(run: Run, choice: Chosen) -> str:
    """The first line: the learner, whether it is the default, its settings."""
    name, colon, settings = title_of(run).partition(":")
    if choice.named:
        return title_of(run)
    return f"{name} (the default for {choice.task.words}){colon}{settings}"


def as_read(run: Run, choice: Chosen) -> list[str]:
    """What was recognised, and what the figures speak of."""
    lines = []
    if choice.seen is not None and not choice.task_given:
        met = _some([shown_label(label) for label in choice.seen.labels])
        met += ", no second label yet" if choice.task is Task.BINARY and len(choice.seen.labels) == 1 else ""
        lines.append(
            f"task: {choice.task.words} ({met}), recognised from the first {choice.seen.rows:,} rows (override: --task)"
        )
    prepared = run.learner.preparation.words
    if prepared:
        lines.append(f"prepared: {', '.join(prepared)}; losses, bounds and hindsight refer to the prepared rows")
    return lines


def _some(names: list[str]) -> str:
    return ", ".join(names[:4]) + (", …" if len(names) > 4 else "")


def task_figures(choice: Chosen) -> dict[str, Any]:
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
