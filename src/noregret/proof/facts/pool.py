"""Facts of a mixture: what each member lost, what the best sequence of members lost, the range of the labels.

The members' losses are sums that the loop made; the verifier's own replay makes them again. What rounding may have done
to a sum, and to the weights that are made from it, is in the intervals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from noregret.interval import Interval
from noregret.learner.auto import LOSS, SEQUENCES, Auto
from noregret.learner.auto_classes import AutoClasses
from noregret.learner.auto_numbers import CLIPPED, SQUARES, AutoNumbers
from noregret.rounds import Rounds

STEP = 2.0**-52
LEAST_RATE = 1e-307  # ℓ² below which a rate 2/ℓ² overflows


@dataclass(frozen=True)
class Pool:
    """The mixture of a run and its rounds."""

    learner: Auto
    rounds: Rounds

    @property
    def numbers(self) -> bool:
        """Whether numbers are forecast."""
        return isinstance(self.learner, AutoNumbers)

    @cached_property
    def rounding(self) -> float:
        """What rounding may have cost the mixture over all rounds.

        A probability is right to some 4n + 4K + 60 roundings, and a sum of losses that the weights are made from to one
        rounding of itself a round. Of numbers the forecast is off by that share of the range.
        """
        n, table = float(len(self.learner.members)), self.learner.standing
        if isinstance(self.learner, AutoNumbers):
            square, clipped = self.width.square().hi, float(table[:, CLIPPED].max())
            return len(self.rounds) * (STEP * ((4.0 * n + 60.0) * square + 16.0 * clipped) + LEAST_RATE)
        classes = float(self.learner.known) if isinstance(self.learner, AutoClasses) else 2.0
        return len(self.rounds) * STEP * (4.0 * n + 4.0 * classes + 60.0 + 2.0 * max(self._losses))

    @property
    def _losses(self) -> list[float]:
        column = SQUARES if self.numbers else LOSS
        return [float(loss) for loss in self.learner.standing[: len(self.learner.members), column]]

    @cached_property
    def losses(self) -> dict[str, Interval]:
        """What each member lost, its probabilities tempered; a member that slept lost what the others did."""
        names = [member.name for member in self.learner.members]
        return {name: self._around(loss) for name, loss in zip(names, self._losses, strict=True)}

    @cached_property
    def priors(self) -> dict[str, Interval]:
        """ln(1/π) of each member."""
        pairs = zip(self.learner.members, self.learner.priors, strict=True)
        return {member.name: -Interval.of(prior).log() for member, prior in pairs}

    def lag(self, top: int) -> Interval:
        """What an expert at the top lost more because it spoke before labels in between came; 0 without late labels."""
        found = float(self.learner.tops[top, 2])
        return self._around(found) if found else Interval.of(0.0)

    @cached_property
    def sequence(self) -> Interval:
        """What the best sequence of members with at most 8 switches lost."""
        return self._around(float(self.learner.standing[:, SEQUENCES].min()))

    @property
    def width(self) -> Interval:
        """ℓ, the length of the range that the labels turned out to have."""
        assert isinstance(self.learner, AutoNumbers)
        return Interval.of(float(self.learner.range[1])) - float(self.learner.range[0])

    def _around(self, value: float) -> Interval:
        off = 2.0 * len(self.rounds) * STEP * value if self.numbers else self.rounding
        return Interval.around(value, off) if math.isfinite(value) else Interval.of(value)
