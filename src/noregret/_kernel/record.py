"""The bookkeeping of rounds: what theorems, tables and pictures are made from."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret._kernel import compiled, inlined
from noregret._kernel.bits import apart
from noregret._kernel.state import BINS, POINTS, ROOM, WINDOW

U = np.uint64  # for counters: numba tests every signed one for "counted from the end"
SELDOM = 8192  # rounds, at the most, before their scores are put into bins
LOWEST = np.int64((1023 - 32) << 6)  # the pattern of 2⁻³², without its low bits
POSITIVE = np.int64(0x7FFFFFFFFFFFFFFF)  # all bits but the sign's


@inlined
def _above(real: float) -> int:
    """1 for a number above 0, 0 for one below: read off its sign, for a processor cannot guess which it will be."""
    return int(1 + (np.float64(real).view(np.int64) >> 63))


@inlined
def score_bin(score: float) -> int:
    """A bin that never decreases with the score: 64 steps to each power of two from 2⁻³² to 2³²."""
    # the sign, the exponent and the first six bits of the mantissa, read off the number's own pattern
    pattern = np.float64(score).view(np.int64)
    sign = pattern >> 63  # 0 or −1
    step: Any = min(max(((pattern & POSITIVE) >> 46) - LOWEST, 0), BINS // 2 - 1)
    step += 1 if score != 0.0 else 0
    return int(BINS // 2 + ((step ^ sign) - sign))


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
def count(st: Any, tie: float, y: float, score: float) -> None:
    """Mistakes, confusion table and the last-label baseline of one round."""
    truth = 1 if y > 0.0 else 0
    wrong = 1 if is_mistake(score, y, tie) else 0
    st["positives"] += truth
    st["mistakes"] += wrong
    st["last"] += 1 if st["last_label"] != y else 0
    st["last_label"] = y
    st["confusion"][truth, truth ^ wrong] += 1


@inlined
def place(st: Any, tie: float, y: float, score: float) -> None:
    """Score bin and windowed error of one round."""
    st["bins"][1 if y > 0.0 else 0, score_bin(score)] += 1
    keep_in_window(st, 1.0 if is_mistake(score, y, tie) else 0.0)


@compiled
def tally(st: Any, tie: float, labels: Any, scores: Any, start: int, stop: int, gaps: bool) -> None:
    """What `count` counts, of the rounds start..stop; with gaps, a row without a score was no round.

    No later round needs these counts, so that they can be taken for many rounds at once, as vectors.
    """
    apart()
    positives = wrongs = missed = zeros = changes = 0
    for t in range(U(start), U(stop)):
        truth, score = _above(labels[t]), scores[t]
        wrong = truth ^ _above(score)
        positives += truth
        wrongs += wrong
        missed += truth & wrong
        zeros += 1 if score == 0.0 else 0
    if gaps or zeros > 0 or start == stop:
        for t in range(start, stop):
            if scores[t] == scores[t]:
                count(st, tie, labels[t], scores[t])
        return
    for t in range(U(start + 1), U(stop)):
        changes += 1 if labels[t] != labels[t - U(1)] else 0
    st["last"] += changes + (1 if st["last_label"] != labels[start] else 0)
    st["last_label"] = labels[stop - 1]
    st["positives"] += positives
    st["mistakes"] += wrongs
    st["confusion"][0, 0] += stop - start - positives - wrongs + missed
    st["confusion"][0, 1] += wrongs - missed
    st["confusion"][1, 0] += missed
    st["confusion"][1, 1] += positives - missed


@compiled
def place_all(st: Any, room: Any, tie: float, labels: Any, scores: Any, start: int, stop: int, gaps: bool) -> None:
    """What `place` does, for the rounds start..stop: seldom, for the bins would drive the weights out of the cache."""
    apart()
    zeros = 0
    for t in range(U(start), U(stop)):
        zeros += 1 if scores[t] == 0.0 else 0
    if gaps or zeros > 0:
        for t in range(start, stop):
            if scores[t] == scores[t]:
                place(st, tie, labels[t], scores[t])
        return
    window, at = st["window"], U(st["window_at"] + max(stop - start - WINDOW, 0)) % U(WINDOW)
    for t in range(U(max(start, stop - WINDOW)), U(stop)):
        window[at] = _above(labels[t]) ^ _above(scores[t])
        at = at + U(1) if at < U(WINDOW - 1) else U(0)
    st["window_at"] = at
    bins = st["bins"].reshape(2 * BINS)
    for begin in range(U(start), U(stop), U(ROOM)):
        some = min(U(stop) - begin, U(ROOM))
        for i in range(some):
            room[i] = BINS * _above(labels[begin + i]) + score_bin(scores[begin + i])
        for i in range(some):
            bins[U(room[i])] += 1


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
    """All that is booked of a round of weight k, once it is sure to be played, but what is counted."""
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
        count(st, cfg["tie"], labels[t], scores[t])
        place(st, cfg["tie"], labels[t], scores[t])


@compiled
def record_trace(st: Any, classify: int) -> None:
    """One row of the trace, at round `trace_next`; a full table then drops every second row."""
    trace = st["trace"]
    i = st["trace_rows"]
    trace[i, 0] = st["rounds"]
    trace[i, 1] = st["mistakes"]
    trace[i, 2] = st["loss"]
    trace[i, 3] = min(st["positives"], st["rounds"] - st["positives"]) if classify else st["constant"]
    trace[i, 4] = st["last"]
    trace[i, 5] = st["gradient2"]
    trace[i, 6] = st["gradient_dot_weights"]
    st["trace_rows"] = i + 1
    st["trace_next"] += st["trace_step"]
    if i + 1 == POINTS:
        thin(st)


@compiled
def thin(st: Any) -> None:
    """Drop every second row of the trace, so that the spacing doubles."""
    trace, rows, step = st["trace"], st["trace_rows"], 2 * st["trace_step"]
    for k in range(rows // 2):
        for j in range(trace.shape[1]):
            trace[k, j] = trace[2 * k + 1, j]
    for k in range(rows // 2, rows):
        for j in range(trace.shape[1]):
            trace[k, j] = 0.0
    st["trace_rows"] = rows // 2
    st["trace_step"] = step
    st["trace_next"] = (st["rounds"] // step + 1) * step


@compiled
def expect(st: Any, rounds: int) -> None:
    """Drop what the trace will have dropped anyway when so many more rounds are over: they need not write it first.

    Where fewer follow, because one of them is refused, the trace is thinner than it need be.
    """
    while (st["rounds"] + rounds) // st["trace_step"] >= POINTS:
        thin(st)


@compiled
def foresee(record: Any, rounds: int) -> None:
    """`expect` for rounds that will come in several plays."""
    expect(record[0]["state"], rounds)


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
