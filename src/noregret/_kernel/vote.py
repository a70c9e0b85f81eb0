"""The vote of every predictor that a perceptron went through, told from its mistakes alone.

The k-th predictor is w_k = Σ_{j≤k} a_j·x_j, so that one walk along the stored rows gives ⟨w_k, x⟩ for every k as
running sums.
"""

from __future__ import annotations

from typing import Any

from noregret._kernel import compiled, inlined
from noregret._kernel.rows import dot, entries, entry


@inlined
def sign(score: float, tie: float) -> float:
    """−1 or +1; at a score of 0 what `tie` says, 0 for no vote."""
    if score == 0.0:
        return tie
    return 1.0 if score > 0.0 else -1.0


@compiled
def votes(rows: Any, log: Any, steps: Any, survived: Any, bias: float, tie: float, dense: Any, out: Any) -> None:
    """out[t] = Σ_k survived[k]·sgn⟨w_k, x_t⟩; `dense` is room for one row, all 0 before and after."""
    width = dense.shape[0]
    for t in range(out.shape[0]):
        start, stop = entries(rows, t)
        for k in range(start, stop):
            j, x = entry(rows, t, k)
            if j < width:
                dense[j] = x
        score = 0.0
        vote = survived[0] * sign(0.0, tie)
        for j in range(steps.shape[0]):
            inner, _ = dot(log, j, dense)
            score += steps[j] * (inner + bias)
            vote += survived[j + 1] * sign(score, tie)
        out[t] = vote
        for k in range(start, stop):
            j, _ = entry(rows, t, k)
            if j < width:
                dense[j] = 0.0
