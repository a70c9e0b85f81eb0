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
from noregret.errors import SettingError, spelled
from noregret.learner import settings
from noregret.learner.core import EVERYWHERE
from noregret.learner.linear import Linear
from noregret.loss import Loss
from noregret.rate import Rate

ROUNDED = 1.0 + 2.0**-40  # a row scaled to norm 1 may be longer by a hair


class CoinBetting(Linear):
    """Parameter-free: `gradient_bound` G, or rows of norm 1 and a loss whose slope has a bound; `wealth` is ε.

    With rows of norm 1 only a sample weight above 1 makes a gradient longer than G: the bet then counts it as G, and
    the theorems, which are about the weighted losses, are unmet.
    """

    name = "coin"
    declared = settings.CoinBetting
    params: settings.CoinBetting
    compared_only = True

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.config["cut"] = self.params.gradient_bound is None
        self.state["wealth"] = self.state["scale"] = self.params.wealth

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        """G is the setting, or what follows from rows of norm 1 (with a bias √2)."""
        params, loss = self.params, losses.parse(self.params.loss)
        if params.gradient_bound is None and not params.unit_norm:
            raise SettingError(f"coin: gradients need a bound: give {_unit_rows()} or {_bound()}")
        if params.gradient_bound is None and math.isinf(loss.lipschitz):
            raise SettingError(f"coin: the slope of the loss {loss.name} has no bound: give {_bound()}")
        G = params.gradient_bound or loss.lipschitz * math.sqrt(1.0 + params.bias) * ROUNDED
        return loss, EVERYWHERE, Rate(COIN, G, gradient_bound=G)

    def _diverged(self) -> NoReturn:
        refused, self.state["refused"] = float(self.state["refused"][0]), 0.0
        if not refused > 0.0:
            super()._diverged()
        raise SettingError(
            f"coin: the gradient of round {self.rounds + 1} has the norm {math.sqrt(refused):.6g}, more than the bound"
            f" {self.rate.eta:.6g}: give {_unit_rows()} or a larger G as {_bound()}"
        )


def _unit_rows() -> str:
    return spelled("unit_norm", python="unit_norm=True")


def _bound() -> str:
    return spelled("gradient_bound", "G", python="gradient_bound=G")
