"""The perceptron (Rosenblatt 1958): on a mistake w ← w + η·y·x, otherwise nothing.

From w₁ = 0 the rounds in which it errs do not depend on η > 0. The update is c = −rate·slope, the slope −y of
`ZeroOne` on a mistake (native/loss.hpp), in the loop that all linear learners share (`run_on` in native/rounds.hpp);
`step` in native/rows.hpp adds c·x to the weights.
"""

from __future__ import annotations

from typing import Any

from noregret._native import CONSTANT
from noregret.domain import Domain
from noregret.learner import settings
from noregret.learner.core import EVERYWHERE
from noregret.learner.linear import Linear
from noregret.loss import Loss, zero_one
from noregret.rate import Rate


class Perceptron(Linear):
    """Update on mistakes only, `tie` saying what a score of 0 counts as; its loss is the number of mistakes."""

    name = "perceptron"
    declared = settings.Perceptron
    params: settings.Perceptron
    compared_only = True
    perceptron_rounds = True
    averages = True

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        if self.params.start is None:
            self.state["scale"] = (
                self.params.rate
            )  # sums in units of the step: their signs are then the same for every η

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        return zero_one(self.params.tie), EVERYWHERE, Rate(CONSTANT, self.params.rate)
