"""The points at which a run's theorems say the most: comparators of mistake bounds, separators, dual points.

Any point is sound; these are near the best. Which ones a learner's theorems ask for is a line of `WANTED`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret import loss as losses
from noregret._native import PASSIVE, PASSIVE_SOFT
from noregret.learner.supports import BLOCK, Columns, store
from noregret.loss import Loss
from noregret.proof.facts import Facts, Points
from noregret.proof.facts.classes import one_against_rest
from noregret.proof.facts.quadratic import POINT as QUADRATIC
from noregret.proof.facts.quadratic import curvatures, ridge_of
from noregret.proof.facts.steps import EPS, POINT, TINY, Against
from noregret.proof.solve.comparator import best
from noregret.proof.solve.multiclass import comparators
from noregret.proof.solve.perceptron import least_l2, penalised, root, separator, whitened
from noregret.proof.solve.quadratic import lowest
from noregret.proof.solve.surrogate import least_surrogates
from noregret.rounds import Rounds

Vector = NDArray[np.float64]
Places = NDArray[np.int64]
SMALL = 300  # up to this number of rounds a kernel's comparator may lean on every one; else on the update rounds alone
NEAR = 1e-2  # any comparator gives a bound, so a kernel's best is not looked for more closely
HEAVIEST = 1e300  # a larger weight leaves no room for a loss beside it
TRIES = 4  # to make a separator's least margin 1 after rounding
ROUNDS_OF_NORM = 3  # how often the comparator of PA is looked for with a better weight of its norm


def points(facts: Facts, *, gap: float = 1e-4, seconds: float = math.inf) -> Points:
    """The points for the theorems of this run; of most learners none where its rounds are weighted."""
    find = WANTED.get(facts.learner.name)
    if find is None or not len(facts.rounds) or (facts.rounds.weights is not None and find is not _quadratic):
        return {}
    return find(facts, gap, seconds)


def gather(facts: Facts, *, gap: float = 1e-4, seconds: float = math.inf) -> Facts:
    """The same facts with those points."""
    return replace(facts, points={**facts.points, **points(facts, gap=gap, seconds=seconds)})


def _perceptron(facts: Facts, gap: float, seconds: float) -> Points:
    """The best comparator for ‖S‖, for R_I, for every order and by ‖h‖₂, and a separator if there is one.

    For a loss that was asked for, its best comparators too.
    """
    rounds, mistakes = facts.rounds, facts.mistakes
    if not mistakes.measurable:
        return {}
    found: Points = {}
    for name, rho in (("sum", mistakes.sum_norm), ("mistakes", mistakes.mistake_norm)):
        one = penalised(rounds, rho, gap=gap, seconds=seconds)
        found |= {f"v_{name}": one.v, f"beta_{name}": one.beta}
    order_free = root(rounds, gap=gap, seconds=seconds)
    found |= {"v_root": order_free.v, "beta_root": order_free.beta}
    found["v_l2"] = least_l2(rounds, gap=gap, seconds=seconds).v
    if facts.surrogate is not None:
        near = [one for name, one in found.items() if name.startswith("v_")]
        found |= least_surrogates(facts, near, gap=gap, seconds=seconds)
    apart = separator(rounds, gap=gap, seconds=seconds)
    return found if apart is None else found | {"separator": apart.u, "separator_weights": apart.weights}


def _classes(facts: Facts, gap: float, seconds: float) -> Points:
    """Comparators with a row a class: one V for the bounds, or a v for each class against the rest."""
    many, rounds = facts.classes, facts.rounds
    if not many.alone:
        wanted = {"sum": many.sum_norm.hi, "mistakes": many.reach.hi}
        return comparators(rounds, many.count, wanted, many.radius.hi, seconds)
    each = [
        penalised(one_against_rest(rounds, k, one.first), one.norm2.sqrt(), gap=gap, seconds=seconds / many.count).v
        for k, one in enumerate(many.ones)
    ]
    return {"V_each": np.concatenate(each)}


def _second_order(facts: Facts, gap: float, seconds: float) -> Points:
    """The comparators that make its two bounds least."""
    held = facts.matrices
    growth = {"v_steps": held.steps.hi, "v_determinant": held.log_det.hi}
    return {
        name: whitened(facts.rounds, held.chosen, held.ridge, size, gap=gap, seconds=seconds)
        for name, size in growth.items()
    }


def _quadratic(facts: Facts, gap: float, seconds: float) -> Points:
    """About the minimiser of the sum of the minorants and (λ/2)‖θ‖²."""
    rounds, loss = facts.rounds, facts.learner.loss
    ridge = ridge_of(facts.learner, rounds.width)
    if facts.hindsight is None or ridge is None or not math.isfinite(facts.radius):
        return {}
    return {QUADRATIC: lowest(rounds, loss, curvatures(rounds, loss, facts.radius), ridge)}


# -- Passive-Aggressive learners ---------------------------------------------------------------------------------------


def _passive(facts: Facts, gap: float, seconds: float) -> Points:
    """The comparator for which the learner's own bound is about least."""
    rounds, loss, cap, rule = facts.rounds, facts.learner.loss, facts.steps.cap, facts.learner.rate.code
    if rule == PASSIVE:
        return {POINT: _for_losses(facts, gap, seconds)}
    judge = _squared(loss) if rule == PASSIVE_SOFT else loss
    if np.ptp(cap) == 0.0:
        return {POINT: _least(rounds, judge, None, 1.0 / (float(cap[0]) * len(rounds)), gap, seconds)}
    return {POINT: _least(rounds, judge, cap, 1.0 / len(rounds), gap, seconds)}


