"""The best primal and the best dual point so far, whether they are near enough, and what is handed back in the end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from noregret.rounds import Vector

PATIENCE = 80  # iterations without a tenth of the gap gained
Watch = Callable[[float, float], None]


@dataclass
class Progress:
    """upper − lower ≤ gap·max(upper, floor) is the goal, `deadline` (of `time.perf_counter`) the limit."""

    gap: float
    floor: float = 1.0
    deadline: float = math.inf
    watch: Watch | None = None
    u: Vector = field(default_factory=lambda: np.zeros(0))
    upper: float = math.inf
    alpha: Vector = field(default_factory=lambda: np.zeros(0))
    lower: float = -math.inf
    iterations: int = 0
    gained: tuple[int, float] = (0, math.inf)  # when the gap last fell by a tenth, and to what

    def offer(self, u: Vector, upper: float, alpha: Vector, lower: float) -> None:
        """Keep what is better; a point that is not a number never is."""
        self.iterations += 1
        if upper < self.upper:
            self.u, self.upper = u.copy(), upper
        if lower > self.lower:
            self.alpha, self.lower = alpha.copy(), lower
        if self.upper - self.lower < 0.9 * self.gained[1]:
            self.gained = self.iterations, self.upper - self.lower
        if self.watch is not None:
            self.watch(self.lower, self.upper)

    @property
    def reached(self) -> bool:
        return self.upper - self.lower <= self.gap * max(self.upper, self.floor)

    @property
    def content(self) -> bool:
        """Nothing is left to do, or no time to do it."""
        return self.reached or self.stuck or time.perf_counter() > self.deadline

    @property
    def stuck(self) -> bool:
        """Rounding has the last word: with U‖x‖ ≥ 10¹² no α in floating point makes U‖Σ kαx‖ small."""
        return self.iterations - self.gained[0] > PATIENCE


@dataclass(frozen=True)
class Penalised:
    """Φ(ρ) = min_v Σ hinge(v) + ρ‖v‖ = max{Σβ: 0 ≤ β ≤ 1, ‖Σβyx‖ ≤ ρ}: lower = Σβ ≤ Φ(ρ) ≤ upper, the sum at v."""

    v: Vector = field(repr=False)
    beta: Vector = field(repr=False)
    lower: float
    upper: float
    method: str
    iterations: int
    seconds: float
    finished: bool

    @property
    def gap(self) -> float:
        return (self.upper - self.lower) / max(self.upper, 1.0)


@dataclass(frozen=True)
class Root:
    """A bound on the mistakes in any order, `upper`, reached by v; β proves that no v gives less than `lower`."""

    v: Vector = field(repr=False)
    beta: Vector = field(repr=False)
    lower: float
    upper: float
    finished: bool

    @property
    def gap(self) -> float:
        return (self.upper - self.lower) / max(self.upper, 1.0)


@dataclass(frozen=True)
class Separator:
    """y⟨u, x⟩ ≥ 1 on every round, with ‖u‖ ≤ `upper`; the convex weights λ prove that no such u is below `lower`."""

    u: Vector = field(repr=False)
    weights: Vector = field(repr=False)
    lower: float
    upper: float
    finished: bool
