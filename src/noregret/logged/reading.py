"""Reading a log: its rows, and the columns that stand beside them, matched by line."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.errors import InputError, spelled
from noregret.logged.column import Beside, column
from noregret.logged.opening import Log
from noregret.prepare import Means, Preparation
from noregret.protocol import encoded
from noregret.rounds import Gathering, Rounds
from noregret.stream.block import Block, Ints, Rows
from noregret.stream.cells import as_text, numbers
from noregret.stream.labels import Labels, same
from noregret.stream.rowfile import Column
from noregret.watch.calendar import Calendar
from noregret.watch.digests import Digests

Vector = NDArray[np.float64]
Codes = NDArray[np.int64]
Watch = Callable[[str, float | None], None]  # what is being done, and how much of it is done, if that is known
SPELLINGS = 8  # of two predictions: more values than these are scores


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


class Reading(ABC):
    """One pass over a log: its rounds with their scores and the segment of each, to whoever takes them."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._stream, self._core = log.stream, log.core
        self._said, self._segment, self._kind = log.said, log.segment, log.kind
        self._hard = log.kind == "prediction"
        self._bias, self._skip = log.bias, log.skips
        self._preparation = Preparation(means=Means() if log.stream.gapped else None)
        self._predictions = _Distinct()
        self._segments = _Distinct()
        self._rows = 0
        self.blank = 0  # hard predictions without a label
        self.lowest, self.highest = math.inf, -math.inf  # of the scores
        self.digests = Digests() if log.digested else None

    @abstractmethod
    def _take(self, rows: Rows, y: Vector, scores: Vector, codes: Codes) -> None:
        """Some rounds, of hard predictions with the codes of their spellings as scores, and their segments."""

    def _placed(self, rows: Block) -> None:  # noqa: B027, most readings ask nothing of it
        """Where these rounds stood in the log."""

    @property
    def like_probabilities(self) -> bool:
        """Whether scores for the logistic loss look like probabilities."""
        scores = self._log.loss.probabilistic and self._kind == "score"
        return scores and self.lowest >= 0.0 and self.highest <= 1.0

    def read_all(self, watch: Watch | None) -> None:
        """Read the log to its end."""
        for found in self.blocks({name: Beside(column(self._log.log, name)) for name in self._log.beside}):
            if watch is not None:
                watch(f"reading {found:,} rows", self._stream.fraction())

    def blocks(self, beside: dict[str, Beside]) -> Iterator[int]:
        """Read on; the number of rows so far, block by block."""
        for block, y in encoded(self._core, self._stream):
            scores = self._scores(block, beside[self._said].at(block.lines))
            there = ~np.isnan(scores)
            codes = np.zeros(len(block), np.int64)
            if self._segment is not None:
                cells = [as_text(cell) for cell in beside[self._segment].at(block.lines)]
                codes = self._segments.codes(cells, block.lines)
                self._check_there(block, codes >= 0, f"the segment, column {self._segment!r},")
                there &= codes >= 0
            if there.any():
                some = np.flatnonzero(there).astype(np.int64)
                rows = self._preparation.apply(block.rows.take(some), learn=True)
                if self.digests is not None:
                    self.digests.add(rows, y[some], None, scores[some])
                self._take(rows, y[some], scores[some], codes[some])
                self._placed(block.take(some))
                self._rows += len(some)
                self.blank += int(np.count_nonzero(scores[some] < 0.0)) if self._hard else 0
                self.lowest = min(self.lowest, float(scores[some].min()))
                self.highest = max(self.highest, float(scores[some].max()))
            yield self._rows
        if not self._rows:
            raise InputError("holds no rows without missing values", self._stream.source)

    def _scores(self, block: Block, cells: list[Any]) -> Vector:
        """The scores, or the codes of hard predictions until all labels are known; NaN where one is missing.

        A hard prediction without a label is a tie, code −1: `learn --predictions` writes a score of 0 like this.
        """
        what = f"the {self._kind}, column {self._said!r},"
        if self._hard:
            codes = self._predictions.codes([as_text(cell) for cell in cells], block.lines)
            if len(self._predictions.lines) > SPELLINGS:
                shown = ", ".join(list(self._predictions.lines)[:3])
                sentence = f"column {self._said!r} holds more than two predictions ({shown}, …): is it a score?"
                raise InputError(sentence, block.source, int(block.lines[0]))
            return codes.astype(np.float64)
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
        """ln(p/(1−p)); a probability of 0 or 1 is an infinite score, and right or wrong beyond measure."""
        outside = ~((p >= 0.0) & (p <= 1.0)) & ~np.isnan(p)
        if outside.any():
            place = int(outside.argmax())
            raise _at(block, place, f"{what} must lie between 0 and 1, got {p[place]:g}")
        return log_odds(p)

    def _check_there(self, block: Block, there: NDArray[np.bool_], what: str) -> None:
        if not (self._skip or there.all()):
            remedy = f"use {spelled('missing', 'skip')} to leave out such rows"
            raise _at(block, int((~there).argmax()), f"{what} is missing ({remedy})")

    def _signs(self) -> Vector:
        """The score of each code of a hard prediction; the last, at −1, is of none: a mistake either way."""
        assert isinstance(self._core.labels, Labels)
        return np.append(signs_of(self._predictions.lines, self._core.labels, self._stream.source), 0.0)


class Kept(Reading):
    """The rounds on disk, to look back on."""

    def __init__(self, log: Log, calendar: Calendar | None = None) -> None:
        super().__init__(log)
        self._gathering = Gathering(self._bias)
        self._codes = Column(np.int64)
        self._calendar = calendar
        self.days: list[tuple[int, int]] = []  # each day or week in which rounds lie, and how many do

    def _placed(self, rows: Block) -> None:
        if self._calendar is None:
            return
        keys = self._calendar.in_order(rows, self.days[-1][0] if self.days else None)
        for key, count in zip(*(part.tolist() for part in np.unique(keys, return_counts=True)), strict=True):
            if self.days and self.days[-1][0] == key:
                self.days[-1] = key, self.days[-1][1] + count
            else:
                self.days.append((key, count))

    def _take(self, rows: Rows, y: Vector, scores: Vector, codes: Codes) -> None:
        self._gathering.add(rows, y, None, scores)
        self._codes.append(codes)

    def close(self) -> None:
        """Give the room on disk back."""
        self._gathering.close()
        self._codes.close()

    def done(self, parts: int | None) -> tuple[Rounds, list[str], list[int]]:
        """The rounds segment after segment, the segments' names and where each begins, the end last."""
        rounds = self._gathering.done()
        self._codes.map()
        if self._hard:
            assert rounds.scores is not None
            rounds = replace(rounds, scores=self._signs()[rounds.scores.astype(np.int64)])
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


def missed(y: Vector, scores: Vector) -> int:
    """Rounds whose score has the wrong sign; a score of 0 is wrong either way."""
    return int(np.count_nonzero(scores * y <= 0.0))


def log_odds(p: Vector) -> Vector:
    """ln(p/(1−p))."""
    with np.errstate(divide="ignore"):
        return arithmetic.log(p) - arithmetic.log1p(-p)


def _at(block: Block, row: int, sentence: str) -> InputError:
    return InputError(sentence, block.source, int(block.lines[row]))


def signs_of(predictions: dict[str, int], labels: Labels, source: str) -> Vector:
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
    pair = " and ".join(repr(as_text(label)) for label in labels.classes if label is not None)
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
