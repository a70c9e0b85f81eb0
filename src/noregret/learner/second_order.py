"""The second-order perceptron (Cesa-Bianchi, Conconi & Gentile 2005): a perceptron that whitens what it erred on.

With S the rows of its mistakes so far, it predicts sgn⟨w, (aI + SᵀS + x·xᵀ)⁻¹x⟩; on a mistake w ← w + y·x and S gets x.
"""

from __future__ import annotations

from noregret._native import CONSTANT
from noregret.domain import Domain
from noregret.learner import settings
from noregret.learner.core import EVERYWHERE
from noregret.learner.matrix import Matrix
from noregret.loss import Loss, zero_one
from noregret.rate import Rate


class SecondOrderPerceptron(Matrix):
    """Update on mistakes only, `tie` saying what a score of 0 counts as; its loss is the number of mistakes.

    A sample weight k counts the row k times over: w ← w + k·y·x, and x·xᵀ enters the matrix k times.
    """

    name = "second-order"
    declared = settings.SecondOrderPerceptron
    params: settings.SecondOrderPerceptron
    compared_only = True

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        return zero_one(self.params.tie), EVERYWHERE, Rate(CONSTANT, self.params.ridge)
