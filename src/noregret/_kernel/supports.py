"""The rounds of a kernel perceptron on a block of rows whose kernel values are known.

The score of a row is Σ α·K(support, row) over the supports from the oldest to the newest, added one after another.
`order` lists the slot of each support; those of the block's own rows begin at `block`. The first `folded` supports, in
the slots below, have been summed: a row's score begins with base[t], and G has the columns of the slots from there on.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret._kernel import compiled, inlined
from noregret._kernel.record import book, is_mistake, record_curve, record_trace
from noregret._kernel.step import descend

OLDEST, RANDOM = 0, 1


@inlined
def weighted_sum(base: float, folded: int, G: Any, t: int, order: Any, alpha: Any, count: int) -> float:
    """Σ α·K in the order of the supports, those that are folded first."""
    total = base
    for i in range(folded, count):
        total += alpha[i] * G[t, order[i] - folded]
    return total


@compiled
def score_all(base: Any, folded: int, G: Any, order: Any, alpha: Any, count: int, scores: Any) -> None:
    """The score of every row of a block."""
    for t in range(scores.shape[0]):
        scores[t] = weighted_sum(base[t], folded, G, t, order, alpha, count)


@inlined
def forgotten(forget: int, count: int, draw: float) -> int:
    """Which of the supports goes: the oldest, or the one that a draw from [0, 1) names."""
    return 0 if forget == OLDEST else min(int(draw * count), count - 1)


@compiled
def play_block(
    base: Any,
    folded: int,
    until: int,
    G: Any,
    block: int,
    labels: Any,
    weights: Any,
    order: Any,
    alpha: Any,
    counts: Any,
    limit: int,
    forget: int,
    draws: Any,
    record: Any,
    scores: Any,
) -> int:
    """Play the rows in order; counts = (supports, draws used). Returns how many were played, before one overflows.

    It ends early, too, when there are `until` supports.
    """
    st = record[0]["state"]
    cfg = record[0]["config"]
    weighted = weights.shape[0] > 0
    count = counts[0]
    for t in range(labels.shape[0]):
        k = weights[t] if weighted else 1.0
        if k == 0.0:
            scores[t] = math.nan
            continue
        y = labels[t]
        row2 = G[t, block - folded + t]
        score = weighted_sum(base[t], folded, G, t, order, alpha, count)
        scores[t] = score
        if not (math.isfinite(row2) and math.isfinite(score)):
            return t
        miss = is_mistake(score, y, cfg["tie"])
        c = 0.0
        if miss:
            c = descend(st, cfg, scores, score, row2, score, -k * y, k)
            if c != c:
                return t
        book(st, cfg, k, labels, scores, t, row2, k if miss else 0.0)
        if miss:
            st["updates"] += 1
            if limit > 0 and count == limit:
                gone = forgotten(forget, count, draws[counts[1]])
                counts[1] += 1
                for i in range(gone, count - 1):
                    order[i] = order[i + 1]
                    alpha[i] = alpha[i + 1]
                count -= 1
            order[count] = block + t
            alpha[count] = c
            count += 1
            counts[0] = count
        st["rounds"] += 1
        if st["rounds"] == st["trace_next"]:
            record_trace(st, cfg["classify"])
        if st["rounds"] == st["curve_next"]:
            record_curve(st, 0.0)
        if miss and count == until:
            return t + 1
    return int(labels.shape[0])


def uniform(seed: int, first: int, count: int) -> Any:
    """The draws number first, first + 1, … of a seed from [0, 1): the same however many are asked for at once."""
    raw = np.random.Philox(key=seed, counter=first // 4).random_raw(first % 4 + count)[first % 4 :]
    return (raw >> np.uint64(11)) * 2.0**-53
