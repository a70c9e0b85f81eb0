"""Coin betting (Orabona & Pál 2016), which has no learning rate: the weights are a bet on the next gradient.

From a wealth of ε the learner bets, in the n-th round that has a gradient, the share θ/n of it on the sum θ = −Σg/G of
the gradients before: w = wealth·θ/n, and the wealth loses ⟨g, w⟩/G. It needs to know that no gradient is longer than G.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

from noregret import loss as losses
from noregret._native import COIN
from noregret.domain import Domain
from noregret.errors import SettingError
from noregret.learner.core import Settings, positive
from noregret.learner.linear import Linear
from noregret.loss import Loss
from noregret.prepare import Preparation
from noregret.rate import Rate

ROUNDED = 1.0 + 2.0**-40  # a row scaled to norm 1 may be longer by a hair


class CoinBetting(Linear):
    """Parameter-free: `gradient_bound` G, or rows of norm 1 and a loss whose slope has a bound; `wealth` is ε.

    With rows of norm 1 only a sample weight above 1 makes a gradient longer than G: the bet then counts it as G, and
    the theorems, which are about the weighted losses, are unmet.
    """

    name = "coin"

    def __init__(
        self,
        *,
        loss: str | Loss = "logistic",
        gradient_bound: float | None = None,
        wealth: float = 1.0,
        tie: str = "mistake",
        bias: bool = False,
        unit_norm: bool = False,
        scale: str | None = None,
    ) -> None:
        chosen, start = losses.parse(loss), positive(self.name, "wealth", wealth)
        if not 1e-30 <= start <= 1e30:
            raise SettingError(f"coin: wealth must lie between 1e-30 and 1e30, got {wealth}")
        G = _bound(chosen, gradient_bound, unit_norm, bias)
        settings: Settings = {
            "loss": loss if chosen.custom else chosen.spec,
            "gradient_bound": None if gradient_bound is None else G,
            "wealth": start,
            "tie": tie,
            "bias": bool(bias),
            "unit_norm": bool(unit_norm),
            "scale": scale,
        }
        super().__init__(
            settings,
            chosen,
            Domain(radius=math.inf),
            Rate(COIN, G, gradient_bound=G),
            gather=0,
            tie=tie,
            bias=bias,
            preparation=Preparation(scale, unit_norm),
        )
        self.config["cut"] = gradient_bound is None
        self.state["wealth"] = self.state["scale"] = start

    def _diverged(self) -> NoReturn:
        refused, self.state["refused"] = float(self.state["refused"][0]), 0.0
        if not refused > 0.0:
            super()._diverged()
        raise SettingError(
            f"coin: the gradient of round {self.rounds + 1} has the norm {math.sqrt(refused):.6g}, more than the bound"
            f" {self.rate.eta:.6g}: give --unit-norm or a larger --gradient-bound"
        )


def _bound(loss: Loss, given: Any, unit_norm: bool, bias: bool) -> float:
    """G: as given, or what follows from rows of norm 1 (with a bias √2)."""
    if given is not None:
        return positive("coin", "gradient_bound", given)
    if not unit_norm:
        raise SettingError("coin: gradients need a bound: give --unit-norm or --gradient-bound G")
    if math.isinf(loss.lipschitz):
        raise SettingError(f"coin: the slope of the loss {loss.name} has no bound: give --gradient-bound G")
    return loss.lipschitz * math.sqrt(1.0 + bool(bias)) * ROUNDED
