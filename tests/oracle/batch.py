"""The batch perceptron and separability from their definitions, in fractions, and by enumeration."""

from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.optimize import linprog


def batch_perceptron(X, y, update, limit=100_000):
    """(K, the misclassified rows of each step, θ) of the sum or the average, without any rounding."""
    rows = [[Fraction(int(label) * value) for value in row] for row, label in zip(X, y, strict=True)]
    theta, steps = [Fraction(0)] * len(rows[0]), []
    while len(steps) < limit:
        wrong = [i for i, row in enumerate(rows) if sum(a * b for a, b in zip(theta, row, strict=True)) <= 0]
        if not wrong:
            return len(steps), steps, theta
        share = 1 if update == "sum" else len(wrong)
        theta = [a + sum(rows[i][j] for i in wrong) / share for j, a in enumerate(theta)]
        steps.append(wrong)
    return None


def separable(X, y):
    """Whether some u has y⟨u, x⟩ ≥ 1 on every row, as a linear programme says."""
    signed = np.asarray(X, dtype=float) * np.asarray(y, dtype=float)[:, None]
    d = signed.shape[1]
    solved = linprog(np.zeros(d), A_ub=-signed, b_ub=-np.ones(len(signed)), bounds=[(None, None)] * d)
    return solved.status == 0


def best_margin_in_the_plane(X, y):
    """max min y⟨u, x⟩ over ‖u‖ = 1 for rows of two features: at the best u one row or two are nearest."""
    points = np.asarray(X, dtype=float) * np.asarray(y, dtype=float)[:, None]
    candidates = list(points)
    for a, b in combinations(points, 2):
        candidates += [np.array([a[1] - b[1], b[0] - a[0]]), np.array([b[1] - a[1], a[0] - b[0]])]
    lengths = [(u, float(np.linalg.norm(u))) for u in candidates]
    return max((float((points @ u).min() / size) for u, size in lengths if size > 0.0), default=0.0)
