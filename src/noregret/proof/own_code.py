"""A loss or a kernel written in Python by the user: its last digits may differ on another machine.

The core gives the same bits everywhere, so a claim is what was found, rounded outward. Only where the user's own code
is part of a run are claims made wider, by a share of the size of what they were summed from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from noregret import arithmetic
from noregret.interval import Interval, down_or_none, up_or_none
from noregret.kernel import Kernel
from noregret.learner.core import Core
from noregret.proof.facts import Facts, judged_by
from noregret.proof.theorem import Claim

FIGURE = 1e-9  # what a figure of the run may differ by from one machine to another
SCORED = 1e-11  # what scores may differ by, as a share of ‖w‖‖x‖, and with every round a little more
ENCLOSED = 2.0**-46  # what an enclosure of a loss at given scores may differ by
LOWER = ("no_comparator_below", "no_separator_below", "margin")  # values that are lower ends; the others are upper ends
EXACT = ("scaled_by", "rate", "radius", "bets", "unforeseen", "updates")  # values that are what they are


def own_code(core: Core) -> str | None:
    """What the user wrote in Python: the loss or the kernel; None where all of the run is the core's arithmetic."""
    if core.loss.custom:
        return "loss"
    kernel = core.settings.get("kernel")
    return "kernel" if isinstance(kernel, Kernel) and kernel.function is not None else None


def is_exact(value: str) -> bool:
    """Whether a value is a setting or a count; one of several, as updates_2, counts as the one it is of."""
    return value in EXACT or value.startswith("updates_")


def wider(found: Interval, off: float) -> Interval:
    """Further out at both ends; what is exact is so everywhere."""
    return found if found.exact or not off else Interval(down_or_none(found.lo - off), up_or_none(found.hi + off))


@dataclass(frozen=True)
class Margin:
    """By how much claims are wider than what was found: nothing, but for the user's own code."""

    share: float
    size: float  # Σ k|s|·‖w‖‖x‖, from above: how much sums would move if every score moved by its full size
    losses: float  # the share of losses at scores that are what they are

    @classmethod
    def of(cls, facts: Facts) -> Margin:
        if own_code(facts.learner) is None:
            return cls(0.0, 0.0, 0.0)
        share = SCORED + len(facts.rounds) * 2.0**-50
        return cls(share, _steepness(facts), ENCLOSED if facts.learner.loss.custom else 0.0)

    def figure(self, found: Interval) -> Interval:
        """A figure of the run."""
        size = max(abs(found.lo), abs(found.hi))
        return wider(found, max(FIGURE, self.share) * (size + self.size) if self.share else 0.0)

    def own(self, found: Interval) -> Interval:
        """The run's own loss."""
        return wider(found, self.share * self.size + self.losses * abs(found.hi))

    def comparator(self, found: Interval, size: float) -> Interval:
        """A comparator's loss between its ends; the terms of the lower one are of that size."""
        off = self.losses * (abs(found.hi) + size)
        return wider(found, off)

    def upper(self, value: float) -> float:
        """A number that is claimed from above."""
        if math.isnan(value):
            return math.inf
        return up_or_none(value + self.share * (abs(value) + self.size)) if self.share else value

    def value(self, key: str, value: float) -> float:
        """A value that a certificate names, at its end."""
        if is_exact(key) or not self.share:
            return math.inf if math.isnan(value) else value
        if key in LOWER:
            return max(down_or_none(value - self.share * (abs(value) + self.size)), 0.0)
        return self.upper(value)

    def observed(self, claim: Claim) -> float | None:
        """What was observed, from above."""
        if claim.observed is None:
            return None
        return claim.observed.hi if claim.observed.exact else self.upper(claim.observed.hi)


def _steepness(facts: Facts) -> float:
    """The norms of the weights on the way are not kept: they are at most the radius, the last norm, or what scores ask.

    With a regulariser the weights are in the loss too, and it is counted as well.
    """
    rounds, run, loss = facts.rounds, facts.run, judged_by(facts.learner)
    scores, lengths = facts.scores, np.sqrt(facts.row_squares[1])
    if scores.ndim != 1:
        return 0.0
    least = np.abs(scores) / np.where(lengths > 0.0, lengths, 1.0)
    inside = facts.learner.domain.radius if math.isfinite(facts.learner.domain.radius) else 0.0
    longest = max(inside, run.weight_norm, float(least.max(initial=0.0)))
    weights = 1.0 if rounds.weights is None else rounds.weights
    with np.errstate(over="ignore"):
        slopes = np.abs(loss.gradients(scores, rounds.y)) * weights
        moved = arithmetic.total(slopes * np.maximum(lengths * longest, np.abs(scores)))
    return moved + (facts.loss.hi if facts.sigma else 0.0)
