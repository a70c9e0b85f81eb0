"""Which method for which problem, and the same problem on fewer rounds as a first guess."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from noregret.loss import Loss
from noregret.proof.solve.descent import Descent
from noregret.proof.solve.design import Design, length_of
from noregret.proof.solve.newton import MATRIX_WIDTH, Newton
from noregret.proof.solve.region import Region
from noregret.proof.solve.result import Progress
from noregret.proof.solve.smoothing import Bent, Shape, Smooth, shape_of
from noregret.rounds import Rounds, Vector
from noregret.stream.block import Sparse
from noregret.threads import calm

THIN = 16  # one round in sixteen gives the first guess
WORTH_THINNING = 40  # times as many rounds as features must be left


def solve(rounds: Rounds, design: Design, loss: Loss, region: Region, progress: Progress, u: Vector) -> str:
    """Report points to `progress` until it is content; returns the method's name. All in the design's scaled units.

    Where numbers overflow the best point so far stands: whatever is returned is evaluated again, so nothing is lost
    but the width of the interval.
    """
    shape = shape_of(rounds, loss)
    with np.errstate(all="ignore"), calm(len(rounds), rounds.width):
        _offer_origin(design, loss, shape, region, progress)
        if progress.content:
            return "the origin"
        try:
            return _searched(rounds, design, loss, shape, region, progress, u)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            return "newton, until it overflowed"


def _searched(
    rounds: Rounds,
    design: Design,
    loss: Loss,
    shape: Bent | Smooth,
    region: Region,
    progress: Progress,
    u: Vector,
) -> str:
    if rounds.width > MATRIX_WIDTH and (isinstance(shape, Bent) or loss.dual_epoch is not None):
        if Descent(design, shape, region, progress).run(u, progress.alpha):
            return "dual coordinate descent"
        u = progress.u
    if not u.any():
        u = _guess(rounds, design, loss, region, progress)
    Newton(design, shape, region, progress).run(u)
    return "newton" if loss.dual else "newton, no dual known"


def _offer_origin(design: Design, loss: Loss, shape: Shape, region: Region, progress: Progress) -> None:
    """u = 0 with its slopes and α = 0: the answer where there are no rounds, no features, or nothing to lose."""
    u, z = np.zeros(design.width), np.zeros(design.count)
    if len(progress.u) != len(u) or len(progress.alpha) != len(z):  # whatever overflows, these two are points
        progress.u, progress.alpha = u, z
    alpha = shape.slopes(z, 0.0)
    size = length_of(design.combine(shape.weights * alpha))
    factor = region.fit(size)
    lower = -shape.conjugate(z, factor * alpha) - region.support(factor * size)
    progress.offer(u, shape.total(z), alpha, lower)
    if loss.dual and lower < 0.0:
        progress.offer(u, shape.total(z), z, -shape.conjugate(z, z))


def _guess(rounds: Rounds, design: Design, loss: Loss, region: Region, progress: Progress) -> Vector:
    """The solution on every sixteenth round, or 0 where that is not worth the while."""
    u = np.zeros(design.width)
    if len(rounds) < THIN * WORTH_THINNING * rounds.width:
        return u
    part = take(rounds, np.arange(0, len(rounds), THIN))
    thin = replace(design, rows=part.native, count=len(part))
    own = Progress(max(10.0 * progress.gap, 1e-3), progress.floor, progress.deadline)
    solve(part, thin, loss, region.thinned(len(part) / len(rounds)), own, u)
    return own.u


def take(rounds: Rounds, chosen: NDArray[np.int64]) -> Rounds:
    """Some of the rounds, with the features of all."""
    rows = rounds.rows.take(chosen)
    if isinstance(rows, Sparse):
        rows = replace(rows, columns=rounds.width)
    weights = None if rounds.weights is None else rounds.weights[chosen]
    return replace(rounds, rows=rows, y=rounds.y[chosen], weights=weights, scores=None)
