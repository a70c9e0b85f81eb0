"""Selection from its definition: every predictor of the run, on every round that it had not seen."""

import math
from fractions import Fraction


def perceptron_path(X, y):
    """w before every round, a score of 0 counting as a mistake."""
    w, path = [Fraction(0)] * len(X[0]), []
    for x, label in zip(X, y, strict=True):
        path.append(list(w))
        if label * sum(a * Fraction(b) for a, b in zip(w, x, strict=True)) <= 0:
            w = [a + int(label) * Fraction(b) for a, b in zip(w, x, strict=True)]
    return path


def errors(w, X, y):
    return sum(
        int(label) * sum(a * Fraction(b) for a, b in zip(w, x, strict=True)) <= 0 for x, label in zip(X, y, strict=True)
    )


def penalised(path, X, y, delta):
    """(round from 1, errors on its tail, penalised risk) of the best among all."""
    T = len(y)
    found = []
    for i, w in enumerate(path):
        wrong, n = errors(w, X[i:], y[i:]), T - i
        found.append((wrong / n + math.sqrt(math.log(T * (T + 1) / delta) / (2 * n)), i + 1, wrong))
    risk, i, wrong = min(found, key=lambda one: (one[0], one[1]))
    return i, wrong, risk


def binomial_tail(k, n, p):
    """P(Bin(n, p) ≤ k) in rationals."""
    p = Fraction(p)
    return sum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k + 1))
