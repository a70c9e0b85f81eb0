"""The point of the convex hull of all y·x that is nearest to 0: its length is the best margin (Wolfe 1976).

A set of corners is kept whose hull holds the nearest point of their plane; the corner that lies furthest back joins it,
and corners whose weight would turn negative leave it. With the corners as the columns of P = QR the point's direction
is u = Qz, Rᵀz = 1, which has ⟨u, p⟩ = 1 at each of them, and its weights are in proportion to R⁻¹z: the corners' own
factors, never their products, since a margin may be a billionth of the rows.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret.proof.solve.design import Design
from noregret.rounds import Rounds, Vector
from noregret.stream.block import Dense
from noregret.threads import calm

MOST = 5_000  # corners to join
Matrix = NDArray[np.float64]
Corners = list[int]


@dataclass(frozen=True)
class Near:
    """A direction u, and convex weights of the rounds."""

    u: Vector
    weights: Vector


def nearest_point(rounds: Rounds, gap: float, deadline: float) -> Near | None:
    """u with y⟨u, x⟩ ≥ 1 − gap on every round, ‖u‖ the least; the best so far where time or figures run out."""
    design = Design.of(rounds)
    corners, weights = [int(design.square_norms().argmin())], np.ones(1)
    found, best = None, -np.inf
    with calm(len(rounds), rounds.width), np.errstate(all="ignore"):
        for _ in range(MOST):
            u = _plane(_corners(rounds, corners))[0]
            margins = rounds.y * design.scores(design.inward(u))
            worst = int(margins.argmin())
            reached = float(margins[worst] / np.linalg.norm(u))
            if reached > best:
                found, best = Near(u, _spread(weights, corners, len(rounds))), reached
            if margins[worst] >= 1.0 - gap or worst in corners or time.perf_counter() > deadline:
                break
            joined = _joined(rounds, [*corners, worst], np.append(weights, 0.0))
            if joined is None:
                break
            corners, weights = joined
    return found


def _spread(weights: Vector, corners: Corners, count: int) -> Vector:
    found = np.zeros(count)
    found[corners] = weights
    return found


def _joined(rounds: Rounds, corners: Corners, weights: Vector) -> tuple[Corners, Vector] | None:
    """The corners that stay, with the weights of the nearest point of their plane; None where figures run out."""
    while True:
        P = _corners(rounds, corners)
        wanted = _plane(P)[1] if len(corners) <= rounds.width else _through_origin(P)
        if not np.isfinite(wanted).all():
            return None
        if (wanted > 0.0).all():
            return corners, wanted
        falling = np.flatnonzero(wanted <= 0.0)
        steps = weights[falling] / np.maximum(weights[falling] - wanted[falling], 1e-300)
        weights = np.maximum(weights + float(steps.min()) * (wanted - weights), 0.0)
        weights[falling[steps.argmin()]] = 0.0
        keep = np.flatnonzero(weights > 0.0)
        if not len(keep):
            return None
        corners, weights = [corners[place] for place in keep.tolist()], weights[keep] / weights[keep].sum()


def _corners(rounds: Rounds, corners: Corners) -> Matrix:
    """y·x of some rounds as rows of a matrix."""
    rows = rounds.rows.take(np.array(corners, dtype=np.int64))
    if isinstance(rows, Dense):
        X = np.asarray(rows.X, dtype=np.float64)
    else:
        X = np.zeros((len(corners), rounds.width))
        X[np.repeat(np.arange(len(corners)), np.diff(rows.indptr)), rows.indices] = rows.values
    return np.asarray(X * rounds.y[corners][:, None])


def _plane(P: Matrix) -> tuple[Vector, Vector]:
    """The u of least norm with ⟨u, p⟩ = 1 at every corner, and the weights of the point nearest to 0 in their plane."""
    from scipy.linalg import solve_triangular

    Q, R = np.linalg.qr(P.T)
    if not np.abs(np.diag(R)).all():
        return np.full(P.shape[1], np.nan), np.full(len(P), np.nan)
    z = solve_triangular(R, np.ones(len(P)), trans="T")
    weights = solve_triangular(R, z)
    return Q @ z, weights / weights.sum()


def _through_origin(P: Matrix) -> Vector:
    """The weights of 0 itself, where there is one corner more than features and the plane is all of space."""
    try:
        return np.linalg.solve(np.vstack([P.T, np.ones(len(P))]), np.append(np.zeros(P.shape[1]), 1.0))
    except np.linalg.LinAlgError:
        return np.full(len(P), np.nan)
