"""The regret of a log from one pass over it: ledgers of its rounds, and what they bound. Nothing is solved or kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from noregret.errors import InputError, SettingError, spelled
from noregret.interval import Interval
from noregret.logged.column import column
from noregret.logged.columns import by_column
from noregret.logged.opening import Asked, Log, open_log
from noregret.logged.reading import Codes, Reading, Vector, Watch, missed
from noregret.loss import Loss
from noregret.proof.ledger import LedgerReceipt
from noregret.proof.ledger_again import receipt_of_log
from noregret.stream.block import Ints, Rows
from noregret.watch.digests import Digests
from noregret.watch.ledger import Ledger, Tally, joined

NAMED = 5  # features that a linear correction would use first


@dataclass(frozen=True)
class PassedPart:
    """Some of the logged rounds, and their ledger."""

    name: str
    mistakes: int | None  # None where labels are numbers
    ledger: Ledger

    @property
    def rounds(self) -> int:
        return self.ledger.rounds

    @property
    def loss(self) -> Interval:
        """The loss of the predictions; from infinity to infinity if one of them has infinite loss."""
        return Interval(math.inf, math.inf) if self.ledger.infinite else self.ledger.loss


@dataclass(frozen=True, repr=False)
class Passed:
    """What one pass over a log proves: of all rounds, and of each segment."""

    source: str
    loss: Loss
    radius: float
    bias: bool
    filled: bool  # whether missing values were replaced by the means so far
    features: int
    overall: PassedPart
    segments: tuple[PassedPart, ...]
    probabilities: bool
    blank: int
    left_out: tuple[str, ...]
    columns: tuple[str, ...]
    decisions: tuple[str, ...]
    names: tuple[str, ...]  # of the features that a linear correction would use first
    log: Log
    digests: Digests | None  # of rows and predictions, where they were asked for

    def __repr__(self) -> str:
        bound = self.bound(self.overall)
        return f"<Passed over {self.source}: {self.overall.rounds} rounds, regret at most {bound:.6g}>"

    def bound(self, part: PassedPart) -> float:
        """No u with ‖u‖ ≤ U has lost less by more than this: P + U‖G‖, rounded up."""
        return part.ledger.ball(self.radius).hi

    def best_at_least(self, part: PassedPart) -> float:
        """No u with ‖u‖ ≤ U lost less than this, L − P − U‖G‖ rounded down; nor less than 0, but by your own loss."""
        found = part.ledger.best_at_least(self.radius)
        return found if self.loss.custom else max(found, 0.0)

    @property
    def by_segment(self) -> Interval | None:
        """The bound on the regret against one model per segment, which is more than against one model for all."""
        if not self.segments:
            return None
        return sum((part.ledger.ball(self.radius) for part in self.segments), Interval.of(0.0))

    @property
    def ignored(self) -> list[tuple[str, float]]:
        """The features with the largest |G_i|, and G_i: what a linear correction of the scores would use first."""
        found = self.overall.ledger.ignored(NAMED)
        return [(name, value) for name, (_, value) in zip(self.names, found, strict=True)]

    def receipt(self) -> LedgerReceipt:
        """The ledger of the whole log as a receipt, which `verify` checks and `merge` takes."""
        if self.digests is None:
            raise SettingError("audit_pass: a receipt needs the digest of the rows: pass digest=True")
        return receipt_of_log(self.log, self.overall.ledger, self.digests, self.radius)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers; what is infinite is None, because JSON has no such number."""
        by_segment = self.by_segment
        return {
            **self._part(self.overall),
            "loss": {"name": self.loss.spec, **self._part(self.overall)["loss"]},
            "features": self.features,
            "columns": list(self.columns),
            "left_out": list(self.left_out),
            "decisions": list(self.decisions),
            "blank": self.blank,
            "bias": self.bias,
            "rows": "filled" if self.filled else "raw",
            "ignored": [{"feature": name, "sum": value} for name, value in self.ignored],
            "segments": [{"segment": part.name, **self._part(part)} for part in self.segments],
            "by_segment": None if by_segment is None else _plain(by_segment.hi),
        }

    def _part(self, part: PassedPart) -> dict[str, Any]:
        led = part.ledger
        finite = _middle(led.loss)
        total = None if led.infinite else finite
        return {
            "rounds": part.rounds,
            "mistakes": part.mistakes,
            "loss": {
                "total": total,
                "mean": None if total is None else total / part.rounds,
                "infinite": led.infinite,
                "finite": finite,
            },
            "regret": {
                "upper": _plain(self.bound(part)),
                "comparator": {"lower": _plain(self.best_at_least(part))},
                "domain": {"radius": self.radius},
                "box": _plain(led.box(self.radius).hi),
                "l1": _plain(led.cross(self.radius).hi),
            },
            "beaten": None if led.beaten is None else _plain(led.beaten),
            "correction": {"scaling": _plain(led.correction.hi), "linear": _plain((led.norm * self.radius).hi)},
        }


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _middle(found: Interval) -> float | None:
    return _plain(0.5 * found.lo + 0.5 * found.hi)


