"""A bound as the verifier finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from noregret.interval import Interval

if TYPE_CHECKING:
    from noregret.receipt.facts import Facts

Certificate = dict[str, Any]


@dataclass(frozen=True)
class Found:
    """A bound as recomputed, from above; `slack` is what float steps may add to a bound that is stated for exact ones.

    `values` are the numbers that a certificate names, each at the end that is claimed of it. `loose` is what another
    machine may find them to differ by, where cancellation leaves more than a relative difference.
    """

    bound: Interval
    observed: Interval | None
    ceiling: float
    values: dict[str, float] = field(default_factory=dict)
    slack: float = 0.0
    loose: float = 0.0


LOWER = ("no_comparator_below", "no_separator_below", "margin")  # values that are lower ends; the others are upper ends
EXACT = ("scaled_by", "rate", "radius", "bets", "unforeseen", "updates")  # values that are what they are


def is_exact(value: str) -> bool:
    """Whether a value is a setting or a count; one of several, as updates_2, counts as the one it is of."""
    return value in EXACT or value.startswith("updates_")


Formula = Callable[["Facts", Certificate], Found]
Condition = Callable[["Facts"], bool | str | None]
EITHER = "either"  # two numbers so close that rounding decides: nothing may be claimed
