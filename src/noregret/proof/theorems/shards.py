"""Shards: the updates of mixed perceptrons, and ledgers that add up whatever the plan was.

K_μ = Σ_nΣ_i μ_{i,n}·k_{i,n} counts the updates k of shard i in epoch n as they are mixed. Losses are summed over all
rows of all epochs; E = Σ‖e_n‖ is what rounding made of the mixtures, and 0 where none was rounded.
"""

from __future__ import annotations

from collections.abc import Callable

from noregret.interval import Interval
from noregret.proof.facts.shards import Against, ShardFacts
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.hinge import exact_root
from noregret.proof.theorems.linearised import LEMMA

NAME = "shards"
SOURCE = "McDonald, Hall & Mann 2010, Theorem 3, extended to rows that no model separates"
UNIT = Need[ShardFacts]("every round weighs 1", lambda f: f.plain)
PREMISE = Need[ShardFacts]("every update was made at y⟨w,x⟩ ≤ 0, in exact arithmetic", lambda f: f.premise)
COMPARED = Need[ShardFacts]("a comparator v is given", lambda f: bool(f.against))
SEPARATED = Need[ShardFacts]("a separator is known: y⟨u,x⟩ ≥ 1 on every row", lambda f: bool(f.separators))
ANY_PLAYS = Need[ShardFacts](
    "the loss is convex in the score", lambda f: None if f.learner.loss.custom else f.learner.loss.convex
)


def _best(facts: ShardFacts, among: dict[str, Against], bound: Callable[[Against], Interval]) -> tuple[str, Interval]:
    return min(((name, bound(one)) for name, one in among.items()), key=lambda pair: pair[1].hi)


def _claim(facts: ShardFacts, name: str, bound: Interval) -> Claim:
    one = facts.against[name]
    values = {"hinge": facts.hinge(one).hi, "norm": one.norm.hi, "rounding": facts.off.hi}
    return Claim(bound, facts.updates, facts.played.lo, values, (name,))


@theorem(
    "mixing-sum",
    "updates as they are mixed",
    "K_μ ≤ ΣΣ μ·Σh(v) + ⟨v,w⟩ + ‖v‖·E, w the last mixture",
    SOURCE,
    learners=(NAME,),
    needs=(UNIT, COMPARED),
    applies=lambda f: f.perceptron,
)
def mixing_sum(facts: ShardFacts) -> Claim:
    """K_μ ≤ ΣΣ μ·Σh(v) + ⟨v,w⟩ + ‖v‖·E for every v, since ⟨v,·⟩ is linear in the mixture.

    It holds for any set of updates, so it is no evidence that the learner behaved.
    """
    name, bound = _best(facts, facts.against, lambda one: facts.hinge(one) + one.along + one.norm * facts.off)
    return _claim(facts, name, bound)


@theorem(
    "mixing-mistakes",
    "updates as they are mixed",
    "K_μ ≤ ΣΣ μ·Σh(v) + ‖v‖(√(ΣΣ μ·Σ_I‖x‖²) + 2E)",
    SOURCE,
    learners=(NAME,),
    needs=(UNIT, PREMISE, COMPARED),
    applies=lambda f: f.perceptron,
)
def mixing_mistakes(facts: ShardFacts) -> Claim:
    """‖·‖² is convex and an update adds at most ‖x‖² to it, so the last mixture is no longer than √(ΣΣ μ·Σ_I‖x‖²) + E.

    Hence K_μ ≤ ΣΣ μ·Σh(v) + ‖v‖(√(ΣΣ μ·Σ_I‖x‖²) + 2E) for every v, whatever the shares μ were and whenever chosen.
    """
    length = facts.norms2.sqrt() + facts.off * 2.0
    name, bound = _best(facts, facts.against, lambda one: facts.hinge(one) + one.norm * length)
    return _claim(facts, name, bound)


