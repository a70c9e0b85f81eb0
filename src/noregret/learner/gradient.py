"""Online gradient descent (Zinkevich 2003): w ← Π(w − η_t·g_t), g_t a subgradient of the round's loss at w_t.

With a penalty r(w) = λ₁‖w‖₁ + (λ₂/2)‖w‖² each step minimises ½‖w − (w_t − η_t·g_t)‖² + η_t·r(w) before it projects
(Duchi & Singer 2009). The loss that is reported stays the plain one.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from noregret import _native
from noregret import loss as losses
from noregret import rate as rates
from noregret._native import BALL, CROSS, DOUBLING, GRADIENTS, SIMPLEX, norm2
from noregret.domain import Domain
from noregret.errors import SettingError
from noregret.learner.coordinate import WEIGHT, Coordinate
from noregret.learner.core import Given, Settings, Vector, not_negative, positive
from noregret.learner.linear import Linear, as_start
from noregret.loss import Loss
from noregret.prepare import Preparation
from noregret.stream.block import Rows

PAID = 1  # the column of the table with the threshold up to which a weight has paid


class OnlineGradientDescent(Linear):
    """Projected or constant-rate gradient descent with any loss, in any domain, with or without a penalty."""

    name = "ogd"

    def __new__(cls, **settings: Any) -> OnlineGradientDescent:
        """With a penalty λ₁‖w‖₁ its weights are kept in another way."""
        lazy = cls is OnlineGradientDescent and bool(settings.get("l1"))
        return object.__new__(TruncatedGradientDescent if lazy else cls)

    def __init__(
        self,
        *,
        loss: str | Loss = "hinge",
        radius: float = 10.0,
        domain: str = "ball",
        rate: str = "auto",
        l1: float = 0.0,
        l2: float = 0.0,
        tie: str = "mistake",
        bias: bool = False,
        start: Any = None,
        unit_norm: bool = False,
        scale: str | None = None,
    ) -> None:
        chosen = losses.parse(loss)
        where = Domain(domain, radius)
        rule = rates.parse(rate, chosen, where)
        if start is not None and rule.code == DOUBLING:
            raise SettingError("ogd: the doubling rate starts every period at 0, so it takes no start")
        own = {name: not_negative(self.name, name, value) for name, value in (("l1", l1), ("l2", l2))}
        if own["l1"] and where.code in (BALL, CROSS, SIMPLEX):
            raise SettingError(
                "ogd: with l1 a weight is shrunk when its feature comes again, which a projection on the whole cannot"
                " wait for: give the domain box, or the radius inf, and a constant or sqrt rate"
            )
        penalties = {name: value for name, value in own.items() if value}  # one that is 0 is none
        settings: Settings = {
            "loss": loss if chosen.custom else chosen.spec,
            "radius": where.radius,
            "domain": domain,
            "rate": rate,
            **penalties,
            "tie": tie,
            "bias": bool(bias),
            "start": as_start(self.name, start),
            "unit_norm": bool(unit_norm),
            "scale": scale,
        }
        super().__init__(
            settings,
            chosen,
            where,
            rule,
            gather=GRADIENTS,
            tie=tie,
            bias=bias,
            start=settings["start"],
            preparation=Preparation(scale, unit_norm),
        )
        for name, value in penalties.items():
            self.config[name] = value


class TruncatedGradientDescent(Coordinate, OnlineGradientDescent):
    """Gradient descent with a penalty λ₁‖w‖₁, which makes weights exactly 0: in a box or in the whole space.

    A weight pays what it owes when a row brings its feature; whoever reads it sees it paid.
    """

    columns: ClassVar[int] = _native.TRUNCATED_COLUMNS
    _kind = _native.TRUNCATED
    guarded = False

    def _rounds(self, rows: Given, y: Vector, weights: Vector, scores: Vector) -> int:
        return _native.play_truncated(self._native_loss(), rows, y, weights, self.total, self.record, scores)

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
        _native.score_truncated(rows.given, self.total, self.record, scores)
        return scores


class StronglyConvexGradientDescent(Linear):
    """Gradient descent on ℓ_t(w) + (σ/2)‖w‖² with step 1/(σt); the regulariser counts in the reported loss.

    A loss whose slope is bounded by L keeps ‖w‖ ≤ L·max‖x‖/σ by itself. One whose slope grows (squared, squared-hinge,
    exponential) needs a `radius`: without it the first steps can overflow.
    """

    name = "ogd-strong"

    def __init__(
        self,
        *,
        loss: str | Loss = "hinge",
        sigma: float = 0.1,
        radius: float = math.inf,
        tie: str = "mistake",
        bias: bool = False,
        unit_norm: bool = False,
        scale: str | None = None,
    ) -> None:
        chosen = losses.parse(loss)
        strength, ball = positive(self.name, "sigma", sigma), Domain("ball", radius)
        if math.isinf(chosen.lipschitz) and math.isinf(ball.radius):
            raise SettingError(
                f"ogd-strong: the slope of the loss {chosen.name} has no bound, so give a radius to stay within"
            )
        settings: Settings = {
            "loss": loss if chosen.custom else chosen.spec,
            "sigma": strength,
            "radius": ball.radius,
            "tie": tie,
            "bias": bool(bias),
            "unit_norm": bool(unit_norm),
            "scale": scale,
        }
        super().__init__(
            settings,
            chosen,
            ball,
            rates.strong(),
            gather=0,
            tie=tie,
            sigma=strength,
            bias=bias,
            preparation=Preparation(scale, unit_norm),
        )
