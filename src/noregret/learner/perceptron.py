"""The perceptron (Rosenblatt 1958): on a mistake w ← w + η·y·x, otherwise nothing.

From w₁ = 0 the rounds in which it errs do not depend on η > 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from noregret._native import CONSTANT
from noregret.domain import Domain
from noregret.learner.core import positive
from noregret.learner.linear import Linear, as_start
from noregret.loss import zero_one
from noregret.prepare import Preparation
from noregret.rate import Rate


class Perceptron(Linear):
    """Update on mistakes only, `tie` saying what a score of 0 counts as; its loss is the number of mistakes."""

    name = "perceptron"
    _gather: ClassVar[int] = 0  # what is kept beside the weights

    def __init__(
        self,
        *,
        rate: float = 1.0,
        tie: str = "mistake",
        bias: bool = False,
        start: Sequence[float] | None = None,
        unit_norm: bool = False,
        scale: str | None = None,
    ) -> None:
        eta = positive(self.name, "rate", rate)
        settings: dict[str, Any] = {
            "rate": eta,
            "tie": tie,
            "bias": bool(bias),
            "start": as_start(self.name, start),
            "unit_norm": bool(unit_norm),
            "scale": scale,
        }
        super().__init__(
            settings,
            zero_one(tie),
            Domain(radius=math.inf),
            Rate(CONSTANT, eta),
            gather=self._gather,
            tie=tie,
            bias=bias,
            start=settings["start"],
            preparation=Preparation(scale, unit_norm),
        )
        if start is None:
            self.state["scale"] = eta  # sums in units of the step: their signs are then the same for every η
