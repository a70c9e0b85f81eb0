"""A quadratic model minimised in a small subspace, where the matrix of all features would be too large.

The subspace holds the point u itself and g, Hg, H²g, …; in an orthonormal basis of it norms are what they were, so that
the region's own method applies. H is only ever multiplied by vectors.
"""

from __future__ import annotations

import numpy as np

from noregret.proof.solve.design import Design, Matrix, length_of
from noregret.proof.solve.region import Region
from noregret.rounds import Vector

DIMENSIONS = 60
NOTHING_NEW = 1e-10  # what is left of a vector, relative to it, after the basis has been taken out


def step(design: Design, w: Vector, damping: Vector, region: Region, u: Vector, g: Vector, near: float) -> Vector:
    """About argmin ½pᵀHp + gᵀp + R(u + p) with H = Σ w·xxᵀ + diag(damping)."""
    basis, images = _subspace(design, w, damping, u, g)
    if not len(basis):  # g overflowed
        return np.zeros_like(u)
    H = basis @ images.T
    found = region.step(0.5 * (H + H.T), basis @ g, basis @ u, near)
    return np.asarray(found @ basis)


def _subspace(design: Design, w: Vector, damping: Vector, u: Vector, g: Vector) -> tuple[Matrix, Matrix]:
    """An orthonormal basis, one vector a row, and H times each."""
    limit = min(DIMENSIONS, design.width)
    basis, images = np.zeros((limit, design.width)), np.zeros((limit, design.width))
    count = 0
    waiting = [u, g]
    while waiting and count < limit:
        fresh = _orthogonal(waiting.pop(0), basis[:count])
        if fresh is None:
            continue
        basis[count] = fresh
        images[count] = design.combine(w * design.scores(fresh)) + damping * fresh
        if not waiting:
            waiting.append(images[count])
        count += 1
    return basis[:count], images[:count]


def _orthogonal(a: Vector, basis: Matrix) -> Vector | None:
    """a without its part in the basis, of length 1; None where nothing is left. Twice, because once loses digits."""
    before = length_of(a)
    for _ in range(2):
        a = a - (basis @ a) @ basis
    size = length_of(a)
    return a / size if size > NOTHING_NEW * before else None
