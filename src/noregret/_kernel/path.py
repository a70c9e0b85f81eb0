"""The path of projected gradient descent, replayed from its slopes: what a telescoped bound is made from."""

from __future__ import annotations

import math
from typing import Any

from noregret._kernel import compiled
from noregret._kernel.rows import add
from noregret._kernel.vector import norm2, rescale


@compiled
def replay(rows: Any, slopes: Any, etas: Any, growth: Any, radius: float, w: Any, drift: Any, sizes: Any) -> None:
    """w ← Π(w − η_t·s_t·x_t) for every round, Π onto ‖w‖ ≤ radius, the weights themselves and no scale.

    After each round but the last, with c_t = growth[t]: drift ← drift + c_t·w, sizes ← sizes + (c_t‖w‖², c_t‖w‖).
    """
    for t in range(slopes.shape[0]):
        if slopes[t] != 0.0:
            add(rows, t, -etas[t] * slopes[t], w)
            norm = math.sqrt(norm2(w))
            if norm > radius:
                rescale(w, radius / norm)
        if t < growth.shape[0]:
            size2 = norm2(w)
            sizes[0] += growth[t] * size2
            sizes[1] += growth[t] * math.sqrt(size2)
            for i in range(w.shape[0]):
                drift[i] += growth[t] * w[i]
