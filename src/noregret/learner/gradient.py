"""Online gradient descent (Zinkevich 2003): w ← Π(w − η_t·g_t), g_t a subgradient of the round's loss at w_t.

With a penalty r(w) = λ₁‖w‖₁ + (λ₂/2)‖w‖² each step minimises ½‖w − (w_t − η_t·g_t)‖² + η_t·r(w) before it projects
(Duchi & Singer 2009). The loss that is reported stays the plain one.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar

import numpy as np

from noregret import _native
from noregret import loss as losses
from noregret import rate as rates
from noregret._native import BALL, CROSS, DOUBLING, GRADIENTS, SIMPLEX, norm2
from noregret.domain import Domain
from noregret.errors import SettingError
from noregret.learner import settings
from noregret.learner.coordinate import WEIGHT, Coordinate
from noregret.learner.core import Call, NativeRows, Vector
from noregret.learner.linear import Linear
from noregret.loss import Loss
from noregret.rate import Rate
from noregret.stream.block import Rows

PAID = 1  # the column of the table with the threshold up to which a weight has paid


class OnlineGradientDescent(Linear):
    """Projected or constant-rate gradient descent with any loss, in any domain, with or without a penalty."""

    name = "ogd"
    declared = settings.OnlineGradientDescent
    params: settings.OnlineGradientDescent
    gathers = GRADIENTS
    averages = True

    def __new__(cls, **given: Any) -> OnlineGradientDescent:
        """With a penalty λ₁‖w‖₁ its weights are kept in another way."""
        lazy = cls is OnlineGradientDescent and bool(given.get("l1"))
        return object.__new__(TruncatedGradientDescent if lazy else cls)

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for name in ("l1", "l2"):
            self.config[name] = self.settings[name]
            if not self.settings[name]:
                del self.settings[name]  # a penalty of 0 is none

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        params = self.params
        loss, domain = losses.parse(params.loss), Domain(params.domain, params.radius)
        rate = rates.parse(params.rate, loss, domain)
        if params.start is not None and rate.code == DOUBLING:
            raise SettingError("ogd: the doubling rate starts every period at 0, so it takes no start")
        if params.l1 and domain.code in (BALL, CROSS, SIMPLEX):
            raise SettingError(
                "ogd: l1 needs the domain box or an infinite radius, and a constant or sqrt rate; got the domain"
                f" {params.domain} with radius {params.radius:g}"
            )
        return loss, domain, rate


class TruncatedGradientDescent(Coordinate, OnlineGradientDescent):
    """Gradient descent with a penalty λ₁‖w‖₁, which makes weights exactly 0: in a box or in the whole space.

    A weight pays what it owes when a row brings its feature; whoever reads it sees it paid.
    """

    columns: ClassVar[int] = _native.TRUNCATED_COLUMNS
    _kind = _native.TRUNCATED
    guarded = False
    averages = False

    def round_call(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> Call:
        loss = self._native_loss()
        return partial(_native.play_truncated, loss, rows, y, weights, self.total, self.record, scores)

    @property
    def weights(self) -> Vector:
        return np.asarray(float(self.state["scale"][0]) * self._paid())

    @property
    def weight_norm(self) -> float:
        scale, bias = float(self.state["scale"][0]), float(self.state["bias"][0])
        return scale * math.sqrt(norm2(self._paid()) + bias * bias)

    @property
    def dual_norm(self) -> float:
        """‖Σg‖₁ in a box, ‖Σg‖ in the whole space."""
        return super().dual_norm if self.domain.shape == "box" else self.gradient_norm

    def _paid(self) -> Vector:
        """z when all that is owed is taken from it."""
        z = self._column(WEIGHT)[: self.width]
        owed = float(self.state["threshold"][0]) - self._column(PAID)[: self.width]
        return np.asarray(np.sign(z) * np.maximum(np.abs(z) - owed, 0.0))

    def _score(self, rows: Rows) -> Vector:
        scores = np.empty(len(rows))
        _native.score_truncated(rows.native, self.total, self.record, scores)
        return scores


class StronglyConvexGradientDescent(Linear):
    """Gradient descent on ℓ_t(w) + (σ/2)‖w‖² with step 1/(σt); the regulariser counts in the reported loss.

    A loss whose slope is bounded by L keeps ‖w‖ ≤ L·max‖x‖/σ by itself. One whose slope grows (squared, squared-hinge,
    exponential) needs a `radius`: without it the first steps can overflow.
    """

    name = "ogd-strong"
    declared = settings.StronglyConvexGradientDescent
    params: settings.StronglyConvexGradientDescent

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.config["sigma"] = self.params.sigma

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        loss, ball = losses.parse(self.params.loss), Domain("ball", self.params.radius)
        if math.isinf(loss.lipschitz) and math.isinf(ball.radius):
            raise SettingError(
                f"ogd-strong: the slope of the loss {loss.name} has no bound, so give a radius to stay within"
            )
        return loss, ball, rates.strong()
