"""Which of two learners did better on the same rounds: the mean of the paired differences, with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.learner import Core
from noregret.loss import Loss, absolute, zero_one
from noregret.rounds import Rounds
from noregret.run import Run

Vector = NDArray[np.float64]
ASSUMPTION = (
    "the rounds are independent and identically distributed, and numerous enough for the mean difference to be normal"
)
PIECE = 2**20  # rounds looked at together


@dataclass(frozen=True)
class Difference:
    """The mean over the rounds of a's figure less b's, with the interval that holds under the assumption."""

    a: str
    b: str
    figure: str
    mean: float
    lower: float
    upper: float
    confidence: float
    assumption: str = ASSUMPTION

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class Played:
    """A run with its rounds, scores and all."""

    spec: str
    run: Run
    rounds: Rounds

    @property
    def core(self) -> Core:
        return self.run.learner


def difference(first: Played, other: Played, confidence: float) -> Difference:
    """The normal interval for the mean of the paired differences."""
    name, a, b = _figure(first.core, other.core)
    count = len(first.rounds)
    mean = math.fsum(math.fsum(part) for part in _paired(first, a, other, b)) / count
    squares = math.fsum(arithmetic.norm2(part - mean) for part in _paired(first, a, other, b))
    spread = math.sqrt(squares / (count - 1) / count) if count > 1 else math.inf
    reach = NormalDist().inv_cdf(0.5 + confidence / 2.0) * spread
    return Difference(first.spec, other.spec, name, mean, mean - reach, mean + reach, confidence)


def _figure(a: Core, b: Core) -> tuple[str, Loss, Loss]:
    """What two learners are both judged by: a name and each one's loss for it."""
    if a.loss.convex and a.loss.spec == b.loss.spec and a.loss.own == b.loss.own:
        return f"mean loss ({a.loss.spec})", a.loss, b.loss
    if a.regression:
        return "mean absolute error", absolute(), absolute()
    return "error rate", _zero_one(a), _zero_one(b)


def _zero_one(core: Core) -> Loss:
    """Mistakes as the learner itself counts them."""
    return zero_one(core.settings["tie"]) if core.loss.convex else core.loss


def _paired(first: Played, a: Loss, other: Played, b: Loss) -> Iterator[Vector]:
    """k·(ℓ_t(A) − ℓ_t(B)), a piece at a time; an error counts a round as one, whatever it weighs."""
    y, weights = first.rounds.y, first.rounds.weights if a.convex else None
    for start in range(0, len(y), PIECE):
        part = slice(start, start + PIECE)
        found = _losses(first, a, part) - _losses(other, b, part)
        yield found if weights is None else weights[part] * found


def _losses(one: Played, loss: Loss, part: slice) -> Vector:
    """ℓ_t over a piece of the rounds; many classes have mistakes only."""
    scores, y = one.rounds.scores, one.rounds.y[part]
    assert scores is not None
    if one.run.tally is not None:
        return one.core.missed(scores[part], y).astype(np.float64)
    return loss.values(scores[part], y)
