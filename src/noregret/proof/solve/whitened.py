"""The comparator of the second-order perceptron's bound: min_v Σ h(v) + √(L·vᵀAv), A = aI + Σ_I x·xᵀ.

With A = CCᵀ and z = Cᵀv this is Σ h + √L·‖z‖ on the rows C⁻¹x, a problem that is solved elsewhere. Any v is a sound
comparator: nothing that is solved here is trusted.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from noregret.proof.solve.design import Design
from noregret.proof.solve.perceptron import penalised
from noregret.rounds import Rounds, Vector
from noregret.stream.block import Dense
from noregret.threads import calm

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
    X, (ends, indices, values) = np.zeros((len(rounds), rounds.width)), rounds.rows.given
    X[np.repeat(np.arange(len(rounds)), np.diff(ends)), indices] = values
    return X
