"""What theorems assume, each asked of the run."""

from __future__ import annotations

from noregret.theorem.evidence import Evidence, Mistakes
from noregret.theorem.gradients import Gradients
from noregret.theorem.registry import Need


def mistakes(evidence: Evidence) -> Mistakes:
    """A perceptron's update rounds."""
    assert evidence.mistakes is not None
    return evidence.mistakes


def gradient(evidence: Evidence) -> Gradients:
    """A gradient learner's gradients."""
    assert evidence.gradient is not None
    return evidence.gradient


UNIT_WEIGHTS = Need("every round weighs 1", lambda e: e.rounds.weights is None)
PREMISE = Need("every update was made at y⟨w,x⟩ ≤ 0, in exact arithmetic", lambda e: mistakes(e).premise)
FROM_ZERO = Need("the run starts at w₁ = 0", lambda e: e.start.zero)
COMPARED = Need("a comparator v is given", lambda e: bool(e.comparators))
SEPARATED = Need("a separator is known: y⟨u,x⟩ ≥ 1 on every round", lambda e: e.separator is not None)
ORDER_FREE = Need("a comparator v for every order is given", lambda e: "root" in e.comparators)

CONVEX = Need(
    "the loss is convex in the score", lambda e: None if e.run.learner.loss.custom else e.run.learner.loss.convex
)
BALL_DOMAIN = Need("the weights are projected on a ball of radius U", lambda e: e.ball)
INSIDE = Need("the comparators' ball lies in the learner's domain", lambda e: e.radius <= e.run.learner.domain.radius)
REPLAYED = Need("the path was replayed: rounds × features at most 2·10⁹", lambda e: e.path is not None)
