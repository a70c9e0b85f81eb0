"""Which learner plays when none is named, and how a named one is told the task.

Two classes: AdaGrad with the logistic loss. Many classes: the multiclass perceptron. Numbers: the Vovk–Azoury–Warmuth
forecaster, whose weights reach labels of any size in a few rounds, or, for more features than a matrix is kept for,
the Passive-Aggressive learner with the absolute loss, whose steps are as long as its errors.
"""

from __future__ import annotations

import math
from typing import Any

from noregret.errors import SettingError
from noregret.learner import Core, settings_of
from noregret.loss import parse, squared
from noregret.stream.labels import Classes
from noregret.stream.task import Task

Settings = dict[str, Any]
MATRIX = 500  # features up to which a matrix of all pairs is kept
PREPARED: Settings = {"bias": True, "scale": "max", "unit_norm": True}


def default(task: Task, loss: str | None, features: int) -> tuple[str, Settings]:
    """The name and the settings of the default learner; a `loss` that was asked for is part of them.

    >>> default(Task.BINARY, None, 30)
    ('adagrad', {'loss': 'logistic', 'bias': True, 'scale': 'max', 'unit_norm': True})
    """
    if task is Task.MULTICLASS:
        return "multiclass", {**PREPARED, **({} if loss is None else {"loss": loss})}
    if task is Task.BINARY:
        return "adagrad", {"loss": loss or "logistic", **PREPARED}
    chosen = None if loss is None else parse(loss)
    if features <= MATRIX and (chosen is None or chosen == squared()):
        return "vaw", {"bias": True, "scale": "max"}
    if chosen is not None and math.isinf(chosen.lipschitz):
        raise SettingError(
            f'the loss {loss} has no default learner for {features} features: give loss="absolute", or name a learner'
        )
    return "pa2" if chosen is None or chosen.passive else "coin", {"loss": loss or "absolute", **PREPARED}


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
    return "absolute" if "gradient_bound" in known else "squared"


def task_of_loss(loss: str | None) -> Task | None:
    """The task that a loss decides by itself."""
    return Task.REGRESSION if loss is not None and parse(loss).regression else None
