"""The best fixed model of rows that lie on shards: each shard says what a point loses and what a dual point proves.

Shard k sends an upper end of F_k(u), and of a dual point α in the domain A_k ≤ −Σ ℓ*(α) with a_k = Σ α·x up to a
radius r_k. Then Σ A_k − U(‖Σ a_k‖ + Σ r_k) ≤ F* ≤ Σ F_k(u): no solver is trusted, and no row leaves its shard. The dual
points are the slopes of the loss at a common point, smoothed by a width where the loss has a kink.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.domain import support
from noregret.errors import SettingError
from noregret.interval import Interval, up
from noregret.loss import Loss, parse
from noregret.proof import enclose
from noregret.proof.hindsight import Hindsight
from noregret.rounds import Rounds
from noregret.shards.engine import Engine
from noregret.shards.shard import Shard

Vector = NDArray[np.float64]
HALF = 2.0**-53


@dataclass(frozen=True)
class Proved:
    """What one shard proves: its loss at a point from above, and its part of a dual bound."""

    rounds: int
    upper: float  # F_k(u)
    value: float  # A_k, rounded down
    sum: Vector  # a_k
    error: float  # r_k ≥ ‖a_k as sent − a_k‖


def proved_by(shard: Shard, spec: str, u: Vector, at: Vector, width: float) -> Proved:
    """F_k at u, and the dual point of the slopes at another point, with kinks smoothed by a width."""
    loss, rounds = parse(spec), shard.rounds
    upper = enclose.risk(rounds, loss, u).hi
    alpha = slopes(rounds, loss, enclose.margins(rounds, at)[0], width)
    low, high = enclose.conjugates(loss, alpha, rounds.y)
    paid = _weighted(low, high, rounds.weights)
    first, last = enclose.combined(rounds, alpha)
    middle = 0.5 * first + 0.5 * last
    off = np.nextafter(np.maximum(last - middle, middle - first), np.inf)
    off[first == last] = 0.0
    return Proved(len(rounds), upper, (-paid).lo, middle, enclose.norm(off).hi)


def _weighted(low: Vector, high: Vector, weights: Vector | None) -> Interval:
    from noregret.interval import total

    if weights is None:
        return total(low, high)
    low = np.minimum(np.nextafter(weights * low, -np.inf), weights * low)
    return total(low, np.maximum(np.nextafter(weights * high, np.inf), weights * high))


def slopes(rounds: Rounds, loss: Loss, z: Vector, width: float) -> Vector:
    """α at scores z, inside the dual domain: of a loss made of lines and parabolas with its bends widened."""
    if loss.bend is None:
        return enclose.clipped(loss, loss.gradients(z, rounds.y), rounds.y)
    bend = loss.bend(rounds.y, loss.number)
    kink, lo, hi = (np.array(part, dtype=np.float64) for part in (bend.kink, bend.lo, bend.hi))
    flat, wide = float(bend.flat), bend.width + width
    off = z - kink
    beyond = np.sign(off) * np.maximum(np.abs(off) - flat, 0.0)
    if not wide:
        steep = np.where(beyond > 0.0, hi, np.where(beyond < 0.0, lo, np.clip(0.0, lo, hi)))
    else:
        with np.errstate(over="ignore"):
            steep = np.clip(beyond / wide, lo, hi)
    return enclose.clipped(loss, steep, rounds.y)


def put_together(parts: Sequence[Proved], u: Vector, radius: float) -> Hindsight:
    """The interval of the best model of norm at most the radius, from what each shard proves, in their order."""
    if not radius > 0.0 or not enclose.norm(u).hi <= radius:
        raise SettingError(f"the comparator must lie in the ball of radius {radius:g}")
    upper, value = Interval.of(0.0), Interval.of(0.0)
    found, error = np.zeros(len(u)), 0.0
    for part in parts:
        upper, value = upper + part.upper, value + part.value
        found = found + part.sum
        lost = HALF * arithmetic.norm(found) * (1.0 + 2.0**-20)
        error = up(up(error + part.error) + (up(lost) if np.any(found) else 0.0))
    size = Interval(0.0, up(enclose.norm(found).hi + error))
    lower = max((value - support(size, radius, 0.0)).lo, 0.0)
    return Hindsight(u, None, lower, upper.hi, radius, 0.0)


def on_shards(engine: Engine, loss: Loss, u: Vector, at: Vector, width: float, radius: float) -> Hindsight:
    """The interval that two points prove of the rows of all shards."""
    if not (np.isfinite(u).all() and np.isfinite(at).all() and math.isfinite(width) and width >= 0.0):
        raise SettingError("the points of hindsight on shards must be finite")
    return put_together(engine.each(proved_by, loss.spec, u, at, width), u, radius)


def spec_of(loss: Loss) -> str:
    """The text that a shard reads the loss from."""
    if loss.custom or not loss.dual:
        raise SettingError(f"shards: hindsight needs a loss whose dual is known, got {loss.name}")
    return loss.spec


def as_dict(found: Hindsight, width: float) -> dict[str, Any]:
    """What is claimed of it."""
    return {"lower": found.lower, "upper": found.upper, "radius": found.radius, "width": width}
