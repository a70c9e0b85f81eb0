"""The rounds of a linear learner: predict, suffer, update, with every figure gathered on the way.

`rounds(value, slope, stamp)` compiles the loop around one loss. The two functions are plain Python and are inlined;
`stamp` is a fingerprint of them and of this package's source, closed over so that it becomes part of the key under
which numba keeps the machine code on disk: an edited loss is compiled anew, never served stale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from noregret._kernel import compiled, inlined, unkept
from noregret._kernel.record import book_sums, mean_label, record_curve, record_trace, tally
from noregret._kernel.rows import add, add_clipped, dot, gather, reaches
from noregret._kernel.simplex import has_corners
from noregret._kernel.simplex import step as corner_step
from noregret._kernel.state import AVERAGE, BOX, COIN, CROSS, GRADIENTS, SIMPLEX, SMALL
from noregret._kernel.step import bet, descend, restarts, settle
from noregret._kernel.vector import largest, lowest, norm1, norm2

Function = Callable[[float, float, float], float]


@inlined
def update(st: Any, cfg: Any, rows: Any, t: int, c: float, z: Any, g: float, total: Any, old2: float) -> None:
    """z ← z + c·x with the bias, cut where the domain cuts; what is kept beside it takes in the round too."""
    done = True
    if cfg["domain"] == BOX:
        limit = cfg["radius"] / st["scale"]
        change = add_clipped(rows, t, c, limit, z)
        bias = min(max(st["bias"] + cfg["bias"] * c, -limit), limit)
        st["norm2"] = max(old2 + change + (bias * bias - st["bias"] * st["bias"]), 0.0)
        st["bias"] = bias
        c = 0.0
    elif has_corners(cfg):
        corner_step(st, cfg, rows, t, c, z, old2)
        c = 0.0
    else:
        done = False
        st["bias"] += cfg["bias"] * c
    if cfg["gather"]:
        if cfg["gather"] == AVERAGE:
            g = st["rounds"] * c
        gather(rows, t, c, z, g, total)
        st["bias_gradient"] += cfg["bias"] * g
    elif not done:
        add(rows, t, c, z)


@inlined
def gradient_norm(st: Any, cfg: Any, total: Any) -> float:
    """‖Σg‖ with the bias, in the norm that the domain asks for (`Linear.dual_norm`); 0 where it is not kept."""
    if cfg["gather"] != GRADIENTS:
        return 0.0
    if cfg["domain"] == BOX:
        return float(norm1(total) + abs(st["bias_gradient"]))
    if cfg["domain"] == CROSS:
        return float(max(largest(total), abs(st["bias_gradient"])))
    if cfg["domain"] == SIMPLEX:
        return float(-min(lowest(total), st["bias_gradient"], 0.0))
    return math.sqrt(norm2(total) + st["bias_gradient"] * st["bias_gradient"])


def rounds(value: Function, slope: Function, stamp: int, keep: bool = True) -> Callable[..., int]:
    """The loop around the loss value(z, y, p) with slope(z, y, p) in z, p being the loss's parameter.

    The compiled function plays the rows in order, writes the score of each round, and returns how many rounds it
    played: fewer than there are rows only when the next one would have made a weight or a sum overflow. With `keep`
    false the machine code is not kept on disk.
    """

    @(compiled if keep else unkept)
    def play(rows: Any, labels: Any, weights: Any, z: Any, total: Any, record: Any, scores: Any) -> int:
        st = record[0]["state"]
        cfg = record[0]["config"]
        p = cfg["parameter"]
        weighted = weights.shape[0] > 0
        played = labels.shape[0]
        counted = 0
        for t in range(labels.shape[0]):
            k = weights[t] if weighted else 1.0
            if k == 0.0:
                scores[t] = math.nan
                continue
            y = labels[t]
            inner, row2 = dot(rows, t, z)
            if not math.isfinite(row2):
                played = t
                break
            if st["large"] == 0 and reaches(rows, t, SMALL):
                st["large"] = 1
            if restarts(st, cfg, z):
                inner = 0.0
            inner += cfg["bias"] * st["bias"]
            row2 += cfg["bias"]
            score = st["scale"] * inner
            scores[t] = score
            loss = k * value(score, y, p)
            g = k * slope(score, y, p)
            if cfg["sigma"] > 0.0:
                loss += 0.5 * cfg["sigma"] * st["scale"] * st["scale"] * st["norm2"]
            if not (math.isfinite(score) and math.isfinite(st["loss"] + loss)):
                played = t
                break
            moves = g != 0.0 or cfg["sigma"] > 0.0 or cfg["l2"] > 0.0
            old2 = st["norm2"]
            c = 0.0
            if moves and cfg["rate"] == COIN:
                c = bet(st, cfg, inner, row2, score, g)
            elif moves:
                c = descend(st, cfg, z, inner, row2, score, g, loss)
            if c != c:
                played = t
                break
            if not cfg["classify"]:
                st["constant"] += k * value(mean_label(st), y, p)
                st["last"] += k * value(st["last_label"], y, p)
            book_sums(st, cfg, k, y, score, row2, loss)
            if g != 0.0:
                st["updates"] += 1
                update(st, cfg, rows, t, c, z, g, total, old2)
            if moves:
                settle(st, cfg, z)
            st["rounds"] += 1
            if st["rounds"] == st["trace_next"]:
                if cfg["classify"]:
                    tally(st, cfg["tie"], labels, scores, counted, t + 1)
                counted = t + 1
                record_trace(st, cfg["classify"])
            if st["rounds"] == st["curve_next"]:
                record_curve(st, gradient_norm(st, cfg, total))
        if cfg["classify"]:
            tally(st, cfg["tie"], labels, scores, counted, played)
        return int(played) + 0 * stamp

    return play


@compiled
def score_rows(rows: Any, z: Any, head: Any, scores: Any) -> None:
    """The score of every row; `head` is the scale and the bias at the head of the state. Nothing else changes."""
    for t in range(scores.shape[0]):
        inner, _ = dot(rows, t, z)
        scores[t] = head[0] * (inner + head[1])


@compiled
def score_row(rows: Any, z: Any, head: Any) -> float:
    """The score of a single row."""
    inner, _ = dot(rows, 0, z)
    return float(head[0] * (inner + head[1]))


@compiled
def score_means(rows: Any, z: Any, late: Any, state: Any, scores: Any) -> None:
    """The score of every row with the average of the weights after each round: scale·(z − late/T)."""
    st = state[0]
    for t in range(scores.shape[0]):
        inner, _ = dot(rows, t, z)
        behind, _ = dot(rows, t, late)
        behind += st["bias_gradient"]
        scores[t] = st["scale"] * (inner + st["bias"] - (behind / st["rounds"] if st["rounds"] > 0 else 0.0))
