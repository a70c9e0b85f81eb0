"""The second-order perceptron (Cesa-Bianchi, Conconi & Gentile 2005): a perceptron that whitens what it erred on.

With S the rows of its mistakes so far, it predicts sgn⟨w, (aI + SᵀS + x·xᵀ)⁻¹x⟩; on a mistake w ← w + y·x and S gets x.
"""

from __future__ import annotations

from noregret.learner.core import Settings
from noregret.learner.matrix import Matrix
from noregret.loss import zero_one
from noregret.prepare import Preparation


class SecondOrderPerceptron(Matrix):
    """Update on mistakes only, `tie` saying what a score of 0 counts as; its loss is the number of mistakes.

    A sample weight k counts the row k times over: w ← w + k·y·x, and x·xᵀ enters the matrix k times.
    """

    name = "second-order"

    def __init__(
        self,
        *,
        ridge: float = 1.0,
        tie: str = "mistake",
        bias: bool = False,
        unit_norm: bool = False,
        scale: str | None = None,
    ) -> None:
        settings: Settings = {"tie": tie, "bias": bool(bias), "unit_norm": bool(unit_norm), "scale": scale}
        super().__init__(
            settings, zero_one(tie), ridge=ridge, tie=tie, bias=bias, preparation=Preparation(scale, unit_norm)
        )
