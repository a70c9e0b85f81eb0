"""What several theorems assume, each asked of the facts, and how a claim about regret is made."""

from __future__ import annotations

import math

from noregret.interval import Interval
from noregret.proof.facts import Facts
from noregret.proof.theorem import Claim, Need

OWN = ("ogd",)
PERCEPTRONS = ("perceptron", "averaged", "voted")  # whose `perceptron_rounds` is True
ANY_STEPS: tuple[str, ...] = ("ogd", "pa", "pa1", "pa2", "adagrad", "ftrl", "coin", "scale-free")  # any will do
ANY_STEPS += ("newton", "diagonal", "ridge", "persistence")
# scores that are no ⟨w, x⟩: s_t·z_t stands for ⟨g_t, w_t⟩
ANY_SCORES = ("markov", "naive-bayes", "nearest", "nearest-numbers")

UNIT_WEIGHTS = Need[Facts]("every round weighs 1", lambda f: f.rounds.weights is None)
PREMISE = Need[Facts]("every update was made at y⟨w,x⟩ ≤ 0, in exact arithmetic", lambda f: f.mistakes.premise)
FROM_ZERO = Need[Facts]("the run starts at w₁ = 0", lambda f: f.start.zero)
COMPARED = Need[Facts]("a comparator v is given", lambda f: bool(f.comparators))
SEPARATED = Need[Facts]("a separator is known: y⟨u,x⟩ ≥ 1 on every round", lambda f: f.separator is not None)
ORDER_FREE = Need[Facts]("a comparator v for every order is given", lambda f: "root" in f.comparators)

CONVEX = Need[Facts](
    "the loss is convex in the score", lambda f: None if f.learner.loss.custom else f.learner.loss.convex
)
BALL_DOMAIN = Need[Facts]("the weights are projected on a ball of radius U", lambda f: f.ball)
INSIDE = Need[Facts](
    "the comparators' ball lies in the learner's domain", lambda f: f.radius <= f.learner.domain.radius
)
REPLAYED = Need[Facts]("the path was replayed: rounds × features at most 2·10⁹", lambda f: f.path is not None)


def compared(facts: Facts) -> bool:
    """Whether there is a regret to bound."""
    return facts.hindsight is not None


def plain_steps(facts: Facts) -> bool:
    """Whether there is a regret to bound and every step was that of a gradient: with a penalty it is another."""
    return compared(facts) and not facts.penalised


def root_rounds(facts: Facts) -> Interval:
    """√T."""
    return exact_sqrt(len(facts.rounds))


def exact_sqrt(n: int) -> Interval:
    """√n, without rounding where n is a square."""
    root = math.isqrt(n)
    return Interval.of(float(root)) if root * root == n else Interval.of(float(n)).sqrt()


def radius(facts: Facts) -> Interval:
    """U, of the learner's ball."""
    return Interval.of(facts.learner.domain.radius)


def claim(facts: Facts, bound: Interval, **values: float) -> Claim:
    """regret ≤ bound, for the steps of a float run; a bound as large as the run's own loss says nothing."""
    values = {"max_gradient": facts.gradient.max_norm.hi, **values}
    return Claim(bound * facts.allowance, facts.regret, facts.ceiling, values, facts.named("u", "alpha"))
