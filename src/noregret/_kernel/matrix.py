"""The rounds of a learner that keeps a matrix A = aI + Σ k·x·xᵀ, its inverse B, b = Σ k·y·x and u = B·b.

A row x of weight k is scored by ⟨b, (A + k·x·xᵀ)⁻¹x⟩ = ⟨u, x⟩/(1 + k·p) with p = ⟨x, Bx⟩ (Sherman and Morrison), and
learned from by A ← A + k·x·xᵀ, B ← B − k·q·qᵀ/(1 + k·p), u ← u + k(y − ⟨u, x⟩)/(1 + k·p)·q, q = Bx. What rounding
leaves in B and u is swept away by taking both afresh from A and b (`is_due`): after so many updates, and after a row
with a large k·p, which cancels that many digits of B. As det A grows by the factor 1 + k·p, such rows are few.

With a bias, place 0 of the matrix is the constant 1 and every feature stands one place higher. Places that no row has
touched hold a on the diagonal of A and 1/a on that of B; every sum is taken in an order that such places do not change.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret._kernel import compiled, inlined
from noregret._kernel.record import book, is_mistake, mean_label, record_curve, record_trace
from noregret._kernel.rows import entries, entry

U = np.uint64
FIRST, EVERY = 64, 4096  # B is taken afresh after 64, 128, 256, … updates and after each multiple of 4096
LARGE = 2.0**16  # and after a row with a k·p of this or more


@inlined
def is_due(updates: int, growth: float) -> bool:
    """Whether the inverse is taken afresh after so many updates, the last of which had k·p = growth."""
    return growth >= LARGE or (updates >= FIRST and (updates & (updates - 1) == 0 or updates % EVERY == 0))


@inlined
def along(rows: Any, t: int, shift: int, z: Any) -> float:
    """⟨z, x⟩ of row t, the bias first."""
    found = z[0] if shift else 0.0
    start, stop = entries(rows, t)
    for k in range(start, stop):
        j, x = entry(rows, t, k)
        found += np.float64(x) * z[U(j) + U(shift)]
    return found


@inlined
def square(rows: Any, t: int, shift: int) -> float:
    """‖x‖² of row t with the bias."""
    found = float(shift)
    start, stop = entries(rows, t)
    for k in range(start, stop):
        _, x = entry(rows, t, k)
        found += np.float64(x) * np.float64(x)
    return found


@inlined
def add_scaled(c: float, row: Any, first: int, n: int, out: Any) -> None:
    """out ← out + c·row, from place `first` up to n."""
    for i in range(U(first), U(n)):
        out[U(i)] += c * row[U(i)]


@inlined
def multiply(rows: Any, t: int, shift: int, B: Any, n: int, q: Any) -> None:
    """q ← Bx, Θ(n) for each non-zero of the row."""
    for i in range(U(n)):
        q[U(i)] = B[0, U(i)] if shift else 0.0
    start, stop = entries(rows, t)
    for k in range(start, stop):
        j, x = entry(rows, t, k)
        if x != 0.0:
            add_scaled(np.float64(x), B[U(j) + U(shift)], 0, n, q)


@inlined
def entry_of_product(rows: Any, t: int, shift: int, row: Any) -> float:
    """One place of Bx from its row of B: the same sum, in the same order, as `multiply` takes."""
    found = row[0] if shift else 0.0
    start, stop = entries(rows, t)
    for k in range(start, stop):
        j, x = entry(rows, t, k)
        if x != 0.0:
            found += np.float64(x) * row[U(j) + U(shift)]
    return found


@inlined
def quadratic(rows: Any, t: int, shift: int, B: Any) -> float:
    """⟨x, Bx⟩ in Θ(non-zeros²), to the bit what `multiply` and `along` give."""
    found = entry_of_product(rows, t, shift, B[0]) if shift else 0.0
    start, stop = entries(rows, t)
    for k in range(start, stop):
        j, x = entry(rows, t, k)
        if x != 0.0:
            found += np.float64(x) * entry_of_product(rows, t, shift, B[U(j) + U(shift)])
    return found


@inlined
def is_thin(rows: Any, t: int, n: int) -> bool:
    """Whether a row has so few entries that ⟨x, Bx⟩ is had for less than Bx."""
    start, stop = entries(rows, t)
    return 4 * (stop - start) < n


@inlined
def form(rows: Any, t: int, shift: int, B: Any, n: int, q: Any) -> float:
    """⟨x, Bx⟩ by the shorter way, q ← Bx if the row is not thin; never below 0, as the exact one is not."""
    if is_thin(rows, t, n):
        return max(quadratic(rows, t, shift, B), 0.0)
    multiply(rows, t, shift, B, n, q)
    return max(along(rows, t, shift, q), 0.0)


@inlined
def add_outer(rows: Any, t: int, shift: int, k: float, A: Any) -> None:
    """A ← A + k·x·xᵀ, symmetric to the bit."""
    start, stop = entries(rows, t)
    if shift:
        A[0, 0] += k
    for m in range(start, stop):
        i, x = entry(rows, t, m)
        if x == 0.0:
            continue
        row = A[U(i) + U(shift)]
        if shift:
            row[0] += k * np.float64(x)
            A[0, U(i) + U(shift)] += k * np.float64(x)
        for m2 in range(start, stop):
            j, x2 = entry(rows, t, m2)
            row[U(j) + U(shift)] += k * (np.float64(x) * np.float64(x2))


@inlined
def subtract_outer(c: float, q: Any, n: int, B: Any) -> None:
    """B ← B − c·q·qᵀ, symmetric to the bit."""
    for i in range(U(n)):
        if q[U(i)] != 0.0:
            row = B[U(i)]
            for j in range(U(n)):
                row[U(j)] -= c * (q[U(i)] * q[U(j)])


@inlined
def add_row(rows: Any, t: int, shift: int, c: float, z: Any) -> None:
    """z ← z + c·x."""
    if shift:
        z[0] += c
    start, stop = entries(rows, t)
    for k in range(start, stop):
        j, x = entry(rows, t, k)
        z[U(j) + U(shift)] += c * np.float64(x)


@inlined
def tail_dot(x: Any, y: Any, first: int, n: int) -> float:
    """Σ x·y from place `first` up to n, in four accumulators by place: zeros at the end change no bit."""
    a0 = a1 = a2 = a3 = 0.0
    i = U(first)
    while i + U(4) <= U(n):
        a0 += x[i] * y[i]
        a1 += x[i + U(1)] * y[i + U(1)]
        a2 += x[i + U(2)] * y[i + U(2)]
        a3 += x[i + U(3)] * y[i + U(3)]
        i += U(4)
    if i < U(n):
        a0 += x[i] * y[i]
    if i + U(1) < U(n):
        a1 += x[i + U(1)] * y[i + U(1)]
    if i + U(2) < U(n):
        a2 += x[i + U(2)] * y[i + U(2)]
    return (a0 + a2) + (a1 + a3)


@compiled
def invert(A: Any, n: int, a: float, B: Any, row: Any) -> None:
    """B ← A⁻¹ by Cholesky's A = VᵀV with V upper triangular, all in the room of B and of one row.

    A ⪰ aI, so no pivot is below a: one that comes out smaller is rounding's, and a is taken for it.
    """
    for i in range(n):
        for j in range(n):
            B[i, j] = A[i, j]
    for i in range(n):
        pivot = math.sqrt(max(B[i, i], a))
        B[i, i] = pivot
        for j in range(i + 1, n):
            B[i, j] /= pivot
        for m in range(i + 1, n):
            if B[i, m] != 0.0:
                add_scaled(-B[i, m], B[i], m, n, B[m])
    for i in range(n - 1, -1, -1):  # V ← V⁻¹, from the last row up
        by = 1.0 / B[i, i]
        for j in range(i + 1, n):
            row[j] = B[i, j]
            B[i, j] = 0.0
        B[i, i] = by
        for m in range(i + 1, n):
            if row[m] != 0.0:
                add_scaled(-by * row[m], B[m], m, n, B[i])
    for i in range(n):  # B ← V⁻¹V⁻ᵀ
        for j in range(i, n):
            B[i, j] = tail_dot(B[i], B[j], j, n)
    for i in range(n):
        for j in range(i):
            B[i, j] = B[j, i]


@compiled
def refresh(A: Any, b: Any, n: int, a: float, B: Any, u: Any, q: Any) -> None:
    """B and u afresh from A and b."""
    invert(A, n, a, B, q)
    for i in range(n):
        u[i] = 0.0
    for i in range(n):
        if b[i] != 0.0:
            add_scaled(b[i], B[i], 0, n, u)


@inlined
def learn(rows: Any, t: int, shift: int, k: float, y: float, inner: float, p: float, M: Any, n: int) -> None:
    """Take the row in; M is (A, B, b, u, q) and q holds Bx."""
    A, B, b, u, q = M
    share = k / (1.0 + k * p)
    add_outer(rows, t, shift, k, A)
    add_row(rows, t, shift, k * y, b)
    add_scaled(share * (y - inner), q, 0, n, u)
    subtract_outer(share, q, n, B)


@inlined
def book_gradient(st: Any, g: float, score: float, row2: float) -> None:
    """The figures of the gradient g·x."""
    t = st["rounds"] + 1
    gradient2 = g * g * row2
    st["updates"] += 1
    st["gradient2"] += gradient2
    st["gradient2_sqrt"] += gradient2 / math.sqrt(t)
    st["gradient2_inverse"] += gradient2 / t
    st["gradient_max2"] = max(st["gradient_max2"], gradient2)
    st["gradient_dot_weights"] += g * score


@compiled
def play(rows: Any, labels: Any, weights: Any, matrices: Any, n: int, record: Any, scores: Any) -> int:
    """Play the rows in order; returns how many: fewer than there are only where the next one would overflow.

    A classifier learns from its mistakes, with the loss 0 or 1; a regressor from every round, with (score − y)². The
    ridge a stands where others have the η of their rate.
    """
    st = record[0]["state"]
    cfg = record[0]["config"]
    A, B, b, u, q = matrices
    shift = 1 if cfg["bias"] else 0
    a = cfg["eta"]
    for t in range(labels.shape[0]):
        k = weights[t] if weights.shape[0] > 0 else 1.0
        if k == 0.0:
            scores[t] = math.nan
            continue
        y = labels[t]
        row2 = square(rows, t, shift)
        if not math.isfinite(k * row2 / a / a + k * row2 + st["norm2"]):
            return t
        inner = along(rows, t, shift, u)
        p = form(rows, t, shift, B, n, q)
        score = inner / (1.0 + k * p)
        scores[t] = score
        if cfg["classify"]:
            miss = is_mistake(score, y, cfg["tie"])
            loss = k if miss else 0.0
            g = -k * y if miss else 0.0
            learns = miss
        else:
            loss = k * (score - y) * (score - y)
            g = 2.0 * k * (score - y)
            learns = True
        if not (math.isfinite(k * p) and math.isfinite(st["loss"] + loss + st["gradient2"] + g * g * row2)):
            return t
        if not cfg["classify"]:
            st["constant"] += k * (mean_label(st) - y) * (mean_label(st) - y)
            st["last"] += k * (st["last_label"] - y) * (st["last_label"] - y)
        book(st, cfg, k, labels, scores, t, row2, loss)
        if g != 0.0:
            book_gradient(st, g, score, row2)
        if learns:
            if is_thin(rows, t, n):
                multiply(rows, t, shift, B, n, q)
            learn(rows, t, shift, k, y, inner, p, matrices, n)
            st["norm2"] += k * row2
        st["rounds"] += 1
        if learns and is_due(st["updates"] if cfg["classify"] else st["rounds"], k * p):
            refresh(A, b, n, a, B, u, q)
        if st["rounds"] == st["trace_next"]:
            record_trace(st, cfg["classify"])
        if st["rounds"] == st["curve_next"]:
            record_curve(st, 0.0)
    return int(labels.shape[0])


@compiled
def score_rows(rows: Any, shift: int, B: Any, u: Any, n: int, q: Any, scores: Any) -> None:
    """The score ⟨u, x⟩/(1 + ⟨x, Bx⟩) of every row; q is room to work in."""
    for t in range(scores.shape[0]):
        scores[t] = along(rows, t, shift, u) / (1.0 + form(rows, t, shift, B, n, q))


@compiled
def follow(rows: Any, y: Any, weights: Any, chosen: Any, a: float, matrices: Any, n: int, out: Any) -> None:
    """Go through the chosen rounds once more and measure how well A⁻¹x was known before each was taken in.

    For round t with A its matrix, the row itself included, and b before it: out[i] = (⟨b, q⟩, ⟨x, q⟩, ‖x − Aq‖,
    Σ√A_jj·|q_j|, tr A), q being near to A⁻¹x. Rows hold the bias already.
    """
    A, B, b, u, q = matrices
    for i in range(chosen.shape[0]):
        t = chosen[i]
        k = weights[t] if weights.shape[0] > 0 else 1.0
        multiply(rows, t, 0, B, n, q)
        p = max(along(rows, t, 0, q), 0.0)
        add_outer(rows, t, 0, k, A)
        share = k / (1.0 + k * p)
        subtract_outer(share, q, n, B)
        if is_due(i + 1, k * p):
            invert(A, n, a, B, u)
            multiply(rows, t, 0, B, n, q)
        else:
            for j in range(n):
                q[j] /= 1.0 + k * p
        residual(rows, t, A, n, q, u)
        size = trace = rest = 0.0
        for j in range(n):
            trace += A[j, j]
            size += math.sqrt(A[j, j]) * abs(q[j])
            rest += u[j] * u[j]
        out[i, 0] = tail_dot(b, q, 0, n)
        out[i, 1] = along(rows, t, 0, q)
        out[i, 2] = math.sqrt(rest)
        out[i, 3] = size
        out[i, 4] = trace
        add_row(rows, t, 0, k * y[t], b)


@inlined
def residual(rows: Any, t: int, A: Any, n: int, q: Any, out: Any) -> None:
    """out ← x − Aq."""
    for j in range(n):
        out[j] = 0.0
    add_row(rows, t, 0, 1.0, out)
    for j in range(n):
        if q[j] != 0.0:
            add_scaled(-q[j], A[j], 0, n, out)
