"""The comparators behind the perceptron's mistake bounds, hinge losses over all rounds without weights.

Φ(ρ) = min_v Σ h(v) + ρ‖v‖ with h the hinge loss; the order-free bound q* = inf_v Q(Σ h(v), r‖v‖); the bound by
‖h(v)‖₂; and the separator of least norm. Each comes with a dual point that proves how near it is to the best.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError
from noregret.interval import Interval, least, total
from noregret.loss import hinge, squared_hinge
from noregret.proof import enclose
from noregret.proof.solve.design import Design, Matrix
from noregret.proof.solve.region import Penalty
from noregret.proof.solve.result import Penalised, Progress, Root, Separator
from noregret.proof.solve.solve import solve
from noregret.rounds import Rounds, Vector
from noregret.stream.block import Dense
from noregret.threads import calm

TIGHTER = (0.8, 0.2, 0.04)  # of the gap asked for: what rounding takes away again is only seen afterwards
DINKELBACH = 50
HINGE, SQUARED_HINGE = hinge(), squared_hinge()


def penalised(
    rounds: Rounds,
    rho: float | Interval,
    *,
    gap: float = 1e-6,
    seconds: float = math.inf,
    start: Penalised | None = None,
) -> Penalised:
    """Φ(ρ) = min_v Σ h(v) + ρ‖v‖ = max{Σβ: 0 ≤ β ≤ 1, ‖Σβyx‖ ≤ ρ}, to upper − lower ≤ gap·max(upper, 1).

    Where ρ itself is an interval, `upper` holds for its upper end and `lower` for its lower one.
    """
    return _penalised(rounds, Interval.of(rho), gap, 1.0, seconds, None if start is None else start.v)


def _penalised(rounds: Rounds, rho: Interval, gap: float, floor: float, seconds: float, v: Vector | None) -> Penalised:
    if not 0.0 <= rho.lo <= rho.hi < math.inf:
        raise SettingError(f"penalised: rho must be at least 0 and finite, got {rho.lo} to {rho.hi}")
    began = time.perf_counter()
    rounds = replace(rounds, weights=None)
    design = Design.of(rounds)
    progress = Progress(gap, floor, began + seconds)
    u = np.zeros(rounds.width) if v is None else design.inward(v)
    for part in TIGHTER:
        progress.gap = part * gap
        method = solve(rounds, design, HINGE, Penalty(rho.hi * design.scale), progress, u)
        found = _proved(rounds, rho, design.outward(progress.u), np.abs(progress.alpha))
        u = progress.u
        if _near(found, gap, floor) or not progress.reached:
            break
    took = time.perf_counter() - began
    return replace(
        found, method=method, iterations=progress.iterations, seconds=took, finished=_near(found, gap, floor)
    )


def _near(found: Penalised | Root, gap: float, floor: float) -> bool:
    return found.upper - found.lower <= gap * max(found.upper, floor)


def _proved(rounds: Rounds, rho: Interval, v: Vector, beta: Vector) -> Penalised:
    """Both ends of Φ(ρ), from v and from β made feasible."""
    beta, lower = feasible(rounds, rho.lo, beta)
    upper = (hinge_total(rounds, v) + enclose.norm(v) * rho.hi).hi
    return Penalised(v, beta, lower, upper, "", 0, 0.0, False)


def hinge_total(rounds: Rounds, v: Vector) -> Interval:
    """Σ h(v)."""
    return enclose.risk(rounds, HINGE, v)


def length(rounds: Rounds, beta: Vector) -> Interval:
    """‖Σ βyx‖."""
    return enclose.norm_between(*enclose.combined(rounds, beta * rounds.y))


def feasible(rounds: Rounds, rho: float, beta: Vector) -> tuple[Vector, float]:
    """β shrunk until 0 ≤ β ≤ 1 and ‖Σβyx‖ ≤ ρ beyond any doubt, and Σβ rounded down."""
    beta = np.clip(beta, 0.0, 1.0)
    size = length(rounds, beta)
    slack = enclose.EPS
    while size.hi > rho:
        beta = beta * max(rho / size.hi * (1.0 - slack), 0.0)
        size = length(rounds, beta)
        slack *= 4.0
    return beta, max(total(beta, beta).lo, 0.0)


def order_free(c: Interval, b: Interval) -> Interval:
    """Q(c, b) = c + b²/2 + b√(c + b²/4): the largest M with M ≤ c + b√M."""
    return c + b.square() * 0.5 + b * (c + b.square() * 0.25).sqrt()


def root(rounds: Rounds, *, gap: float = 1e-6, seconds: float = math.inf) -> Root:
    """q* = inf_v Q(Σ h(v), r‖v‖), which no perceptron's mistakes exceed in any order of the rounds.

    Dinkelbach's iteration: s ← √Q at the minimiser of Σ h + s·r‖v‖, from s = √T downward. Any β in [0, 1] proves
    q* ≥ min(m, (r·m/g)²) with m = Σβ and g = ‖Σβyx‖, and q* ≥ m where g = 0.
    """
    deadline = time.perf_counter() + seconds
    rounds = replace(rounds, weights=None)
    r, upper = enclose.largest_norm(rounds), float(len(rounds))
    v, beta, lower, goal = np.zeros(rounds.width), np.zeros(len(rounds)), 0.0, 1e-2
    if not math.isfinite(r.hi):  # ‖x‖² overflows: v = 0 is all that can be said
        return Root(v, beta, lower, upper, False)
    for _ in range(DINKELBACH):
        rho = Interval.of(math.sqrt(upper) * r.hi)
        found = _penalised(rounds, rho, goal, 1.0, deadline - time.perf_counter(), v)
        reached = order_free(hinge_total(rounds, found.v), r * enclose.norm(found.v)).hi
        proved = order_free_below(rounds, r, found.beta)
        if proved > lower:
            beta, lower = found.beta, proved
        if reached < upper:
            v, upper = found.v, reached
        elif goal <= 0.25 * gap:
            break
        if upper - lower <= gap * max(upper, 1.0) or time.perf_counter() > deadline:
            break
        goal = max(0.25 * gap, min(goal, 0.1 * (upper - lower) / max(upper, 1.0)))
    return Root(v, beta, lower, upper, upper - lower <= gap * max(upper, 1.0))


def order_free_below(rounds: Rounds, r: Interval, beta: Vector) -> float:
    """min(m, (r·m/g)²), rounded down."""
    m, g = total(beta, beta), length(rounds, beta)
    if g.hi == 0.0:
        return m.lo
    return max(least(m, (r * m / Interval.of(g.hi)).square()).lo, 0.0)


def least_l2(rounds: Rounds, *, gap: float = 1e-6, seconds: float = math.inf) -> Root:
    """inf_v (r‖v‖ + ‖h(v)‖₂)², another bound on a perceptron's mistakes in any order of the rounds.

    ‖h‖₂ = min_s ‖h‖²/(2s) + s/2, so that it is a matter of the s with ‖h(v)‖₂ = s at the minimiser of Σ h² + 2sr‖v‖.
    Dual: max{Σβ: β ≥ 0, ‖β‖₂ ≤ 1, ‖Σβyx‖ ≤ r}, squared.
    """
    deadline = time.perf_counter() + seconds
    rounds = replace(rounds, weights=None)
    design, r = Design.of(rounds), enclose.largest_norm(rounds)
    s, v = math.sqrt(len(rounds)), np.zeros(rounds.width)
    best = Root(v, np.zeros(len(rounds)), 0.0, float(len(rounds)), False)
    before: tuple[float, float] | None = None
    if not math.isfinite(r.hi):
        return best
    for _ in range(DINKELBACH):
        progress = Progress(0.01 * gap * gap, 0.0, deadline)  # v and β are known to the root of it only
        solve(rounds, design, SQUARED_HINGE, Penalty(2.0 * s * r.hi * design.scale), progress, design.inward(v))
        v = design.outward(progress.u)
        best = _better(best, _l2_proved(rounds, r, v, np.abs(progress.alpha)))
        if _near(best, gap, 1.0) or time.perf_counter() > deadline:
            break
        now = math.log(s), math.log(_l2(rounds, v).hi / s)
        s = math.exp(_secant(before, now))
        before = now
    return replace(best, finished=_near(best, gap, 1.0))


def _secant(before: tuple[float, float] | None, now: tuple[float, float]) -> float:
    """The next guess at the root of a decreasing function from two of its (point, value); at first the value's step."""
    x, value = now
    if before is None or before[1] - value == 0.0 or (before[0] - x) / (before[1] - value) >= 0.0:
        return x + value
    return x + min(max(-value * (before[0] - x) / (before[1] - value), -2.0), 2.0)


