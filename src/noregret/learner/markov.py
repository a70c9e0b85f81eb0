"""Labels by their predecessors: the estimator of Krichevsky & Trofimov in each context, the last `order` labels.

After n labels in a context, n₁ of them +1, the next one is +1 with probability (n₁ + ½)/(n + 1). No feature is used:
it is the baseline that features must beat, and the better one where labels come in runs.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from noregret import arithmetic
from noregret._native import play_markov, score_markov
from noregret.learner import settings
from noregret.learner.core import Arrays, Call, NativeRows, Vector, fit
from noregret.learner.scored import Scored
from noregret.stream.block import Rows


class MarkovLabels(Scored):
    """A table of 2^(order + 1) contexts; the first rounds, which have fewer labels before them, have their own.

    In `scores` of several rows the labels between them are not known: every row is scored after the labels that were
    learned, as if it came next.
    """

    name = "markov"
    declared = settings.MarkovLabels
    params: settings.MarkovLabels
    scale_free = True

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.needs_past |= self.params.order > 0
        self.counts = np.zeros((2 << self.params.order, 2))
        self.context = np.ones(1, np.int64)  # a bit 1, then the last labels, the newest last

    def round_call(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> Call:
        return partial(play_markov, rows, y, weights, self.counts, self.context, self.record, scores)

    def score_call(self, rows: NativeRows, scores: Vector) -> Call:
        return partial(score_markov, self.counts, self.context, scores)

    def _score(self, rows: Rows) -> Vector:
        scores = np.empty(len(rows))
        score_markov(self.counts, self.context, scores)
        return scores

    @property
    def label_counts(self) -> Vector:
        return self.counts

    def about(self) -> dict[str, Any]:
        return {"contexts": int(np.count_nonzero(self.counts.any(axis=1)))}

    def arrays(self) -> Arrays:
        return {**super().arrays(), "counts": self.counts, "context": self.context}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        fit(arrays, {"counts": self.counts.shape, "context": (1,)})
        super().restore(arrays, width, paired)
        self.counts[:], self.context[:] = arrays["counts"], arrays["context"]
        if not (1 <= self.context[0] < len(self.counts) and (self.counts >= 0.0).all()):
            raise ValueError("the counts or the context of the labels are damaged")


def entropy(counts: Vector) -> float:
    """Σ n·ln(N/n) over the rows of a table, N the sum of the row.

    >>> round(entropy(np.array([[1.0, 1.0], [0.0, 3.0]])), 6)
    1.386294
    """
    rows = [(arithmetic.log(sum(row)), [n for n in row if n]) for row in counts.tolist() if any(row)]
    return math.fsum(n * (whole - arithmetic.log(n)) for whole, row in rows for n in row)
