"""The rounds of a perceptron of many classes: a column of weights a class, those of one feature side by side.

Classes are numbered in the order in which they appear; `clock[0]` is how many were known before the round, `clock[1]`
how many rounds had a new label and taught nothing. Each score is summed in the order of the row's entries, so that
classes and features that come later change no bit of it, and dense rows give what sparse ones do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret._kernel import compiled, inlined
from noregret._kernel.record import keep_in_window, record_trace
from noregret._kernel.rows import entries, entry


@inlined
def class_scores(rows: Any, t: int, z: Any, biases: Any, bias: float, known: int, s: Any) -> float:
    """s[k] = ⟨w_k, x⟩ for the classes below `known`; returns ‖x‖² with the bias."""
    row2 = bias
    for k in range(known):
        s[k] = bias * biases[k]
    start, stop = entries(rows, t)
    for e in range(start, stop):
        j, value = entry(rows, t, e)
        x = np.float64(value)
        row2 += x * x
        if x != 0.0:
            for k in range(known):
                s[k] += x * z[j, k]
    return row2


@inlined
def add_class(rows: Any, t: int, c: float, k: int, z: Any, biases: Any, bias: float) -> None:
    """w_k ← w_k + c·x."""
    start, stop = entries(rows, t)
    for e in range(start, stop):
        j, x = entry(rows, t, e)
        z[j, k] += c * np.float64(x)
    biases[k] += bias * c


@inlined
def best_but(s: Any, known: int, y: int) -> int:
    """The first class of the highest score among those below `known` other than y; −1 where there is none."""
    best = -1
    for k in range(known):
        if k != y and (best < 0 or s[k] > s[best]):
            best = k
    return best


@inlined
def finite_scores(s: Any, known: int) -> bool:
    for k in range(known):  # noqa: SIM110, a generator would not compile
        if not math.isfinite(s[k]):
            return False
    return True


@inlined
def book_class(st: Any, y: int, said: int, miss: bool, k: float, row2: float, counts: Any, confusion: Any) -> None:
    """Mistakes, confusion table, windowed error and the two baselines of a round of weight k."""
    wrong = 1 if miss else 0
    counts[y] += 1
    st["positives"] = max(st["positives"], counts[y])  # of the commonest class
    st["constant"] = st["rounds"] + 1 - st["positives"]
    st["mistakes"] += wrong
    st["loss"] += k * wrong
    st["row_max2"] = max(st["row_max2"], row2)
    if miss:
        st["mistake_row2"] += row2
    if said >= 0 and y < confusion.shape[0] and said < confusion.shape[0]:
        confusion[y, said] += 1
    st["last"] += 1.0 if st["rounds"] == 0 or st["last_label"] != y else 0.0
    st["last_label"] = y
    keep_in_window(st, float(wrong))
    if k != 1.0:
        st["fractional_weights"] += 1


@compiled
def play_classes(
    rows: Any,
    labels: Any,
    weights: Any,
    one_vs_rest: bool,
    z: Any,
    biases: Any,
    record: Any,
    clock: Any,
    tables: Any,
    s: Any,
    scores: Any,
    moves: Any,
) -> int:
    """Play the rows in order; returns how many, fewer than there are only where the next one would overflow.

    scores[t] = (s_y − max_{r≠y} s_r, the class predicted before the label, its score); −1 is none, where several score
    highest. `tables` are the rounds of each class, how often its weights moved, and the confusion table.
    moves[t, k] = ±1 where w_k ± x, if there is room.
    """
    st = record[0]["state"]
    bias = record[0]["config"]["bias"]
    counts, moved, confusion = tables
    weighted = weights.shape[0] > 0
    kept = moves.shape[0] > 0
    for t in range(labels.shape[0]):
        k = weights[t] if weighted else 1.0
        if k == 0.0:
            scores[t, 0] = scores[t, 1] = scores[t, 2] = math.nan
            continue
        y = int(labels[t])
        known = int(clock[0])
        row2 = class_scores(rows, t, z, biases, bias, known, s)
        if not (math.isfinite(row2) and finite_scores(s, known)):
            return t
        predicted = best_but(s, known, -1)
        new = y >= known
        if new:
            for other in range(known, y + 1):
                s[other] = 0.0
            clock[0] = y + 1
        rival = best_but(s, known, y)
        margin = s[y] - s[rival] if rival >= 0 else math.inf
        miss = new or margin <= 0.0
        scores[t, 0] = margin
        second = best_but(s, known, predicted)
        scores[t, 1] = -1 if second >= 0 and s[second] == s[predicted] else predicted
        scores[t, 2] = s[predicted] if predicted >= 0 else 0.0
        changed = False
        if one_vs_rest:
            for c in range(max(known, y + 1)):
                sign = 1.0 if c == y else -1.0
                if sign * s[c] <= 0.0:
                    changed = True
                    moved[c] += 1
                    add_class(rows, t, k * sign, c, z, biases, bias)
                    if kept:
                        moves[t, c] = sign
        elif margin <= 0.0:
            changed = True
            add_class(rows, t, k, y, z, biases, bias)
            add_class(rows, t, -k, rival, z, biases, bias)
            moved[y] += 1
            moved[rival] += 1
            if kept:
                moves[t, y] = 1
                moves[t, rival] = -1
        elif new:
            clock[1] += 1
        book_class(st, y, rival if miss else y, miss, k, row2, counts, confusion)
        if changed:
            st["updates"] += 1
        st["rounds"] += 1
        if st["rounds"] == st["trace_next"]:
            record_trace(st, 0)
    return int(labels.shape[0])


@compiled
def score_classes(rows: Any, z: Any, biases: Any, bias: float, known: int, out: Any) -> None:
    """out[t, k] = ⟨w_k, x_t⟩."""
    for t in range(out.shape[0]):
        class_scores(rows, t, z, biases, bias, known, out[t])
