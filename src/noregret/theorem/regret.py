"""Words that the regret theorems share: whom the run is compared with, and how a claim about regret is made."""

from __future__ import annotations

import math

from noregret.interval import Interval
from noregret.theorem.evidence import Evidence
from noregret.theorem.needs import gradient
from noregret.theorem.registry import Claim

OWN = ("ogd",)
ANY_STEPS = ("ogd", "pa", "pa1", "pa2", "adagrad", "ftrl", "coin")  # what is true of any steps is true of theirs


def compared(evidence: Evidence) -> bool:
    """Whether there is a regret to bound."""
    return evidence.regret is not None


def plain_steps(evidence: Evidence) -> bool:
    """Whether there is a regret to bound and every step was that of a gradient: with a penalty it is another."""
    config = evidence.run.learner.config
    return compared(evidence) and not (config["l1"][0] or config["l2"][0])


def rounds(evidence: Evidence) -> Interval:
    """T."""
    return Interval.of(float(len(evidence.rounds)))


def root_rounds(evidence: Evidence) -> Interval:
    """√T."""
    return exact_sqrt(len(evidence.rounds))


def exact_sqrt(n: int) -> Interval:
    """√n, without rounding where n is a square."""
    root = math.isqrt(n)
    return Interval.of(float(root)) if root * root == n else Interval.of(float(n)).sqrt()


def radius(evidence: Evidence) -> Interval:
    """U, of the learner's ball."""
    return Interval.of(evidence.run.learner.domain.radius)


def claim(evidence: Evidence, bound: Interval, **values: float) -> Claim:
    """regret ≤ bound, for the steps of a float run; a bound as large as the run's own loss says nothing."""
    points = tuple(name for name in ("u", "alpha") if name in evidence.points)
    values = {"max_gradient": gradient(evidence).max_norm.hi, **values}
    return Claim(bound * evidence.allowance, evidence.regret, evidence.ceiling, values, points)
