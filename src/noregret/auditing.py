"""The regret of logged predictions, by whatever model, against the best fixed linear model chosen with hindsight.

A log is a table: a label, what a model said of it (a score, or a hard prediction), and the features beside them. It is
read once for the rows and once for each column that is no feature; rows are matched by the line they stand on.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.enclose import loss_total
from noregret.errors import InputError, SettingError
from noregret.hindsight import Hindsight, best
from noregret.interval import Interval
from noregret.learner import Core, OnlineGradientDescent
from noregret.loss import Loss
from noregret.loss import parse as parse_loss
from noregret.prepare import Means, Preparation
from noregret.protocol import encoded
from noregret.rounds import Gathering, Rounds
from noregret.stream.base import Stream
from noregret.stream.block import Block, Ints
from noregret.stream.delimited import Delimited
from noregret.stream.features import Features
from noregret.stream.given import LabelTokens
from noregret.stream.hashing import written
from noregret.stream.labels import Labels, same
from noregret.stream.numbers import numbers
from noregret.stream.opening import STANDARD_INPUT, Input
from noregret.stream.read import read
from noregret.stream.rowfile import Column
from noregret.stream.settings import Settings
from noregret.stream.table import USUAL_LABEL

Vector = NDArray[np.float64]
Watch = Callable[[str, float | None], None]  # what is being done, and how much of it is done, if that is known
SPELLINGS = 8  # of two predictions: more values than these are scores


@dataclass(frozen=True)
class Part:
    """Some of the logged rounds: what the predictions lost on them, and the best fixed model of these rounds alone."""

    name: str
    rounds: int
    mistakes: int | None  # None where labels are numbers
    loss: Interval
    best: Hindsight

    @property
    def regret(self) -> Interval:
        """The loss of the predictions less that of the best fixed model: the true value lies between the ends."""
        return self.loss - Interval(self.best.lower, self.best.upper)

    def to_dict(self) -> dict[str, Any]:
        total = 0.5 * self.loss.lo + 0.5 * self.loss.hi
        return {
            "rounds": self.rounds,
            "mistakes": self.mistakes,
            "loss": {"total": total, "mean": total / self.rounds},
            "regret": {
                "lower": self.regret.lo,
                "upper": self.regret.hi,
                "comparator": {"lower": self.best.lower, "upper": self.best.upper},
                "domain": {"radius": self.best.radius},
            },
            "finished": self.best.finished,
        }


@dataclass(frozen=True, repr=False)
class Audit:
    """A log's regret overall and by segment; `gap` is the one asked for, `finished` says whether all reached it."""

    source: str
    loss: Loss
    radius: float
    gap: float
    bias: bool
    features: int
    overall: Part
    segments: tuple[Part, ...] = ()
    probabilities: bool = False  # whether scores for the logistic loss look like probabilities
    columns: tuple[str, ...] = ()  # the features as the log names them, (hashed) behind those that are words
    decisions: tuple[str, ...] = ()  # a line for each thing that was recognised in the columns

    def __repr__(self) -> str:
        ends = f"[{self.overall.regret.lo:.6g}, {self.overall.regret.hi:.6g}]"
        return f"<Audit of {self.source}: {self.overall.rounds} rounds, regret {ends}>"

    @property
    def finished(self) -> bool:
        """Whether every interval is as narrow as was asked for."""
        return all(part.best.finished for part in (self.overall, *self.segments))

    @property
    def by_segment(self) -> Interval | None:
        """What the best fixed model of each segment loses on it, summed."""
        if not self.segments:
            return None
        return sum((Interval(part.best.lower, part.best.upper) for part in self.segments), Interval.of(0.0))

    @property
    def drift(self) -> Interval | None:
        """How much one fixed model loses to a fixed model for each segment: never below 0 in truth."""
        if self.by_segment is None:
            return None
        found = Interval(self.overall.best.lower, self.overall.best.upper) - self.by_segment
        return Interval(max(found.lo, 0.0), found.hi)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain numbers, for `--json`."""
        figures = self.overall.to_dict()
        drift, by_segment = self.drift, self.by_segment
        return {
            **figures,
            "features": self.features,
            "columns": list(self.columns),
            "decisions": list(self.decisions),
            "bias": self.bias,
            "loss": {"name": self.loss.spec, **figures["loss"]},
            "gap": self.gap,
            "finished": self.finished,
            "segments": [{"segment": part.name, **part.to_dict()} for part in self.segments],
            "by_segment": None if by_segment is None else {"lower": by_segment.lo, "upper": by_segment.hi},
            "drift": None if drift is None else {"lower": drift.lo, "upper": drift.hi},
        }


def audit(
    log: Any,
    *,
    label: str | None = None,
    score: str | None = None,
    probability: str | None = None,
    prediction: str | None = None,
    loss: str | Loss = "hinge",
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
    """What the logged predictions lost, and how much of it the best fixed weights u, ‖u‖ ≤ radius, would have saved.

    `log` is a file or a frame with named columns: the `label`, one of the `score`, the `probability` p of the positive
    label (whose score is ln(p/(1−p))) and the hard `prediction` (which counts as a score of ±1), and the features: all
    other columns that are not in `ignore`. `segments` cuts the log into so many equal parts in order; `segment_by` is a
    column whose values are the segments. Each interval is at most `gap` of the best model's loss (or of 1) wide, unless
    `seconds` of solving run out before.

    >>> import pyarrow
    >>> log = pyarrow.table({"x": [1.0, -1.0, 2.0], "label": [1, -1, 1], "said": [1, 1, 1]})
    >>> found = audit(log, prediction="said", loss="hinge", radius=1.0)
    >>> found.overall.mistakes, round(found.overall.regret.hi, 3)
    (1, 2.0)
    """
    judged = parse_loss(loss)
    text, categorical, numeric, date, keep, ignore = map(_listed, (text, categorical, numeric, date, keep, ignore))
    said = _said(score, probability, prediction)
    _check(judged, radius, segments, segment_by, positive, gap, seconds)
    if probability is not None and judged.regression:
        raise SettingError(f"audit: probability is for two classes; the loss {judged.name} is for numbers")
    kind = "score" if score is not None else "probability" if probability is not None else "prediction"
    columns = {"label": label or USUAL_LABEL, kind: said, "segment": segment_by}
    _check_columns(
        {name: column for name, column in columns.items() if column}, (*text, *categorical, *numeric, *date, *keep)
    )
    _check_again(log)
    beside = {column: _column(log, column) for column in (said, segment_by) if column}
    stream = read(
        log,
        label=label,
        text=text,
        categorical=categorical,
        numeric=numeric,
        date=date,
        keep=keep,
        ignore=tuple(dict.fromkeys([*beside, *ignore])),
        hash_bits=hash_bits,
        missing=missing,
    )
    core = OnlineGradientDescent(loss=judged)
    if core.labels is not None and positive is not None:
        core.labels = Labels(positive)
    if kind == "prediction" and judged.regression:
        kind = "score"
    reading = _Reading(stream, core, said, segment_by, kind, bias, missing == "skip")
    try:
        for found in reading.blocks({name: _Beside(column) for name, column in beside.items()}):
            if watch is not None:
                watch(f"reading {found:,} rows", stream.fraction())
    except BaseException:
        reading.close()
        raise
    rounds, names, bounds = reading.done(segments)
    if not rounds.width:
        raise InputError("holds no features beside what was predicted: log them too, or ask for a bias", stream.source)
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
        judged.name == "logistic" and kind == "score" and reading.lowest >= 0.0 and reading.highest <= 1.0,
        (*stream.features.names, *(f"{name} (hashed)" for name in stream.features.categorical + stream.features.text)),
        stream.decisions,
    )


def _listed(names: Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _said(score: str | None, probability: str | None, prediction: str | None) -> str:
    """The column that holds what was predicted."""
    given = [column for column in (score, probability, prediction) if column is not None]
    if len(given) != 1:
        raise SettingError(
            "audit: give one of score, probability and prediction: the column that holds what was predicted"
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
        raise SettingError("audit: give a number of segments or a column of segments, not both")
    if segments is not None and segments < 1:
        raise SettingError(f"audit: segments must be at least 1, got {segments}")
    if positive is not None and loss.regression:
        raise SettingError(f"audit: positive is for two classes; the loss {loss.name} is for numbers")


def _check_columns(columns: dict[str, str], features: Sequence[str]) -> None:
    """Every column has one part to play."""
    parts = list(columns.items())
    for place, (part, column) in enumerate(parts):
        for other, taken in parts[:place]:
            if column == taken:
                raise SettingError(f"audit: the column {column!r} cannot be both the {other} and the {part}")
        if column in features:
            raise SettingError(f"audit: the column {column!r} is the {part}: it cannot be a feature too")


def _check_again(log: Any) -> None:
    """The log is read several times over."""
    once = isinstance(log, Stream) or (isinstance(log, str | os.PathLike) and not Input(os.fspath(log)).rereadable)
    if once or type(log).__name__ == "RecordBatchReader":
        name = getattr(log, "source", None) or (STANDARD_INPUT if log == "-" else str(log) if once else "the table")
        raise InputError("a log is read more than once: give a file or a table", name)


class _Written(Delimited):
    """One column of delimited text as it is written, numbers or not."""

    def _label_tokens(self) -> LabelTokens:
        return LabelTokens(self.source, False, numeric=False)


def _column(log: Any, name: str) -> Stream:
    """One column of a log, handed over as its labels, missing ones and all."""
    none = Features("names")  # frozen, it leaves all other columns out
    stream = read(log, label=name, features=none, frozen=True)
    if isinstance(stream, Delimited):
        stream = _Written(Input(os.fspath(log)), Settings(label=name, features=none, frozen=True))
    stream.missing = None
    return stream


class _Beside:
    """What stands in a column on given lines, which only go forward."""

    def __init__(self, stream: Stream) -> None:
        self._source = stream.source
        self._blocks = stream.blocks()
        self._lines: Ints = np.empty(0, np.int64)
        self._cells: list[Any] = []

    def at(self, lines: Ints) -> list[Any]:
        while not len(self._lines) or self._lines[-1] < lines[-1]:
            block = next(self._blocks, None)
            if block is None:
                raise self._changed(int(lines[-1]))
            self._lines = np.concatenate([self._lines, block.lines])
            self._cells += block.labels.tolist()
        places = np.searchsorted(self._lines, lines)
        if not np.array_equal(self._lines[places], lines):
            raise self._changed(int(lines[0]))
        found = [self._cells[place] for place in places.tolist()]
        self._lines, self._cells = self._lines[places[-1] + 1 :], self._cells[places[-1] + 1 :]
        return found

    def _changed(self, line: int) -> InputError:
        return InputError(
            "the rows are not those of the first look: the log changed while it was read", self._source, line
        )


class _Distinct:
    """Values by their number, in the order of their first appearance, with the line of it."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self._codes: dict[str, int] = {}

    def codes(self, cells: Sequence[str | None], lines: Ints) -> NDArray[np.int64]:
        for cell, line in zip(cells, lines.tolist(), strict=True):
            if cell is not None and cell not in self._codes:
                self._codes[cell] = len(self._codes)
                self.lines[cell] = line
        return np.array([-1 if cell is None else self._codes[cell] for cell in cells], dtype=np.int64)