@theorem(
    "mixing-root",
    "updates as they are mixed",
    "K_μ ≤ Q(c,b) = c + b²/2 + b√(c + b²/4), c = ΣΣ μ·Σh(v) + 2‖v‖E, b = r‖v‖, r = max‖x‖",
    SOURCE,
    learners=(NAME,),
    needs=(UNIT, PREMISE, COMPARED),
    applies=lambda f: f.perceptron,
)
def mixing_root(facts: ShardFacts) -> Claim:
    """K_μ is at most the largest root of K = c + b√K, for every v: the longest row in place of those updated on."""
    name, bound = _best(facts, facts.against, lambda one: _rooted(facts, one, facts.hinge(one)))
    return _claim(facts, name, bound)


@theorem(
    "mixing-novikoff",
    "updates as they are mixed, separable",
    "K_μ ≤ r²‖u‖² (with E: Q(2‖u‖E, r‖u‖))",
    SOURCE,
    learners=(NAME,),
    needs=(UNIT, PREMISE, SEPARATED),
    applies=lambda f: f.perceptron,
)
def mixing_novikoff(facts: ShardFacts) -> Claim:
    """A separator u, y⟨u,x⟩ ≥ 1 on every row, limits the mixed updates to r²‖u‖², however many shards there are."""
    name, bound = _separable(facts)
    return _claim(facts, name, bound)


@theorem(
    "mixing-epochs",
    "epochs with a mistake, separable",
    "r²‖u‖² epochs mixed by mistakes, S·r²‖u‖² mixed uniformly",
    SOURCE,
    learners=(NAME,),
    needs=(UNIT, PREMISE, SEPARATED),
    applies=lambda f: f.perceptron,
)
def mixing_epochs(facts: ShardFacts) -> Claim:
    """An epoch with a mistake adds Σk²/Σk ≥ 1 to K_μ where shares are mistakes, and 1/S where S shards share alike."""
    name, bound = _separable(facts)
    one = facts.against[name]
    values = {"norm": one.norm.hi, "rounding": facts.off.hi}
    observed = Interval.of(float(facts.erring))
    return Claim(bound * float(facts.per_epoch), observed, len(facts.sharded.epochs) + 1.0, values, (name,))


def _rooted(facts: ShardFacts, one: Against, hinge: Interval) -> Interval:
    return exact_root(hinge + one.norm * facts.off * 2.0, one.norm * facts.longest2.sqrt())


def _separable(facts: ShardFacts) -> tuple[str, Interval]:
    def bound(one: Against) -> Interval:
        if facts.off.hi == 0.0:
            return facts.longest2 * one.norm.square()
        return _rooted(facts, one, Interval.of(0.0))

    return _best(facts, facts.separators, bound)


@theorem(
    "shards-one",
    "regret against one model for all shards",
    "Σs·z + sup ⟨u,−G⟩, the sums over the plays of all shards",
    f"{LEMMA}, for any plays",
    learners=(NAME,),
    needs=(ANY_PLAYS,),
    applies=lambda f: f.bounded,
)
def shards_one(facts: ShardFacts) -> Claim:
    """The ledgers of all shards, added, bound the regret of their plays against every model of the domain.

    Each shard kept the ledger of its own plays; how the weights came about does not matter.
    """
    ledger = facts.sharded.ledger
    values = {"paid": ledger.paid.hi, "norm_of_sum": ledger.norm.hi, "radius": facts.learner.domain.radius}
    return Claim(facts.reach(ledger), facts.regret, facts.own_loss, values)


@theorem(
    "shards-each",
    "regret against one model for each shard",
    "Σ_p [Σs·z + sup ⟨u_p,−G_p⟩]",
    f"{LEMMA}, for any plays",
    learners=(NAME,),
    needs=(ANY_PLAYS,),
    applies=lambda f: f.bounded,
)
def shards_each(facts: ShardFacts) -> Claim:
    """The bounds of the shards' ledgers, added, hold against a model of its own for every shard: the stronger claim."""
    found = Interval.of(0.0)
    for ledger in facts.sharded.ledgers:
        found = found + facts.reach(ledger)
    return Claim(found, None, facts.own_loss, {"radius": facts.learner.domain.radius})
