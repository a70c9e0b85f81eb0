"""Opening a log: which column is what, checked before anything is read, and its rows as a stream."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noregret.errors import InputError, SettingError, spelled
from noregret.learner import Core, OnlineGradientDescent
from noregret.logged.column import column
from noregret.logged.others import logged_beside
from noregret.loss import Loss
from noregret.loss import parse as parse_loss
from noregret.stream.base import Stream
from noregret.stream.labels import Labels
from noregret.stream.opening import STANDARD_INPUT, Input
from noregret.stream.reading import read
from noregret.stream.recipe import USUAL_LABEL

LISTS = ("text", "categorical", "numeric", "date", "keep", "ignore", "interactions")


@dataclass(frozen=True)
class Asked:
    """What is asked of a log, beside how its rows are read."""

    loss: str | Loss | None
    radius: float
    segments: int | None
    segment_by: str | None
    positive: Any
    bias: bool
    digested: bool
    who: str = "audit"  # asks, for sentences

    def check(self, loss: Loss) -> None:
        """Say at once what cannot be."""
        if not 0.0 < self.radius < math.inf:
            raise SettingError(f"{self.who}: radius must be positive and finite, got {self.radius}")
        if self.segments is not None and self.segment_by is not None:
            raise SettingError(f"{self.who}: {spelled('segments')} and {spelled('segment_by')} cannot be combined")
        if self.segments is not None and self.segments < 1:
            raise SettingError(f"{self.who}: segments must be at least 1, got {self.segments}")
        if self.positive is not None and loss.regression:
            raise SettingError(f"{self.who}: positive is for two classes; the loss {loss.name} is for numbers")


@dataclass(frozen=True)
class Log:
    """A log that was opened: its rows as a stream, and the columns beside them."""

    log: Any
    stream: Stream
    core: Core  # which knows the loss and the labels
    kind: str  # score, probability or prediction
    said: str  # the column that holds it
    segment: str | None
    bias: bool
    skips: bool
    left_out: tuple[str, ...]  # columns that look like logged predictions, so that they are not features
    reading: Mapping[str, Any]  # how the rows were asked for: label, ignore, missing
    digested: bool = False  # whether digests of rows and predictions are taken

    @property
    def loss(self) -> Loss:
        return self.core.loss

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that are read beside the rows."""
        return tuple(name for name in (self.said, self.segment) if name)

    @property
    def said_again(self) -> dict[str, Any]:
        """What reads the same rows again: what was asked for, and what the columns turned out to be."""
        said = {key: self.reading[key] for key in ("label", "ignore", "missing") if self.reading.get(key) is not None}
        return said | self.stream.features.reading

    @property
    def columns(self) -> tuple[str, ...]:
        """The features as the log names them, (hashed) behind those that are words."""
        features = self.stream.features
        return (*features.names, *(f"{name} (hashed)" for name in features.categorical + features.text))

    def check_features(self, width: int) -> None:
        """There must be features, or a bias."""
        if width:
            return
        said = "holds no features besides the predictions: log them too, or use a bias"
        if self.left_out:
            names = ", ".join(self.left_out)
            said += f" (taken for logged predictions; use {spelled('keep')} to keep them as features: {names})"
        raise InputError(said, self.stream.source)


def open_log(log: Any, asked: Asked, predictions: Mapping[str, str | None], **reading: Any) -> Log:
    """The log with its parts named: `predictions` holds the column of one of score, probability and prediction."""
    given = {name: column for name, column in predictions.items() if column is not None}
    judged = parse_loss(asked.loss if asked.loss is not None else "logistic" if "probability" in given else "hinge")
    reading |= {name: listed(reading[name]) for name in LISTS}
    if len(given) != 1:
        raise SettingError(
            f"{asked.who}: needs exactly one of {spelled('score')}, {spelled('probability')} and"
            f" {spelled('prediction')}: the column with the logged predictions"
        )
    asked.check(judged)
    ((kind, said),) = given.items()
    if kind == "probability" and judged.regression:
        raise SettingError(f"{asked.who}: probability is for two classes; the loss {judged.name} is for numbers")
    columns = {"label": reading["label"] or USUAL_LABEL, kind: said, "segment": asked.segment_by}
    features = [name for one in ("text", "categorical", "numeric", "date", "keep") for name in reading[one]]
    _check_columns({part: name for part, name in columns.items() if name}, features, asked.who)
    _check_again(log)
    beside = [name for name in (said, asked.segment_by) if name]
    for name in beside:
        column(log, name)
    ignore, interactions = (reading.pop(name) for name in ("ignore", "interactions"))
    ignored, keep = tuple(dict.fromkeys([*beside, *ignore])), reading.pop("keep")
    if kind == "prediction" and judged.regression:
        kind = "score"
    taken = (*reading["text"], *reading["categorical"], *reading["date"])
    what = "number" if judged.regression else kind
    left_out = logged_beside(log, said, what, keep, taken, ignore=ignored, **reading)
    stream = read(log, ignore=(*ignored, *left_out), keep=keep, interactions=interactions, **reading)
    core = OnlineGradientDescent(loss=judged)
    if core.labels is not None and asked.positive is not None:
        core.labels = Labels(asked.positive)
    skips = reading["missing"] == "skip"
    how = {"label": reading["label"], "ignore": [*ignored, *left_out], "missing": reading["missing"]}
    segment = asked.segment_by
    return Log(log, stream, core, kind, said, segment, asked.bias, skips, tuple(left_out), how, asked.digested)


def listed(names: Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _check_columns(columns: dict[str, str], features: Sequence[str], who: str) -> None:
    """Every column has one part to play."""
    parts = list(columns.items())
    for place, (part, name) in enumerate(parts):
        for other, taken in parts[:place]:
            if name == taken:
                raise SettingError(f"{who}: the column {name!r} cannot be both the {other} and the {part}")
        if name in features:
            raise SettingError(f"{who}: the column {name!r} is the {part}: it cannot be a feature too")


def _check_again(log: Any) -> None:
    """The log is read several times over."""
    once = isinstance(log, Stream) or (isinstance(log, str | os.PathLike) and not Input(os.fspath(log)).rereadable)
    if once or type(log).__name__ == "RecordBatchReader":
        name = getattr(log, "source", None) or (STANDARD_INPUT if log == "-" else str(log) if once else "the table")
        raise InputError("a log is read more than once: use a file or a table", name)