@dataclass
class Sums:
    """The tally of one segment, and its mistakes."""

    tally: Tally
    mistakes: int = 0

    def add(self, rows: Rows, y: Vector, scores: Vector) -> None:
        self.tally.add(rows, y, None, scores)
        self.mistakes += missed(y, scores)


class Tallied(Reading):
    """The ledger of each segment; of hard predictions one for each that was spelled, and for each sign it may have."""

    def __init__(self, log: Log, bounds: Sequence[int]) -> None:
        super().__init__(log)
        self._bounds = np.array(bounds[1:-1], dtype=np.int64)
        self._sums: dict[tuple[int, int, float], Sums] = {}
        self._done = 0

    def _take(self, rows: Rows, y: Vector, scores: Vector, codes: Codes) -> None:
        if len(self._bounds):
            codes = np.searchsorted(self._bounds, np.arange(self._done, self._done + len(y)), side="right")
        self._done += len(y)
        for code in np.unique(codes).tolist():
            some = np.flatnonzero(codes == code).astype(np.int64)
            here = (rows, y, scores) if len(some) == len(y) else (rows.take(some), y[some], scores[some])
            if self._hard:
                self._take_hard(code, *here)
            else:
                self._of(code, 0, 0.0).add(*here)

    def _take_hard(self, code: int, rows: Rows, y: Vector, said: Vector) -> None:
        """What a spelling means is known when all labels are: until then it is taken both ways."""
        for one in np.unique(said).tolist():
            some = np.flatnonzero(said == one).astype(np.int64)
            here = rows.take(some), y[some]
            for sign in (0.0,) if one < 0.0 else (-1.0, 1.0):
                self._of(code, int(one), sign).add(*here, np.full(len(some), sign))

    def _of(self, code: int, said: int, sign: float) -> Sums:
        if (code, said, sign) not in self._sums:
            self._sums[code, said, sign] = Sums(Tally(self._log.loss, self._bias))
        return self._sums[code, said, sign]

    def done(self) -> list[PassedPart]:
        """The segments that hold rounds, in their order; one without a name where there are none."""
        signs = self._signs() if self._hard else np.zeros(1)
        names = list(self._segments.lines) if self._segment is not None else _named(self._bounds, self._done)
        parts: list[PassedPart] = []
        for place, name in enumerate(names):
            kept = [one for (code, said, sign), one in self._sums.items() if code == place and signs[said] == sign]
            if kept:
                mistakes = None if self._log.loss.regression else sum(one.mistakes for one in kept)
                parts.append(PassedPart(name, mistakes, joined([one.tally.ledger() for one in kept])))
        return parts


def _named(bounds: Ints, rounds: int) -> list[str]:
    ends = [0, *bounds.tolist(), rounds]
    return [f"rounds {a + 1:,} to {b:,}" for a, b in pairwise(ends)]


