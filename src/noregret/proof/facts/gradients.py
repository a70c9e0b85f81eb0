"""What regret bounds are made from: norms and sums of the gradients g_t, enclosed.

For gradient descent they are recomputed from the rounds: g_t = k·s·x_t, s the slope of the loss at the score that was
predicted. With a regulariser g_t = k·s·x_t + σw_t, and the run's own figures are taken with an allowance for rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import REFRESH, SMALL, SMALL_REFRESH
from noregret.interval import Interval, total
from noregret.loss import Loss
from noregret.proof import enclose
from noregret.rounds import Rounds, as_sparse
from noregret.run import Run

Vector = NDArray[np.float64]
EPS = 2.0**-52
TINY = 1e-300
NOTHING = Interval(-math.inf, math.inf)  # where a figure is not kept


@dataclass(frozen=True)
class Gradients:
    """max‖g‖, Σ‖g‖², Σ‖g‖²/√t, Σ‖g‖²/t over all rounds t = 1, 2, …; Σ⟨g, w⟩, ‖Σg‖ and Σg itself where they are kept."""

    max_norm: Interval
    sum_norm2: Interval
    sum_norm2_over_sqrt_t: Interval
    sum_norm2_over_t: Interval
    sum_dot_weights: Interval = NOTHING
    norm_of_sum: Interval = NOTHING
    total: Vector = field(default_factory=lambda: np.zeros(0))  # Σg, nearest floats
    slopes: Vector = field(default_factory=lambda: np.zeros(0))  # k·s


def roundings(rounds: Rounds) -> float:
    """How much, relatively, the roundings of a run's own steps may have moved what its theorem says of exact steps.

    Every round adds a few units in the last place for each feature. The norm that the projection goes by is carried
    along for up to REFRESH updates, SMALL_REFRESH where features are few, before it is taken from the weights.
    """
    carried = min(len(rounds), REFRESH if rounds.width > SMALL else SMALL_REFRESH)
    return (len(rounds) + 64.0) * (min(rounds.width, 4096) + 64.0 + carried) * 2.0**-50


def plain(rounds: Rounds, loss: Loss, row_squares: tuple[Vector, Vector]) -> Gradients:
    """Of g_t = k·s·x_t, ‖x_t‖² lying between the ends given."""
    assert rounds.scores is not None
    slopes = loss.gradients(rounds.scores, rounds.y)
    taken = slopes if rounds.weights is None else rounds.weights * slopes
    off = slope_error(loss)
    lo, hi = norms2(row_squares, np.abs(taken), off)
    t = np.arange(1.0, len(rounds) + 1.0)
    sums = enclose.combined(rounds, slopes)
    lost = off * 1.001 * arithmetic.total(np.sqrt(hi))
    norm = enclose.norm_between(*sums)
    return Gradients(
        Interval(float(lo.max(initial=0.0)), float(hi.max(initial=0.0))).sqrt(),
        total(lo, hi),
        total(lo / np.sqrt(t) * (1.0 - 4.0 * EPS), hi / np.sqrt(t) * (1.0 + 4.0 * EPS)),
        total(lo / t * (1.0 - 4.0 * EPS), hi / t * (1.0 + 4.0 * EPS)),
        dots(taken, rounds.scores, rounds.scores, off),
        Interval.outward(norm.lo - lost, norm.hi + lost).positive() if lost else norm,
        0.5 * sums[0] + 0.5 * sums[1],
        taken,
    )


def sums(rounds: Rounds, loss: Loss) -> tuple[Vector, Vector]:
    """Both ends of Σ_t g_{t,i} for every coordinate."""
    assert rounds.scores is not None
    slopes = loss.gradients(rounds.scores, rounds.y)
    low, high = enclose.combined(rounds, slopes)
    lost = slope_error(loss)
    if not lost:
        return low, high
    # a slope known to within a share of itself moves the sum by at most that share of Σ|g_i|
    sizes = replace(rounds, rows=rounds.rows.with_values(np.abs(rounds.rows.values)))
    reach = enclose.combined(sizes, np.abs(slopes))[1] * (lost * 1.001)
    return np.nextafter(low - reach, -np.inf), np.nextafter(high + reach, np.inf)


def coordinate_squares(rounds: Rounds, slopes: Vector, loss: Loss) -> tuple[Vector, Vector]:
    """Both ends of Σ_t g²_{t,i} for every coordinate, g = slopes[t]·x_t."""
    rows = as_sparse(rounds.rows)
    parts = (np.repeat(slopes, np.diff(rows.indptr)) * rows.values) ** 2
    found: Vector = np.bincount(rows.indices, parts, minlength=rounds.width).astype(np.float64)
    # a sum of n numbers that are not negative loses less than n units of its last place
    off = (len(rounds) + 8.0) * EPS + 3.0 * slope_error(loss)
    return found * (1.0 - off), np.where(found > 0.0, found * (1.0 + off) + TINY, 0.0)


def along(rounds: Rounds, loss: Loss, slopes: Vector, u: Vector) -> Interval:
    """Σ⟨g, u⟩ for g = slopes[t]·x_t."""
    return dots(slopes, *enclose.margins(rounds, u), slope_error(loss))


def slope_error(loss: Loss) -> float:
    """How far, relatively, the slope as computed may lie from a subgradient of the loss."""
    return 0.0 if loss.whole_slopes else 16.0 * EPS


def norms2(row_squares: tuple[Vector, Vector], slopes: Vector, off: float) -> tuple[Vector, Vector]:
    """Lower and upper ends of ‖g_t‖² for every round."""
    low2, high2 = row_squares
    slack = 3.0 * off + 8.0 * EPS
    lo = np.maximum(slopes * slopes * low2 * (1.0 - slack), 0.0)
    hi = slopes * slopes * high2 * (1.0 + slack)
    return lo, np.where((slopes != 0.0) & (high2 > 0.0), hi + TINY, 0.0)


def dots(slopes: Vector, lo: Vector, hi: Vector, off: float) -> Interval:
    """Σ s·z for z between lo and hi, each s known to within |s|·off and one rounding."""
    a, b = slopes * lo, slopes * hi
    slack = (off + 4.0 * EPS) * np.maximum(np.abs(a), np.abs(b)) + TINY
    slack = np.where((slopes == 0.0) | ((np.abs(slopes) == 1.0) & (off == 0.0)), 0.0, slack)
    return total(np.minimum(a, b) - slack, np.maximum(a, b) + slack)


def regularised(run: Run, rounds: Rounds) -> Gradients:
    """Of g_t = k·s·x_t + σw_t, from the run's own figures.

    They are differences, so what they lost is measured by B = max k|s|‖x‖, which bounds σ‖w‖ too.
    """
    figures, B = run.gradient, slope_bound(run, rounds)
    each = roundings(rounds) * B * B * 4.0
    t = len(rounds)
    harmonic = arithmetic.log(t + 1.0) + 1.0
    highest = figures["max_norm"] * figures["max_norm"]
    return Gradients(
        _within(highest, each + highest * 8.0 * EPS).sqrt(),
        _within(figures["sum_norm2"], each * t),
        _within(figures["sum_norm2_over_sqrt_t"], each * 2.0 * math.sqrt(t)),
        _within(figures["sum_norm2_over_t"], each * harmonic),
    )


def slope_bound(run: Run, rounds: Rounds) -> float:
    """max k|s|‖x‖, rounded up."""
    return plain(rounds, run.learner.loss, enclose.row_norms2(rounds)).max_norm.hi


def _within(value: float, error: float) -> Interval:
    return Interval.around(value, error).positive()
