"""The forecaster of Vovk (2001) and of Azoury & Warmuth (2001) for the squared loss: ridge regression that looks ahead.

It predicts ŷ_t = ⟨b_{t−1}, A_t⁻¹x_t⟩ with A_t = aI + Σ_{s≤t} x_s·x_sᵀ, the row to be predicted included, and
b_{t−1} = Σ_{s<t} y_s·x_s. That row in the matrix draws the prediction towards 0, by the factor 1/(1 + ⟨x, A_{t−1}⁻¹x⟩).
"""

from __future__ import annotations

import math
from fractions import Fraction

from noregret._native import CONSTANT
from noregret.domain import Domain
from noregret.learner import settings
from noregret.learner.core import EVERYWHERE
from noregret.learner.matrix import Matrix
from noregret.loss import Loss, squared
from noregret.rate import Rate


class VovkAzouryWarmuth(Matrix):
    """Learns from every round; a sample weight k multiplies the round's loss: the row counts k times over."""

    name = "vaw"
    declared = settings.VovkAzouryWarmuth
    params: settings.VovkAzouryWarmuth

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        return squared(), EVERYWHERE, Rate(CONSTANT, self.params.ridge)

    def comparator_sigma(self, rounds: int) -> float:
        """2a/T, so that (σT/2)‖u‖² is a‖u‖²; where that is no float, the next one above."""
        if not rounds:
            return 0.0
        sigma = 2.0 * self.ridge / rounds
        return sigma if Fraction(sigma) * rounds >= 2 * Fraction(self.ridge) else math.nextafter(sigma, math.inf)
