"""The domain ‖w‖₁ ≤ U and the solid simplex w ≥ 0, Σw ≤ U: Euclidean projections, in scaled weights w = scale·z.

A step changes the features of its row and, in the simplex, cuts them at 0 from below: Θ(non-zeros). The running ‖z‖₁
tells when the constraint may be violated. Only then every feature is looked at: the nearest point is the soft
threshold sgn(z)·max(|z| − θ, 0) with Σ max(|z_i| − θ, 0) = U/scale.
"""

from __future__ import annotations

import math
from typing import Any

from noregret._kernel import compiled, inlined
from noregret._kernel.rows import entries, entry
from noregret._kernel.state import CROSS, SIMPLEX

SLACK = 1e-9  # how far the running norm is trusted


@inlined
def has_corners(cfg: Any) -> bool:
    """Whether the domain is one of these two."""
    return bool(cfg["domain"] == CROSS or cfg["domain"] == SIMPLEX)


@inlined
def step(st: Any, cfg: Any, rows: Any, t: int, c: float, z: Any, old2: float) -> None:
    """z ← z + c·x of row t with the bias, cut at 0 from below in the simplex; the two running norms follow."""
    low = 0.0 if cfg["domain"] == SIMPLEX else -math.inf
    bias = max(st["bias"] + cfg["bias"] * c, low)
    change1 = abs(bias) - abs(st["bias"])
    change2 = bias * bias - st["bias"] * st["bias"]
    st["bias"] = bias
    start, stop = entries(rows, t)
    for k in range(start, stop):
        i, x = entry(rows, t, k)
        old = z[i]
        new = max(old + c * x, low)
        change1 += abs(new) - abs(old)
        change2 += new * new - old * old
        z[i] = new
    st["norm1"] = max(st["norm1"] + change1, 0.0)
    st["norm2"] = max(old2 + change2, 0.0)


@inlined
def settle_corners(st: Any, cfg: Any, z: Any) -> None:
    """Project where the constraint may be violated."""
    limit = cfg["radius"] / st["scale"]
    if st["norm1"] > limit * (1.0 - SLACK):
        project_corners(st, limit, z)


@compiled
def project_corners(st: Any, limit: float, z: Any) -> None:
    """The nearest point with ‖z‖₁ ≤ limit, the signs kept: Θ(features) for each of a few looks.

    θ grows with each look, from the mean excess over all that is not 0 to that over all above θ, until nothing falls
    below it any more (Michelot 1986). Zeros, also those that are not there yet, count nowhere.
    """
    theta = 0.0
    count = -1
    while True:
        size = 0.0
        above = 0
        if abs(st["bias"]) > theta:
            size = abs(st["bias"])
            above = 1
        for i in range(z.shape[0]):
            if abs(z[i]) > theta:
                size += abs(z[i])
                above += 1
        if count < 0:
            st["norm1"] = size
            if size <= limit:
                return
        if above == count or above == 0:
            break
        count = above
        theta = max((size - limit) / above, theta)
    st["norm1"] = limit
    shrink_all(st, theta, z)


@compiled
def shrink_all(st: Any, theta: float, z: Any) -> None:
    """sgn(z)·max(|z| − θ, 0) for every feature and the bias, and ‖z‖² of that."""
    st["bias"] = shrunk(st["bias"], theta)
    square = st["bias"] * st["bias"]
    for i in range(z.shape[0]):
        if z[i] != 0.0:
            z[i] = shrunk(z[i], theta)
            square += z[i] * z[i]
    st["norm2"] = square


@inlined
def shrunk(value: float, theta: float) -> float:
    """sgn(v)·max(|v| − θ, 0)."""
    if value > theta:
        return value - theta
    return value + theta if value < -theta else 0.0
