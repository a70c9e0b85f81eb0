"""min over ‖u‖ ≤ U of Σ k·ℓ(⟨u, x⟩, y) + (σT/2)‖u‖²: solved in floating point, then proved by a dual point."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from noregret.errors import InputError, SettingError
from noregret.loss import Loss
from noregret.proof import enclose
from noregret.proof.hindsight import Hindsight, proved, shrunk
from noregret.proof.solve.design import Design, times_power
from noregret.proof.solve.region import Ball
from noregret.proof.solve.result import Progress, Watch
from noregret.proof.solve.solve import solve
from noregret.rounds import Rounds, Vector

TIGHTER = (0.8, 0.2, 0.04)  # of the gap asked for: what rounding takes away again is only seen afterwards


def best(
    rounds: Rounds,
    loss: Loss,
    radius: float,
    sigma: float = 0.0,
    *,
    gap: float = 1e-4,
    seconds: float = math.inf,
    start: Hindsight | None = None,
    watch: Watch | None = None,
) -> Hindsight:
    """The best comparator of norm at most `radius`, to upper − lower ≤ gap·max(upper, 1) or until the time is up.

    `watch(lower, upper)` is called once an iteration with the interval so far, not yet rounded outward.

    >>> from noregret.loss import parse
    >>> found = best(Rounds.of(np.array([[3.0, 4.0]]), [1.0]), parse("hinge"), 0.1)
    >>> round(found.lower, 6), round(found.upper, 6), found.u.round(6).tolist()
    (0.5, 0.5, [0.06, 0.08])
    """
    _check(loss, radius, sigma, gap)
    began = time.perf_counter()
    design = Design.of(rounds)
    unit, weighed = _in_units(rounds)
    ridge = times_power(sigma * len(rounds) / unit, -2 * design.exponent)
    region = Ball(times_power(radius, design.exponent), ridge)
    progress = Progress(gap, 1.0 / unit, began + seconds, _rescaled(watch, unit))
    u = np.zeros(rounds.width) if start is None else design.inward(shrunk(start.u, radius))
    for part in TIGHTER:
        progress.gap = part * gap
        method = solve(weighed, design, loss, region, progress, u)
        found = _proved(rounds, loss, radius, sigma, design.outward(progress.u), progress.alpha)
        u = progress.u
        if found.gap <= gap or not progress.reached:
            break
    took = time.perf_counter() - began
    return replace(found, method=method, iterations=progress.iterations, seconds=took, finished=found.gap <= gap)


def _in_units(rounds: Rounds) -> tuple[float, Rounds]:
    """The heaviest weight as a power of two, and the rounds with their weights in units of it."""
    if rounds.weights is None or not len(rounds):
        return 1.0, rounds
    unit = math.ldexp(1.0, math.frexp(float(rounds.weights.max()))[1])
    return unit, replace(rounds, weights=rounds.weights / unit)


def _rescaled(watch: Watch | None, unit: float) -> Watch | None:
    return None if watch is None else lambda lower, upper: watch(unit * lower, unit * upper)


def curve(
    rounds: Rounds,
    loss: Loss,
    radii: Sequence[float],
    sigma: float = 0.0,
    *,
    gap: float = 1e-4,
    seconds: float = math.inf,
) -> list[Hindsight]:
    """`best` for each radius in the order given; solved from the smallest on, each from the one before."""
    order = sorted(range(len(radii)), key=lambda i: radii[i])
    jobs = [(rounds, float(radii[i]), sigma) for i in order]
    found = dict(zip(order, _chain(loss, jobs, gap, seconds), strict=True))
    return [found[i] for i in range(len(radii))]


def prefixes(
    rounds: Rounds,
    loss: Loss,
    radius: float,
    sigma: float | Callable[[int], float],
    counts: Sequence[int],
    *,
    gap: float = 1e-4,
    seconds: float = math.inf,
) -> list[Hindsight]:
    """`best` on the first n rounds for each n of counts, in the order given, each from the one before.

    σ may depend on n.
    """
    jobs = [(rounds.first(count), radius, sigma(count) if callable(sigma) else sigma) for count in counts]
    return _chain(loss, jobs, gap, seconds)


def _chain(loss: Loss, jobs: Sequence[tuple[Rounds, float, float]], gap: float, seconds: float) -> list[Hindsight]:
    """One `best` after another; each may take its share of the time that is left, by its number of rounds."""
    deadline = time.perf_counter() + seconds
    found: list[Hindsight] = []
    for i, (rounds, radius, sigma) in enumerate(jobs):
        left = max(deadline - time.perf_counter(), 0.0)
        share = (1 + len(rounds)) / sum(1 + len(part) for part, _, _ in jobs[i:])
        before = found[-1] if found else None
        found.append(best(rounds, loss, radius, sigma, gap=gap, seconds=left * share, start=before))
    return found


def _check(loss: Loss, radius: float, sigma: float, gap: float) -> None:
    if not loss.convex:
        raise SettingError(f"hindsight: the loss must be convex, got {loss.name}")
    if not radius > 0.0:
        raise SettingError(f"hindsight: radius must be positive, got {radius}")
    if not 0.0 <= sigma < math.inf:
        raise SettingError(f"hindsight: sigma must be at least 0 and finite, got {sigma}")
    if math.isinf(radius) and sigma == 0.0:
        raise SettingError("hindsight: radius must be finite where sigma is 0, got inf")
    if not gap > 0.0:
        raise SettingError(f"hindsight: gap must be positive, got {gap}")


def _proved(rounds: Rounds, loss: Loss, radius: float, sigma: float, u: Vector, alpha: Vector) -> Hindsight:
    """The interval that a point and a dual point prove, once they are made feasible."""
    u = shrunk(u, radius)
    if not math.isfinite(enclose.risk(rounds, loss, u, sigma).hi):
        u = np.zeros(rounds.width)
        if not math.isfinite(enclose.risk(rounds, loss, u, sigma).hi):
            raise InputError(f"the labels are too large for the {loss.name} loss: even what u = 0 loses overflows")
    if not loss.dual:
        return proved(rounds, loss, {"u": u, "tangent": enclose.margins(rounds, u)[0]}, radius, sigma)
    alpha = enclose.clipped(loss, alpha, rounds.y)
    if not enclose.dual(rounds, loss, alpha, radius, sigma).lo > 0.0:
        alpha = np.zeros(len(rounds))  # it proves as much, and takes no room in a receipt
    return proved(rounds, loss, {"u": u, "alpha": alpha}, radius, sigma)
