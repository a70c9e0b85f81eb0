"""What is handed back: a point, its proof, and the two ends of the interval in which the optimum lies."""

from __future__ import annotations

from dataclasses import dataclass, field

from noregret.rounds import Vector


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
