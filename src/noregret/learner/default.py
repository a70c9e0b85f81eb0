"""Which learner plays when none is named, and which task a named one has.

`auto`, a mixture of a pool of learners, for every task. Where another loss is asked for than it has: for two classes
AdaGrad, for numbers the Passive-Aggressive learner, whose steps are as long as its errors, or coin betting.
"""

from __future__ import annotations

import math
from typing import Any

from noregret.errors import SettingError, spelled
from noregret.learner import Core, settings_of
from noregret.loss import logistic, parse, squared
from noregret.stream.labels import Classes
from noregret.stream.task import Task

Settings = dict[str, Any]
MATRIX = 500  # features up to which a matrix of all pairs is kept
PREPARED: Settings = {"bias": True, "scale": "max", "unit_norm": True}


def default(task: Task, loss: str | None) -> tuple[str, Settings]:
    """The name and the settings of the default learner; a `loss` that was asked for is part of them.

    >>> default(Task.BINARY, None)
    ('auto', {})
    >>> default(Task.BINARY, "hinge")
    ('adagrad', {'loss': 'hinge', 'bias': True, 'scale': 'max', 'unit_norm': True})
    """
    if task is Task.MULTICLASS:
        return "auto", {"task": str(task), **({} if loss is None else {"loss": loss})}
    if task is Task.BINARY:
        return ("auto", {}) if loss in (None, logistic().name) else ("adagrad", {"loss": loss, **PREPARED})
    chosen = squared() if loss is None else parse(loss)
    if chosen == squared():
        return "auto", {"task": str(task)}
    if math.isinf(chosen.lipschitz):
        raise SettingError(
            f"the loss {loss} has no default learner: give {spelled('loss', 'squared')}"
            f" or {spelled('loss', 'absolute')}, or name a learner"
        )
    return "pa2" if chosen.passive else "coin", {"loss": loss, **PREPARED}


def task_of(core: Core) -> Task:
    """What a learner predicts."""
    if core.labels is None:
        return Task.REGRESSION
    return Task.MULTICLASS if isinstance(core.labels, Classes) else Task.BINARY


def loss_for(name: str, task: Task | None, loss: str | None) -> str | None:
    """The loss of a learner that is named with a task: for numbers, squared, or absolute where slopes need a bound."""
    known = settings_of(name)
    if task is not Task.REGRESSION or loss is not None or "loss" not in known:
        return loss
    return str(known["loss"].for_numbers)


def task_of_loss(loss: str | None) -> Task | None:
    """The task that a loss decides by itself."""
    return Task.REGRESSION if loss is not None and parse(loss).regression else None
