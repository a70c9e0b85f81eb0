"""A second-order learner in floats, every sum in the order that the core states: what it computes, to the last bit.

Rows hold the bias already, as a first column of ones.
"""

import math

from oracle.kernels import in_order
from oracle.learners import is_mistake


def is_due(updates, growth):
    """Whether the inverse is taken afresh."""
    return growth >= 2.0**16 or (updates >= 64 and (updates & (updates - 1) == 0 or updates % 4096 == 0))


def along(x, z):
    return in_order(a * b for a, b in zip(x, z, strict=True))


def product(B, x):
    """Bx, row after row of the symmetric B."""
    return [in_order(a * row[i] for a, row in zip(x, B, strict=True) if a != 0.0) for i in range(len(B))]


def by_place(x, y):
    """Σ x·y in four parts by place."""
    parts = [in_order(a * b for a, b in zip(x[lane::4], y[lane::4], strict=True)) for lane in range(4)]
    return (parts[0] + parts[2]) + (parts[1] + parts[3])


def inverse(A, a):
    """By Cholesky's A = VᵀV, then W = V⁻¹, then WWᵀ; no pivot is below a."""
    n, V = len(A), [list(row) for row in A]
    for i in range(n):
        V[i][i] = math.sqrt(max(V[i][i], a))
        V[i][i + 1 :] = [entry / V[i][i] for entry in V[i][i + 1 :]]
        for m in range(i + 1, n):
            for j in range(m, n):
                V[m][j] += -V[i][m] * V[i][j]
    W = [[0.0] * n for _ in range(n)]
    for i in range(n - 1, -1, -1):
        W[i][i] = 1.0 / V[i][i]
        for m in range(i + 1, n):
            for j in range(m, n):
                W[i][j] += (-W[i][i] * V[i][m]) * W[m][j]
    return [[by_place(W[i][max(i, j) :], W[j][max(i, j) :]) for j in range(n)] for i in range(n)]


def second_order(X, y, a, weights=None, tie=0.0, every=False):
    """(scores, A, B, b, u) of A = aI + Σ k·x·xᵀ, B = A⁻¹, b = Σ k·y·x, u = Bb; `every` learns from every round."""
    places, updates, scores = range(len(X[0])), 0, []
    A, B = ([[value if i == j else 0.0 for j in places] for i in places] for value in (a, 1.0 / a))
    b, u = [0.0 for _ in places], [0.0 for _ in places]
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        k, inner, q = 1.0 if weights is None else weights[t], along(x, u), product(B, x)
        p = max(along(x, q), 0.0)
        scores.append(inner / (1.0 + k * p))
        if not (every or is_mistake(scores[-1], label, tie)):
            continue
        share, updates = k / (1.0 + k * p), updates + 1
        for i in places:
            b[i] += (k * label) * x[i]
            u[i] += (share * (label - inner)) * q[i]
            for j in places:
                A[i][j] += k * (x[i] * x[j])
                B[i][j] -= share * (q[i] * q[j])
        if is_due(updates, k * p):
            B = inverse(A, a)
            u = product(B, b)
    return scores, A, B, b, u
