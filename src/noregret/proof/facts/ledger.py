"""Facts of ledgers: as a run has summed them, and as a verifier sums the rounds, in twice the precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noregret.interval import Interval, total
from noregret.loss import Loss
from noregret.proof import enclose
from noregret.proof.facts.gradients import slope_error
from noregret.rounds import Rounds
from noregret.watch.ledger import ANY, LEAST, Ledger, joined

Vector = NDArray[np.float64]
EPS = 2.0**-52
SMALLEST = 2.0**-1022  # normal float


@dataclass(frozen=True)
class LedgerFacts:
    """The ledgers of the parts, and what they are read for."""

    parts: tuple[Ledger, ...]
    loss: Loss
    radius: float
    ceiling: float  # the loss of the plays: a bound from there on says nothing

    @cached_property
    def whole(self) -> Ledger:
        """The ledger of all parts together."""
        measured = [one for one in self.parts if isinstance(one, Measured)]
        return together(measured) if len(measured) == len(self.parts) else joined(self.parts)

    @cached_property
    def of_each(self) -> Interval:
        """Σ(P_p + U‖G_p‖)."""
        return sum((one.ball(self.radius) for one in self.parts), Interval.of(0.0))


def lost_by(parts: Sequence[Ledger]) -> float:
    """The loss of all parts, from above; infinite where a round's is."""
    return math.inf if any(one.infinite for one in parts) else joined(parts).loss.hi


@dataclass(frozen=True, repr=False)
class Measured(Ledger):
    """A ledger whose G is known feature by feature, up to `error` in length, by which the slopes may be off."""

    low: Vector = field(default_factory=lambda: np.zeros(0))
    high: Vector = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def norm(self) -> Interval:
        """‖G‖."""
        return self._within(enclose.norm_between(self.low, self.high), self.error)

    @cached_property
    def total_size(self) -> Interval:
        """‖G‖₁."""
        reach = Interval.of(self.error) * Interval.of(float(len(self.G))).sqrt()
        return self._within(total(*self._sizes), reach.hi)

    @cached_property
    def largest(self) -> Interval:
        """max|G_i|."""
        least, most = self._sizes
        return self._within(Interval(float(least.max(initial=0.0)), float(most.max(initial=0.0))), self.error)

    @property
    def _sizes(self) -> tuple[Vector, Vector]:
        least = np.where((self.low <= 0.0) & (self.high >= 0.0), 0.0, np.minimum(np.abs(self.low), np.abs(self.high)))
        return least, np.maximum(np.abs(self.low), np.abs(self.high))

    def _within(self, found: Interval, error: float) -> Interval:
        return Interval.outward(found.lo - error, found.hi + error).positive() if error else found

    def off(self, G: Vector) -> float:
        """How far another G can lie from this one, from above."""
        low, high = np.nextafter(self.low - G, -np.inf), np.nextafter(self.high - G, np.inf)
        return self._within(enclose.norm_between(low, high), self.error).hi


def measured(rounds: Rounds, loss: Loss) -> Measured:
    """The ledger of rounds that were kept: dot products in twice the precision, sums rounded once."""
    assert rounds.scores is not None
    there = np.isfinite(rounds.scores)
    z, y = np.where(there, rounds.scores, 0.0), rounds.y
    with np.errstate(over="ignore", invalid="ignore"):
        slopes = np.where(there, loss.gradients(z, y), 0.0)
        k = np.ones(len(y)) if rounds.weights is None else rounds.weights
        taken = k * slopes
        paid = taken * z
        infinite = int(np.count_nonzero(~there & ~_free(loss, rounds.scores, y)))
    flawed = (slopes != 0.0) & ((np.abs(taken) < SMALLEST) | (np.abs(slopes) < SMALLEST))
    lengths = np.sqrt(enclose.row_norms2(rounds)[1])
    norms = np.nextafter(np.nextafter(np.abs(taken) * lengths, np.inf), np.inf)
    N = total(np.zeros(len(y)), np.where(taken == 0.0, 0.0, norms)).hi
    low, high = enclose.combined(rounds, slopes)
    share = slope_error(loss)
    slack = np.where(paid == 0.0, 0.0, (share + 4.0 * EPS) * np.abs(paid) + 2.0 * LEAST)
    sizes = total(np.abs(paid), np.nextafter(np.nextafter(np.abs(paid), np.inf), np.inf)).hi
    weights = None if rounds.weights is None else rounds.weights[there]
    with np.errstate(over="ignore", invalid="ignore"):
        lost = enclose.loss_total(loss, z[there], y[there], weights)
    sound = not flawed.any()
    return Measured(
        len(y),
        lost,
        total(paid - slack, paid + slack) if sound else ANY,
        0.5 * low + 0.5 * high,
        share * 1.001 * N if sound else math.inf,
        N,
        rounds.bias,
        infinite,
        sizes,
        bool(sound),
        low,
        high,
    )


def _free(loss: Loss, z: Vector, y: Vector) -> NDArray[np.bool_]:
    """Where an infinite score costs nothing."""
    found: NDArray[np.bool_] = (loss.values(z, y) == 0.0) & (loss.gradients(z, y) == 0.0)
    return found


def together(parts: Sequence[Measured]) -> Measured:
    """The ledger of several parts, its sums taken without rounding but at the end."""
    width = max(len(one.G) for one in parts)
    low, high = (_summed([getattr(one, end) for one in parts], width) for end in ("low", "high"))
    ends = np.nextafter(low[0] - low[1], -np.inf), np.nextafter(high[0] + high[1], np.inf)
    return Measured(
        sum(one.rounds for one in parts),
        total(*(np.array([getattr(one.loss, end) for one in parts]) for end in ("lo", "hi"))),
        total(*(np.array([getattr(one.paid, end) for one in parts]) for end in ("lo", "hi"))),
        0.5 * ends[0] + 0.5 * ends[1],
        math.fsum(one.error for one in parts),
        math.fsum(one.norms for one in parts),
        parts[0].bias,
        sum(one.infinite for one in parts),
        math.fsum(one.sizes for one in parts),
        all(one.sound for one in parts),
        *ends,
    )


def _summed(vectors: Sequence[Vector], width: int) -> tuple[Vector, Vector]:
    """Σ of vectors, and how far the float sum may lie from it: what each addition lost is summed beside."""
    found, rest, size = np.zeros(width), np.zeros(width), np.zeros(width)
    for one in vectors:
        more = np.concatenate([one, np.zeros(width - len(one))])
        new = found + more
        part = new - found
        rest += (found - (new - part)) + (more - part)
        size += np.abs(more)
        found = new
    value = found + rest
    return value, np.where(size == np.abs(value), 0.0, EPS * np.abs(value) + len(vectors) ** 2 * 2.0**-100 * size)
