"""Learning on shards: `play_shards`, from Python and for the command line."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Any

from noregret.cluster.choosing import engine_of, shards_of
from noregret.learner.core import Core
from noregret.proof.certify import GAP
from noregret.proof.certify_shards import shard_receipt
from noregret.proof.replay import reading
from noregret.proof.shards import Proving
from noregret.protocol import as_before, core_of
from noregret.shards.part import parts_of, refuse_gaps
from noregret.shards.play import ShardedRun, Watch, play_on
from noregret.shards.shard import mixable
from noregret.stream import read
from noregret.stream.files import files_of


def play_shards(
    learner: Any,
    stream: Any,
    *,
    passes: int = 1,
    mixing: str = "uniform",
    shards: int | None = None,
    cluster: str | None = None,
    certify: bool = False,
    gap: float = GAP,
    seconds: float = math.inf,
    watch: Watch | None = None,
) -> ShardedRun:
    """Learn from parts of a stream by iterative parameter mixing: pass, mix the weights, pass again.

    The shards are the files of a folder or pattern; with `shards` they are as many contiguous parts of the rows. In
    every one of the `passes` each shard starts at the mixed weights, w ← Σ μ_i·w_i: `mixing` is `uniform` (μ_i = 1/S),
    `mistakes` (μ_i in proportion to the shard's mistakes of this pass) or `once`, which mixes only at the end and has
    no guarantee. `cluster` is `local:N` (N processes of Ray on this machine), `HOST:PORT` of a Ray cluster, or
    `serial:N`, this process alone, which gives the same bits. Only the perceptron and gradient descent can be mixed.
    With `certify` the `receipt` of the run has its theorems, and for gradient descent the best model of all rows.

    >>> import noregret as nr
    >>> rows = ([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [1.0, 2.0]], [1, -1, 1, -1])
    >>> run = play_shards(nr.Perceptron(), rows, passes=3, shards=2)
    >>> [sum(part["mistakes"] for part in epoch.figures) for epoch in run.epochs]
    [4, 0]
    """
    core = core_of(learner)
    mixable(core)
    paths = files_of(os.fspath(stream)) if isinstance(stream, str | os.PathLike) else None
    count = shards_of(cluster, shards, paths is not None)
    source = read(stream, features=core.features, **as_before(core, stream))
    refuse_gaps(source)
    with engine_of(cluster) as engine:
        name = os.fspath(stream) if isinstance(stream, str | os.PathLike) else None
        parts = parts_of(name, source, count, reading(core))
        proving = Proving(engine, core, mixing) if certify else None
        found = play_on(engine, core, parts, source.features, passes=passes, mixing=mixing, watch=watch, after=proving)
        if proving is not None:
            found = replace(found, receipt=shard_receipt(found, proving, gap=gap, seconds=seconds))
    _take(core, found.learner)
    return replace(found, learner=core)


def _take(core: Core, learned: Core) -> None:
    """Let the learner that was given be the one that has learned."""
    vars(core).update(vars(learned))