def _l2(rounds: Rounds, v: Vector) -> Interval:
    """‖h(v)‖₂."""
    return enclose.risk(rounds, SQUARED_HINGE, v).sqrt()


def _l2_proved(rounds: Rounds, r: Interval, v: Vector, beta: Vector) -> Root:
    """Both ends of inf (r‖v‖ + ‖h(v)‖₂)², from v and from β scaled to be feasible."""
    upper = (r * enclose.norm(v) + _l2(rounds, v)).square().hi
    size, g = enclose.norm(beta), length(rounds, beta)
    if size.hi == 0.0:
        return Root(v, beta, 0.0, upper, False)
    factor = 1.0 / size.hi if g.hi <= size.hi * r.lo else r.lo / g.hi
    beta = beta * (factor * (1.0 - 4.0 * enclose.EPS))
    sound = enclose.norm(beta).hi <= 1.0 and length(rounds, beta).hi <= r.lo
    return Root(v, beta, max(total(beta, beta).square().lo, 0.0) if sound else 0.0, upper, False)


def _better(a: Root, b: Root) -> Root:
    """The better v with the better β."""
    v, upper = (a.v, a.upper) if a.upper <= b.upper else (b.v, b.upper)
    beta, lower = (a.beta, a.lower) if a.lower >= b.lower else (b.beta, b.lower)
    return Root(v, beta, lower, upper, False)


