"""The rounds of learners with a step for every coordinate: AdaGrad and FTRL-Proximal, Θ(non-zeros) a round.

The table has a row for each feature: its weight w, Σg² and Σg over the rounds, and the dual θ of FTRL-Proximal. In a
round with gradient g_i = g·x_i, with n = Σg_i² up to and including it:

AdaGrad (Duchi, Hazan & Singer 2011): w_i ← w_i − η·g_i/√n.
FTRL-Proximal (McMahan et al. 2013): θ_i ← θ_i + g_i − (√n − √(n − g_i²))/α·w_i, and w_i minimises
θ_i·w + λ₁|w| + ((β + √n)/α + λ₂)·w²/2.

Both then cut w_i to ±U. A coordinate that has seen no gradient keeps its weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from noregret._kernel import compiled, inlined, unkept
from noregret._kernel.record import book_rest, book_sums, expect, mean_label, record_curve, trace_late
from noregret._kernel.rows import adagrad_ahead, dot, entries, entry
from noregret._kernel.state import PROXIMAL
from noregret._kernel.step import book_gradient
from noregret._kernel.vector import norm1

WEIGHT, SQUARES, TOTAL, DUAL = 0, 1, 2, 3
COLUMNS = 4

Function = Callable[[float, float, float], float]


@inlined
def descended(w: float, squares: float, g: float, eta: float, radius: float) -> float:
    """w of one coordinate of AdaGrad after a gradient g, `squares` including its square, which may vanish."""
    root = math.sqrt(squares)
    w -= eta * g / root if root > 0.0 else 0.0
    return min(max(w, -radius), radius)


@inlined
def proximal(cfg: Any, w: float, squares: float, dual: float, g: float) -> tuple[float, float]:
    """(w, θ) of one coordinate of FTRL-Proximal after a gradient g, `squares` including its square."""
    root = math.sqrt(squares)
    if root == 0.0:  # the square of a gradient may vanish
        return w, dual
    dual += g - (root - math.sqrt(max(squares - g * g, 0.0))) / cfg["eta"] * w
    size = abs(dual) - cfg["l1"]
    w = 0.0
    if size > 0.0:
        w = size / ((cfg["beta"] + root) / cfg["eta"] + cfg["l2"])
        if dual > 0.0:
            w = -w
    return min(max(w, -cfg["radius"]), cfg["radius"]), dual


@inlined
def update(st: Any, cfg: Any, rows: Any, t: int, g: float, table: Any) -> None:
    """Every coordinate of row t, and the bias."""
    start, stop = entries(rows, t)
    if cfg["rate"] == PROXIMAL:
        for k in range(start, stop):
            i, x = entry(rows, t, k)
            part = g * x
            if part != 0.0:
                squares = table[i, SQUARES] + part * part
                table[i, SQUARES] = squares
                table[i, TOTAL] += part
                table[i, WEIGHT], table[i, DUAL] = proximal(cfg, table[i, WEIGHT], squares, table[i, DUAL], part)
    else:
        eta, radius = cfg["eta"], cfg["radius"]
        for k in range(start + adagrad_ahead(rows, t, g, eta, radius, table), stop):
            i, x = entry(rows, t, k)
            part = g * x
            squares = table[i, SQUARES] + part * part
            table[i, SQUARES] = squares
            table[i, TOTAL] += part
            table[i, WEIGHT] = descended(table[i, WEIGHT], squares, part, eta, radius)
    if cfg["bias"] != 0.0:
        st["bias_squares"] += g * g
        st["bias_gradient"] += g
        if cfg["rate"] == PROXIMAL:
            st["bias"], st["bias_dual"] = proximal(cfg, st["bias"], st["bias_squares"], st["bias_dual"], g)
        else:
            st["bias"] = descended(st["bias"], st["bias_squares"], g, cfg["eta"], cfg["radius"])


def rounds(value: Function, slope: Function, stamp: int, keep: bool = True) -> Callable[..., int]:
    """The loop around a loss, as in `linear.rounds`; `w` is the first column of the table."""

    @(compiled if keep else unkept)
    def play(rows: Any, labels: Any, weights: Any, w: Any, table: Any, record: Any, scores: Any) -> int:
        st = record[0]["state"]
        cfg = record[0]["config"]
        room = record[0]["room"]
        p = cfg["parameter"]
        weighted = weights.shape[0] > 0
        played = labels.shape[0]
        booked = 0
        if labels.shape[0] > 1 and not weighted:
            expect(st, labels.shape[0])
        for t in range(labels.shape[0]):
            k = weights[t] if weighted else 1.0
            if k == 0.0:
                scores[t] = math.nan
                continue
            y = labels[t]
            inner, row2 = dot(rows, t, w)
            score = inner + cfg["bias"] * st["bias"]
            row2 += cfg["bias"]
            scores[t] = score
            loss = k * value(score, y, p)
            g = k * slope(score, y, p)
            total2 = st["gradient2"] + g * g * row2
            if not (math.isfinite(row2) and math.isfinite(score) and math.isfinite(total2)):
                played = t
                break
            if not (math.isfinite(st["loss"] + loss) and math.isfinite(g * score)):
                played = t
                break
            if not cfg["classify"]:
                st["constant"] += k * value(mean_label(st), y, p)
                st["last"] += k * value(st["last_label"], y, p)
            book_sums(st, cfg, k, y, score, row2, loss)
            st["rounds"] += 1
            if g != 0.0:
                st["updates"] += 1
                book_gradient(st, st["rounds"], math.sqrt(st["rounds"]), g * g * row2, total2, g * score)
                update(st, cfg, rows, t, g, table)
            if st["rounds"] == st["trace_next"]:
                booked = trace_late(st, cfg, room, labels, scores, booked, t + 1, weighted)
            if st["rounds"] == st["curve_next"]:
                record_curve(st, norm1(table[:, TOTAL]) + abs(st["bias_gradient"]))
        book_rest(st, cfg, room, labels, scores, booked, played, weighted)
        return int(played) + 0 * stamp

    return play