def audit_pass(
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
    interactions: Sequence[str] = (),
    hash_bits: int = 18,
    missing: str = "error",
    threads: int = 2,
    digest: bool = False,
    watch: Watch | None = None,
) -> Passed:
    """Bound the regret of logged predictions in one pass, with memory for one number a feature and without a solver.

    With s the slope of the loss at the logged score z, P = Σs·z and G = Σs·x: no weights with ‖u‖ ≤ U lost less than
    the predictions by more than P + U‖G‖. The bound holds for whatever model made the scores. `audit` knows more,
    as it solves for the best weights: its interval lies below this bound. The columns are those of `audit`; `threads`
    read a Parquet file of plain numbers, by columns, and change no result. With `digest` the rows are read one by one
    and a digest is taken of them: `receipt()` then gives a ledger that `verify` checks and `merge` takes.

    >>> import pyarrow
    >>> log = pyarrow.table({"x": [1.0, -1.0, 2.0], "label": [1, -1, 1], "said": [1, 1, 1]})
    >>> found = audit_pass(log, prediction="said", loss="hinge", radius=1.0)
    >>> found.overall.mistakes, round(found.bound(found.overall), 3), round(found.best_at_least(found.overall), 3)
    (1, 2.0, 0.0)
    """
    opened = open_log(
        log,
        Asked(loss, radius, segments, segment_by, positive, bias, digest),
        {"score": score, "probability": probability, "prediction": prediction},
        label=label,
        text=text,
        categorical=categorical,
        numeric=numeric,
        date=date,
        keep=keep,
        ignore=ignore,
        interactions=interactions,
        hash_bits=hash_bits,
        missing=missing,
    )
    if threads < 1:
        raise SettingError(f"audit: threads must be at least 1, got {threads}")
    opened.check_features(opened.stream.features.count + bias)
    bounds = [0, 0] if segments is None else _bounds(opened, segments)
    found = None if digest else by_column(opened, bounds, threads, watch)
    if found is not None:
        sums, alike = found
        titles = _named(np.array(bounds[1:-1], dtype=np.int64), sum(one.rounds for one, _ in sums))
        plain = opened.loss.regression
        parts = [
            PassedPart(name, None if plain else wrong, one) for name, (one, wrong) in zip(titles, sums, strict=True)
        ]
        return _result(opened, parts, radius, alike, 0, segments is not None)
    rows = Tallied(opened, bounds)
    rows.read_all(watch)
    divided = segments is not None or segment_by is not None
    return _result(opened, rows.done(), radius, rows.like_probabilities, rows.blank, divided, rows.digests)


def _bounds(log: Log, segments: int) -> list[int]:
    """Where equal parts begin, the end last: how many rounds there are must be known before they are read."""
    if log.skips:
        raise SettingError(
            f"audit: {spelled('segments')} needs the number of rounds before the pass, and"
            f" {spelled('missing', 'skip')} leaves it open: use {spelled('segment_by')}"
        )
    rounds = log.stream.length
    if rounds is None:
        rounds = sum(len(block) for block in column(log.log, log.said).blocks())
    if segments > rounds:
        raise InputError(f"holds {rounds} rounds, too few for {segments} segments", log.stream.source)
    return [place * rounds // segments for place in range(segments + 1)]


def _result(
    log: Log,
    parts: Sequence[PassedPart],
    radius: float,
    alike: bool,
    blank: int,
    divided: bool,
    digests: Digests | None = None,
) -> Passed:
    whole = joined([part.ledger for part in parts])
    if not math.isfinite(whole.loss.hi):
        raise SettingError(f"audit: the logged scores are so large that the loss {log.loss.name} overflows")
    mistakes = None if log.loss.regression else sum(part.mistakes or 0 for part in parts)
    features = log.stream.features
    names = [_name(features, place, whole.bias) for place, _ in whole.ignored(NAMED)]
    return Passed(
        log.stream.source,
        log.loss,
        float(radius),
        whole.bias,
        log.stream.gapped,
        features.count,
        PassedPart("all", mistakes, whole),
        tuple(parts) if divided else (),
        alike,
        blank,
        log.left_out,
        log.columns,
        log.stream.decisions,
        tuple(names),
        log,
        digests,
    )


def _name(features: Any, place: int, bias: bool) -> str:
    if bias and place == 0:
        return "the bias"
    return str(features.name_of(place - bias))
