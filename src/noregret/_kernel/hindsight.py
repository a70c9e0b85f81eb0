"""The loops behind the best comparator in hindsight: scores, sums of rows, the curvature matrix, coordinate steps.

A bent loss is a loss whose slope in z is clip((z − kink)/width, lo, hi); its conjugate is kink·α + width·α²/2 on
[lo, hi]. Every built-in loss but the logistic and the exponential one is of this form, width 0 being a kink. Nothing
here is certified: what a solver finds is evaluated again in `enclose`.
"""

from __future__ import annotations

import math
from typing import Any

from noregret._kernel import compiled, inlined
from noregret._kernel.rows import add, dot, entries, entry

STEPS = 30  # of Newton's method in one dimension; it needs five


@compiled
def scores(rows: Any, u: Any, out: Any) -> None:
    """out[t] = ⟨u, x_t⟩."""
    for t in range(out.shape[0]):
        out[t] = dot(rows, t, u)[0]


@compiled
def sum_rows(rows: Any, a: Any, total: Any) -> None:
    """total ← total + Σ a_t·x_t."""
    for t in range(a.shape[0]):
        if a[t] != 0.0:
            add(rows, t, a[t], total)


@compiled
def add_curvature(rows: Any, w: Any, scale: float, H: Any) -> None:
    """H ← H + Σ w_t·(scale·x_t)(scale·x_t)ᵀ over the rows with w_t ≠ 0."""
    for t in range(w.shape[0]):
        if w[t] != 0.0:
            start, stop = entries(rows, t)
            for k in range(start, stop):
                i, x = entry(rows, t, k)
                a = w[t] * (scale * x)
                for m in range(start, stop):
                    j, other = entry(rows, t, m)
                    H[i, j] += a * (scale * other)


@compiled
def square_norms(rows: Any, scale: float, out: Any) -> None:
    """out[t] = ‖scale·x_t‖²."""
    for t in range(out.shape[0]):
        square = 0.0
        start, stop = entries(rows, t)
        for k in range(start, stop):
            _, x = entry(rows, t, k)
            square += (scale * x) * (scale * x)
        out[t] = square


@inlined
def bent_slope(r: float, lo: float, hi: float, width: float) -> float:
    """The slope of a bent loss at kink + r; at a kink of width 0 any slope would do, and the one nearest 0 is taken."""
    if width > 0.0:
        return min(max(r / width, lo), hi)
    return lo if r < 0.0 else (hi if r > 0.0 else min(max(0.0, lo), hi))


@compiled
def bent_slopes(z: Any, kink: Any, lo: Any, hi: Any, width: float, alpha: Any) -> None:
    """alpha[t] = the slope at z_t."""
    for t in range(z.shape[0]):
        alpha[t] = bent_slope(z[t] - kink[t], lo[t], hi[t], width)


@compiled
def bent_total(z: Any, kink: Any, lo: Any, hi: Any, width: float, weights: Any) -> float:
    """Σ k·ℓ(z)."""
    total = 0.0
    for t in range(z.shape[0]):
        r = z[t] - kink[t]
        a = bent_slope(r, lo[t], hi[t], width)
        total += weights[t] * (a * r - 0.5 * width * a * a)
    return total


@compiled
def bent_along(z: Any, step: Any, tau: float, kink: Any, lo: Any, hi: Any, width: float, weights: Any) -> float:
    """The derivative of Σ k·ℓ(z + τ·step) in τ."""
    total = 0.0
    for t in range(z.shape[0]):
        total += weights[t] * step[t] * bent_slope(z[t] + tau * step[t] - kink[t], lo[t], hi[t], width)
    return total


@compiled
def bent_epoch(
    rows: Any,
    order: Any,
    norms: Any,
    kink: Any,
    lo: Any,
    hi: Any,
    width: float,
    weights: Any,
    ridge: float,
    alpha: Any,
    w: Any,
) -> float:
    """Exact minimisation of Σ k·ℓ*(α) + ‖w‖²/(2·ridge), w = Σ k·α·x, over one α_t at a time, in the given order.

    Returns the sum of |change|·k, which is 0 at the minimum.
    """
    moved = 0.0
    for i in range(order.shape[0]):
        t = order[i]
        z = -dot(rows, t, w)[0] / ridge
        q = weights[t] * norms[t] / ridge
        old = alpha[t]
        if width + q > 0.0:
            new = min(max((z - kink[t] + q * old) / (width + q), lo[t]), hi[t])
        else:
            new = bent_slope(z - kink[t], lo[t], hi[t], 0.0)
        if new != old:
            alpha[t] = new
            add(rows, t, weights[t] * (new - old), w)
            moved += weights[t] * abs(new - old)
    return moved


@inlined
def logistic_step(start: float, b: float, q: float, yz: float) -> float:
    """The β in (0, 1) with ln(β/(1 − β)) + y·z + q·(β − b) = 0, by Newton's method in the log-odds."""
    a = start
    for _ in range(STEPS):
        e = math.exp(-abs(a))
        beta = (1.0 if a > 0.0 else e) / (1.0 + e)
        change = (a + yz + q * (beta - b)) / (1.0 + q * beta * (1.0 - beta))
        a -= change
        if abs(change) <= 1e-10 * (1.0 + abs(a)):
            break
    # the root lies between −yz − q(1 − b) and −yz + qb; Newton may circle there, and then the middle is no worse
    a = min(max(a, -yz - q * (1.0 - b)), -yz + q * b)
    e = math.exp(-abs(a))
    return (1.0 if a > 0.0 else e) / (1.0 + e)


@compiled
def logistic_epoch(rows: Any, order: Any, norms: Any, y: Any, weights: Any, ridge: float, alpha: Any, w: Any) -> float:
    """As `bent_epoch` for the logistic loss."""
    moved = 0.0
    for i in range(order.shape[0]):
        t = order[i]
        z = -dot(rows, t, w)[0] / ridge
        b = -y[t] * alpha[t]
        new = -y[t] * logistic_step(-y[t] * z, b, weights[t] * norms[t] / ridge, y[t] * z)
        if new != alpha[t]:
            moved += weights[t] * abs(new - alpha[t])
            add(rows, t, weights[t] * (new - alpha[t]), w)
            alpha[t] = new
    return moved
