"""From a schedule on shards to its receipt: the best model of all rows, and every theorem that speaks of the plays."""

from __future__ import annotations

import math

from noregret.interval import largest
from noregret.proof.certify import GAP
from noregret.proof.claims import claimed
from noregret.proof.facts.shards import ShardFacts, longest
from noregret.proof.hindsight import Hindsight
from noregret.proof.receipt import Vector
from noregret.proof.replay import described, reading
from noregret.proof.shards import (
    Proving,
    ShardReceipt,
    judged,
    theorems_of,
    told_epochs,
    told_how,
    told_ledger,
    told_regret,
    told_shards,
)
from noregret.proof.solve.mixing import comparators
from noregret.proof.solve.spread import best_on
from noregret.shards.play import ShardedRun


def shard_receipt(
    sharded: ShardedRun, proving: Proving, *, gap: float = GAP, seconds: float = math.inf
) -> ShardReceipt:
    """The receipt of a schedule whose epochs were taken note of while its shards are still held."""
    core, points = sharded.learner, dict[str, Vector]()
    found: Hindsight | None = None
    regret = None
    if judged(core):
        found, at, width = best_on(
            proving.engine, core.judged_by, core.domain.radius, len(sharded.weights), gap=gap, seconds=seconds
        )
        points |= {"u": found.u, "at": at}
        regret = told_regret(sharded, found, width)
    if proving.passes:
        far = largest(*proving.engine.each(longest)).sqrt().hi
        points |= comparators(proving.engine, sharded.weights, _weights(ShardFacts(sharded, proving.passes)), far)
    facts = proving.facts(sharded, points, found)
    return ShardReceipt(
        learner=described(core),
        reading=reading(core),
        how=told_how(sharded),
        shards=told_shards(sharded),
        epochs=told_epochs(sharded),
        weights=sharded.epochs[-1].weights,
        ledgers=[told_ledger(one) for one in sharded.ledgers],
        regret=regret,
        certificates=[claimed(one, facts) for one in theorems_of(facts)],
        points=points,
    )


def _weights(facts: ShardFacts) -> list[float]:
    """How much each shard counts: the sum of its shares over the epochs."""
    return [float(sum(mu[place] for mu in facts.mu)) for place in range(len(facts.sharded.shards))]