def separator(
    rounds: Rounds, *, gap: float = 1e-6, seconds: float = math.inf, start: Vector | None = None
) -> Separator | None:
    """A u with y⟨u, x⟩ ≥ 1 on every round, of nearly the least norm; None where none was found.

    `start` is such a u, where one is known.

    Some v with Σ h(v) + ρ‖v‖ small has y⟨v, x⟩ > 0 everywhere if any v has. With ρ ≤ the margin the minimiser is the
    separator of least norm itself, and its β divided by Σβ are the convex weights that prove it.
    """
    deadline = time.perf_counter() + seconds
    rounds = replace(rounds, weights=None)
    r = enclose.largest_norm(rounds)
    if not len(rounds):
        return Separator(np.zeros(rounds.width), np.zeros(0), 0.0, 0.0, True)
    found = _any_separator(rounds, r.hi, deadline) if start is None else start
    if found is None:
        return None
    best = _weighed(rounds, found, np.ones(len(rounds)), gap)
    for goal in (1e-1, 1e-2, 1e-4, 0.3 * gap, 0.1 * gap, 0.03 * gap):
        rho = Interval.of(0.5 / best.upper)
        tight = _penalised(rounds, rho, goal, 0.0, deadline - time.perf_counter(), best.u)
        best = _shorter(best, _weighed(rounds, separating(rounds, tight.v), tight.beta, gap), gap)
        if best.finished or time.perf_counter() > deadline:
            break
    return best


def _shorter(a: Separator, b: Separator, gap: float) -> Separator:
    """The shorter u with the better weights."""
    u, upper = (a.u, a.upper) if a.upper <= b.upper else (b.u, b.upper)
    weights, lower = (a.weights, a.lower) if a.lower >= b.lower else (b.weights, b.lower)
    return Separator(u, weights, lower, upper, upper - lower <= gap * upper)


