"""What a comparator loses and what a dual point proves, with every rounding accounted for.

`risk(rounds, loss, u)` encloses F(u) = Σ k·ℓ(⟨u, x⟩, y) + (σT/2)‖u‖². `dual(rounds, loss, α, U)` encloses
D(α) = −Σ k·ℓ*(α) − U‖Σ kαx‖, which no comparator of norm at most U falls below. Solvers are never trusted: whatever
they return is evaluated here. Dot products are taken in twice the precision, sums by `math.fsum`, norms outward; a loss
itself is evaluated in float64 to within a few units of its last place, which `slack` allows for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from noregret._native import exact_combination, exact_dots, exact_squares
from noregret.domain import support
from noregret.errors import SettingError
from noregret.interval import Interval, ends, total
from noregret.loss import Loss
from noregret.rounds import Rounds
from noregret.stream.block import Dense, Floats, Rows

Vector = NDArray[np.float64]
EPS = 2.0**-52
TINY = 1e-300
VAST, UNIT = 2.0**900, 2.0**200  # numbers above VAST overflow when a product takes them apart


def margins(rounds: Rounds, u: Vector) -> tuple[Vector, Vector]:
    """Lower and upper ends of ⟨u, x_t⟩ for every round."""
    out = np.empty((len(rounds), 3))
    u = np.ascontiguousarray(u, dtype=np.float64)
    exact_dots(rounds.native, u, out)
    if _apart(rounds, out):
        return ends(out)
    return _in_two(rounds, lambda part: margins(part, u))


def row_norms2(rounds: Rounds) -> tuple[Vector, Vector]:
    """Lower and upper ends of ‖x_t‖² for every round."""
    out = np.empty((len(rounds), 3))
    exact_squares(rounds.native, out)
    return ends(out)


def largest_norm(rounds: Rounds) -> Interval:
    """r = max‖x‖."""
    low, high = row_norms2(rounds)
    return Interval(max(float(low.max(initial=0.0)), 0.0), float(high.max(initial=0.0))).sqrt()


def norm(v: Vector) -> Interval:
    """‖v‖ of a vector of floats, as near as two floats can enclose it."""
    largest = float(np.abs(v).max(initial=0.0))
    if largest == 0.0 or not math.isfinite(largest):
        return Interval.of(0.0) if largest == 0.0 else Interval(0.0, math.inf)
    scale = _unit(largest)
    return _root_of_squares(np.abs(v) * scale, np.abs(v) * scale) / scale


def combined(rounds: Rounds, alpha: Vector) -> tuple[Vector, Vector]:
    """Lower and upper ends of Σ k·α_t·x_t, feature by feature."""
    totals = np.zeros((rounds.width, 3))
    if rounds.weights is None:
        exact_combination(rounds.native, np.ascontiguousarray(alpha), totals)
    else:
        # k·α as the sum of two floats, so that nothing of the product is lost
        high = rounds.weights * alpha
        low = _product_tail(rounds.weights, alpha, high)
        exact_combination(rounds.native, high, totals)
        exact_combination(rounds.native, low, totals)
    if _apart(rounds, totals):
        return ends(totals)
    return _in_two(rounds, lambda part: combined(part, alpha))


def _values_of(rows: Rows) -> Floats:
    return rows.X if isinstance(rows, Dense) else rows.values


def _apart(rounds: Rounds, triples: NDArray[np.float64]) -> bool:
    """Whether sums overflowed only where they are too large themselves: all numbers could be taken apart."""
    return bool(np.isfinite(triples).all()) or not bool((np.abs(_values_of(rounds.rows)) > VAST).any())


def _in_two(rounds: Rounds, of: Callable[[Rounds], tuple[Vector, Vector]]) -> tuple[Vector, Vector]:
    """Ends of what is linear in the rows, where some numbers are too large to be split: those in units of 2²⁰⁰."""
    rows, values = rounds.rows, _values_of(rounds.rows)
    vast = np.abs(values) > VAST
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = of(replace(rounds, rows=_with(rows, np.where(vast, 0.0, values))))
        far_low, far_high = of(replace(rounds, rows=_with(rows, np.where(vast, values / UNIT, 0.0))))
        low, high = np.nextafter(low + far_low * UNIT, -np.inf), np.nextafter(high + far_high * UNIT, np.inf)
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


def _with(rows: Rows, values: Vector) -> Rows:
    return Dense(values) if isinstance(rows, Dense) else replace(rows, values=values)


def norm_between(lo: Vector, hi: Vector) -> Interval:
    """‖v‖ of a vector known feature by feature."""
    largest = float(np.maximum(np.abs(lo), np.abs(hi)).max(initial=0.0))
    if largest == 0.0:
        return Interval.of(0.0)
    if not math.isfinite(largest):
        return Interval(0.0, math.inf)
    scale = _unit(largest)
    low = np.where((lo <= 0.0) & (hi >= 0.0), 0.0, np.minimum(np.abs(lo), np.abs(hi)))
    return _root_of_squares(low * scale, np.maximum(np.abs(lo), np.abs(hi)) * scale) / scale


def losses(loss: Loss, z: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Lower and upper ends of ℓ(z, y) at scores that are exactly z."""
    with np.errstate(over="ignore", invalid="ignore"):
        value = loss.values(z, y)
        slack = loss.slack(value, z, y)
    if math.isfinite(loss.limit):
        top = loss.limit
        return np.maximum(np.minimum(value, top) - np.minimum(slack, 16.0 * EPS * top + TINY), 0.0), value + slack
    sound = np.isfinite(value)  # one that overflowed has no upper end, and of the lower one nothing is known
    value, slack = np.where(sound, value, 0.0), np.where(sound, slack, np.inf)
    return np.maximum(value - slack, 0.0) if not loss.custom else value - slack, value + slack