def _squared(loss: Loss) -> Loss:
    """ℓ² for ℓ the hinge or the absolute loss."""
    return losses.squared() if loss.regression else losses.squared_hinge()


def _for_losses(facts: Facts, gap: float, seconds: float) -> Vector:
    """About the least of ‖u‖ + 2√Σℓ(u)²/‖x‖²: where it is least, u minimises Σℓ²/‖x‖² + (μ/2)‖u‖² for some μ."""
    rounds, loss, row2 = facts.rounds, facts.learner.loss, facts.steps.row2[1]
    with np.errstate(over="ignore"):
        weights = np.minimum(np.divide(1.0, row2, out=np.full(len(row2), TINY), where=row2 > 0.0), HEAVIEST)
    u, mu = np.zeros(rounds.width), math.sqrt(arithmetic.total(weights))
    for _ in range(ROUNDS_OF_NORM):
        u = _least(rounds, _squared(loss), weights, mu / len(rounds), gap, seconds / ROUNDS_OF_NORM)
        size = arithmetic.norm(u)
        lost = Against.at(rounds, loss, u).weighted(weights, 2).hi
        if not (size > 0.0 and lost > 0.0):
            break
        mu = math.sqrt(lost) / size
    return u


def _least(rounds: Rounds, loss: Loss, weights: Vector | None, sigma: float, gap: float, seconds: float) -> Vector:
    if not (0.0 < sigma < math.inf) or (weights is not None and not (weights <= HEAVIEST).all()):
        return np.zeros(rounds.width)  # any comparator is sound
    return best(replace(rounds, weights=weights), loss, math.inf, sigma, gap=gap, seconds=seconds).u


# -- kernels -----------------------------------------------------------------------------------------------------------


def _kernel(facts: Facts, gap: float, seconds: float) -> Points:
    """A linear problem in coordinates of the span, in which ⟨φ(x), φ(z)⟩ is an ordinary inner product."""
    if facts.gram is None or not facts.mistakes.measurable:
        return {}
    which = np.arange(len(facts.rounds)) if len(facts.rounds) <= SMALL else facts.updates
    rows, back = _coordinates(facts, which)
    rounds, near = Rounds.of(rows, facts.rounds.y), max(gap, NEAR)
    found = {
        "c_sum": penalised(rounds, facts.mistakes.sum_norm, gap=near, seconds=seconds).v,
        "c_mistakes": penalised(rounds, facts.mistakes.mistake_norm, gap=near, seconds=seconds).v,
        "c_root": root(rounds, gap=near, seconds=seconds).v,
        "c_l2": least_l2(rounds, gap=near, seconds=seconds).v,
    }
    spread = {name: _spread(back @ v, which, len(rounds)) for name, v in found.items()}
    apart = separator(rounds, gap=near, seconds=seconds)
    c = None if apart is None else _separating(facts, _spread(back @ apart.u, which, len(rounds)))
    if apart is None or c is None:
        return spread
    return spread | {"c_separator": c, "separator_weights": apart.weights}


def _separating(facts: Facts, c: Vector) -> Vector | None:
    """The least multiple of Σ c_s·φ(x_s) with y⟨u, φ(x)⟩ ≥ 1 on every round beyond any doubt, if there is one."""
    assert facts.gram is not None
    y, which = facts.rounds.y, np.flatnonzero(c)
    for _ in range(TRIES):
        low, high = facts.gram.sums(which, c[None, which], np.arange(len(y)))
        worst = float(np.where(y > 0.0, low[0], -high[0]).min())
        if worst >= 1.0 or not worst > 0.0:
            return c if worst >= 1.0 else None
        c = c * ((1.0 + 4.0 * EPS) / worst)
    return None


def _spread(c: Vector, which: Places, count: int) -> Vector:
    found = np.zeros(count)
    found[which] = c
    return found


def _coordinates(facts: Facts, which: Places) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every round in coordinates of the span of some, and the matrix that turns coordinates into coefficients."""
    K = _values(facts, which)
    sizes, vectors = np.linalg.eigh((K[which] + K[which].T) / 2.0)
    kept = sizes > 1e-11 * max(float(sizes.max(initial=0.0)), 1e-300)
    back = vectors[:, kept] / np.sqrt(sizes[kept])
    return K @ back, back


def _values(facts: Facts, which: Places) -> NDArray[np.float64]:
    """K(x_t, x_s) for every round t and these s, as floats."""
    assert facts.gram is not None
    rounds, kernel = facts.rounds, facts.gram.kernel
    if not kernel.summed:
        return facts.gram.values(np.arange(len(rounds)), which)
    kept = store(kernel, False, rounds.width, sparse=isinstance(rounds.native, tuple))
    assert not isinstance(kept, Columns)
    chosen = kept.prepared(rounds.rows.take(which).native)
    kept.keep(chosen, np.arange(len(which)), np.arange(len(which)))
    found = np.empty((len(rounds), len(which)))
    for start in range(0, len(rounds), BLOCK):
        block = kept.prepared(rounds.rows.slice(start, min(start + BLOCK, len(rounds))).native)
        G = np.empty((len(block), -(-len(which) // 8) * 8))
        kept.fill(block, 0, len(which), G)
        found[start : start + BLOCK] = G[: len(rounds) - start, : len(which)]
    return found


WANTED: dict[str, Callable[[Facts, float, float], Points]] = {
    "perceptron": _perceptron,
    "averaged": _perceptron,
    "voted": _perceptron,
    "multiclass": _classes,
    "kernel": _kernel,
    "second-order": _second_order,
    "newton": _quadratic,
    "auto": _quadratic,
    "pa": _passive,
    "pa1": _passive,
    "pa2": _passive,
}
