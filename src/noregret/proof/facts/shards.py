"""Facts of a schedule on shards: what each shard proves of its own rows, and what follows when these are put together.

A pass of a perceptron over a shard starts at floats, and its sum Σ_I y·x is enclosed without rounding. What the mixture
as computed differs from the exact one by, e_n, is bounded, and counts in every bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import exact_steps
from noregret.interval import Interval, ends, total
from noregret.learner.core import Core
from noregret.proof import enclose
from noregret.proof.gram import hinges
from noregret.proof.hindsight import Hindsight
from noregret.rational import nearest
from noregret.rounds import Gathering, Rounds
from noregret.shards.mixing import MISTAKES, ONCE, shares
from noregret.shards.play import ShardedRun
from noregret.shards.round import Pace, passed
from noregret.shards.shard import Shard, size_of, widened
from noregret.stream.block import Dense
from noregret.watch.ledger import Ledger

Vector = NDArray[np.float64]
NONE = Interval(0.0, 0.0)


@dataclass(frozen=True)
class Pass:
    """One pass of a perceptron over a shard, in units of its step: where it ends, w + Σ_I y·x, feature by feature."""

    updates: int
    rounds: int
    premise: bool  # every update was made at y⟨w,x⟩ ≤ 0, in exact arithmetic
    plain: bool  # every round weighs 1
    norms2: Interval  # Σ_I ‖x‖²
    low: Vector
    high: Vector


def pass_of(shard: Shard, start: Vector, pace: Pace) -> Pass:
    """The pass again, from where it started, and what it was without rounding."""
    with Gathering(bool(shard.agreed.settings.get("bias"))) as gathering:
        core, _ = passed(shard, start, pace, gathering)
        rounds = widened(gathering.done(), size_of(shard.agreed))
    assert rounds.scores is not None
    moved = core.loss.gradients(rounds.scores, rounds.y) != 0.0
    totals, scores = np.zeros((rounds.width, 3)), np.zeros((len(rounds), 3))
    totals[:, 0] = start
    exact_steps(rounds.native, np.where(moved, rounds.y, 0.0), totals, scores)
    low, high = ends(scores)
    worst = np.where(rounds.y > 0.0, high, -low)[moved]
    least, most = enclose.row_norms2(rounds)
    plain = rounds.weights is None
    sure = plain and bool((worst <= 0.0).all())
    updates = int(np.count_nonzero(moved))
    return Pass(updates, len(rounds), sure, plain, total(least[moved], most[moved]), *ends(totals))


@dataclass(frozen=True)
class Faced:
    """A comparator v on one shard: Σ h(v) over its rows, and the least y⟨v,x⟩ there."""

    hinge: Interval
    margin: float


def faced(shard: Shard, v: Vector) -> Faced:
    """The hinge losses of a comparator over the rows of a shard, each row once."""
    rounds = shard.rounds
    low, high = enclose.margins(rounds, v)
    short, long = hinges(rounds.y, low, high)
    margins = np.where(rounds.y > 0.0, low, -high)
    return Faced(total(short, long), float(margins.min(initial=np.inf)))


def longest(shard: Shard) -> Interval:
    """max‖x‖² over the rows of a shard."""
    low, high = enclose.row_norms2(shard.rounds)
    return Interval(float(low.max(initial=0.0)), float(high.max(initial=0.0)))


def drift(mixture: Vector, passes: Sequence[Pass], counts: Sequence[int]) -> Interval:
    """‖w − Σμ_i·w_i‖ of a mixture w as computed and the exact ends w_i of the passes."""
    rows = np.vstack([mixture, *(one.low for one in passes)])
    alpha = np.array([float(sum(counts)), *(-float(count) for count in counts)])
    low, high = enclose.combined(Rounds(Dense(rows), np.ones(len(rows))), alpha)
    for count, one in zip(counts, passes, strict=True):
        wide = np.where(
            one.high == one.low, 0.0, np.nextafter(float(count) * np.nextafter(one.high - one.low, np.inf), np.inf)
        )
        low = np.where(wide == 0.0, low, np.nextafter(low - wide, -np.inf))
    return (enclose.norm_between(low, high) / float(sum(counts))).positive()


@dataclass(frozen=True)
class Against:
    """A comparator v on all shards: ‖v‖ and Σ h(v) over the rows of each."""

    norm: Interval
    hinges: list[Interval]
    margin: float  # the least y⟨v,x⟩ over all rows
    along: Interval  # ⟨v, w⟩ with the last mixture w

    @classmethod
    def of(cls, v: Vector, weights: Vector, parts: Sequence[Faced]) -> Against:
        low, high = enclose.margins(Rounds(Dense(np.ascontiguousarray(weights)[None, :]), np.ones(1)), v)
        along = Interval(float(low[0]), float(high[0]))
        return cls(enclose.norm(v), [one.hinge for one in parts], min(one.margin for one in parts), along)


@dataclass(frozen=True)
class ShardFacts:
    """A schedule that was played, and what its shards proved."""

    sharded: ShardedRun
    passes: list[list[Pass]] = field(default_factory=list)  # epoch by epoch; none but of perceptrons
    off: Interval = NONE  # Σ‖e_n‖
    longest2: Interval = NONE
    against: dict[str, Against] = field(default_factory=dict)
    hindsight: Hindsight | None = None  # of one pass over all rows
    points: dict[str, Vector] = field(default_factory=dict)

    @property
    def learner(self) -> Core:
        return self.sharded.learner

    @property
    def perceptron(self) -> bool:
        """Whether the theorems on mixed perceptrons speak of it: one-shot averaging has none."""
        return bool(self.passes) and self.sharded.mixing != ONCE

    @cached_property
    def mu(self) -> list[list[Fraction]]:
        """The shares of each epoch."""
        return [shares(epoch.counts) for epoch in self.sharded.epochs]

    def _summed(self, of: Any) -> Fraction:
        return sum(
            (
                share * of(one)
                for mu, passes in zip(self.mu, self.passes, strict=True)
                for share, one in zip(mu, passes, strict=True)
            ),
            start=Fraction(0),
        )

    @cached_property
    def updates(self) -> Interval:
        """K_μ = ΣΣ μ_{i,n}·k_{i,n}."""
        return nearest(self._summed(lambda one: one.updates))

    @cached_property
    def played(self) -> Interval:
        """ΣΣ μ_{i,n} times the rounds of the shard: K_μ if every round were an update."""
        return nearest(self._summed(lambda one: one.rounds))

    @cached_property
    def norms2(self) -> Interval:
        """ΣΣ μ_{i,n}·Σ_I‖x‖²."""
        found = Interval.of(0.0)
        for mu, passes in zip(self.mu, self.passes, strict=True):
            for share, one in zip(mu, passes, strict=True):
                found = found + nearest(share) * one.norms2
        return found

    def hinge(self, one: Against) -> Interval:
        """ΣΣ μ_{i,n}·Σh(v) over all rows of shard i, those of an epoch without an update among them."""
        found = Interval.of(0.0)
        for place, part in enumerate(one.hinges):
            found = found + nearest(sum((mu[place] for mu in self.mu), start=Fraction(0))) * part
        return found

    @property
    def premise(self) -> bool:
        return all(one.premise for passes in self.passes for one in passes)

    @property
    def plain(self) -> bool:
        return all(one.plain for passes in self.passes for one in passes)

    @property
    def erring(self) -> int:
        """Epochs with an update."""
        return sum(any(one.updates for one in passes) for passes in self.passes)

    @property
    def per_epoch(self) -> int:
        """An epoch with an update adds at least one by this number to K_μ."""
        return 1 if self.sharded.mixing == MISTAKES else len(self.sharded.shards)

    @property
    def separators(self) -> dict[str, Against]:
        """The comparators that separate the rows, y⟨v,x⟩ ≥ 1."""
        return {name: one for name, one in self.against.items() if one.margin >= 1.0}

    # -- ledgers ---------------------------------------------------------------------------------------------------

    @property
    def bounded(self) -> bool:
        """Whether the plays are judged in a bounded domain."""
        return self.learner.loss.convex and np.isfinite(self.learner.domain.radius)

    def reach(self, ledger: Ledger) -> Interval:
        """What no model of the learner's domain can have done better by than the plays of a ledger."""
        domain = self.learner.domain
        shapes = {"box": ledger.box, "l1": ledger.cross, "simplex": ledger.simplex}
        return shapes.get(domain.shape, ledger.ball)(domain.radius)

    @property
    def regret(self) -> Interval | None:
        """The loss of all plays less that of the best model, played in as many passes."""
        if self.hindsight is None:
            return None
        own = self.sharded.ledger
        if own.infinite:
            return None
        return own.loss - Interval(self.hindsight.lower, self.hindsight.upper) * float(len(self.sharded.epochs))

    @property
    def own_loss(self) -> float:
        return self.sharded.ledger.loss.hi
