"""The bookkeeping of rounds: what theorems, tables and pictures are made from."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret._kernel import compiled, inlined
from noregret._kernel.bits import apart
from noregret._kernel.state import BINS, POINTS, ROOM, WINDOW

U = np.uint64  # for counters: numba tests every signed one for "counted from the end"
SELDOM = 16384  # rounds, at the most, before their scores are put into bins
LOWEST = np.int64((1023 - 32) << 6)  # the pattern of 2⁻³², without its low bits
POSITIVE = np.int64(0x7FFFFFFFFFFFFFFF)  # all bits but the sign's


@inlined
def _below(real: float) -> int:
    """1 for a number below 0, 0 for one above: read off its sign, for a processor cannot guess which it will be."""
    return int(np.float64(real).view(np.uint64) >> U(63))


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
def count(st: Any, y: float) -> None:
    """The label of one round, and the last-label baseline."""
    st["positives"] += 1 if y > 0.0 else 0
    st["last"] += 1 if st["last_label"] != y else 0
    st["last_label"] = y


@inlined
def place(st: Any, y: float, score: float) -> None:
    """Score bin of one round."""
    st["bins"][1 if y > 0.0 else 0, score_bin(score)] += 1


@compiled
def tally(st: Any, labels: Any, scores: Any, start: int, stop: int, gaps: bool) -> None:
    """What `count` counts, of the rounds start..stop up to now, and what the trace says of it.

    No later round needs these counts, so that they can be taken for many rounds at once, as vectors. With gaps, a row
    without a score was no round, and the last row of the trace is all there can be. What was said rightly is what is
    left of the labels.
    """
    apart()
    trace, rows, table = st["trace"], st["trace_rows"], st["confusion"]
    if gaps:
        for t in range(start, stop):
            if scores[t] == scores[t]:
                count(st, labels[t])
        if rows > 0 and trace[rows - 1, 0] == st["rounds"]:
            tell(st, rows - 1)
    else:
        before = st["rounds"] - (stop - start)
        i = rows
        while i > 0 and trace[i - 1, 0] > before:
            i -= 1
        while start < stop:
            end = min(start + int(trace[i, 0]) - before, stop) if i < rows else stop
            count_all(st, labels, start, end)
            before += end - start
            start = end
            if i < rows:
                tell(st, i)
            i += 1
    table[1, 1] = st["positives"] - table[1, 0]
    table[0, 0] = st["rounds"] - st["positives"] - table[0, 1]


@inlined
def count_all(st: Any, labels: Any, start: int, stop: int) -> None:
    """`count` of the rounds start..stop, at least one."""
    negatives = changes = 0
    for t in range(U(start + 1), U(stop)):
        negatives += _below(labels[t])
        changes += _below(labels[t] * labels[t - U(1)])
    count(st, labels[start])
    st["positives"] += stop - start - 1 - negatives
    st["last"] += changes
    st["last_label"] = labels[stop - 1]


@inlined
def tell(st: Any, i: int) -> None:
    """What row i of the trace says of the two baselines, of a run whose labels are counted up to its round."""
    st["trace"][i, 3] = min(st["positives"], st["trace"][i, 0] - st["positives"])
    st["trace"][i, 4] = st["last"]


@compiled
def place_all(st: Any, room: Any, labels: Any, scores: Any, start: int, stop: int, gaps: bool) -> None:
    """What `place` does, for the rounds start..stop: seldom, for the bins would drive the weights out of the cache."""
    apart()
    if gaps:
        for t in range(start, stop):
            if scores[t] == scores[t]:
                place(st, labels[t], scores[t])
        return
    bins = st["bins"].reshape(2 * BINS)
    for begin in range(U(start), U(stop), U(ROOM)):
        some = min(U(stop) - begin, U(ROOM))
        for i in range(some):
            room[i] = BINS * (1 - _below(labels[begin + i])) + score_bin(scores[begin + i])
        for i in range(some):
            bins[U(room[i])] += 1


@compiled
def keep_last(st: Any, tie: float, labels: Any, scores: Any, stop: int, gaps: bool) -> None:
    """`keep_in_window` of the rounds 0..stop: of more than the window holds, the last."""
    apart()
    if gaps:
        for t in range(stop):
            if scores[t] == scores[t]:
                keep_in_window(st, 1.0 if is_mistake(scores[t], labels[t], tie) else 0.0)
        return
    window, at = st["window"], U(st["window_at"] + max(stop - WINDOW, 0)) % U(WINDOW)
    for t in range(U(max(stop - WINDOW, 0)), U(stop)):
        window[at] = 1.0 if is_mistake(scores[t], labels[t], tie) else 0.0
        at = at + U(1) if at < U(WINDOW - 1) else U(0)
    st["window_at"] = at


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
    """All that is booked of a round of weight k, once it is sure to be played, but what `count` and `place` take."""
    st["loss"] += loss
    st["row_max2"] = max(st["row_max2"], row2)
    if not cfg["classify"]:
        record_real(st, score, y)
    elif is_mistake(score, y, cfg["tie"]):
        truth = 1 if y > 0.0 else 0
        st["mistakes"] += 1
        st["mistake_row2"] += row2
        st["confusion"][truth, 1 - truth] += 1
    if k != 1.0:
        st["fractional_weights"] += 1


@inlined
def book(st: Any, cfg: Any, k: float, labels: Any, scores: Any, t: int, row2: float, loss: float) -> None:
    """All that is booked of round t."""
    book_sums(st, cfg, k, labels[t], scores[t], row2, loss)
    if cfg["classify"]:
        truth = 1 if labels[t] > 0.0 else 0
        wrong = 1.0 if is_mistake(scores[t], labels[t], cfg["tie"]) else 0.0
        st["confusion"][truth, truth] += 0 if wrong else 1
        count(st, labels[t])
        place(st, labels[t], scores[t])
        keep_in_window(st, wrong)


@inlined
def add_to_trace(st: Any, classify: int) -> None:
    """One row of the trace, at round `trace_next`."""
    trace = st["trace"]
    i = st["trace_rows"]
    trace[i, 0] = st["rounds"]
    trace[i, 1] = st["mistakes"]
    trace[i, 2] = st["loss"]
    trace[i, 5] = st["gradient2"]
    trace[i, 6] = st["gradient_dot_weights"]
    st["trace_rows"] = i + 1
    st["trace_next"] += st["trace_step"]
    if classify:
        tell(st, i)
    else:
        trace[i, 3] = st["constant"]
        trace[i, 4] = st["last"]


@compiled
def record_trace(st: Any, classify: int) -> None:
    """One row of the trace; a full table then drops every second row."""
    add_to_trace(st, classify)
    if st["trace_rows"] == POINTS:
        thin(st)


@compiled
def trace_late(st: Any, cfg: Any, room: Any, labels: Any, scores: Any, booked: int, t: int, gaps: bool) -> int:
    """As `record_trace` before round t, where rounds are tallied and placed in batches; up to where they now are."""
    apart()
    add_to_trace(st, cfg["classify"])
    full = st["trace_rows"] == POINTS
    if full or gaps or t - booked >= SELDOM:
        book_late(st, cfg, room, labels, scores, booked, t, gaps)
        booked = t
    if full:
        thin(st)
    return booked


@inlined
def book_rest(st: Any, cfg: Any, room: Any, labels: Any, scores: Any, booked: int, played: int, gaps: bool) -> None:
    """What is booked at the end of a play."""
    book_late(st, cfg, room, labels, scores, booked, played, gaps)
    if cfg["classify"]:
        keep_last(st, cfg["tie"], labels, scores, played, gaps)


@inlined
def book_late(st: Any, cfg: Any, room: Any, labels: Any, scores: Any, start: int, stop: int, gaps: bool) -> None:
    """What is booked in batches."""
    if cfg["classify"]:
        tally(st, labels, scores, start, stop, gaps)
        place_all(st, room, labels, scores, start, stop, gaps)


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
