"""What an audit found: loss, best fixed model and regret of the whole log and of each segment."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from noregret.interval import Interval
from noregret.loss import Loss
from noregret.proof.hindsight import Hindsight


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
        }
