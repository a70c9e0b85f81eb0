"""What a formula of the verifier comes to on a replayed run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from noregret.interval import Interval
from noregret.receipt.facts import Facts

Certificate = dict[str, Any]


@dataclass(frozen=True)
class Found:
    """A bound as recomputed; `slack` is how much higher a certificate may have put it for the sake of rounding.

    `loose` is the same for its values, where cancellation leaves more than a relative difference.
    """

    bound: Interval
    observed: Interval | None
    ceiling: float
    values: dict[str, float] = field(default_factory=dict)
    slack: float = 0.0
    loose: float = 0.0


Formula = Callable[[Facts, Certificate], Found]
Need = Callable[[Facts], "bool | str | None"]
