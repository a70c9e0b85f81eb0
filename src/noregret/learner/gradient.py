"""Online gradient descent (Zinkevich 2003): w ← Π(w − η_t·g_t), g_t a subgradient of the round's loss at w_t.

With a penalty (λ₂/2)‖w‖² each step minimises ½‖w − (w_t − η_t·g_t)‖² + η_t(λ₂/2)‖w‖² before it projects (Duchi & Singer
2009): w ← Π((w − η_t·g_t)/(1 + η_t·λ₂)). The loss that is reported stays the plain one.
"""

from __future__ import annotations

import math
from typing import Any

from noregret import loss as losses
from noregret import rate as rates
from noregret._kernel.state import DOUBLING, GRADIENTS
from noregret.domain import Domain
from noregret.errors import SettingError
from noregret.learner.core import Settings, not_negative, positive
from noregret.learner.linear import Linear, as_start
from noregret.loss import Loss
from noregret.prepare import Preparation


class OnlineGradientDescent(Linear):
    """Projected or constant-rate gradient descent with any loss, in any domain, with or without a penalty."""

    name = "ogd"

    def __init__(
        self,
        *,
        loss: str | Loss = "hinge",
        radius: float = 10.0,
        domain: str = "ball",
        rate: str = "auto",
        l2: float = 0.0,
        tie: str = "mistake",
        bias: bool = False,
        start: Any = None,
        unit_norm: bool = False,
        scale: str | None = None,
    ) -> None:
        chosen = losses.parse(loss)
        where = Domain(domain, float(radius))
        rule = rates.parse(rate, chosen, where)
        if start is not None and rule.code == DOUBLING:
            raise SettingError("ogd: the doubling rate starts every period at 0, so it takes no start")
        own = {"l2": not_negative(self.name, "l2", l2)}
        penalties = {name: value for name, value in own.items() if value}  # one that is 0 is none
        settings: Settings = {
            "loss": loss if chosen.custom else chosen.spec,
            "radius": float(radius),
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
        strength = positive(self.name, "sigma", sigma)
        if math.isinf(chosen.lipschitz) and math.isinf(radius):
            raise SettingError(
                f"ogd-strong: the slope of the loss {chosen.name} has no bound, so give a radius to stay within"
            )
        settings: Settings = {
            "loss": loss if chosen.custom else chosen.spec,
            "sigma": strength,
            "radius": float(radius),
            "tie": tie,
            "bias": bool(bias),
            "unit_norm": bool(unit_norm),
            "scale": scale,
        }
        super().__init__(
            settings,
            chosen,
            Domain("ball", float(radius)),
            rates.strong(),
            gather=0,
            tie=tie,
            sigma=strength,
            bias=bias,
            preparation=Preparation(scale, unit_norm),
        )
