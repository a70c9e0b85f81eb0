"""The perceptron's mistake bounds in exact fractions, from their definitions: each answers whether M is within it.

A root is never taken: M ≤ c + √q is asked as (M − c)₊² ≤ q.
"""

from fractions import Fraction

import numpy as np

from noregret.rounds import Rounds
from noregret.run import Run
from noregret.stream.block import Dense


def fractions(values):
    return [Fraction(float(value)) for value in values]


def dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), start=Fraction(0))


def played(learner, X, y, weights=None):
    """The run of a learner over these rows, and its rounds with the scores that it predicted."""
    X, y = np.ascontiguousarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    bias = bool(learner.settings["bias"])
    scores = learner.play(Dense(X), y, weights)
    kept = ~np.isnan(scores.reshape(len(X), -1)[:, 0]) if len(X) else np.zeros(0, bool)
    rows = np.hstack([np.ones((len(X), int(bias))), X])[kept]
    some = None if weights is None or (weights[kept] == 1.0).all() else weights[kept]
    return Run.of(learner), Rounds(Dense(rows), y[kept], some, scores[kept], bias)


class Exact:
    """What a perceptron's run was, without rounding: the update rounds as they were, all else from the definitions."""

    def __init__(self, X, y, updated, start=None, eta=1.0, bias=False):
        self.X = [([Fraction(1)] if bias else []) + fractions(x) for x in X]
        self.y = [Fraction(int(label)) for label in y]
        self.updated = list(updated)
        width = len(self.X[0])
        w = [Fraction(0)] * int(bias) + fractions([] if start is None else start)
        self.start = [part / Fraction(eta) for part in w + [Fraction(0)] * (width - len(w))]
        self.M = len(self.updated)
        self.r2 = max(dot(x, x) for x in self.X)
        self.R2 = sum((dot(self.X[t], self.X[t]) for t in self.updated), start=Fraction(0))
        self.N2 = dot(self.start, self.start)
        self.S, self.premise = self._replay()

    def _replay(self):
        w, premise = list(self.start), True
        for t in self.updated:
            premise = premise and self.y[t] * dot(w, self.X[t]) <= 0
            w = [part + self.y[t] * x for part, x in zip(w, self.X[t], strict=True)]
        return [a - b for a, b in zip(w, self.start, strict=True)], premise

    def hinges(self, v):
        return [max(Fraction(0), 1 - label * dot(v, x)) for x, label in zip(self.X, self.y, strict=True)]

    def within(self, v):
        """For each bound by its theorem's name: whether it holds at v, losses over all rounds."""
        v = fractions(v)
        h = self.hinges(v)
        c, a2, n2 = sum(h), sum(part * part for part in h), dot(v, v)
        along, M = dot(v, self.start), self.M
        b2 = self.r2 * n2
        found = {
            "hinge-sum": _root_within(M - c, n2 * dot(self.S, self.S)),
            "hinge-mistakes": _root_within(M - c + along, n2 * (self.N2 + self.R2)),
            "hinge-radius": _root_within(M - c + along, n2 * (self.N2 + self.r2 * M)),
            "hinge-root": _root_within(M - c + along, n2 * (self.N2 + self.r2 * M)),
        }
        if not any(self.start):
            found["hinge-explicit"] = _root_within(M - c - b2, b2 * c)
            found["hinge-squared-sum"] = _root_within(M - c - b2, 4 * b2 * c)
            found["l2-radius"] = _root_within(M - a2 - b2, 4 * a2 * b2)
            # M ≤ a√M + p with p² = ‖v‖²R², asked as M ≤ p, or else M² + p² − 2Mp ≤ a²M.
            found["l2-mistakes"] = n2 * self.R2 >= M * M or _root_within(
                M * M + n2 * self.R2 - a2 * M, 4 * M * M * n2 * self.R2
            )
            found["squared-hinge-radius"] = _root_within(M - a2, 4 * b2 * M)
            found["squared-hinge-mistakes"] = _root_within(M - a2, 4 * n2 * self.R2)
        return found

    def norm_lemma(self):
        end = [a + b for a, b in zip(self.start, self.S, strict=True)]
        return dot(end, end) <= self.N2 + self.R2

    def order_free_lower_end(self, beta):
        """min(m, r²m²/g²): no comparator's exact root lies below it."""
        beta = fractions(beta)
        m = sum(beta)
        total = [
            sum(b * label * x[j] for b, label, x in zip(beta, self.y, self.X, strict=True))
            for j in range(len(self.X[0]))
        ]
        g2 = dot(total, total)
        return m if g2 == 0 else min(m, self.r2 * m * m / g2)


def _root_within(excess, square):
    """excess ≤ √square."""
    return excess <= 0 or excess * excess <= square
