"""The learners that `compare` sets side by side when none is named, and which of them do not apply to a stream.

`auto` comes first and prepares the rows of its members itself; the others have a bias and scaled columns and rows. Not
among them: `ftrl`, which plays as `adagrad` does as long as nothing is asked of it (18.19 % errors each on a1a), and
`averaged`, whose run counts the mistakes of the perceptron that it averages (23.74 % each), and for two classes `coin`,
which on real sets stays near the most frequent label.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from noregret.learner import LEARNERS, settings_of
from noregret.learner.core import Core
from noregret.learner.default import MATRIX, PREPARED
from noregret.stream.task import Task

Settings = dict[str, Any]
ROWS = 5_000  # up to which a kernel is compared: each row is scored against all rows that were learned from
KERNEL, PAIRS = "kernel", "pairs"  # what limits a member


@dataclass(frozen=True)
class Member:
    """A learner of the line-up: its own settings, how its rows are prepared, and what limits it."""

    name: str
    task: Task
    own: tuple[tuple[str, str], ...] = ()
    prepared: tuple[str, ...] = tuple(PREPARED)
    limit: str | None = None

    @property
    def spec(self) -> str:
        """As text: name:key=value,key=value."""
        return self.name + (":" if self.own else "") + ",".join(f"{key}={value}" for key, value in self.own)

    def core(self) -> Core:
        """A new learner."""
        settings: Settings = {**dict(self.own), **{key: PREPARED[key] for key in self.prepared}}
        if "task" in settings_of(self.name):
            settings["task"] = str(self.task)
        return LEARNERS[self.name](**settings)

    def why_not(self, rows: int, features: int) -> str | None:
        """Why it does not apply to a stream of this size; None where it does."""
        if self.limit == KERNEL and rows > ROWS:
            return f"{rows:,} rows, a kernel is compared on at most {ROWS:,}"
        if self.limit == PAIRS and features > MATRIX:
            return f"{features:,} features, it keeps a number for each pair of at most {MATRIX}"
        return None


LOGISTIC = (("loss", "logistic"),)
SCALED = ("bias", "scale")
MEMBERS = (
    *(Member("auto", task, prepared=()) for task in Task),
    Member("adagrad", Task.BINARY, LOGISTIC),
    Member("ogd", Task.BINARY, LOGISTIC),
    Member("pa1", Task.BINARY),
    Member("second-order", Task.BINARY, limit=PAIRS),
    Member("kernel", Task.BINARY, (("kernel", "rbf"),), limit=KERNEL),
    Member("multiclass", Task.MULTICLASS),
    Member("multiclass", Task.MULTICLASS, (("update", "one-vs-rest"),)),
    Member("vaw", Task.REGRESSION, prepared=SCALED, limit=PAIRS),
    Member("coin", Task.REGRESSION, (("loss", "absolute"),)),
    Member("pa1", Task.REGRESSION, (("loss", "absolute"),), prepared=SCALED),
    Member("pa2", Task.REGRESSION, (("loss", "absolute"),), prepared=SCALED),
)


def line_up(task: Task, rows: int, features: int) -> tuple[list[Member], list[tuple[str, str]]]:
    """The members for a task, and those left out, each with the reason.

    >>> [member.spec for member in line_up(Task.MULTICLASS, 100, 5)[0]]
    ['auto', 'multiclass', 'multiclass:update=one-vs-rest']
    """
    mine = [member for member in MEMBERS if member.task is task]
    playing = [member for member in mine if member.why_not(rows, features) is None]
    return playing, list(_left_out(task, mine, rows, features))


def _left_out(task: Task, mine: list[Member], rows: int, features: int) -> Iterator[tuple[str, str]]:
    for member in mine:
        reason = member.why_not(rows, features)
        if reason is not None:
            yield member.spec, reason
    known = {member.name for member in mine}
    for other in Task:
        # who has no loss to choose is for one task alone
        others = [one.name for one in MEMBERS if one.task is other and one.name not in known]
        only = dict.fromkeys(name for name in others if "loss" not in settings_of(name))
        if only:
            yield ", ".join(only), f"only for {other.words}"
