"""One gradient step in scaled weights w = scale·z: Θ(1) scalar work, whatever the domain and the rate.

w ← (1 − ησ)·w − η·g·x becomes "shrink the scale, add c·x to z"; the projection on a ball only changes the scale.
So does a penalty (λ₂/2)‖w‖², which is met exactly (Duchi & Singer 2009): w ← (w − η·g·x)/(1 + ηλ₂).
"""

from __future__ import annotations

import math
from typing import Any

from noregret._kernel import compiled, inlined
from noregret._kernel.simplex import has_corners, settle_corners
from noregret._kernel.state import (
    BALL,
    COIN,
    CONSTANT,
    DOUBLING,
    PASSIVE,
    PASSIVE_CAPPED,
    PASSIVE_SOFT,
    REFRESH,
    SMALL,
    SQRT,
    STRONG,
    TINY,
)
from noregret._kernel.vector import norm2, rescale

SLACK = 1e-9  # how far the running norm is trusted where the exact one can be had


@inlined
def restarts(st: Any, cfg: Any) -> bool:
    """The doubling trick: at rounds 1, 2, 4, 8, … the learner starts anew for a period as long as all before."""
    t = st["rounds"] + 1
    return bool(cfg["rate"] == DOUBLING and t & (t - 1) == 0)


@inlined
def first_step(st: Any, cfg: Any, g: float, row2: float) -> float:
    """What is finite if and only if a restart's first round with slope g can be played: it must not forget in vain."""
    c = cfg["eta"] / math.sqrt(st["rounds"] + 1) * g
    return float(c * (c * row2) + st["gradient2"] + g * g * row2)


@inlined
def restart(st: Any, z: Any) -> None:
    """Forget the weights: a period begins."""
    z[:] = 0.0
    st["bias"] = 0.0
    st["scale"] = 1.0
    st["norm2"] = 0.0
    st["norm1"] = 0.0
    st["period"] = st["rounds"] + 1


@inlined
def passive_step(st: Any, cfg: Any, k: float, loss: float, row2: float) -> float:
    """τ/k for a round of weight k: τ = ℓ/‖x‖², at most kC, or ℓ/(‖x‖² + 1/(2kC)); 0 where x = 0.

    Where no C is given it is 1/max‖x‖² over the rows so far, this one included.
    """
    if row2 == 0.0:
        return 0.0
    bound = cfg["eta"] if cfg["eta"] > 0.0 else 1.0 / max(st["row_max2"], row2)
    if cfg["rate"] == PASSIVE_SOFT:
        row2 += 0.5 / (k * bound)
    tau = loss / k / row2
    if cfg["rate"] == PASSIVE_CAPPED:
        tau = min(tau, k * bound)
    return float(tau / k)


@inlined
def step_size(st: Any, cfg: Any, t: int, root: float, gradient2: float, size: float, loss: float, row2: float) -> float:
    """η_t, from the round number t, its √t, Σ‖g‖² up to and including it, the period's length, or the round's loss."""
    rate = cfg["rate"]
    if rate in (PASSIVE, PASSIVE_CAPPED, PASSIVE_SOFT):
        return passive_step(st, cfg, size, loss, row2)  # the slope of its loss is 1, so that |g| is the round's weight
    if rate == CONSTANT:
        return float(cfg["eta"])
    if rate == SQRT:
        return float(cfg["eta"] / root)
    if rate == STRONG:
        return float(1.0 / (cfg["sigma"] * t))
    if rate == DOUBLING:
        return float(cfg["eta"] / math.sqrt(st["period"]))
    return float(cfg["eta"] / math.sqrt(gradient2)) if gradient2 > 0.0 else 0.0