def _any_separator(rounds: Rounds, r: float, deadline: float) -> Vector | None:
    """Some separator, by ever smaller penalties; a margin below a billionth of the largest row is not looked for."""
    rho, v = r, np.zeros(rounds.width)
    while rho > 1e-9 * r and time.perf_counter() < deadline:
        found = _penalised(rounds, Interval.of(rho), 0.1, 1.0, deadline - time.perf_counter(), v)
        v = found.v
        u = separating(rounds, v)
        if u is not None:
            return u
        rho *= 0.1
    return None


def separating(rounds: Rounds, v: Vector) -> Vector | None:
    """The least multiple of v with y⟨u, x⟩ ≥ 1 on every round beyond any doubt, if there is one."""
    u = v
    for _ in range(3):
        worst = _worst_margin(rounds, u)
        if not worst > 0.0:
            return None
        if worst >= 1.0 and u is not v:
            return u
        u = u * ((1.0 + 4.0 * enclose.EPS) / worst)
    return u if _worst_margin(rounds, u) >= 1.0 else None


def _worst_margin(rounds: Rounds, u: Vector) -> float:
    low, high = enclose.margins(rounds, u)
    return float(np.where(rounds.y > 0.0, low, -high).min())


def _weighed(rounds: Rounds, u: Vector | None, beta: Vector, gap: float) -> Separator:
    """What u and the convex weights in proportion to β say about the least norm; no u says nothing."""
    m, g = total(beta, beta), length(rounds, beta)
    weights = beta / m.hi if m.hi > 0.0 else beta
    lower = (Interval.of(m.lo) / Interval.of(g.hi)).lo if g.hi > 0.0 and m.lo > 0.0 else 0.0
    upper = math.inf if u is None else enclose.norm(u).hi
    u = np.zeros(rounds.width) if u is None else u
    return Separator(u, weights, max(lower, 0.0), upper, upper - lower <= gap * upper)


def best_expert(losses: Matrix) -> tuple[int, Interval]:
    """The column of least sum, and the least sum: the comparator of a finite set is exact. The first one on a tie."""
    sums = [total(column, column) for column in np.asarray(losses, dtype=np.float64).T]
    if not sums:
        raise SettingError("best_expert: there must be at least one expert, got none")
    winner = min(range(len(sums)), key=lambda i: math.fsum(losses[:, i]))
    return winner, least(*sums)


ENTRIES = 50_000_000  # rows times features that are whitened as one matrix; beyond, the rows are taken as they are


def whitened(
    rounds: Rounds, chosen: NDArray[np.int64], ridge: float, factor: float, *, gap: float, seconds: float
) -> Vector:
    """v for the bound Σ h(v) + √(factor·vᵀAv)."""
    from scipy.linalg import solve_triangular

    with np.errstate(all="ignore"), calm(len(rounds), rounds.width):
        A = outer_sum(rounds, chosen) + ridge * np.eye(rounds.width)
        if len(rounds) * rounds.width > ENTRIES:
            mean = float(np.trace(A)) / max(rounds.width, 1)
            return penalised(rounds, math.sqrt(factor * mean), gap=gap, seconds=seconds).v
        try:
            C = np.linalg.cholesky(A)
            rows = solve_triangular(C, dense(rounds).T, lower=True).T
            found = penalised(Rounds.of(rows, rounds.y), math.sqrt(factor), gap=gap, seconds=seconds)
            v = solve_triangular(C, found.v, lower=True, trans=1)
        except (np.linalg.LinAlgError, ValueError):
            return np.zeros(rounds.width)
        return np.asarray(v) if np.isfinite(v).all() else np.zeros(rounds.width)


def outer_sum(rounds: Rounds, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """Σ x·xᵀ over the chosen rounds, in float64."""
    design, one = Design.of(rounds), np.zeros(len(rounds))
    one[chosen] = 1.0
    return design.curvature(one) / design.scale / design.scale


def dense(rounds: Rounds) -> NDArray[np.float64]:
    """All rows as one matrix."""
    if isinstance(rounds.rows, Dense):
        return np.asarray(rounds.rows.X, dtype=np.float64)
    X, (ends, indices, values) = np.zeros((len(rounds), rounds.width)), rounds.rows.native
    X[np.repeat(np.arange(len(rounds)), np.diff(ends)), indices] = values
    return X
