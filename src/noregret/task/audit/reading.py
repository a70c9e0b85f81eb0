"""Reading a log: its rows, and the columns that stand beside them, matched by line."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.errors import InputError, spelled
from noregret.learner import Core
from noregret.loss import probability as chance
from noregret.prepare import Means, Preparation
from noregret.protocol import encoded
from noregret.rounds import Gathering, Rounds, as_sparse
from noregret.stream.base import Stream
from noregret.stream.block import Block, Dense, Ints
from noregret.stream.cells import as_text, numbers
from noregret.stream.features import Features
from noregret.stream.formats.delimited import Delimited
from noregret.stream.labels import Labels, same
from noregret.stream.opening import Input
from noregret.stream.reading import Settings, read
from noregret.stream.rowfile import Column
from noregret.stream.task import LabelTokens

Vector = NDArray[np.float64]
SPELLINGS = 8  # of two predictions: more values than these are scores


class _Written(Delimited):
    """One column of delimited text as it is written, numbers or not."""

    def _label_tokens(self) -> LabelTokens:
        return LabelTokens(self.source, False, numeric=False)


def column(log: Any, name: str) -> Stream:
    """One column of a log, handed over as its labels, missing ones and all."""
    none = Features("names")  # frozen, it leaves all other columns out
    stream = read(log, label=name, features=none, frozen=True)
    if isinstance(stream, Delimited):
        stream = _Written(Input(os.fspath(log)), Settings(label=name, features=none, frozen=True))
    stream.missing = None
    return stream


class Beside:
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
        return InputError("the log changed while it was being read", self._source, line)


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


class Reading:
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
        self.blank = 0  # hard predictions without a label
        self.lowest, self.highest = math.inf, -math.inf  # of the scores

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
                self._gathering.add(rows, y[some], None, scores[some])
                self._codes.append(codes[some])
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
        with np.errstate(divide="ignore"):
            return arithmetic.log(p) - arithmetic.log1p(-p)

    def _check_there(self, block: Block, there: NDArray[np.bool_], what: str) -> None:
        if not (self._skip or there.all()):
            remedy = f"use {spelled('missing', 'skip')} to leave out such rows"
            raise _at(block, int((~there).argmax()), f"{what} is missing ({remedy})")

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
            signs = np.append(signs, 0.0)  # at −1: no label, a mistake either way
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


ROWS = 1000  # that are looked at
ENOUGH = 20  # rows: of fewer a coincidence is likely, and the names alone decide
WORDS = 50  # columns of words that are compared at most: each is another look at the file
NAMES = {
    "p",
    *("score", "scores", "probability", "probabilities", "prob", "probs", "proba", "prediction", "predictions"),
    *("predicted", "pred", "preds", "yhat", "phat", "ypred", "yscore", "yprob", "yproba", "logit", "logodds"),
    *("predictedlabel", "predictedclass", "predictedscore", "predictedprobability", "predictionscore"),
}
WRITTEN = {"row", "score", "prediction"}  # together: a file that `learn --predictions` wrote, where row counts


def logged_beside(
    log: Any, said: str, kind: str, keep: Sequence[str], taken: Sequence[str], **reading: Any
) -> list[str]:
    """The other columns that hold a prediction, in the order of the log; `taken` are those with a part of their own."""
    stream = read(log, block_rows=ROWS, keep=keep, **reading)
    block = next(stream.blocks())
    names = [name for name in stream.columns if stream.features.knows(name)]
    free = [name for name in names if name not in keep and name not in taken]
    found = {name for name in free if _plain(name) in NAMES}
    if {_plain(name) for name in (*names, said)} >= WRITTEN:
        found |= {name for name in free if _plain(name) == "row"}
    found |= set(_repeats(log, said, kind, block, stream.features.index, [one for one in free if one not in found]))
    return [name for name in names if name in found]


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _repeats(log: Any, said: str, kind: str, block: Block, index: dict[str, int], free: Sequence[str]) -> Iterator[str]:
    """The columns that say on every row what the audited one says."""
    cells = Beside(column(log, said)).at(block.lines)
    signs, values = _audited(cells, kind)
    columns = _numeric(block)
    words = 0
    for name in free:
        if name in index:
            if _same_numbers(columns(index[name]), values, kind) or _same_signs(columns(index[name]), signs):
                yield name
        elif words < WORDS:
            words += 1
            if _same_signs(_codes([as_text(cell) for cell in Beside(column(log, name)).at(block.lines)]), signs):
                yield name


def _audited(cells: list[Any], kind: str) -> tuple[Vector, Vector | None]:
    """What was predicted: its sign (NaN where there is none), and the number, where it is one.

    Of a `number`, which predicts a number and not a class, the sign says nothing.
    """
    if kind == "prediction":
        return _codes([as_text(cell) for cell in cells]), None
    found = numbers(cells) if cells and isinstance(cells[0], str) else np.array(cells, dtype=np.float64)
    if isinstance(found, int):  # said in words when the log is read
        return np.full(len(cells), np.nan), None
    if kind == "number":
        return np.full(len(cells), np.nan), found
    middle = 0.5 if kind == "probability" else 0.0
    return np.where(found == middle, np.nan, np.sign(found - middle)), found


def _codes(cells: Sequence[str | None]) -> Vector:
    """A number for each spelling, in order of appearance; NaN for an empty cell."""
    places: dict[str, float] = {}
    return np.array([np.nan if cell is None else places.setdefault(cell, float(len(places))) for cell in cells])


def _numeric(block: Block) -> Any:
    """A function that gives a numeric column of a block."""
    if isinstance(block.rows, Dense):
        X = block.rows.X
        return lambda place: X[:, place]
    from scipy.sparse import csc_matrix, csr_matrix

    rows = as_sparse(block.rows)
    made = csc_matrix(csr_matrix((rows.values, rows.indices, rows.indptr), shape=(len(rows), rows.width)))

    def one(place: int) -> Vector:
        out = np.zeros(len(rows))
        low, high = made.indptr[place : place + 2]
        out[made.indices[low:high]] = made.data[low:high]
        return out

    return one


def _same_signs(values: Vector, signs: Vector) -> bool:
    """Whether a column of two values tells the audited sign on every row."""
    there = ~(np.isnan(values) | np.isnan(signs))
    pairs = set(zip(values[there].tolist(), signs[there].tolist(), strict=True))
    return int(there.sum()) >= ENOUGH and len(pairs) == 2 and all(len({pair[k] for pair in pairs}) == 2 for k in (0, 1))


def _same_numbers(values: Vector, said: Vector | None, kind: str) -> bool:
    """Whether a column is the audited number itself, or the probability or log-odds that belongs to it."""
    if said is None:
        return False
    there = ~(np.isnan(values) | np.isnan(said))
    c, s = values[there], said[there]
    if len(c) < ENOUGH or len(np.unique(s)) < 3:
        return False
    if kind == "number" or bool((c == s).all()):
        return bool((c == s).all())
    p = s if kind == "probability" else chance(s)
    with np.errstate(over="ignore"):
        near = 1e-3 * np.minimum(p, 1.0 - p) + 1e-6
        alike = any(bool((np.abs(one - p) <= near).all()) for one in (c, 1.0 - c))
        if kind != "probability":
            return alike
        odds = chance(c)
        return alike or bool((np.abs(odds - p) <= near).all() and (p.max() - p.min()) > 0.01)