class _Reading:
    """One pass over a log: the rounds with their scores, and the segment of each."""

    def __init__(
        self, stream: Stream, core: Core, said: str, segment: str | None, kind: str, bias: bool, skip: bool
    ) -> None:
        self._stream = stream
        self._core = core
        self._said = said
        self._segment = segment
        self._kind = kind
        self._hard = kind == "prediction"
        self._bias = bias
        self._skip = skip
        self._gathering = Gathering(bias)
        self._preparation = Preparation(means=Means() if stream.gapped else None)
        self._predictions = _Distinct()
        self._segments = _Distinct()
        self._codes = Column(np.int64)
        self._rows = 0
        self.lowest, self.highest = math.inf, -math.inf  # of the scores

    def blocks(self, beside: dict[str, _Beside]) -> Iterator[int]:
        """Read on; the number of rows so far, block by block."""
        for block, y in encoded(self._core, self._stream):
            scores = self._scores(block, beside[self._said].at(block.lines))
            there = ~np.isnan(scores)
            codes = np.zeros(len(block), np.int64)
            if self._segment is not None:
                cells = [written(cell) for cell in beside[self._segment].at(block.lines)]
                codes = self._segments.codes(cells, block.lines)
                self._check_there(block, codes >= 0, f"the segment, column {self._segment!r},")
                there &= codes >= 0
            if there.any():
                some = np.flatnonzero(there).astype(np.int64)
                rows = self._preparation.apply(block.rows.take(some), learn=True)
                self._gathering.add(rows, y[some], None, scores[some])
                self._codes.append(codes[some])
                self._rows += len(some)
                self.lowest = min(self.lowest, float(scores[some].min()))
                self.highest = max(self.highest, float(scores[some].max()))
            yield self._rows
        if not self._rows:
            raise InputError("holds no rows without missing values", self._stream.source)

    def _scores(self, block: Block, cells: list[Any]) -> Vector:
        """The scores, or the codes of hard predictions until all labels are known; NaN where one is missing."""
        what = f"the {self._kind}, column {self._said!r},"
        if self._hard:
            codes = self._predictions.codes([written(cell) for cell in cells], block.lines)
            if len(self._predictions.lines) > SPELLINGS:
                shown = ", ".join(list(self._predictions.lines)[:3])
                sentence = f"column {self._said!r} holds more than two predictions ({shown}, …): is it a score?"
                raise InputError(sentence, block.source, int(block.lines[0]))
            scores = np.where(codes < 0, math.nan, codes.astype(np.float64))
        else:
            found = numbers(cells) if isinstance(cells[0], str) else np.array(cells, dtype=np.float64)
            if isinstance(found, int):
                raise _at(block, found, f"{what} must be a number, got {cells[found]!r}")
            scores = found
            if np.isinf(scores).any():
                place = int(np.isinf(scores).argmax())
                raise _at(block, place, f"{what} must be finite, got {scores[place]}")
            if self._kind == "probability":
                scores = self._logits(block, scores, what)
        self._check_there(block, ~np.isnan(scores), what)
        return scores

    def _logits(self, block: Block, p: Vector, what: str) -> Vector:
        """ln(p/(1−p)); a probability of 0 or 1 is an infinite score, on which a single mistake loses everything."""
        outside = ~((p > 0.0) & (p < 1.0)) & ~np.isnan(p)
        if outside.any():
            place = int(outside.argmax())
            raise _at(block, place, f"{what} must lie strictly between 0 and 1, got {p[place]:g}")
        return np.asarray(np.log(p) - np.log1p(-p))

    def _check_there(self, block: Block, there: NDArray[np.bool_], what: str) -> None:
        if not (self._skip or there.all()):
            raise _at(block, int((~there).argmax()), f"{what} is missing (use --missing skip to leave out such rows)")

    def close(self) -> None:
        """Give the room on disk back."""
        self._gathering.close()
        self._codes.close()

    def done(self, parts: int | None) -> tuple[Rounds, list[str], list[int]]:
        """The rounds segment after segment, the segments' names and where each begins, the end last."""
        rounds = self._gathering.done()
        self._codes.map()
        if self._hard:
            assert isinstance(self._core.labels, Labels) and rounds.scores is not None
            signs = _signs(self._predictions.lines, self._core.labels, self._stream.source)
            rounds = replace(rounds, scores=signs[rounds.scores.astype(np.int64)])
        if self._segment is not None:
            sizes = np.bincount(self._codes.array, minlength=len(self._segments.lines))
            names, bounds = list(self._segments.lines), [0, *np.cumsum(sizes).tolist()]
            kept = [place for place, size in enumerate(sizes.tolist()) if size]  # skipped rows may have been all of it
            bounds = [0, *(bounds[place + 1] for place in kept)]
            return _ordered(rounds, self._codes.array), [names[place] for place in kept], bounds
        if parts is None:
            return rounds, [], [0, len(rounds)]
        if parts > len(rounds):
            raise InputError(f"holds {len(rounds)} rounds, too few for {parts} segments", self._stream.source)
        bounds = [place * len(rounds) // parts for place in range(parts + 1)]
        return rounds, [f"rounds {a + 1:,} to {b:,}" for a, b in pairwise(bounds)], bounds


def _at(block: Block, row: int, sentence: str) -> InputError:
    return InputError(sentence, block.source, int(block.lines[row]))


def _signs(predictions: dict[str, int], labels: Labels, source: str) -> Vector:
    """±1 for each prediction: one of the two labels, or, if not all of them are that, −1 or 0 and 1, false and true."""
    by_label = [_sign(one, labels) for one in predictions]
    if None not in by_label:
        return np.array(by_label, dtype=np.float64)
    plain = [Labels().one(one) for one in predictions]
    if None not in plain and not {"-1", "0"} <= set(predictions):
        return np.array(plain, dtype=np.float64)
    if None in labels.classes and by_label.count(None) == 1:  # the log holds one label, the model also said the other
        return np.array([-1.0 if sign is None else sign for sign in by_label])
    wrong = next(one for one, sign in zip(predictions, by_label, strict=True) if sign is None)
    pair = " and ".join(repr(written(label)) for label in labels.classes if label is not None)
    raise InputError(f"the prediction {wrong!r} is not one of the labels {pair}", source, predictions[wrong])


def _sign(prediction: str, labels: Labels) -> float | None:
    for label, sign in zip(labels.classes, (-1.0, 1.0), strict=True):
        if label is not None and same(prediction, label):
            return sign
    return None


def _ordered(rounds: Rounds, codes: NDArray[np.int64]) -> Rounds:
    """The rounds by segment, each segment in its own order; on disk again, a piece at a time."""
    assert rounds.scores is not None
    if bool((np.diff(codes) >= 0).all()):
        return rounds
    order = np.argsort(codes, kind="stable")
    gathering = Gathering(bias=False)  # the rows hold the constant already
    size = max(65536, len(order) // 64)
    for start in range(0, len(order), size):
        some = order[start : start + size]
        gathering.add(rounds.rows.take(some), rounds.y[some], None, rounds.scores[some])
    return replace(gathering.done(), bias=rounds.bias)


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
        lost = _lost(part, loss)
        solution = best(part, loss, radius, gap=gap, seconds=left * share, start=before)
        found.append(Part(name, len(part), _missed(part, loss), lost, solution))
    return found


def _missed(rounds: Rounds, loss: Loss) -> int | None:
    """Rounds whose score has the wrong sign; a score of 0 is wrong either way."""
    assert rounds.scores is not None
    return None if loss.regression else int(np.count_nonzero(rounds.scores * rounds.y <= 0.0))


def _lost(rounds: Rounds, loss: Loss) -> Interval:
    assert rounds.scores is not None
    with np.errstate(over="ignore", invalid="ignore"):  # said below, in words
        found = loss_total(loss, rounds.scores, rounds.y, None)
    if not math.isfinite(found.hi):
        raise SettingError(f"audit: the logged scores are so large that the loss {loss.name} overflows")
    return found
