"""What learners have in common whose score is no ⟨w, x⟩: most say log-odds of the label +1, for the logistic loss.

They have no weights. With a bias every row is played as (x, 1), as it is by linear learners, but only those are
concerned that it is compared with: a radius is the comparators' own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret._native import CONSTANT, norm2
from noregret.domain import Domain
from noregret.learner.core import EVERYWHERE, Arrays, Core, Vector, check_memory, fit
from noregret.loss import Loss, logistic
from noregret.rate import Rate


class Scored(Core):
    """A learner without weights; Σg is kept where `gathers` asks for it."""

    compared_only = True
    _grows = "the row's norm or the loss"
    _remedy = "use smaller sample weights"

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.total = np.zeros(0)

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        return logistic(), EVERYWHERE, Rate(CONSTANT, 1.0)

    @property
    def weight_norm(self) -> float:
        """There are no weights."""
        return 0.0

    @property
    def gradient_sum(self) -> Vector:
        return self.total[: self.width].copy()

    @property
    def gradient_norm(self) -> float:
        return math.sqrt(norm2(self.total) + float(np.square(self.state["bias_gradient"][0])))

    def arrays(self) -> Arrays:
        return {"total": self.gradient_sum}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        kept = width if self.gathers else 0
        fit(arrays, {"total": (kept,)})
        self.grow(width, sparse=paired)
        self.total[:kept] = arrays["total"]

    def grow(self, width: int, sparse: bool) -> None:
        """Make room for features below `width`."""
        self.width = max(self.width, width)
        if self.gathers and width > len(self.total):
            room = max(width, 3 * len(self.total) // 2)
            check_memory(8 * room, width)
            self.total = np.concatenate([self.total, np.zeros(room - len(self.total))])
