"""Iterative parameter mixing: every shard makes a pass from the mixed weights, then its weights are mixed again."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import WINDOW
from noregret.errors import SettingError
from noregret.learner.core import Core
from noregret.run import Run
from noregret.shards.engine import Engine
from noregret.shards.mixing import MISTAKES, ONCE, check_rule, counts_of, mixed
from noregret.shards.part import Agreement, Part, agreed
from noregret.shards.round import LARGEST, NEVER, SUMS, Pace, Played, merged, play_round
from noregret.shards.shard import Shard, begun, mixable, place, size_of
from noregret.stream.features import Features
from noregret.watch.ledger import Ledger, joined

Vector = NDArray[np.float64]
Watch = Callable[[int, list[dict[str, Any]]], None]  # an epoch that is over, and the figures of each shard
After = Callable[[list[tuple[Vector, Pace]], list[int], Vector], None]


@dataclass(frozen=True)
class Epoch:
    """One pass of every shard: the c by which they were mixed, their figures, the digest of the mixture."""

    counts: list[int]
    figures: list[dict[str, Any]]
    weights: str


@dataclass(frozen=True, repr=False)
class ShardedRun:
    """What a schedule on shards came to. `ledgers` are those of each shard's own plays, over all epochs."""

    learner: Core
    mixing: str
    asked: int  # passes
    parts: str  # whether shards are files or parts of the rows
    shards: list[dict[str, Any]]  # the name, the rows and the digest of each
    epochs: list[Epoch]
    ledgers: list[Ledger]
    weights: Vector = field(repr=False)
    seconds: float = 0.0
    agreed: Agreement | None = field(default=None, repr=False)
    receipt: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        rounds = sum(one["rounds"] for epoch in self.epochs for one in epoch.figures)
        shards, epochs = len(self.shards), len(self.epochs)
        return f"<ShardedRun of {self.learner.name}: {shards} shards, {epochs} epochs, {rounds} rounds>"

    @property
    def figures(self) -> dict[str, Any]:
        """The figures of all passes together."""
        return merged([one for epoch in self.epochs for one in epoch.figures])

    @property
    def ledger(self) -> Ledger:
        """That of all plays: what it bounds is the regret against one model for all shards."""
        return joined(self.ledgers)

    @property
    def repeated(self) -> list[tuple[int, int]]:
        """Pairs of shards, counted from 1, that hold the same rows."""
        found: dict[str, int] = {}
        pairs = []
        for number, shard in enumerate(self.shards, 1):
            first = found.setdefault(shard["digest"], number)
            if first != number:
                pairs.append((first, number))
        return pairs

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers: what `--json` prints."""
        own, passes = self.run.to_dict(), len(self.epochs)
        rows = [{"source": one["source"], "rows": one["rows"], "digest": one["digest"]} for one in self.shards]
        told = [{"counts": one.counts, "shards": one.figures, "weights": one.weights} for one in self.epochs]
        own |= {"passes": passes, "mixing": self.mixing, "parts": self.parts, "shards": rows, "epochs": told}
        return {key: value for key, value in own.items() if key not in ("this_run", "stopped", "digest")}

    @property
    def run(self) -> Run:
        """The figures as those of one run; what depends on the order of all rounds, such as curves, is not kept."""
        return Run.of(self.learner, seconds=self.seconds)


def play_on(
    engine: Engine,
    core: Core,
    parts: tuple[Sequence[Part], str],
    known: Features,
    *,
    passes: int = 1,
    mixing: str = "uniform",
    watch: Watch | None = None,
    after: After | None = None,
) -> ShardedRun:
    """Play a schedule on an engine: the same weights, ledgers and figures whatever the engine is.

    `after` is called after each epoch with where every shard began, the c of the mixture and the mixture.
    """
    began = time.perf_counter()
    _check(core, passes, mixing)
    agreement = hold(engine, core, parts[0], known)
    told = engine.each(described_shard)
    schedule = _Schedule(engine, agreement, mixing, len(told))
    for number in range(1, passes + 1):
        starts = schedule.starts()
        played = schedule.epoch()
        if after is not None:
            after(starts, schedule.done[-1].counts, schedule.weights)
        if watch is not None:
            watch(number, schedule.done[-1].figures)
        if core.perceptron_rounds and not any(one.figures["updates"] for one in played):
            break  # nobody erred: nothing would change any more
    finished = _finished(core, agreement, schedule)
    seconds = time.perf_counter() - began
    return ShardedRun(
        finished, mixing, passes, parts[1], told, schedule.done, schedule.ledgers, schedule.weights, seconds, agreement
    )


def hold(engine: Engine, core: Core, parts: Sequence[Part], known: Features) -> Agreement:
    """Give the shards to an engine, and let them agree on labels and features."""
    engine.hold(parts, known, core.labels is not None)
    labels: Any = core.labels
    agreement = agreed(core.name, core.settings, known, labels, engine.survey())
    engine.agree(agreement)
    return agreement


def _check(core: Core, passes: int, mixing: str) -> None:
    mixable(core)
    check_rule(mixing)
    if passes < 1:
        raise SettingError(f"passes must be at least 1, got {passes}")
    if core.rounds:
        raise SettingError("shards: a learner that has learned already cannot go on on shards: give a new one")
    if mixing == MISTAKES and core.regression:
        raise SettingError(f"mixing by mistakes is for classes; the loss {core.loss.name} is for numbers")


class _Schedule:
    """Epoch after epoch: where shards begin, and what they came to."""

    def __init__(self, engine: Engine, agreement: Agreement, mixing: str, shards: int) -> None:
        self._engine, self._mixing = engine, mixing
        self.weights = np.zeros(size_of(agreement))
        self._own = [self.weights] * shards
        self._paces = [Pace()] * shards
        self.ledgers: list[Ledger] = []
        self.recent = np.zeros(0)  # of the rounds in the order of epochs and shards, as the window keeps them
        self.done: list[Epoch] = []

    def starts(self) -> list[tuple[Vector, Pace]]:
        """Where each shard begins its next pass: at the mixture, or, for one-shot averaging, where it stopped."""
        own = self._own if self._mixing == ONCE else [self.weights] * len(self._paces)
        return list(zip(own, self._paces, strict=True))

    def epoch(self) -> list[Played]:
        if self._mixing == ONCE:
            played = self._engine.each(play_round, own=self.starts())
        else:
            played = self._engine.each(play_round, self.weights, own=[(pace,) for pace in self._paces])
        counts = counts_of(self._mixing, [int(one.figures["mistakes"]) for one in played])
        self._own, self._paces = [one.weights for one in played], [one.pace for one in played]
        self.weights = mixed(self._own, counts)
        before = self.ledgers
        self.ledgers = (
            [one.ledger for one in played]
            if not before
            else [total + one.ledger for total, one in zip(before, played, strict=True)]
        )
        self.recent = np.concatenate([self.recent, *(one.recent for one in played)])[-WINDOW:]
        self.done.append(Epoch(counts, [one.figures for one in played], digest_of(self.weights)))
        return played


def digest_of(weights: Vector) -> str:
    """SHA-256 over the bits of the weights."""
    return hashlib.sha256(np.ascontiguousarray(weights, dtype="<f8").tobytes()).hexdigest()


def described_shard(shard: Shard) -> dict[str, Any]:
    return {"source": shard.name, "rows": shard.rows, "digest": shard.digest}


def _finished(core: Core, agreement: Agreement, schedule: _Schedule) -> Core:
    """The learner with the mixed weights and the figures of all passes."""
    found: Any = begun(agreement)
    place(found, schedule.weights)
    figures = merged([one for epoch in schedule.done for one in epoch.figures])
    for name in (*SUMS, *LARGEST):
        found.state[name] = figures[name]
    if found.config["gather"][0]:  # the sum of the gradients, which the bound of the plays is made from
        G = joined(schedule.ledgers).G
        bias = int(found.config["bias"][0])
        found.total[: agreement.width] = G[bias:]
        found.state["bias_gradient"] = G[0] if bias else 0.0
    found.state["confusion"][0] = np.reshape(figures["confusion"], (2, 2))
    found.state["window"][0, : len(schedule.recent)] = schedule.recent
    found.state["trace_next"] = found.state["curve_next"] = NEVER
    found.state["window_at"] = len(schedule.recent) % WINDOW
    found.options = core.options
    segment = {"rows": figures["rounds"], "skipped": 0, "digest": None, "begin": 0, "end": figures["rounds"]}
    how = {"passes": len(schedule.done), "ended": True, "shuffle": None, "class_weight": None}
    found.segments = [{**segment, **how, "shards": len(schedule.done[0].counts)}]
    learned: Core = found
    return learned
