"""Comparators for mixed perceptrons: the last mixture and a model of small hinge loss, each at its best length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret.loss import hinge
from noregret.proof.solve.design import Design, length_of
from noregret.proof.solve.spread import best_on
from noregret.shards.engine import Engine
from noregret.shards.shard import Shard

Vector = NDArray[np.float64]
COARSE = tuple(2.0**power for power in range(-24, 25))
FINE = tuple(2.0 ** (part / 16.0) for part in range(-16, 17))
BEYOND = 1.0 + 2.0**-40  # a separator a little longer than need be, so that rounding leaves it one
LOOSE = 1e-2  # the gap to which a model of small hinge loss is looked for


@dataclass(frozen=True)
class Scaled:
    """Σ h(c·w) of a shard for several c, and the least y⟨w,x⟩."""

    hinges: Vector
    margin: float


def scaled(shard: Shard, w: Vector, scales: Sequence[float]) -> Scaled:
    rounds = shard.rounds
    with np.errstate(all="ignore"):
        z = rounds.y * Design(rounds.native, rounds.width, len(rounds), 0).scores(w)
        found = [float(np.maximum(1.0 - c * z, 0.0).sum()) for c in scales]
    return Scaled(np.array(found), float(z.min(initial=math.inf)))


def comparators(engine: Engine, weights: Vector, shares: Sequence[float], longest: float) -> dict[str, Vector]:
    """Comparators by name, for shards that count by these shares and rows of at most this length."""
    if not weights.any() or not np.isfinite(weights).all():
        return {"v_zero": np.zeros(len(weights))}
    found = _along(engine, weights, shares, longest, "mixture")
    reached = max(length_of(point) for point in found.values())
    if 0.0 < reached < math.inf:
        for name, part in (("near", 0.25), ("middle", 1.0), ("far", 4.0)):
            u = best_on(engine, hinge(), part * reached, len(weights), gap=LOOSE, seconds=20.0)[0].u
            if u.any():
                found |= _along(engine, u, shares, longest, name)
    return found


def _along(engine: Engine, w: Vector, shares: Sequence[float], longest: float, name: str) -> dict[str, Vector]:
    """The best length of a direction for the root bound, and the shortest separator along it if there is one."""
    size, found = length_of(w), dict[str, Vector]()
    scale = 1.0 / (size * longest) if longest else 1.0
    for steps in (COARSE, FINE):
        scales = [scale * step for step in steps]
        parts = engine.each(scaled, w, scales)
        c = sum((share * part.hinges for share, part in zip(shares, parts, strict=True)), start=np.zeros(len(scales)))
        b = longest * size * np.array(scales)
        scale = scales[int(np.argmin(c + b * b / 2.0 + b * np.sqrt(c + b * b / 4.0)))]
    margin = min(part.margin for part in parts)
    found[f"v_{name}"] = scale * w
    if margin > 0.0:
        found[f"v_{name}_separates"] = BEYOND / margin * w
    return {key: point for key, point in found.items() if np.isfinite(point).all()}
