"""What theory promised of a run: one theorem a function, evaluated with every rounding accounted for.

`THEOREMS` lists them by name, `certificates(evidence)` evaluates those that speak of the run's learner.
"""

from __future__ import annotations

from noregret.theorem import (
    batch,
    coin,
    constant,
    convex,
    coordinate,
    corners,
    doubling,
    experts,
    finite,
    hinge,
    kernel,
    ladder,
    multiclass,
    passive,
    perceptron,
    risk,
    second_order,
    squares,
    strong,
    vaw,
    voted,
)
from noregret.theorem.certificate import Assumption, Certificate, Verdict
from noregret.theorem.evidence import Evidence, evaluate, gather
from noregret.theorem.registry import Theorem

__all__ = [
    "THEOREMS",
    "Assumption",
    "Certificate",
    "Evidence",
    "Theorem",
    "Verdict",
    "certificates",
    "evaluate",
    "gather",
]

MODULES = (
    perceptron,
    hinge,
    squares,
    convex,
    voted,
    kernel,
    multiclass,
    ladder,
    constant,
    doubling,
    strong,
    passive,
    coordinate,
    corners,
    coin,
    second_order,
    vaw,
    finite,
    experts,
    batch,
    risk,
)
THEOREMS: dict[str, Theorem] = {
    one.name: one for module in MODULES for one in vars(module).values() if isinstance(one, Theorem)
}


def certificates(evidence: Evidence) -> list[Certificate]:
    """Every theorem that speaks of this learner, evaluated on its run; those whose needs fail are among them, unmet.

    Of no rounds nothing is said.
    """
    if not len(evidence.rounds):
        return []
    own = evidence.run.learner.name
    return [one(evidence) for one in THEOREMS.values() if own in one.learners and one.applies(evidence)]
