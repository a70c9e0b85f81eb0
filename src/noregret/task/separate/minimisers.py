"""What a convex solver finds where no separator exists: the least hinge loss, and J_soft's, which says nothing.

Σ max(0, 1 − y⟨θ, x⟩) has a minimiser whether the rows can be separated or not, where the perceptron goes round forever.
J_soft = Σ max(−y⟨θ, x⟩, 0) is 0 at θ = 0 whatever the rows are, and it is never below: that solution is no classifier.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.errors import SettingError
from noregret.loss import hinge
from noregret.proof import enclose, solve
from noregret.proof.hindsight import Hindsight
from noregret.proof.separation import labelled_rows
from noregret.rounds import Rounds, Vector

WIDER = 10.0  # the factor from one ball to the next, while the minimiser comes near its border
TRIES = 8


@dataclass(frozen=True)
class Minimisers:
    """θ of the least hinge loss in a ball, with the interval that a dual point proves, beside J_soft's θ = 0.

    `misclassified` counts the rows with y⟨θ, x⟩ ≤ 0 there. A bias comes first in θ.
    """

    hinge: Hindsight
    misclassified: int
    count: int

    @property
    def theta(self) -> Vector:
        """The minimiser of the hinge loss."""
        return self.hinge.u

    @property
    def soft(self) -> float:
        """The least J_soft: it is at least 0 everywhere, and 0 at θ = 0, where every row has the score 0."""
        return 0.0

    @property
    def interior(self) -> bool:
        """Whether the ball did not hold the minimiser back."""
        return enclose.norm(self.theta).hi < 0.99 * self.hinge.radius

    def to_dict(self) -> dict[str, Any]:
        """The figures, and θ."""
        found = self.hinge
        return {
            "hinge": {"lower": found.lower, "upper": found.upper, "radius": found.radius, "finished": found.finished},
            "theta": self.theta.tolist(),
            "misclassified": self.misclassified,
            "rows": self.count,
            "soft": {"least": self.soft, "theta": [0.0] * len(self.theta)},
        }


def minimisers(
    rows: Any,
    *,
    bias: bool = True,
    unit_norm: bool = False,
    positive: Any = None,
    gap: float = 1e-4,
    seconds: float = 60.0,
    **reading: Any,
) -> Minimisers:
    """The least hinge loss of a stream's rows, proved from both sides, in a ball so large that it is not felt.

    >>> square = [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]], [1, 1, -1, -1]
    >>> found = minimisers(square)
    >>> round(found.hinge.lower, 3), round(found.hinge.upper, 3), found.soft
    (4.0, 4.0, 0.0)
    """
    if not 0.0 < gap < math.inf:
        raise SettingError(f"minimisers: gap must be positive and finite, got {gap}")
    if not seconds > 0.0:
        raise SettingError(f"minimisers: seconds must be positive, got {seconds}")
    labelled = labelled_rows(rows, reading=reading, bias=bias, unit_norm=unit_norm, positive=positive)
    return minimisers_of(labelled.rounds, gap=gap, seconds=seconds)


def minimisers_of(rounds: Rounds, *, gap: float = 1e-4, seconds: float = 60.0) -> Minimisers:
    """The same of rounds as they are."""
    if not len(rounds):
        raise SettingError("minimisers: there are no rows")
    deadline = time.perf_counter() + seconds
    longest = enclose.largest_norm(rounds).hi
    radius, found = WIDER / longest if longest > 0.0 else 1.0, None
    for _ in range(TRIES):
        left = max(deadline - time.perf_counter(), 1e-3)
        found = solve.best(rounds, hinge(), radius, gap=gap, seconds=left, start=found)
        if enclose.norm(found.u).hi < 0.5 * radius or time.perf_counter() >= deadline:
            break
        radius *= WIDER
    assert found is not None
    low, high = enclose.margins(rounds, found.u)
    margins = np.where(rounds.y > 0.0, low, -high)
    return Minimisers(found, int(np.count_nonzero(margins <= 0.0)), len(rounds))