@inlined
def descend(st: Any, cfg: Any, z: Any, dot: float, row2: float, score: float, g: float, loss: float) -> float:
    """Book the gradient g·x + σ·w, shrink, and return the c of z ← z + c·x; NaN (nothing changed) on overflow."""
    t = st["rounds"] + 1
    sigma = cfg["sigma"]
    gradient2 = g * g * row2
    slope_dot = g * score
    scale = st["scale"]
    old2 = st["norm2"]
    if sigma > 0.0:
        weights2 = scale * scale * old2
        gradient2 = max(gradient2 + sigma * (2.0 * slope_dot + sigma * weights2), 0.0)
        slope_dot += sigma * weights2
        scale *= (t - 1) / t
        if scale == 0.0:  # the first step of the rate 1/(σt) forgets the start
            dot = old2 = 0.0
    total2 = st["gradient2"] + gradient2
    root = math.sqrt(t)
    c = 0.0
    eta = 0.0
    if g != 0.0 or cfg["l2"] > 0.0:
        eta = step_size(st, cfg, t, root, total2, abs(g), loss, row2)
    if g != 0.0:
        c = -(eta / scale if scale != 0.0 else eta) * g  # the slope is the last to be known, so it comes last
    new2 = old2 + c * (2.0 * dot + c * row2)
    if not (math.isfinite(new2) and math.isfinite(total2) and math.isfinite(slope_dot)):
        return math.nan
    if scale == 0.0:
        z[:] = 0.0
        st["bias"] = 0.0
        scale = 1.0
    st["scale"] = scale / (1.0 + eta * cfg["l2"])
    st["norm2"] = max(new2, 0.0)
    book_gradient(st, t, root, gradient2, total2, slope_dot)
    return c


@inlined
def book_gradient(st: Any, t: int, root: float, gradient2: float, total2: float, slope_dot: float) -> None:
    """The sums over gradients that theorems are made from, for one gradient with ‖g‖² and ⟨g, w⟩."""
    if gradient2 > 0.0:
        st["gradient2"] = total2
        st["gradient2_sqrt"] += gradient2 / root
        st["gradient2_inverse"] += gradient2 / t
        st["gradient_max2"] = max(st["gradient_max2"], gradient2)
    st["gradient_dot_weights"] += slope_dot


@inlined
def bet(st: Any, cfg: Any, dot: float, row2: float, score: float, g: float) -> float:
    """Coin betting: z = −Σg/G, w = (wealth/n)·z in the n-th round with a gradient; NaN where the gradient is refused.

    The wealth is multiplied by 1 − ⟨g, w⟩/(G·wealth) = 1 + c⟨z, x⟩/n, which is positive while no gradient exceeds G.
    """
    t = st["rounds"] + 1
    gradient2 = g * g * row2
    bound = cfg["eta"]
    c = -g / bound
    if not gradient2 <= bound * bound:
        if not cfg["cut"]:
            st["refused"] = gradient2
            return math.nan
        c *= bound / math.sqrt(gradient2)
    wealth = st["wealth"] * (1.0 + c * dot / (st["updates"] + 1))
    scale = wealth / (st["updates"] + 2)
    new2 = st["norm2"] + c * (2.0 * dot + c * row2)
    if not (math.isfinite(wealth) and math.isfinite(new2) and scale > 0.0):
        return math.nan
    st["wealth"] = wealth
    st["scale"] = scale
    st["norm2"] = max(new2, 0.0)
    book_gradient(st, t, math.sqrt(t), gradient2, st["gradient2"] + gradient2, g * score)
    return float(c)


@inlined
def settle(st: Any, cfg: Any, z: Any) -> None:
    """After the update: take the norm afresh at fixed rounds, project, keep a scale that shrinks from underflow."""
    t = st["rounds"] + 1
    if (t & (t - 1) == 0 or t % REFRESH == 0) and (cfg["domain"] == BALL or cfg["sigma"] > 0.0):
        st["norm2"] = norm2(z) + st["bias"] * st["bias"]
    if cfg["domain"] == BALL:
        project(st, cfg["radius"], z)
    elif has_corners(cfg):
        settle_corners(st, cfg, z)
    shrinks = cfg["domain"] == BALL or cfg["sigma"] > 0.0 or cfg["l2"] > 0.0
    if shrinks and st["scale"] < TINY and cfg["rate"] != COIN:
        fold(st, st["scale"], z)


@inlined
def project(st: Any, radius: float, z: Any) -> None:
    """On the ball: by the scale alone, or, while there are few features, on the weights themselves."""
    if st["scale"] * st["scale"] * st["norm2"] > radius * radius * (1.0 if st["large"] else 1.0 - SLACK):
        if st["large"] == 0:
            few = z[: min(SMALL, z.shape[0])]
            norm = st["scale"] * math.sqrt(norm2(few) + st["bias"] * st["bias"])
            fold(st, st["scale"] * (radius / norm if norm > radius else 1.0), few)
        else:
            st["scale"] = radius / math.sqrt(st["norm2"])


@compiled
def fold(st: Any, factor: float, z: Any) -> None:
    """z ← factor·z with scale 1."""
    rescale(z, factor)
    st["bias"] *= factor
    st["norm2"] *= factor * factor
    st["norm1"] *= factor
    st["scale"] = 1.0
