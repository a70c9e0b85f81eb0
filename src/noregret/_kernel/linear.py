"""The rounds of a linear learner: predict, suffer, update, with every figure gathered on the way.

`rounds(value, slope, stamp)` compiles the loop around one loss. The two functions are plain Python and are inlined;
`stamp` is a fingerprint of them and of this package's source, closed over so that it becomes part of the key under
which numba keeps the machine code on disk: an edited loss is compiled anew, never served stale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from noregret._kernel import compiled, inlined, unkept
from noregret._kernel.bits import apart
from noregret._kernel.record import book_rest, book_sums, expect, mean_label, record_curve, trace_late
from noregret._kernel.rows import add, add_clipped, dot, gather, reaches, until_reach
from noregret._kernel.simplex import has_corners
from noregret._kernel.simplex import step as corner_step
from noregret._kernel.state import (
    AVERAGE,
    BOX,
    COIN,
    CONSTANT,
    CROSS,
    DOUBLING,
    GRADIENTS,
    SIMPLEX,
    SMALL,
    SQRT,
    WHOLE,
)
from noregret._kernel.step import bet, descend, first_step, restart, restarts, settle
from noregret._kernel.vector import largest, lowest, norm1, norm2

Function = Callable[[float, float, float], float]
TRIALS = 3  # so often in vain is a quick round looked for, between two that are traced
U = np.uint64  # for counters: numba tests every signed one for "counted from the end"


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


def quick(value: Function, slope: Function, bare: bool, keep: bool) -> Callable[..., Any]:
    """The rounds that are soon played: those that change no weight and, where all steps are η or η/√t, in the whole
    space, with at most Σg kept beside the weights, all others too.

    `play` would do the same with them, number by number, in several times as many instructions, for it can do all else
    as well. `bare` rounds have no bias and weights that are z itself, as a perceptron's: less has to be waited for.
    """

    @(compiled if keep else unkept)
    def run_on(
        rows: Any, labels: Any, z: Any, total: Any, st: Any, cfg: Any, scores: Any, t: int, stop: int, simple: bool
    ) -> Any:
        """From round t on: where they end, and ⟨z, x⟩ and ‖x‖² of the row there, if known, for it was not played."""
        apart()
        p, tie, extra = cfg["parameter"], cfg["tie"], cfg["bias"]
        scale, bias, norm2_of_z = st["scale"], st["bias"], st["norm2"]
        loss, largest_row2, mistake_row2 = st["loss"], st["row_max2"], st["mistake_row2"]
        gradient2, by_root, by_round = st["gradient2"], st["gradient2_sqrt"], st["gradient2_inverse"]
        largest_gradient2, dots = st["gradient_max2"], st["gradient_dot_weights"]
        played, updates = st["rounds"], st["updates"]
        constant, gathers, bias_gradient = cfg["rate"] == CONSTANT, cfg["gather"] == GRADIENTS, st["bias_gradient"]
        inner, row2, known, wrong, missed = 0.0, 0.0, False, 0, 0
        step = cfg["eta"] / scale
        while t < stop:
            inner, row2 = dot(rows, t, z)
            y, full, size, score = labels[U(t)], inner, row2, inner
            if not bare:
                full, size = inner + extra * bias, row2 + extra
                score = scale * full
            g, more = slope(score, y, p), value(score, y, p)
            known = not (abs(score) + abs(more) + row2 < math.inf and (more == 0.0 or math.isfinite(loss + more)))
            if known:
                break
            if g != 0.0:
                root = math.sqrt(played + 1)
                if not constant:
                    step = cfg["eta"] / root / scale
                c, squared, slope_dot = -step * g, g * g * size, g * score
                new2, more2 = norm2_of_z + c * (2.0 * full + c * size), gradient2 + squared
                known = not (simple and math.isfinite(new2 + more2 + slope_dot))
                if known:
                    break
                if gathers:
                    bias_gradient += extra * g
                    gather(rows, t, c, z, g, total)
                else:
                    add(rows, t, c, z)
                norm2_of_z = max(new2, 0.0)
                if not bare:
                    bias += extra * c
                updates += 1
                dots += slope_dot
                if squared > 0.0:
                    gradient2 = more2
                    by_root += squared / root
                    by_round += squared / (played + 1)
                    largest_gradient2 = max(largest_gradient2, squared)
            scores[U(t)] = score
            loss, largest_row2 = loss + more if more != 0.0 else loss, max(largest_row2, size)
            margin = score * y  # `is_mistake` of a label ±1, asked as the zero-one loss asks
            if not margin > 0.0 and (margin < 0.0 or tie * y <= 0.0):
                wrong += 1
                missed += 1 if y > 0.0 else 0
                mistake_row2 += size
            played += 1
            t += 1
        st["bias"], st["norm2"], st["rounds"], st["updates"] = bias, norm2_of_z, played, updates
        st["loss"], st["row_max2"], st["mistake_row2"] = loss, largest_row2, mistake_row2
        st["bias_gradient"] = bias_gradient
        st["mistakes"] += wrong
        st["confusion"][1, 0] += missed
        st["confusion"][0, 1] += wrong - missed
        st["gradient2"], st["gradient2_sqrt"], st["gradient2_inverse"] = gradient2, by_root, by_round
        st["gradient_max2"], st["gradient_dot_weights"] = largest_gradient2, dots
        return t, inner, row2, known

    return run_on


def rounds(value: Function, slope: Function, stamp: int, keep: bool = True) -> Callable[..., int]:
    """The loop around the loss value(z, y, p) with slope(z, y, p) in z, p being the loss's parameter.

    The compiled function plays the rows in order, writes the score of each round, and returns how many rounds it
    played: fewer than there are rows only when the next one would have made a weight or a sum overflow. With `keep`
    false the machine code is not kept on disk.
    """
    run_bare, run_on = (quick(value, slope, bare, keep) for bare in (True, False))

    @(compiled if keep else unkept)
    def play(rows: Any, labels: Any, weights: Any, z: Any, total: Any, record: Any, scores: Any) -> int:
        st = record[0]["state"]
        cfg = record[0]["config"]
        room = record[0]["room"]
        p = cfg["parameter"]
        weighted = weights.shape[0] > 0
        still = (
            cfg["classify"] and not weighted and cfg["sigma"] == 0.0 and cfg["l2"] == 0.0 and cfg["rate"] != DOUBLING
        )
        simple = cfg["rate"] in (CONSTANT, SQRT) and cfg["domain"] == WHOLE and cfg["gather"] != AVERAGE
        rows_given = played = labels.shape[0]
        t = booked = vain = 0
        if rows_given > 1 and not weighted:
            expect(st, rows_given)
        while t < rows_given:
            inner, row2, known = 0.0, 0.0, False
            stop, begin = t, t
            if still and vain < TRIALS:
                stop = min(t + min(st["trace_next"], st["curve_next"]) - st["rounds"], rows_given)
                if st["large"] == 0:  # the first row that makes it 1 is one for the general loop
                    stop = until_reach(rows, t, stop, SMALL)
            if stop > t:
                if cfg["bias"] == 0.0 and st["scale"] == 1.0:
                    t, inner, row2, known = run_bare(rows, labels, z, total, st, cfg, scores, t, stop, simple)
                else:
                    t, inner, row2, known = run_on(rows, labels, z, total, st, cfg, scores, t, stop, simple)
                vain = vain + 1 if t == begin else 0
            if known or stop == begin:
                k = weights[t] if weighted else 1.0
                if k == 0.0:
                    scores[t] = math.nan
                    t += 1
                    continue
                y = labels[t]
                if not known:
                    inner, row2 = dot(rows, t, z)
                if not math.isfinite(row2):
                    played = t
                    break
                row2 += cfg["bias"]
                if restarts(st, cfg):
                    g = k * slope(0.0, y, p)
                    if not math.isfinite(st["loss"] + k * value(0.0, y, p) + first_step(st, cfg, g, row2)):
                        played = t
                        break
                    restart(st, z)
                    inner = 0.0
                inner += cfg["bias"] * st["bias"]
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
                if st["large"] == 0 and reaches(rows, t, SMALL):
                    st["large"] = 1
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
                t += 1
            if st["rounds"] == st["trace_next"]:
                booked, vain = trace_late(st, cfg, room, labels, scores, booked, t, weighted), 0
            if st["rounds"] == st["curve_next"]:
                record_curve(st, gradient_norm(st, cfg, total))
        book_rest(st, cfg, room, labels, scores, booked, played, weighted)
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
