"""The ledger of rounds that somebody played: from six sums, what no comparator of a domain can have done better.

ℓ_t(z_t) − ℓ_t(⟨u,x_t⟩) ≤ s_t·z_t − ⟨u, s_t·x_t⟩ for the slope s_t at z_t, whoever chose z_t and whenever. Summed over a
part of a stream, with weights k: R(u) ≤ P − ⟨u,G⟩, P = Σk·s·z and G = Σk·s·x. One ledger answers every radius, every
domain and every set of features; ledgers of parts that share no row add up.

>>> import numpy as np
>>> from noregret.loss import parse
>>> from noregret.stream.block import Dense
>>> tally = Tally(parse("absolute"))
>>> tally.add(Dense(np.ones((1, 1))), np.array([5.0]), None, np.array([0.0]))
>>> round(tally.ledger().ball(1.0).hi, 12)
1.0
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import LEDGER_NUMBERS, enter_rows, enter_scores
from noregret.domain import support
from noregret.interval import Interval, down, up
from noregret.loss import Loss
from noregret.stream.block import Rows

Vector = NDArray[np.float64]
NO_WEIGHTS: Vector = np.zeros(0)
HALF = 2.0**-53  # what one rounding may change, as a share
SLOPES = 32.0 * HALF  # and a slope that is not a whole number
TINY = 1e-300
LEAST = 2.0**-1074
SUMS = ("loss", "sizes_of_loss", "paid", "sizes", "slopes", "norms", "bias", "infinite", "flawed")  # native/ledger.hpp
ANY = Interval(-math.inf, math.inf)


def gamma(roundings: int) -> float:
    """γ_m = m·2⁻⁵³/(1 − m·2⁻⁵³), rounded up: what m roundings may change, as a share.

    >>> gamma(1) > 2.0**-53
    True
    """
    part = roundings * HALF
    return up(part / (1.0 - part)) if part < 0.5 else math.inf


@dataclass(frozen=True, repr=False)
class Ledger:
    """What a part of a stream came to. With a bias G begins with the constant 1."""

    rounds: int
    loss: Interval  # L, of the rounds whose loss is finite
    paid: Interval  # P
    G: Vector
    error: float  # ‖Ĝ − G‖ is at most this
    norms: float  # N = Σ|k·s|·‖x‖, rounded up
    bias: bool = False
    infinite: int = 0  # rounds whose loss is infinite
    sizes: float = 0.0  # Q = Σ|k·s·z|, rounded up
    sound: bool = True  # whether no slope lost digits below the smallest normal float

    def __repr__(self) -> str:
        return f"<Ledger: {self.rounds} rounds, loss {self.loss.hi:.6g}, ‖G‖ {self.norm.hi:.6g}>"

    def __add__(self, other: Ledger) -> Ledger:
        """The ledger of both parts together: all of it is sums."""
        if self.bias != other.bias:
            raise ValueError("one ledger has a bias, the other has none")
        mine, theirs = (_wide(one.G, max(len(self.G), len(other.G))) for one in (self, other))
        found = mine + theirs
        lost = HALF * arithmetic.norm(found) * (1.0 + gamma(len(found) + 8))
        error = up(up(self.error + other.error) + up(lost))
        return Ledger(
            self.rounds + other.rounds,
            self.loss + other.loss,
            self.paid + other.paid,
            found,
            error,
            up(self.norms + other.norms),
            self.bias,
            self.infinite + other.infinite,
            up(self.sizes + other.sizes),
            self.sound and other.sound,
        )

    # -- what no comparator can have done better by ----------------------------------------------------------------

    @cached_property
    def norm(self) -> Interval:
        """‖G‖."""
        return self._length(self.G)

    @cached_property
    def total_size(self) -> Interval:
        """‖G‖₁."""
        size = arithmetic.total(np.abs(self.G))
        off = size * gamma(len(self.G) + 1) + self.error * math.sqrt(len(self.G)) * (1.0 + 8.0 * HALF)
        return Interval.around(size, up(off)).positive()

    @cached_property
    def largest(self) -> Interval:
        """max|G_i|."""
        return Interval.around(float(np.abs(self.G).max(initial=0.0)), self.error).positive()

    def ball(self, radius: float) -> Interval:
        """sup of the regret bound over ‖u‖ ≤ U: P + U‖G‖."""
        return self._closed(self.norm * radius)

    def box(self, radius: float) -> Interval:
        """Over |u_i| ≤ U: P + U‖G‖₁."""
        return self._closed(self.total_size * radius)

    def cross(self, radius: float) -> Interval:
        """Over ‖u‖₁ ≤ U: P + U·max|G_i|."""
        return self._closed(self.largest * radius)

    def simplex(self, radius: float = 1.0) -> Interval:
        """Over u ≥ 0, Σu_i = U: P − U·min G_i."""
        if not len(self.G):
            return self._closed(Interval.of(0.0))
        return self._closed(Interval.around(-float(self.G.min()), self.error) * radius)

    def around(self, centre: Vector, radius: float) -> Interval:
        """Over ‖u − c‖ ≤ U: P − ⟨c,G⟩ + U‖G‖."""
        c, G = _wide(centre, max(len(centre), len(self.G))), _wide(self.G, max(len(centre), len(self.G)))
        dot = arithmetic.inner(c, G)
        off = gamma(len(G) + 2) * arithmetic.inner(np.abs(c), np.abs(G)) * (1.0 + gamma(len(G) + 4))
        off += arithmetic.norm(c) * (1.0 + gamma(len(G) + 8)) * self.error
        return self._closed(self.norm * radius - Interval.around(dot, up(off) + len(G) * LEAST))

    def among(self, features: Sequence[int], radius: float) -> Interval:
        """Over ‖u‖ ≤ U with other features than these at 0: P + U‖G_S‖."""
        return self._closed(self._length(self.G[list(features)]) * radius)

    def priced(self, ridge: float, radius: float = math.inf) -> Interval:
        """Over ‖u‖ ≤ U where the comparator pays (λ/2)‖u‖²: P + ‖G‖²/2λ inside, P + U‖G‖ − λU²/2 beyond."""
        return self._closed(support(self.norm, radius, ridge))

    @property
    def correction(self) -> Interval:
        """|P|: c₀ times this is the most that scaling all scores by up to 1 ± c₀ can have gained."""
        size = max(abs(self.paid.lo), abs(self.paid.hi))
        return Interval(0.0 if self.paid.holds(0.0) else min(abs(self.paid.lo), abs(self.paid.hi)), size)

    def corrected(self, radius: float, share: float = 0.0) -> Interval:
        """What the predictors (1 + c)z + ⟨u,x⟩, |c| ≤ c₀ and ‖u‖ ≤ U, can have gained on the run: c₀|P| + U‖G‖."""
        found = self.correction * share + self.norm * radius
        return Interval(found.lo, math.inf) if self.infinite else found

    def best_at_least(self, radius: float) -> float:
        """No u with ‖u‖ ≤ U lost less than L − P − U‖G‖: on the rounds whose loss is finite, and so on all."""
        return (self.loss - (self.paid + self.norm * radius)).lo

    @property
    def beaten(self) -> float | None:
        """The run lost less than every u with ‖u‖ below this, −P/‖G‖ rounded down; None where P is not below 0."""
        if self.infinite or not self.paid.hi < 0.0:
            return None
        return math.inf if self.norm.hi == 0.0 else max(down(-self.paid.hi / self.norm.hi), 0.0)

    def ignored(self, most: int = 5) -> list[tuple[int, float]]:
        """The places and values of the largest |G_i|: what a linear correction of the scores would use first."""
        order = np.argsort(-np.abs(self.G), kind="stable")[:most]
        return [(int(place), float(self.G[place])) for place in order if self.G[place]]

    def _length(self, part: Vector) -> Interval:
        size = arithmetic.norm(part)
        off = size * gamma(len(part) + 8) + self.error
        return Interval.around(size, off).positive()

    def _closed(self, reach: Interval) -> Interval:
        """P + what the domain can take; without an upper end where a loss was infinite."""
        found = self.paid + reach
        return Interval(found.lo, math.inf) if self.infinite else found


def _wide(vector: Vector, width: int) -> Vector:
    return vector if len(vector) == width else np.concatenate([vector, np.zeros(width - len(vector))])


def joined(parts: Sequence[Ledger]) -> Ledger:
    """The ledger of several parts, added in their order."""
    found = parts[0]
    for part in parts[1:]:
        found = found + part
    return found


@dataclass
class Tally:
    """Rounds in, as they are played; at any time their ledger out. Memory is one number for each feature."""

    loss: Loss
    bias: bool = False
    rounds: int = 0
    sums: Vector = field(default_factory=lambda: np.zeros(LEDGER_NUMBERS))
    G: Vector = field(default_factory=lambda: np.zeros(0))
    slack: float = 0.0  # how far the values of the loss may be off, where the loss says so itself
    weight: float = 0.0  # Σk of the rounds

    def add(self, rows: Rows, y: Vector, weights: Vector | None, scores: Vector, moves: Any = None) -> None:
        """One block; rows of weight 0 are no rounds."""
        taken = self.enter(y, weights, scores)
        self.widen(rows.width)
        enter_rows(rows.native, taken, self.bias, self.sums, self.G)

    def enter(self, y: Vector, weights: Vector | None, scores: Vector) -> Vector:
        """The scores of a block and their labels; k·s of every round."""
        taken = np.empty(len(y))
        enter_scores(self.loss.native, scores, y, NO_WEIGHTS if weights is None else weights, self.sums, taken)
        there = ~np.isnan(scores) if weights is None else (weights != 0.0) & ~np.isnan(scores)
        self.rounds += int(np.count_nonzero(there))
        taken_in = np.ones(int(np.count_nonzero(there))) if weights is None else weights[there]
        self.weight = _summed(self.weight, taken_in)
        if self.loss.slack_of is not None:
            some = there & np.isfinite(scores)
            z, labels = scores[some], y[some]
            off = self.loss.slack(self.loss.values(z, labels), z, labels)
            off = off if weights is None else weights[some] * off
            self.slack = _summed(self.slack, off)
        return taken

    def widen(self, width: int) -> None:
        """Room for features below `width`."""
        if width > len(self.G):
            self.G = _wide(self.G, width)

    def ledger(self) -> Ledger:
        """The ledger of all rounds so far, every rounding accounted for."""
        sums, n = dict(zip(SUMS, self.sums.tolist(), strict=True)), self.rounds
        G = np.concatenate([[sums["bias"]], self.G]) if self.bias else self.G.copy()
        more = 1.0 + gamma(2 * n + len(G) + 64)
        share = gamma(n + 24) + (0.0 if self.loss.whole_slopes else SLOPES)
        lost = 4 * n * LEAST  # what products below the smallest float dropped
        faint = sums["slopes"] * math.sqrt(len(G) + 1.0) * 2.0**-536  # rows whose squares were too small to add up
        norms = up((sums["norms"] + faint) * more)
        error = up(share * norms * (1.0 + 8.0 * HALF) + lost * math.sqrt(len(G) + 1.0))
        small = up(self.weight * more * TINY)  # what values and slopes below the smallest floats dropped
        off = up(share * sums["sizes"] * more + lost + small)
        own = 16.0 * 2.0 * HALF * sums["sizes_of_loss"] * more
        if self.loss.slack_of is not None:
            own = up(self.slack * more)
        loss_off = up(gamma(n + 24) * sums["sizes_of_loss"] * more + own + small + lost)
        loss, paid = Interval.around(sums["loss"], loss_off), Interval.around(sums["paid"], off)
        if sums["flawed"]:  # digits of a slope were lost: nothing is known
            paid, error = ANY, math.inf
        sizes = _bounded(up(sums["sizes"] * more + lost))
        return Ledger(
            n,
            _sound(loss),
            _sound(paid),
            G,
            _bounded(error),
            _bounded(norms),
            self.bias,
            int(sums["infinite"]),
            sizes,
            not sums["flawed"],
        )


def _summed(start: float, more: Vector) -> float:
    """One after another, however blocks are cut."""
    return float(np.add.accumulate(np.concatenate([[start], more]))[-1])


def _sound(found: Interval) -> Interval:
    """An interval whose ends overflowed is no interval."""
    return ANY if math.isnan(found.lo) or math.isnan(found.hi) else found


def _bounded(size: float) -> float:
    return math.inf if math.isnan(size) else size
