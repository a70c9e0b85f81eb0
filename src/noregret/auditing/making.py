"""`audit`: from a log to its intervals."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from noregret.auditing.logged import logged_beside
from noregret.auditing.reading import Beside, Reading, column
from noregret.auditing.result import Audit, Part
from noregret.errors import InputError, SettingError, spelled
from noregret.interval import Interval
from noregret.learner import OnlineGradientDescent
from noregret.loss import Loss
from noregret.loss import parse as parse_loss
from noregret.proof.enclose import loss_total
from noregret.proof.solve import best
from noregret.rounds import Rounds
from noregret.stream import read
from noregret.stream.base import Stream
from noregret.stream.labels import Labels
from noregret.stream.opening import STANDARD_INPUT, Input
from noregret.stream.recipe import USUAL_LABEL

Watch = Callable[[str, float | None], None]  # what is being done, and how much of it is done, if that is known


def audit(
    log: Any,
    *,
    label: str | None = None,
    score: str | None = None,
    probability: str | None = None,
    prediction: str | None = None,
    loss: str | Loss | None = None,
    radius: float = 10.0,
    segments: int | None = None,
    segment_by: str | None = None,
    positive: Any = None,
    bias: bool = False,
    text: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    date: Sequence[str] = (),
    keep: Sequence[str] = (),
    ignore: Sequence[str] = (),
    hash_bits: int = 18,
    missing: str = "error",
    gap: float = 1e-4,
    seconds: float = math.inf,
    watch: Watch | None = None,
) -> Audit:
    """Compare logged predictions with the best fixed weights u, ‖u‖ ≤ radius: their loss, and how much it could save.

    `log` is a file or a frame with named columns. It has the `label`, and one of: the `score`, the `probability` p of
    the positive label (with score ln(p/(1−p))), or the hard `prediction` (with score ±1, and 0 if it is blank). All
    other columns are features, except those in `ignore` and those that hold another logged prediction (`keep` names
    features that only look like one). `loss` is logistic, the log-loss, for probabilities, and hinge otherwise; a
    probability of 0 for the actual outcome has an infinite loss. `segments` is the number of equal parts, in order;
    `segment_by` is a column whose values are the segments. The width of each interval is at most `gap` times the best
    model's loss (or 1), unless `seconds` of solving run out first.

    >>> import pyarrow
    >>> log = pyarrow.table({"x": [1.0, -1.0, 2.0], "label": [1, -1, 1], "said": [1, 1, 1]})
    >>> found = audit(log, prediction="said", loss="hinge", radius=1.0)
    >>> found.overall.mistakes, round(found.overall.regret.hi, 3)
    (1, 2.0)
    """
    judged = parse_loss(loss if loss is not None else "hinge" if probability is None else "logistic")
    text, categorical, numeric, date, keep, ignore = map(_listed, (text, categorical, numeric, date, keep, ignore))
    said = _said(score, probability, prediction)
    _check(judged, radius, segments, segment_by, positive, gap, seconds)
    if probability is not None and judged.regression:
        raise SettingError(f"audit: probability is for two classes; the loss {judged.name} is for numbers")
    kind = "score" if score is not None else "probability" if probability is not None else "prediction"
    columns = {"label": label or USUAL_LABEL, kind: said, "segment": segment_by}
    _check_columns(
        {part: name for part, name in columns.items() if name}, (*text, *categorical, *numeric, *date, *keep)
    )
    _check_again(log)
    beside = {name: column(log, name) for name in (said, segment_by) if name}
    ignored = tuple(dict.fromkeys([*beside, *ignore]))
    reading: dict[str, Any] = {
        "label": label,
        "text": text,
        "categorical": categorical,
        "numeric": numeric,
        "date": date,
    }
    reading |= {"hash_bits": hash_bits, "missing": missing}
    if kind == "prediction" and judged.regression:
        kind = "score"
    what = "number" if judged.regression else kind
    left_out = logged_beside(log, said, what, keep, (*text, *categorical, *date), ignore=ignored, **reading)
    stream = read(log, ignore=(*ignored, *left_out), keep=keep, **reading)
    core = OnlineGradientDescent(loss=judged)
    if core.labels is not None and positive is not None:
        core.labels = Labels(positive)
    rows = Reading(stream, core, said, segment_by, kind, bias, missing == "skip")
    try:
        for found in rows.blocks({name: Beside(one) for name, one in beside.items()}):
            if watch is not None:
                watch(f"reading {found:,} rows", stream.fraction())
    except BaseException:
        rows.close()
        raise
    rounds, names, bounds = rows.done(segments)
    if not rounds.width:
        raise InputError(_featureless(left_out), stream.source)
    parts = _solved(rounds, judged, radius, names, bounds, gap, seconds, watch)
    return Audit(
        stream.source,
        judged,
        float(radius),
        gap,
        bias,
        stream.features.count,
        parts[0],
        tuple(parts[1:]),
        judged.name == "logistic" and kind == "score" and rows.lowest >= 0.0 and rows.highest <= 1.0,
        rows.blank,
        tuple(left_out),
        (*stream.features.names, *(f"{name} (hashed)" for name in stream.features.categorical + stream.features.text)),
        stream.decisions,
    )


def _featureless(left_out: Sequence[str]) -> str:
    said = "holds no features besides the predictions: log them too, or use a bias"
    if not left_out:
        return said
    return (
        f"{said} (taken for logged predictions; use {spelled('keep')} to keep them as features: {', '.join(left_out)})"
    )


def _listed(names: Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _said(score: str | None, probability: str | None, prediction: str | None) -> str:
    """The column that holds what was predicted."""
    given = [name for name in (score, probability, prediction) if name is not None]
    if len(given) != 1:
        raise SettingError(
            f"audit: needs exactly one of {spelled('score')}, {spelled('probability')} and {spelled('prediction')}: the"
            " column with the logged predictions"
        )
    return given[0]


def _check(
    loss: Loss,
    radius: float,
    segments: int | None,
    segment_by: str | None,
    positive: Any,
    gap: float,
    seconds: float,
) -> None:
    if not 0.0 < radius < math.inf:
        raise SettingError(f"audit: radius must be positive and finite, got {radius}")
    if not 0.0 < gap < math.inf:
        raise SettingError(f"audit: gap must be positive and finite, got {gap}")
    if not seconds > 0.0:
        raise SettingError(f"audit: seconds must be positive, got {seconds}")
    if segments is not None and segment_by is not None:
        raise SettingError(f"audit: {spelled('segments')} and {spelled('segment_by')} cannot be combined")
    if segments is not None and segments < 1:
        raise SettingError(f"audit: segments must be at least 1, got {segments}")
    if positive is not None and loss.regression:
        raise SettingError(f"audit: positive is for two classes; the loss {loss.name} is for numbers")


def _check_columns(columns: dict[str, str], features: Sequence[str]) -> None:
    """Every column has one part to play."""
    parts = list(columns.items())
    for place, (part, name) in enumerate(parts):
        for other, taken in parts[:place]:
            if name == taken:
                raise SettingError(f"audit: the column {name!r} cannot be both the {other} and the {part}")
        if name in features:
            raise SettingError(f"audit: the column {name!r} is the {part}: it cannot be a feature too")


def _check_again(log: Any) -> None:
    """The log is read several times over."""
    once = isinstance(log, Stream) or (isinstance(log, str | os.PathLike) and not Input(os.fspath(log)).rereadable)
    if once or type(log).__name__ == "RecordBatchReader":
        name = getattr(log, "source", None) or (STANDARD_INPUT if log == "-" else str(log) if once else "the table")
        raise InputError("a log is read more than once: use a file or a table", name)


def _solved(
    rounds: Rounds,
    loss: Loss,
    radius: float,
    names: Sequence[str],
    bounds: Sequence[int],
    gap: float,
    seconds: float,
    watch: Watch | None,
) -> list[Part]:
    """The whole, then each segment, the whole's best model as its first guess; the time is shared by rounds."""
    parts = [("all", 0, len(rounds)), *((name, *ends) for name, ends in zip(names, pairwise(bounds), strict=False))]
    found: list[Part] = []
    deadline = time.perf_counter() + seconds
    for place, (name, start, stop) in enumerate(parts):
        if watch is not None:
            watch(f"solving for the best of {name}", place / len(parts))
        left = max(deadline - time.perf_counter(), 0.0)
        share = (stop - start) / sum(end - begin for _, begin, end in parts[place:])
        before = found[0].best if found else None
        part = rounds.part(start, stop)
        lost, infinite = _lost(part, loss)
        solution = best(part, loss, radius, gap=gap, seconds=left * share, start=before)
        found.append(Part(name, len(part), _missed(part, loss), lost, solution, infinite))
    return found


def _missed(rounds: Rounds, loss: Loss) -> int | None:
    """Rounds whose score has the wrong sign; a score of 0 is wrong either way."""
    assert rounds.scores is not None
    return None if loss.regression else int(np.count_nonzero(rounds.scores * rounds.y <= 0.0))


def _lost(rounds: Rounds, loss: Loss) -> tuple[Interval, int]:
    """The loss of the rounds whose loss is finite, and how many others there are.

    An infinite score is a probability of 0 or 1: every loss for two classes is 0 there if it is right, infinite if not.
    """
    assert rounds.scores is not None
    sure = np.isinf(rounds.scores)
    infinite = int(np.count_nonzero(sure & (rounds.scores * rounds.y < 0.0)))
    scores, y = np.asarray(rounds.scores[~sure]), np.asarray(rounds.y[~sure])
    with np.errstate(over="ignore", invalid="ignore"):  # said below, in words
        found = loss_total(loss, scores, y, None)
    if not math.isfinite(found.hi):
        raise SettingError(f"audit: the logged scores are so large that the loss {loss.name} overflows")
    return found, infinite
