"""Passive-Aggressive learning (Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006): w ← w + τ·s·x.

ℓ is the hinge loss of a round and s = y its label, or ℓ = |⟨w,x⟩ − y| and s the sign of y − ⟨w,x⟩. The step τ makes the
round's loss 0 with the least change of w (PA), with a change of at most C·‖x‖ (PA-I), or as far as the square of the
loss times C makes it worth while (PA-II). A row of norm 0 teaches nothing.
"""

from __future__ import annotations

import math
from typing import ClassVar

from noregret import loss as losses
from noregret._native import PASSIVE, PASSIVE_CAPPED, PASSIVE_SOFT
from noregret.domain import Domain
from noregret.errors import SettingError
from noregret.learner.core import Settings, positive
from noregret.learner.linear import Linear
from noregret.loss import Loss
from noregret.prepare import Preparation
from noregret.rate import Rate

LOSSES = ("hinge", "absolute")


class _Passive(Linear):
    """What the three have in common."""

    _rule: ClassVar[int]

    def _begin(
        self, loss: str | Loss, tie: str, bias: bool, unit_norm: bool, scale: str | None, **own: float | None
    ) -> None:
        chosen = losses.parse(loss)
        if chosen.name not in LOSSES or chosen.custom:
            raise SettingError(f"{self.name}: loss must be one of {', '.join(LOSSES)}, got {chosen.name}")
        settings: Settings = {
            "loss": chosen.spec,
            **own,
            "tie": tie,
            "bias": bool(bias),
            "unit_norm": bool(unit_norm),
            "scale": scale,
        }
        Linear.__init__(
            self,
            settings,
            chosen,
            Domain(radius=math.inf),
            Rate(self._rule, own.get("aggressiveness") or 0.0),
            gather=0,
            tie=tie,
            bias=bias,
            preparation=Preparation(scale, unit_norm),
        )


class PassiveAggressive(_Passive):
    """τ = ℓ/‖x‖²: the smallest step after which the round's loss would have been 0."""

    name = "pa"
    _rule = PASSIVE

    def __init__(
        self,
        *,
        loss: str | Loss = "hinge",
        tie: str = "mistake",
        bias: bool = False,
        unit_norm: bool = False,
        scale: str | None = None,
    ) -> None:
        self._begin(loss, tie, bias, unit_norm, scale)


class PassiveAggressiveI(_Passive):
    """τ = min(C, ℓ/‖x‖²), C the aggressiveness: no round moves the weights by more than C·‖x‖.

    Left out, C is 1/max‖x‖² over the rows so far: no round then counts for more than a loss of 1, whatever the scale.
    """

    name = "pa1"
    _rule = PASSIVE_CAPPED

    def __init__(
        self,
        *,
        loss: str | Loss = "hinge",
        aggressiveness: float | None = None,
        tie: str = "mistake",
        bias: bool = False,
        unit_norm: bool = False,
        scale: str | None = None,
    ) -> None:
        self._begin(loss, tie, bias, unit_norm, scale, aggressiveness=_bound(self.name, aggressiveness))


class PassiveAggressiveII(_Passive):
    """τ = ℓ/(‖x‖² + 1/(2C)), C the aggressiveness: a step that shrinks with the loss.

    Left out, C is 1/max‖x‖² over the rows so far.
    """

    name = "pa2"
    _rule = PASSIVE_SOFT

    def __init__(
        self,
        *,
        loss: str | Loss = "hinge",
        aggressiveness: float | None = None,
        tie: str = "mistake",
        bias: bool = False,
        unit_norm: bool = False,
        scale: str | None = None,
    ) -> None:
        self._begin(loss, tie, bias, unit_norm, scale, aggressiveness=_bound(self.name, aggressiveness))


def _bound(name: str, aggressiveness: float | None) -> float | None:
    return None if aggressiveness is None else positive(name, "aggressiveness", aggressiveness)
