"""What an audit found: loss, best fixed model and regret of the whole log and of each segment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from noregret.errors import SettingError
from noregret.interval import Interval
from noregret.logged.opening import Asked, listed, open_log
from noregret.logged.reading import Kept, Watch
from noregret.loss import Loss
from noregret.proof.enclose import loss_total
from noregret.proof.hindsight import Hindsight
from noregret.proof.solve import best
from noregret.rounds import Rounds
from noregret.task.audit.windows import calendar_of, checked_windows, windows_of_log


@dataclass(frozen=True)
class Part:
    """Some of the logged rounds: the loss of the predictions, and the best fixed model for these rounds alone."""

    name: str
    rounds: int
    mistakes: int | None  # None where labels are numbers
    finite: Interval  # the loss of the rounds whose loss is finite
    best: Hindsight
    infinite: int = 0  # rounds with an infinite loss: a probability of 0 for what happened

    @property
    def loss(self) -> Interval:
        """The loss of the predictions; from infinity to infinity if one of them has infinite loss."""
        return Interval(math.inf, math.inf) if self.infinite else self.finite

    @property
    def regret(self) -> Interval:
        """The loss of the predictions minus that of the best fixed model: the true value lies between the ends."""
        if self.infinite:
            return self.loss
        return self.loss - Interval(self.best.lower, self.best.upper)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain numbers; what is infinite is None, because JSON has no such number."""
        finite = 0.5 * self.finite.lo + 0.5 * self.finite.hi
        total = None if self.infinite else finite
        return {
            "rounds": self.rounds,
            "mistakes": self.mistakes,
            "loss": {
                "total": total,
                "mean": None if total is None else total / self.rounds,
                "infinite": self.infinite,
                "finite": finite,
            },
            "regret": {
                "lower": None if self.infinite else self.regret.lo,
                "upper": None if self.infinite else self.regret.hi,
                "comparator": {"lower": self.best.lower, "upper": self.best.upper},
                "domain": {"radius": self.best.radius},
            },
            "finished": self.best.finished,
        }


@dataclass(frozen=True, repr=False)
class Audit:
    """The regret of a log, overall and by segment; `finished` says whether every interval reached `gap`."""

    source: str
    loss: Loss
    radius: float
    gap: float
    bias: bool
    features: int
    overall: Part
    segments: tuple[Part, ...] = ()
    probabilities: bool = False  # whether scores for the logistic loss look like probabilities
    blank: int = 0  # predictions without a label, each a score of 0
    left_out: tuple[str, ...] = ()  # columns that look like logged predictions, so that they are not features
    columns: tuple[str, ...] = ()  # the features as the log names them, (hashed) behind those that are words
    decisions: tuple[str, ...] = ()  # a line for each thing that was recognised in the columns
    windows: dict[str, Any] | None = None  # what was lost in each, where they were asked for

    def __repr__(self) -> str:
        ends = f"[{self.overall.regret.lo:.6g}, {self.overall.regret.hi:.6g}]"
        return f"<Audit of {self.source}: {self.overall.rounds} rounds, regret {ends}>"

    @property
    def finished(self) -> bool:
        """Whether every interval is as narrow as requested."""
        return all(part.best.finished for part in (self.overall, *self.segments))

    @property
    def by_segment(self) -> Interval | None:
        """The sum of the losses of the best fixed model of each segment."""
        if not self.segments:
            return None
        return sum((Interval(part.best.lower, part.best.upper) for part in self.segments), Interval.of(0.0))

    @property
    def drift(self) -> Interval | None:
        """How much more one fixed model loses than one fixed model per segment; the true value is never below 0."""
        if self.by_segment is None:
            return None
        found = Interval(self.overall.best.lower, self.overall.best.upper) - self.by_segment
        return Interval(max(found.lo, 0.0), found.hi)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers: what `--json` prints."""
        figures = self.overall.to_dict()
        drift, by_segment = self.drift, self.by_segment
        return {
            **figures,
            "features": self.features,
            "columns": list(self.columns),
            "left_out": list(self.left_out),
            "decisions": list(self.decisions),
            "blank": self.blank,
            "bias": self.bias,
            "loss": {"name": self.loss.spec, **figures["loss"]},
            "gap": self.gap,
            "finished": self.finished,
            "segments": [{"segment": part.name, **part.to_dict()} for part in self.segments],
            "by_segment": None if by_segment is None else {"lower": by_segment.lo, "upper": by_segment.hi},
            "drift": None if drift is None else {"lower": drift.lo, "upper": drift.hi},
            **({} if self.windows is None else {"windows": self.windows}),
        }


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
    windows: int | str | None = None,
    time: str | None = None,
    time_zone: str | None = None,
    positive: Any = None,
    bias: bool = False,
    text: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    date: Sequence[str] = (),
    keep: Sequence[str] = (),
    ignore: Sequence[str] = (),
    interactions: Sequence[str] = (),
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
    `segment_by` is a column whose values are the segments. `windows`, `time` and `time_zone` are as for `Windows`: the
    regret in them is bounded without solving. The width of each interval is at most `gap` times the best model's loss
    (or 1), unless `seconds` of solving run out first.

    >>> import pyarrow
    >>> log = pyarrow.table({"x": [1.0, -1.0, 2.0], "label": [1, -1, 1], "said": [1, 1, 1]})
    >>> found = audit(log, prediction="said", loss="hinge", radius=1.0)
    >>> found.overall.mistakes, round(found.overall.regret.hi, 3)
    (1, 2.0)
    """
    _check_gap(gap, seconds)
    asked = checked_windows(windows, time, time_zone, segment_by)
    calendar = None if asked is None else calendar_of(asked, log)
    opened = open_log(
        log,
        Asked(loss, radius, segments, segment_by, positive, bias, False),
        {"score": score, "probability": probability, "prediction": prediction},
        label=label,
        text=text,
        categorical=categorical,
        numeric=numeric,
        date=date,
        keep=keep,
        ignore=ignore if time is None else (*listed(ignore), time),
        interactions=interactions,
        hash_bits=hash_bits,
        missing=missing,
    )
    rows = Kept(opened, calendar)
    try:
        rows.read_all(watch)
    except BaseException:
        rows.close()
        raise
    rounds, names, bounds = rows.done(segments)
    opened.check_features(rounds.width)
    stream, judged = opened.stream, opened.loss
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
        rows.like_probabilities,
        rows.blank,
        opened.left_out,
        opened.columns,
        stream.decisions,
        None if asked is None else windows_of_log(asked, rounds, judged, float(radius), rows.days),
    )


def _check_gap(gap: float, seconds: float) -> None:
    if not 0.0 < gap < math.inf:
        raise SettingError(f"audit: gap must be positive and finite, got {gap}")
    if not seconds > 0.0:
        raise SettingError(f"audit: seconds must be positive, got {seconds}")


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
    deadline = perf_counter() + seconds
    for place, (name, start, stop) in enumerate(parts):
        if watch is not None:
            watch(f"solving for the best of {name}", place / len(parts))
        left = max(deadline - perf_counter(), 0.0)
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
