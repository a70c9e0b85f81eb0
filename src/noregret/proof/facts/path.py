"""Where projected gradient descent with the step η/√t went: what the telescoped regret bound is made from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import replay_path
from noregret.interval import Interval
from noregret.rounds import Rounds

Vector = NDArray[np.float64]
LIMIT = 2e9  # rounds × features: beyond it the path is not replayed


@dataclass(frozen=True)
class Path:
    """With c_t = 1/η_{t+1} − 1/η_t: Σ c_t·w_{t+1}, Σ c_t‖w_{t+1}‖², Σ c_t‖w_{t+1}‖ over t < T, w₁ and w_{T+1}."""

    first: Vector
    last: Vector
    drift: Vector
    squares: float
    norms: float
    eta: float
    rounds: int
    allowance: float  # relative, for the roundings of the replay and of the run

    def telescoped(self, u: Vector, gradients: Interval) -> Interval:
        """‖w₁−u‖²/2η₁ + ½Σc_t‖w_{t+1}−u‖² − ‖w_{T+1}−u‖²/2η_T + `gradients`."""
        root = math.sqrt(self.rounds)
        size = arithmetic.norm(u)
        start = _distance2(self.first, u) / (2.0 * self.eta)
        middle = self.squares - 2.0 * _dot(u, self.drift) + size * size * (root - 1.0) / self.eta
        end = _distance2(self.last, u) * root / (2.0 * self.eta)
        moved = self.squares + 2.0 * size * arithmetic.norm(self.drift) + size * size * root / self.eta
        return self._near(start + 0.5 * middle - end, start + moved + end) + gradients

    def triangle(self, size: float, gradients: Interval) -> Interval:
        """The same with ‖w−u‖ ≤ ‖w‖ + ‖u‖ throughout and without the last distance, ‖u‖ being `size`."""
        start = float(np.square(arithmetic.norm(self.first) + size)) / (2.0 * self.eta)
        grown = (math.sqrt(self.rounds) - 1.0) / self.eta
        value = start + 0.5 * (self.squares + 2.0 * size * self.norms + size * size * grown)
        return self._near(value, value) + gradients

    def _near(self, value: float, size: float) -> Interval:
        if not math.isfinite(value + size):
            return Interval(-math.inf, math.inf)
        return Interval.around(value, self.allowance * size)


def replayed(rounds: Rounds, slopes: Vector, eta: float, radius: float, start: Vector, allowance: float) -> Path | None:
    """The path from `start`, g_t being slopes[t]·x_t; None where it would take too long."""
    T, width = len(rounds), max(rounds.width, len(start))
    if T * width > LIMIT:
        return None
    t = np.sqrt(np.arange(1.0, T + 1.0))
    growth = 1.0 / (eta * (t[1:] + t[:-1]))
    w = np.zeros(width)
    w[: len(start)] = start
    first, drift, sizes = w.copy(), np.zeros(width), np.zeros(2)
    replay_path(rounds.given, slopes, eta / t, growth, radius, w, drift, sizes)
    return Path(first, w, drift, float(sizes[0]), float(sizes[1]), eta, T, allowance)


def _distance2(w: Vector, u: Vector) -> float:
    both = np.zeros(max(len(w), len(u)))
    both[: len(w)] += w
    both[: len(u)] -= u
    return arithmetic.norm2(both)


def _dot(u: Vector, v: Vector) -> float:
    shared = min(len(u), len(v))
    return arithmetic.inner(u[:shared], v[:shared])
