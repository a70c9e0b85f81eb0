"""The rounds of gradient descent with a penalty λ₁‖w‖₁ + (λ₂/2)‖w‖², Θ(non-zeros) a round.

Every round takes w to sgn(v)·max(|v| − ηλ₁, 0)/(1 + ηλ₂) with v = w − η·g·x (Duchi & Singer 2009), and cuts it to the
box where there is one. In scaled weights w = scale·z this takes ηλ₁/scale from every |z_i|. Soft thresholds add up, so
that a feature pays what it owes when a row brings it again (Langford, Li & Zhang 2009): the table has for each feature
its z, the threshold up to which it has paid, and Σg.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from noregret._kernel import compiled, inlined, unkept
from noregret._kernel.linear import gradient_norm
from noregret._kernel.record import book, mean_label, record_curve, record_trace
from noregret._kernel.rows import entries, entry
from noregret._kernel.simplex import shrunk
from noregret._kernel.state import BOX, TINY
from noregret._kernel.step import book_gradient, step_size

WEIGHT, PAID, TOTAL = 0, 1, 2
COLUMNS = 3

Function = Callable[[float, float, float], float]


@inlined
def pay(st: Any, rows: Any, t: int, table: Any) -> tuple[float, float]:
    """(⟨z, x⟩, ‖x‖²) of row t, whose features pay what they owe."""
    inner = 0.0
    row2 = 0.0
    start, stop = entries(rows, t)
    for k in range(start, stop):
        i, x = entry(rows, t, k)
        if x != 0.0:
            z = shrunk(table[i, WEIGHT], st["threshold"] - table[i, PAID])
            table[i, WEIGHT] = z
            table[i, PAID] = st["threshold"]
            inner += x * z
            row2 += x * x
    return inner, row2


@inlined
def update(st: Any, cfg: Any, rows: Any, t: int, c: float, shrink: float, g: float, table: Any) -> None:
    """z ← the soft threshold of z + c·x, within the box where there is one, for row t; the scale is the new one."""
    limit = cfg["radius"] / st["scale"] if cfg["domain"] == BOX else math.inf
    start, stop = entries(rows, t)
    for k in range(start, stop):
        i, x = entry(rows, t, k)
        if x != 0.0 and g != 0.0:
            table[i, WEIGHT] = min(max(shrunk(table[i, WEIGHT] + c * x, shrink), -limit), limit)
            table[i, PAID] = st["threshold"]
            table[i, TOTAL] += g * x
    if cfg["bias"] != 0.0:
        st["bias"] = min(max(shrunk(st["bias"] + c, shrink), -limit), limit)
        st["bias_gradient"] += g


@compiled
def fold(st: Any, table: Any) -> None:
    """z and what is owed times the scale, with scale 1."""
    for i in range(table.shape[0]):
        table[i, WEIGHT] *= st["scale"]
        table[i, PAID] *= st["scale"]
    st["bias"] *= st["scale"]
    st["threshold"] *= st["scale"]
    st["scale"] = 1.0


def rounds(value: Function, slope: Function, stamp: int, keep: bool = True) -> Callable[..., int]:
    """The loop around a loss, as in `linear.rounds`; `z` is the first column of the table."""

    @(compiled if keep else unkept)
    def play(rows: Any, labels: Any, weights: Any, z: Any, table: Any, record: Any, scores: Any) -> int:
        st = record[0]["state"]
        cfg = record[0]["config"]
        p = cfg["parameter"]
        weighted = weights.shape[0] > 0
        for t in range(labels.shape[0]):
            k = weights[t] if weighted else 1.0
            if k == 0.0:
                scores[t] = math.nan
                continue
            y = labels[t]
            inner, row2 = pay(st, rows, t, table)
            score = st["scale"] * (inner + cfg["bias"] * st["bias"])
            row2 += cfg["bias"]
            scores[t] = score
            loss = k * value(score, y, p)
            g = k * slope(score, y, p)
            n = st["rounds"] + 1
            root = math.sqrt(n)
            total2 = st["gradient2"] + g * g * row2
            if not (math.isfinite(score) and math.isfinite(st["loss"] + loss) and math.isfinite(total2)):
                return t
            eta = step_size(st, cfg, n, root, total2, abs(g), loss, row2)
            c = -eta * g / st["scale"]
            shrink = eta * cfg["l1"] / st["scale"]
            if not (math.isfinite(c * c * row2) and math.isfinite(shrink) and math.isfinite(g * score)):
                return t
            if not cfg["classify"]:
                st["constant"] += k * value(mean_label(st), y, p)
                st["last"] += k * value(st["last_label"], y, p)
            book(st, cfg, k, labels, scores, t, row2, loss)
            book_gradient(st, n, root, g * g * row2, total2, g * score)
            st["rounds"] = n
            st["threshold"] += shrink
            st["scale"] /= 1.0 + eta * cfg["l2"]
            if g != 0.0:
                st["updates"] += 1
            update(st, cfg, rows, t, c, shrink, g, table)
            if st["scale"] < TINY:
                fold(st, table)
            if st["rounds"] == st["trace_next"]:
                record_trace(st, cfg["classify"])
            if st["rounds"] == st["curve_next"]:
                record_curve(st, gradient_norm(st, cfg, table[:, TOTAL]))
        return int(labels.shape[0]) + 0 * stamp

    return play


@compiled
def score_rows(rows: Any, table: Any, state: Any, scores: Any) -> None:
    """The score of every row with the weights as they are when all is paid. Nothing changes."""
    st = state[0]
    for t in range(scores.shape[0]):
        inner = 0.0
        start, stop = entries(rows, t)
        for k in range(start, stop):
            i, x = entry(rows, t, k)
            if x != 0.0 and i < table.shape[0]:
                inner += x * shrunk(table[i, WEIGHT], st["threshold"] - table[i, PAID])
        scores[t] = st["scale"] * (inner + st["bias"])
