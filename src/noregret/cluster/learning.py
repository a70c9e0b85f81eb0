"""Learning on shards: `play_shards`, from Python and for the command line."""

from __future__ import annotations

import math
import os
from copy import deepcopy
from dataclasses import replace
from typing import Any

from noregret.cluster.choosing import engine_of, shards_of
from noregret.learner.core import Core
from noregret.proof.certify import GAP
from noregret.proof.certify_shards import shard_receipt
from noregret.proof.shards import Proving
from noregret.protocol import as_before, core_of
from noregret.shards.part import how_read, parts_of, refuse_gaps
from noregret.shards.play import ShardedRun, Watch, play_on
from noregret.shards.shard import mixable
from noregret.stream import read
from noregret.stream.base import Stream
from noregret.stream.features import Features
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
    **reading: Any,
) -> ShardedRun:
    """Learn from parts of a stream by iterative parameter mixing: pass, mix the weights, pass again.

    The shards are the files of a folder or pattern; with `shards` they are as many contiguous parts of the rows. In
    every one of the `passes` each shard starts at the mixed weights, w ← Σ μ_i·w_i: `mixing` is `uniform` (μ_i = 1/S),
    `mistakes` (μ_i in proportion to the shard's mistakes of this pass) or `once`, which mixes only at the end and has
    no guarantee. `cluster` is `local:N` (N processes of Ray on this machine), `HOST:PORT` of a Ray cluster, or
    `serial:N`, this process alone, which gives the same bits. Only the perceptron and gradient descent can be mixed.
    What else is given, such as `label`, says how a file is read, as for `read`.

    With `certify` the `receipt` of the run has its theorems, and for gradient descent the best model of all rows.

    >>> import noregret as nr
    >>> rows = ([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [1.0, 2.0]], [1, -1, 1, -1])
    >>> run = play_shards(nr.Perceptron(), rows, passes=3, shards=2)
    >>> [sum(part["mistakes"] for part in epoch.figures) for epoch in run.epochs]
    [4, 0]
    """
    core = core_of(learner)
    mixable(core)
    core.options |= {key: list(value) if isinstance(value, tuple) else value for key, value in reading.items()}
    source = read(stream, features=core.features, **{**as_before(core, stream), **reading})
    schedule: dict[str, Any] = {"passes": passes, "mixing": mixing, "watch": watch}
    schedule |= {"certify": certify, "gap": gap, "seconds": seconds}
    path = os.fspath(stream) if isinstance(stream, str | os.PathLike) else None
    return learned(core, source, deepcopy(source.features), path, shards, cluster, **schedule)


def learned(
    core: Core,
    source: Stream,
    known: Features,
    path: str | None,
    shards: int | None,
    cluster: str | None,
    *,
    passes: int,
    mixing: str,
    certify: bool,
    gap: float,
    seconds: float,
    watch: Watch | None = None,
) -> ShardedRun:
    """The same from an open stream, with the recipe that it began with, and its path if it has one."""
    refuse_gaps(source)
    several = path is not None and files_of(path) is not None
    count = shards_of(cluster, shards, several)
    parts = parts_of(path, source, count, how_read(core))
    with engine_of(cluster) as engine:
        proving = Proving(engine, core, mixing) if certify else None
        how: dict[str, Any] = {"passes": passes, "mixing": mixing, "watch": watch, "after": proving}
        found = play_on(engine, core, parts, known, **how)
        if proving is not None:
            found = replace(found, receipt=shard_receipt(found, proving, gap=gap, seconds=seconds))
    _take(core, found.learner)
    return replace(found, learner=core)


def _take(core: Core, learned: Core) -> None:
    """Let the learner that was given be the one that has learned."""
    vars(core).update(vars(learned))
