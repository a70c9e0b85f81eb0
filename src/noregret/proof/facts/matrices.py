"""A second-order learner's matrices once more: what its rounds are known to have been, in exact arithmetic.

A_t = aI + Σ k·x·xᵀ over the chosen rounds up to and including t, b_t = Σ k·y·x over those before. For any vector q near
to A_t⁻¹x with residual r = x − A_t·q, A_t ⪰ aI gives ‖A_t^(−1/2)r‖ ≤ ‖r‖/√a, so that

    |⟨x, A_t⁻¹x⟩ − ⟨x, q⟩| ≤ ‖r‖/√(ka)   and   |⟨b_t, A_t⁻¹x⟩ − ⟨b_t, q⟩| ≤ √(Σ k·y²)·‖r‖/√a,

since k⟨x, A_t⁻¹x⟩ ≤ 1 and ⟨b_t, A_t⁻¹b_t⟩ ≤ Σ k·y² over the rounds before. How q was found does not matter. What
rounding takes from r, A_t and the products is bounded by |A_ij| ≤ √(A_ii·A_jj), |b_j| ≤ √(Σ k·y²)·√A_jj and
|x_j| ≤ √(A_jj/k).

ln det(A_T/a) = Σ −ln(1 − k⟨x, A_t⁻¹x⟩), as det A_{t−1} = det A_t·(1 − k⟨x, A_t⁻¹x⟩); and by Hadamard it is at most
Σ_j ln(A_jj/a). The smaller of the two upper ends is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import follow_matrix
from noregret.interval import Interval, least, total
from noregret.rounds import Rounds

Vector = NDArray[np.float64]
WIDER = 1.01  # the roundings of the error bounds themselves
TINY = 1e-150


@dataclass(frozen=True)
class Matrices:
    """Of each chosen round: ⟨x, A_t⁻¹x⟩ between its ends, ⟨b_t, A_t⁻¹x⟩ and how far that may be off."""

    ridge: float
    chosen: NDArray[np.int64]
    weights: Vector
    lo: Vector
    hi: Vector
    scores: Vector
    errors: Vector
    log_det: Interval  # ln det(A_T/a)
    trace: Interval  # Σ k‖x‖²

    @property
    def steps(self) -> Interval:
        """Σ ⟨x, A_t⁻¹x⟩."""
        return total(self.lo, self.hi)


def matrices(rounds: Rounds, chosen: NDArray[np.int64], ridge: float) -> Matrices:
    """The matrices of a learner that took in these rounds."""
    n, count = rounds.width, len(chosen)
    kept = (ridge * np.eye(n), np.eye(n) / ridge, np.zeros(n), np.zeros(n), np.zeros(n))
    weights = np.zeros(0) if rounds.weights is None else rounds.weights
    out = np.zeros((count, 5))
    follow_matrix(rounds.native, rounds.y, weights, chosen, ridge, *kept, n, out)
    scores, forms, rest, size, trace = out.T
    k, y = np.ones(count) if rounds.weights is None else rounds.weights[chosen], rounds.y[chosen]
    unit = (n + count + 16.0) * 2.0**-52  # twice what n + count + 16 roundings can do
    known = np.sqrt(np.concatenate([[0.0], np.cumsum(k * y * y)])[:-1])
    with np.errstate(over="ignore", invalid="ignore"):  # a residual beyond numbers may be off by anything
        off = WIDER * (rest + unit * (np.sqrt(trace / k) + np.sqrt(trace) * size)) + TINY * (1.0 + size)
        form_off = WIDER * (unit * size / np.sqrt(k) + off / np.sqrt(k * ridge))
        errors = np.where(known > 0.0, WIDER * known * (unit * size + off / math.sqrt(ridge)), 0.0)
    lo, hi = np.maximum(forms - form_off, 0.0), np.minimum(forms + form_off, np.nextafter(1.0 / k, np.inf))
    diagonal = np.diag(kept[0])
    return Matrices(
        ridge,
        chosen,
        k,
        lo,
        hi,
        scores,
        errors,
        _log_det(k, lo, hi, diagonal, ridge, unit),
        _trace(diagonal, ridge, n, unit),
    )


def _log_det(k: Vector, lo: Vector, hi: Vector, diagonal: Vector, ridge: float, unit: float) -> Interval:
    """ln det(A_T/a) from the steps, and from the diagonal."""
    low = -arithmetic.log1p(-np.minimum(np.nextafter(k * lo, 0.0), 1.0 - 2.0**-53))
    part = np.nextafter(k * hi, np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        high = np.where(part < 1.0, -arithmetic.log1p(-np.minimum(part, 1.0)), np.inf)
    by_steps = total(low * (1.0 - 2.0**-50), high * (1.0 + 2.0**-50))
    ends = arithmetic.log(np.maximum(diagonal / ridge * (1.0 + unit), 1.0)) * (1.0 + 2.0**-50)
    return Interval(max(by_steps.lo, 0.0), least(by_steps, total(ends, ends)).hi)


def _trace(diagonal: Vector, ridge: float, n: int, unit: float) -> Interval:
    """tr A_T − d·a."""
    found = total(diagonal * (1.0 - unit), diagonal * (1.0 + unit)) - Interval.of(ridge) * float(n)
    return found.positive()
