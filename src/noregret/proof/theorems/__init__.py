"""Every theorem, a row each: statement, needs and formula. `THEOREMS` lists them by name, in the order of the guide."""

from __future__ import annotations

from typing import Any

from noregret.proof.facts import Facts
from noregret.proof.theorem import Certificate, Theorem, rows, speaking
from noregret.proof.theorems import (
    admissible,
    alarm,
    batch,
    coin,
    constant,
    convex,
    coordinate,
    cover,
    experts,
    finite,
    hinge,
    kernel,
    labels,
    ladder,
    late,
    ledger,
    linear_game,
    linearised,
    mean,
    mixture,
    multiclass,
    norms,
    passive,
    perceptron,
    quadratic,
    risk,
    second_order,
    shards,
    strong,
    succession,
    vaw,
    voted,
    windows,
)

__all__ = ["THEOREMS", "certificates", "spoken"]

MODULES = (
    perceptron,
    hinge,
    convex,
    admissible,
    voted,
    kernel,
    norms,
    multiclass,
    succession,
    linearised,
    ladder,
    constant,
    linear_game,
    strong,
    mean,
    passive,
    coordinate,
    coin,
    second_order,
    vaw,
    quadratic,
    mixture,
    labels,
    late,
    shards,
    ledger,
    cover,
    alarm,
    windows,
    finite,
    experts,
    batch,
    risk,
)
THEOREMS: dict[str, Theorem[Any]] = {one.name: one for module in MODULES for one in rows(vars(module))}


def spoken(facts: Facts) -> list[Theorem[Facts]]:
    """The theorems that speak of a run; of no rounds nothing is said."""
    return speaking(THEOREMS.values(), facts.learner.name, facts) if len(facts.rounds) else []


def certificates(facts: Facts) -> list[Certificate]:
    """Each of them evaluated; those whose needs fail are among them, unmet."""
    return [one(facts) for one in spoken(facts)]
