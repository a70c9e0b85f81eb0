"""The best fixed model of rows on shards: Newton's method, in which a shard gives sums and never a row.

An iteration asks every shard for its loss, its part of the dual value, Σ α·x and, of few features, the matrix of their
curvature; of many features products with it. A loss with a kink is smoothed by a width that shrinks. The points found
are proved by `on_shards`, whatever happened here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError
from noregret.loss import Loss, parse
from noregret.proof.hindsight import Hindsight, shrunk
from noregret.proof.on_shards import on_shards, spec_of
from noregret.proof.solve.design import Design, length_of
from noregret.proof.solve.newton import MATRIX_WIDTH, step
from noregret.proof.solve.region import Ball
from noregret.proof.solve.smoothing import shape_of
from noregret.shards.engine import Engine
from noregret.shards.shard import Shard, touched

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Places = NDArray[np.int64]
TAUS = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4, 1e-6)
CAUGHT_UP = 0.3  # the rest of the gap, as a share of what smoothing leaves, at which the width shrinks
SHRINK = 0.1
LEAST_WIDTH = 1e-14
ITERATIONS = 150
PRODUCTS = 16  # with the curvature of many features, an iteration: each is a round of all shards
IDLE = 4  # iterations without a hundredth of the gap gained


@dataclass(frozen=True)
class Seen:
    """What a shard says of a point: its loss, Σ ℓ*(α), Σ α·x, and the curvature where it was asked for."""

    total: float
    conjugate: float
    sum: Vector
    ceiling: float
    curvature: Matrix | None


def look(shard: Shard, places: Places, spec: str, u: Vector, width: float, curved: bool) -> Seen:
    rounds = shard.compact(places)
    shape = shape_of(rounds, parse(spec))
    design = Design(rounds.native, rounds.width, len(rounds), 0)
    with np.errstate(all="ignore"):
        z = design.scores(u)
        alpha = shape.slopes(z, width)
        H = design.curvature(shape.curvatures(z, width)) if curved else None
        ceiling = shape.steepest(width) * float(design.column_squares().max(initial=0.0))
        return Seen(shape.total(z), shape.conjugate(z, alpha), design.combine(shape.weights * alpha), ceiling, H)


def curving(shard: Shard, places: Places, spec: str, u: Vector, width: float, v: Vector) -> Vector:
    """Σ ℓ''·⟨v, x⟩·x at u."""
    rounds = shard.compact(places)
    shape = shape_of(rounds, parse(spec))
    design = Design(rounds.native, rounds.width, len(rounds), 0)
    with np.errstate(all="ignore"):
        return design.combine(shape.curvatures(design.scores(u), width) * design.scores(v))


def along(shard: Shard, places: Places, spec: str, u: Vector, p: Vector, width: float) -> Vector:
    """The smoothed loss at u and at u + τp for each τ."""
    rounds = shard.compact(places)
    shape = shape_of(rounds, parse(spec))
    design = Design(rounds.native, rounds.width, len(rounds), 0)
    found = []
    with np.errstate(all="ignore"):
        z, far = design.scores(u), design.scores(p)
        for tau in (0.0, *TAUS):
            here = z + tau * far
            if not shape.kinked:
                found.append(shape.total(here))
                continue
            alpha = shape.slopes(here, width)
            linear = float(shape.weights @ (alpha * here - 0.5 * width * alpha * alpha))
            found.append(linear - shape.conjugate(here, alpha))
    return np.array(found)


@dataclass
class Spread:
    """The search: where it is, and the best that was found."""

    engine: Engine
    places: Places  # the features that some row has: the weights of others stay 0
    spec: str
    region: Ball
    width: float
    damping: float = 1e-10
    best: tuple[float, Vector] = field(default_factory=lambda: (math.inf, np.zeros(0)))
    dual: tuple[float, Vector, float] = field(default_factory=lambda: (-math.inf, np.zeros(0), 0.0))
    iterations: int = 0

    @property
    def features(self) -> int:
        return len(self.places)

    @property
    def gap(self) -> float:
        return (self.best[0] - self.dual[0]) / max(self.best[0], 1.0)

    def at(self, u: Vector) -> tuple[Vector, Matrix | None, float, float]:
        """Look at a point: Σ α·x, the curvature, its ceiling, and what smoothing leaves of the gap there."""
        self.iterations += 1
        seen = self.engine.each(look, self.places, self.spec, u, self.width, self.features <= MATRIX_WIDTH)
        g = sum((one.sum for one in seen), start=np.zeros(self.features))
        total, paid = sum(one.total for one in seen), sum(one.conjugate for one in seen)
        if total < self.best[0]:
            self.best = total, u
        lower = -paid - self.region.support(length_of(g))
        if lower > self.dual[0]:
            self.dual = lower, u, self.width
        known = [one.curvature for one in seen if one.curvature is not None]
        H = sum(known, start=np.zeros((1, 1))) if known else None
        return g, H, sum(one.ceiling for one in seen), max(total + paid - float(u @ g), 0.0)

    def moved(self, u: Vector, g: Vector, H: Matrix | None, ceiling: float) -> Vector | None:
        """To the least point on the way to the minimiser of the model; None where nothing falls on it."""
        near = self.region.multiplier(length_of(u), length_of(g)) if u.any() else 0.0
        damping = np.full(self.features, self.damping * max(ceiling, 1e-300))
        try:
            if H is None:
                p = step(self._image(u, damping), self.features, self.region, u, g, near, PRODUCTS)
            else:
                p = self.region.step(H + np.diag(damping), g, u, near)
        except np.linalg.LinAlgError:
            p = np.full(self.features, math.nan)
        if not np.isfinite(p).all():
            self.damping = min(100.0 * self.damping, 1.0)
            return None
        values = sum(self.engine.each(along, self.places, self.spec, u, p, self.width), start=np.zeros(1 + len(TAUS)))
        place = int(np.argmin(values[1:]))
        if not values[1:][place] < values[0]:
            self.damping = min(100.0 * self.damping, 1.0)
            return None
        self.damping = max(self.damping * (0.1 if TAUS[place] > 0.5 else 10.0 if TAUS[place] < 0.1 else 1.0), 1e-13)
        return u + TAUS[place] * p

    def _image(self, u: Vector, damping: Vector) -> Callable[[Vector], Vector]:
        def image(v: Vector) -> Vector:
            parts = self.engine.each(curving, self.places, self.spec, u, self.width, v)
            return sum(parts, start=np.zeros(self.features)) + damping * v

        return image


def best_on(
    engine: Engine, loss: Loss, radius: float, features: int, *, gap: float = 1e-4, seconds: float = math.inf
) -> tuple[Hindsight, Vector, float]:
    """The best model of norm at most `radius` for the rows of all shards, with the point and the width of its dual.

    Smooth losses are solved to the gap; a loss with a kink to the gap that the iterations reach.
    """
    if not 0.0 < radius < math.inf:
        raise SettingError(f"hindsight: radius must be positive and finite, got {radius}")
    began = time.perf_counter()
    kinked = loss.bend is not None and loss.bend(np.ones(1), loss.number).width == 0.0
    places = np.unique(np.concatenate(engine.each(touched)))
    search = Spread(engine, places, spec_of(loss), Ball(radius), 1.0 if kinked else 0.0)
    _search(search, gap, began + seconds)
    u, at = np.zeros(features), np.zeros(features)
    u[places], at[places] = search.best[1], search.dual[1]
    u, width = shrunk(u, radius), search.dual[2]
    found = on_shards(engine, loss, u, at, width, radius)
    took = time.perf_counter() - began
    method = "newton on shards"
    done = found.gap <= gap
    return replace(found, method=method, iterations=search.iterations, seconds=took, finished=done), at, width


def _search(search: Spread, gap: float, deadline: float) -> None:
    u, gained, idle = np.zeros(search.features), math.inf, 0
    for _ in range(ITERATIONS):
        g, H, ceiling, excess = search.at(u)
        rest = (search.best[0] - search.dual[0]) - excess
        if search.gap <= 0.8 * gap or time.perf_counter() > deadline:
            return
        idle = 0 if search.gap < 0.99 * gained else idle + 1
        gained = min(gained, search.gap)
        there = None if search.width and rest <= CAUGHT_UP * excess else search.moved(u, g, H, ceiling)
        if there is not None and idle < IDLE:
            u = search.region.inside(there)
        elif search.width > LEAST_WIDTH:
            search.width, idle, search.damping = SHRINK * search.width, 0, 1e-10
        elif search.damping >= 1.0 or idle >= IDLE:
            return
