"""Ridge regression that forgets: past rounds count (1 − f) times as much after every round.

It predicts as the forecaster of Vovk, Azoury and Warmuth does, with A = aI + Σ_s (1 − f)^(t−s)·x_s·x_sᵀ, the row to be
predicted included, and b = Σ_s (1 − f)^(t−s)·y_s·x_s. The ridge is forgotten with the rows and put back every 64
rounds, so that a feature that is rarely seen cannot make the inverse grow without limit.
"""

from __future__ import annotations

from typing import Any

from noregret._native import CONSTANT
from noregret.domain import Domain
from noregret.learner import settings
from noregret.learner.core import EVERYWHERE
from noregret.learner.matrix import Matrix
from noregret.loss import Loss, squared
from noregret.rate import Rate


class RidgeForgetting(Matrix):
    """Learns from every round; a radius that is given is its comparators'."""

    name = "ridge"
    declared = settings.RidgeForgetting
    params: settings.RidgeForgetting
    compared_only = True

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.config["beta"] = self.params.forgetting

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        return squared(), EVERYWHERE, Rate(CONSTANT, self.params.ridge)
