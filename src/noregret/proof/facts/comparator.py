"""A comparator of the perceptron: any vector v, and what the mistake bounds need to know of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from noregret import loss
from noregret.interval import Interval
from noregret.proof import enclose
from noregret.rounds import Rounds

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Start:
    """Where the learner began: w₁ in the features of its rounds, the bias included, and the step η of a perceptron."""

    w: Vector
    eta: float = 1.0

    @property
    def zero(self) -> bool:
        return not self.w.any()

    @property
    def norm(self) -> Interval:
        """‖w₁‖/η."""
        return enclose.norm(self.w) / self.eta if not self.zero else Interval.of(0.0)

    def along(self, v: Vector) -> Interval:
        """⟨v, w₁⟩/η."""
        if self.zero:
            return Interval.of(0.0)
        shared = min(len(v), len(self.w))
        lo, hi = enclose.margins(Rounds.of(self.w[None, :shared], [1.0]), v[:shared])
        return Interval(float(lo[0]), float(hi[0])) / self.eta


@dataclass(frozen=True)
class Comparator:
    """v with ‖v‖, Σh(v) and Σh(v)² over **all** rounds, h = max(0, 1 − y⟨v,x⟩), and ⟨v, w₁⟩/η."""

    v: Vector
    norm: Interval
    hinge: Interval
    hinge2: Interval
    along_start: Interval

    @classmethod
    def at(cls, rounds: Rounds, v: Vector, start: Start) -> Comparator:
        """The comparator v, evaluated with every rounding accounted for."""
        plain = replace(rounds, weights=None)
        v = np.ascontiguousarray(v, dtype=np.float64)
        hinge = enclose.risk(plain, loss.hinge(), v).positive()
        hinge2 = enclose.risk(plain, loss.squared_hinge(), v).positive()
        return cls(v, enclose.norm(v), hinge, hinge2, start.along(v))
