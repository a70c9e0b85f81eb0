"""The comparators at which a convex loss of the user's choice says the most of a perceptron's mistakes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from noregret.errors import NoregretError
from noregret.loss import Loss
from noregret.proof import enclose
from noregret.proof.facts import Facts, Points
from noregret.proof.facts.surrogate import POINTS, Admitted, Tangent
from noregret.proof.solve.comparator import best
from noregret.proof.theorems.admissible import in_any_order, mistakes
from noregret.rounds import Rounds, Vector

STEPS = 12  # with a better weight of the norm each
SETTLED = 1e-6  # of the bound: a step that gains less is the last


def least_surrogates(facts: Facts, near: Sequence[Vector], *, gap: float, seconds: float) -> Points:
    """About the least of Σφ + |g|·R_I‖u‖ and of the root of M·φ(0) = Σφ + |g|·r‖u‖√M, φ being φ(y⟨u,x⟩).

    Each begins at the best of the points `near`, comparators of the hinge, taken as long as their tangents agree.
    """
    loss, rounds, found = facts.surrogate, replace(facts.rounds, weights=None), facts.mistakes
    assert loss is not None
    tangent = Tangent.of(loss)
    slope = tangent.slope.lo or tangent.slope.hi
    scale = -tangent.at_zero.lo / slope if slope else 0.0  # φ that is nowhere below φ(0) is least at 0
    begin, length = [scale * v for v in near], found.mistake_norm

    def by_length(u: Vector) -> float:
        return mistakes(Admitted.at(rounds, loss, u, facts.start), length).hi

    def by_root(u: Vector) -> float:
        return in_any_order(Admitted.at(rounds, loss, u, facts.start), found.radius).hi

    half = seconds / 2.0
    first = _least(rounds, loss, begin, by_length, lambda bound: length.hi, gap, half)
    second = _least(rounds, loss, [*begin, first], by_root, lambda bound: found.radius.hi * math.sqrt(bound), gap, half)
    return dict(zip(POINTS, (first, second), strict=True))


def _least(
    rounds: Rounds,
    loss: Loss,
    near: Sequence[Vector],
    bound: Callable[[Vector], float],
    rho: Callable[[float], float],
    gap: float,
    seconds: float,
) -> Vector:
    """Where a bound Σφ + |g|ρ‖u‖ is least, u minimises Σφ + (μ/2)‖u‖² with μ = |g|ρ/‖u‖: found by turns."""
    deadline, steep = time.perf_counter() + seconds, Tangent.of(loss).steep.hi
    u = min(near, key=bound)
    for _ in range(STEPS):
        size, before = enclose.norm(u).hi, bound(u)
        mu = steep * rho(before) / size if size > 0.0 and math.isfinite(before) else 0.0
        left = deadline - time.perf_counter()
        if not 0.0 < mu < math.inf or left <= 0.0:
            break
        try:
            now = best(rounds, loss, math.inf, mu / len(rounds), gap=gap, seconds=left).u
        except NoregretError:  # what there is gives a bound already
            break
        u = min(u, now, key=bound)
        if not bound(u) < before * (1.0 - SETTLED):
            break
    return u
