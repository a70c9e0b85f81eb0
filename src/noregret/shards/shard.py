"""One shard in the process that works on it: its rows, decoded once, and the learner that plays them."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import ADAPTIVE, CONSTANT, SQRT, norm1, norm2
from noregret.digest import Digest
from noregret.errors import SettingError
from noregret.learner import LEARNERS
from noregret.learner.core import Core
from noregret.protocol import encoded
from noregret.rounds import Gathering, Rounds, as_sparse
from noregret.shards.part import Agreement, Held, Part, Survey, surveyed
from noregret.stream.block import Block, Rows, Sparse
from noregret.stream.features import Features

Vector = NDArray[np.float64]
Decoded = tuple[Rows, Vector, Vector | None]
PACES = (CONSTANT, SQRT, ADAPTIVE)  # rates that go on from the rounds and the gradients so far
SMALL = 64  # features up to which they are few, as native/state.hpp says


def mixable(core: Core) -> None:
    """Refuse a learner whose weights shards cannot mix, in one sentence."""
    if core.settings.get("l1") or core.settings.get("start") is not None:
        raise SettingError("shards: l1 and start must be left out: shards mix plain weights from 0")
    if not core.averages:
        raise SettingError(
            f"shards: only perceptron and ogd can be learned on shards, for their weights can be mixed; got {core.name}"
        )
    if core.loss.custom:
        raise SettingError("shards: a loss of your own cannot be learned on shards: use one that has a name")
    made = core.preparation
    if made.scale or made.remade or core.needs_past:
        raise SettingError("shards: rows are played as they come or at length 1: leave out scale, expand and lags")
    if core.sure is not None:
        raise SettingError(
            "shards: what is said beside the scores is of rounds in one order: leave out cover and calibrate"
        )
    if core.rate.code not in PACES:
        raise SettingError(f"shards: the rate must be auto, constant, sqrt or horizon, got {core.settings['rate']}")


def begun(agreed: Agreement) -> Core:
    """The learner before its first round, with room for the features of all."""
    core = LEARNERS[agreed.name](**agreed.settings)
    core.features, core.labels = agreed.features, deepcopy(agreed.labels)
    core.grow(agreed.width, sparse=agreed.sparse)
    return core


def size_of(agreed: Agreement) -> int:
    """How many weights there are, the bias among them."""
    return agreed.width + bool(agreed.settings.get("bias"))


def place(core: Any, weights: Vector) -> None:
    """Let a learner that has not begun go on from these weights, the bias before them; in units of its scale."""
    bias = int(core.config["bias"][0])
    w = weights[bias:]
    core.z[: len(w)] = w
    own = float(weights[0]) if bias else 0.0
    core.state["bias"] = own
    core.state["norm2"], core.state["norm1"] = norm2(w) + own * own, norm1(w) + abs(own)
    core.state["large"] = len(w) > SMALL


def weights_of(core: Any, unit: float) -> Vector:
    """The weights in units of the scale that the learner began with, the bias before them."""
    scale = float(core.state["scale"][0])
    z, own = core.z[: core.width], core.state["bias"][:1] if core.config["bias"][0] else np.zeros(0)
    found = np.concatenate([own, z])
    return found if scale == unit else found * (scale / unit if unit != 1.0 else scale)


@dataclass
class Shard:
    """The rows of one shard as all shards agreed to read them."""

    name: str
    agreed: Agreement
    blocks: list[Decoded]
    digest: str
    rows: int
    _compact: tuple[NDArray[np.int64], Rounds] | None = None

    @classmethod
    def of(cls, part: Part, agreed: Agreement, blocks: list[Block]) -> Shard:
        core = begun(agreed)
        taken = Digest()
        found: list[Decoded] = []
        for block, y in encoded(core, Held(part.name, blocks, agreed.features)):
            found.append((block.rows, y, block.weights))
            taken.update(block.rows, y, block.weights)
        return cls(part.name, agreed, found, taken.hexdigest(), taken.rows)

    @cached_property
    def rounds(self) -> Rounds:
        """The rows as rounds to look back on, with the features of all shards."""
        core = begun(self.agreed)
        with Gathering(bool(core.config["bias"][0])) as gathering:
            for rows, y, weights in self.blocks:
                made = core.preparation.apply(rows, learn=False, features=core.features) if not core.plain else rows
                gathering.add(made, y, weights, np.zeros(len(y)))
            return widened(gathering.done(), size_of(self.agreed))

    def compact(self, places: NDArray[np.int64]) -> Rounds:
        """The same with these features alone, numbered in their order; every feature of a row is among them."""
        known = self._compact
        if known is None or not np.array_equal(known[0], places):
            rounds = self.rounds
            if len(places) < rounds.width:
                rows = as_sparse(rounds.rows)
                indices = np.searchsorted(places, rows.indices).astype(np.uint32)
                rounds = replace(rounds, rows=Sparse(rows.indptr, indices, rows.values, len(places)))
            known = self._compact = places, rounds
        return known[1]


def touched(shard: Shard) -> NDArray[np.int64]:
    """The features that are not 0 in some row, in order."""
    rows = shard.rounds.rows
    if isinstance(rows, Sparse):
        low, high = int(rows.indptr[0]), int(rows.indptr[-1])
        return np.unique(rows.indices[low:high]).astype(np.int64)
    return np.flatnonzero(rows.X.any(axis=0)).astype(np.int64)


def widened(rounds: Rounds, width: int) -> Rounds:
    """The rounds with the features of all shards; rows of one layout stay as they are."""
    if rounds.width == width:
        return rounds
    return replace(rounds, rows=replace(as_sparse(rounds.rows), columns=width))


def renumbered(block: Block, own: Features, agreed: Features) -> Block:
    """A block with the features by the names that all agreed on; what was known before keeps its number."""
    moved = [own.index[name] for name in own.names if own.index[name] != agreed.index[name]]
    if not moved:
        return block
    places = np.arange(own.width, dtype=np.uint32)
    places[moved] = [agreed.index[own.name_of(index)] for index in moved]
    rows = as_sparse(block.rows)
    made = Sparse(rows.indptr, places[rows.indices], rows.values, None, rows.finite)
    return replace(block, rows=made, sides=None)


class Holder:
    """A shard and what it takes to make it again: whatever is asked can be asked twice."""

    def __init__(self, part: Part, known: Features, labelled: bool) -> None:
        self._part, self._known, self._labelled = part, known, labelled
        self._blocks: list[Block] | None = None
        self._survey: Survey | None = None
        self._shard: Shard | None = None

    def survey(self) -> Survey:
        if self._survey is None:
            self._survey, self._blocks = surveyed(self._part, self._known, self._labelled)
        return self._survey

    def shard(self, agreed: Agreement) -> Shard:
        """The shard, with the numbers of its features that all agreed on."""
        if self._shard is None:
            seen, (blocks, self._blocks) = self.survey(), (self._blocks, None)
            assert blocks is not None
            same = [renumbered(one, seen.features, agreed.features) for one in blocks]
            self._shard = Shard.of(self._part, agreed, same)
        return self._shard