def loss_total(loss: Loss, z: Vector, y: Vector, weights: Vector | None) -> Interval:
    """Σ k·ℓ(z, y) at scores that are exactly z."""
    return _weighted(*losses(loss, z, y), weights)


def risk(rounds: Rounds, loss: Loss, u: Vector, sigma: float = 0.0) -> Interval:
    """Σ k·ℓ(⟨u, x⟩, y) + (σT/2)‖u‖²."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = _weighted(*between(loss, *margins(rounds, u), rounds.y), rounds.weights)
    if sigma:
        found = found + norm(u).square() * (Interval.of(sigma) * (0.5 * len(rounds)))
    return found


def between(loss: Loss, lo: Vector, hi: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Ends of ℓ(z, y) for z between lo and hi: below the larger of the two there, above the tangent at the first."""
    at_lo, at_hi = losses(loss, lo, y), losses(loss, hi, y)
    with np.errstate(over="ignore", invalid="ignore"):
        steep = np.where(hi > lo, np.abs(loss.gradients(lo, y)), 0.0)
        drop = steep * (hi - lo) * (1.0 + 8.0 * EPS)
        return at_lo[0] - drop, np.maximum(at_lo[1], at_hi[1])


def dual(rounds: Rounds, loss: Loss, alpha: Vector, radius: float, sigma: float = 0.0) -> Interval:
    """−Σ k·ℓ*(α) − (what the domain and the regulariser take): a lower bound on the best comparator's loss."""
    lo, hi = conjugates(loss, alpha, rounds.y)
    paid = _weighted(lo, hi, rounds.weights)
    # every loss that has a dual here is at least 0, and so is the best comparator's
    return (-paid - support(norm_between(*combined(rounds, alpha)), radius, sigma * len(rounds))).positive()


def tangent_dual(rounds: Rounds, loss: Loss, z: Vector, alpha: Vector, radius: float, sigma: float = 0.0) -> Interval:
    """Σ k(ℓ(z) − αz) − max{‖Σ kαx‖·‖u‖ − (σT/2)‖u‖²}: no comparator is below, if α are the slopes of a convex ℓ at z.

    A slope is trusted to a few units of its last place, as a loss's value is.
    """
    product = alpha * z
    slack = 16.0 * EPS * np.abs(product) + TINY
    low, high = losses(loss, z, rounds.y)
    ends = np.nextafter(low - product - slack, -np.inf), np.nextafter(high - product + slack, np.inf)
    weights = np.ones(len(z)) if rounds.weights is None else rounds.weights
    found = total(np.nextafter(weights * ends[0], -np.inf), np.nextafter(weights * ends[1], np.inf))
    return found - support(norm_between(*combined(rounds, alpha)), radius, sigma * len(rounds))


def conjugates(loss: Loss, alpha: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Lower and upper ends of ℓ*(α); an α outside the dual domain is an error, not an infinity."""
    if not in_dual_domain(loss, alpha, y):
        raise SettingError(f"loss {loss.name}: a dual point lies outside its domain")
    value = loss.conjugate(alpha, y)
    slack = loss.conjugate_slack(value, alpha, y)
    slack = np.where(alpha == 0.0, 0.0, slack)  # ℓ*(0) is 0 for every loss that has one here
    return value - slack, value + slack


def clipped(loss: Loss, alpha: Vector, y: Vector) -> Vector:
    """The nearest point of the dual domain: where rounding has left it by a hair."""
    return np.clip(alpha, *_inside(loss, y))


def in_dual_domain(loss: Loss, alpha: Vector, y: Vector) -> bool:
    """Whether every ℓ*(α) is finite, decided without rounding."""
    low, high = _inside(loss, y)
    return bool(np.isfinite(alpha).all() and (alpha >= low).all() and (alpha <= high).all())


def _inside(loss: Loss, y: Vector) -> tuple[Vector, Vector]:
    """The floats that lie in the dual domain run from the first to the second."""
    negative, positive = loss.slope_ends
    return np.where(y > 0.0, positive[0], negative[0]), np.where(y > 0.0, positive[1], negative[1])


def _weighted(lo: Vector, hi: Vector, weights: Vector | None) -> Interval:
    if weights is not None:
        lo = np.minimum(np.nextafter(weights * lo, -np.inf), weights * lo)
        hi = np.maximum(np.nextafter(weights * hi, np.inf), weights * hi)
    return total(lo, hi)


def _unit(largest: float) -> float:
    """A power of two that brings numbers of this size near 1: no rounding, no overflow."""
    return math.ldexp(1.0, min(-math.frexp(largest)[1], 1000))


def _root_of_squares(lo: Vector, hi: Vector) -> Interval:
    """√Σv² for numbers of at most 1 in size, some of them small."""
    there = (lo != 0.0) | (hi != 0.0)  # the others add nothing, and of a wide vector they are many
    lo, hi = lo[there], hi[there]
    low = lo * lo
    high = hi * hi
    tails = _product_tail(hi, hi, high)
    exact = bool((lo == hi).all() and (tails == 0.0).all() and not ((high == 0.0) & (hi != 0.0)).any())
    if exact:
        return total(low, high).sqrt()
    return total(np.nextafter(low, 0.0), np.nextafter(high, np.inf)).sqrt()


def _product_tail(a: Vector, b: Vector, product: Vector) -> Vector:
    """What a·b lost in rounding to `product` (Dekker)."""
    split = 134217729.0
    a1 = split * a - (split * a - a)
    b1 = split * b - (split * b - b)
    a2, b2 = a - a1, b - b1
    return np.asarray(((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2)
