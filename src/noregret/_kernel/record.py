"""The bookkeeping of rounds: what theorems, tables and pictures are made from."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret._kernel import compiled, inlined
from noregret._kernel.state import BINS, POINTS, WINDOW

U = np.uint64  # for counters: numba tests every signed one for "counted from the end"
LOWEST = (1023 - 32) << 6  # the pattern of 2⁻³², without its low bits


@inlined
def score_bin(score: float) -> int:
    """A bin that never decreases with the score: 64 steps to each power of two from 2⁻³² to 2³²."""
    middle = BINS // 2
    if score == 0.0:
        return middle
    # the sign, the exponent and the first six bits of the mantissa, read off the number's own pattern
    pattern = int(np.float64(abs(score)).view(np.int64) >> 46)
    place = min(max(pattern - LOWEST, 0), middle - 1)
    return middle + 1 + place if score > 0.0 else middle - 1 - place


@inlined
def is_mistake(score: float, y: float, tie: float) -> bool:
    """Whether sgn(score) ≠ y, a score of 0 counting as `tie` says."""
    if score == 0.0:
        return tie != y
    return (score > 0.0) != (y > 0.0)


@inlined
def keep_in_window(st: Any, error: float) -> None:
    at = st["window_at"]
    st["window"][at] = error
    st["window_at"] = at + 1 if at + 1 < WINDOW else 0


@inlined
def tally(st: Any, tie: float, labels: Any, scores: Any, start: int, stop: int) -> None:
    """Mistakes, confusion table, score bins, windowed error and the last-label baseline of the rounds start..stop.

    Only counts, which no later round needs, so that they can be taken for many rounds at once; a row without a score
    was no round.
    """
    bins, window = st["bins"], st["window"]
    at, last = st["window_at"], st["last_label"]
    rounds = positives = wrongs = missed = changes = 0
    for t in range(U(start), U(stop)):
        y, score = labels[U(t)], scores[U(t)]
        if score != score:
            continue
        truth = 1 if y > 0.0 else 0
        wrong = 1 if is_mistake(score, y, tie) else 0
        bins[truth, score_bin(score)] += 1
        window[at] = wrong
        at = at + 1 if at + 1 < WINDOW else 0
        rounds += 1
        positives += truth
        wrongs += wrong
        missed += truth & wrong
        changes += 1 if last != y else 0
        last = y
    st["window_at"], st["last_label"] = at, last
    st["positives"] += positives
    st["mistakes"] += wrongs
    st["last"] += changes
    st["confusion"][0, 0] += rounds - positives - wrongs + missed
    st["confusion"][0, 1] += wrongs - missed
    st["confusion"][1, 0] += missed
    st["confusion"][1, 1] += positives - missed


@inlined
def record_real(st: Any, score: float, y: float) -> None:
    """Absolute and squared error, windowed absolute error."""
    error = abs(score - y)
    st["absolute"] += error
    st["squared"] += error * error
    st["label_sum"] += y
    st["label_max"] = max(st["label_max"], abs(y))
    st["last_label"] = y
    keep_in_window(st, error)


@inlined
def mean_label(st: Any) -> float:
    """The mean of the labels so far, 0 before the first."""
    return st["label_sum"] / st["rounds"] if st["rounds"] > 0 else 0.0


@inlined
def book_sums(st: Any, cfg: Any, k: float, y: float, score: float, row2: float, loss: float) -> None:
    """All that is booked of a round of weight k, once it is sure to be played, but what `tally` counts."""
    st["loss"] += loss
    st["row_max2"] = max(st["row_max2"], row2)
    if not cfg["classify"]:
        record_real(st, score, y)
    elif is_mistake(score, y, cfg["tie"]):
        st["mistake_row2"] += row2
    if k != 1.0:
        st["fractional_weights"] += 1


@inlined
def book(st: Any, cfg: Any, k: float, labels: Any, scores: Any, t: int, row2: float, loss: float) -> None:
    """All that is booked of round t."""
    book_sums(st, cfg, k, labels[t], scores[t], row2, loss)
    if cfg["classify"]:
        tally(st, cfg["tie"], labels, scores, t, t + 1)


@compiled
def record_trace(st: Any, classify: int) -> None:
    """One row of the trace, at round `trace_next`; a full table first drops every second row."""
    trace = st["trace"]
    i = st["trace_rows"]
    trace[i, 0] = st["rounds"]
    trace[i, 1] = st["mistakes"]
    trace[i, 2] = st["loss"]
    trace[i, 3] = min(st["positives"], st["rounds"] - st["positives"]) if classify else st["constant"]
    trace[i, 4] = st["last"]
    trace[i, 5] = st["gradient2"]
    trace[i, 6] = st["gradient_dot_weights"]
    i += 1
    if i == POINTS:
        i = POINTS // 2
        for k in range(i):
            for j in range(trace.shape[1]):
                trace[k, j] = trace[2 * k + 1, j]
        st["trace_step"] *= 2
    st["trace_rows"] = i
    st["trace_next"] += st["trace_step"]


@compiled
def record_curve(st: Any, gradient_norm: float) -> None:
    """One row of the regret curve, four to each doubling of the rounds: ‖Σg‖ costs a look at every feature."""
    t = st["rounds"]
    i = st["curve_rows"]
    curve = st["curve"]
    curve[i, 0] = t
    curve[i, 1] = st["loss"]
    curve[i, 2] = st["gradient_dot_weights"]
    curve[i, 3] = gradient_norm
    st["curve_rows"] = i + 1
    step = 1
    while 8 * step <= t:
        step *= 2
    st["curve_next"] = t + step
