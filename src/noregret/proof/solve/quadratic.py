"""Where the quadratic certificate's sum of parabolas is least: (λI + Σ k·h·x·xᵀ)θ = Σ k(h·z − s)x.

Nothing that is solved here is trusted: a point beside the minimum is as sound, and its bound is larger.
"""

from __future__ import annotations

import numpy as np

from noregret.loss import Loss
from noregret.proof.solve.design import Design
from noregret.rounds import Rounds, Vector
from noregret.threads import calm

STEPS = 3  # Newton's: one would do but for rounding


def lowest(rounds: Rounds, loss: Loss, h: Vector, ridge: float) -> Vector:
    """θ for minorants with the curvatures h."""
    assert rounds.scores is not None
    design, nothing = Design.of(rounds), np.zeros(rounds.width)
    k = 1.0 if rounds.weights is None else rounds.weights
    slopes = loss.gradients(rounds.scores, rounds.y)
    with np.errstate(all="ignore"), calm(len(rounds), rounds.width):
        pull = ridge * design.scale * design.scale  # λ in the units of the design
        H = design.curvature(k * h) + pull * np.eye(rounds.width)
        theta = nothing  # as the design has it
        try:
            for _ in range(STEPS):
                taken = k * (slopes + h * (design.scores(theta) - rounds.scores))
                theta = theta - np.linalg.solve(H, design.combine(taken) + pull * theta)
        except (np.linalg.LinAlgError, ValueError):
            return nothing
        found = design.outward(theta)
        return found if np.isfinite(found).all() else nothing
