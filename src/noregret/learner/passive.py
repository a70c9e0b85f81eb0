"""Passive-Aggressive learning (Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006): w ← w + τ·s·x.

ℓ is the hinge loss of a round and s = y its label, or ℓ = |⟨w,x⟩ − y| and s the sign of y − ⟨w,x⟩. The step τ makes the
round's loss 0 with the least change of w (PA), with a change of at most C·‖x‖ (PA-I), or as far as the square of the
loss times C makes it worth while (PA-II). A row of norm 0 teaches nothing.
"""

from __future__ import annotations

from typing import ClassVar

from noregret import loss as losses
from noregret._native import PASSIVE, PASSIVE_CAPPED, PASSIVE_SOFT
from noregret.domain import Domain
from noregret.errors import SettingError
from noregret.learner import settings
from noregret.learner.core import EVERYWHERE
from noregret.learner.linear import Linear
from noregret.loss import Loss
from noregret.rate import Rate
from noregret.setting import as_dict


class _Passive(Linear):
    """What the three have in common."""

    compared_only = True
    _rule: ClassVar[int]

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        loss = losses.parse(self.params.loss)
        if not loss.passive:
            able = ", ".join(name for name, make in losses.LOSSES.items() if make().passive)
            raise SettingError(f"{self.name}: loss must be one of {able}, got {loss.name}")
        return loss, EVERYWHERE, Rate(self._rule, as_dict(self.params).get("aggressiveness") or 0.0)


class PassiveAggressive(_Passive):
    """τ = ℓ/‖x‖²: the smallest step after which the round's loss would have been 0."""

    name = "pa"
    declared = settings.PassiveAggressive
    _rule = PASSIVE


class PassiveAggressiveI(_Passive):
    """τ = min(C, ℓ/‖x‖²), C the aggressiveness: no round moves the weights by more than C·‖x‖.

    Left out, C is 1/max‖x‖² over the rows so far: no round then counts for more than a loss of 1, whatever the scale.
    """

    name = "pa1"
    declared = settings.PassiveAggressiveI
    _rule = PASSIVE_CAPPED


class PassiveAggressiveII(_Passive):
    """τ = ℓ/(‖x‖² + 1/(2C)), C the aggressiveness: a step that shrinks with the loss.

    Left out, C is 1/max‖x‖² over the rows so far.
    """

    name = "pa2"
    declared = settings.PassiveAggressiveII
    _rule = PASSIVE_SOFT
