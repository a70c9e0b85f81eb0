"""The solvers' loops from their definitions, rows as lists of (feature, value)."""

import math

from oracle import loops


def summed(terms):
    """Term i in part i mod 4, then (0 + 2) + (1 + 3)."""
    parts = [0.0] * 4
    for i, term in enumerate(terms):
        parts[i % 4] += term
    return (parts[0] + parts[2]) + (parts[1] + parts[3])


def score(row, w):
    return loops.sparse_dot([j for j, _ in row], [x for _, x in row], w)[0]


def add(row, c, w):
    for j, x in row:
        w[j] += c * x


def clip(x, lo, hi):
    return min(max(x, lo), hi)


def shrunk(r, flat):
    return min(r + flat, 0.0) + max(r - flat, 0.0)


def bent_slope(r, lo, hi, width):
    if width > 0.0:
        return clip(r / width, lo, hi)
    return lo if r < 0.0 else hi if r > 0.0 else clip(0.0, lo, hi)


def bent_total(z, kink, lo, hi, width, flat, weights):
    terms = []
    for t, at in enumerate(z):
        r = shrunk(at - kink[t], flat)
        a = bent_slope(r, lo[t], hi[t], width)
        terms.append(weights[t] * (a * r - 0.5 * width * a * a))
    return summed(terms)


def bent_along(z, step, tau, kink, lo, hi, width, flat, weights):
    return summed(
        weights[t] * step[t] * bent_slope(shrunk(z[t] + tau * step[t] - kink[t], flat), lo[t], hi[t], width)
        for t in range(len(z))
    )


def bent_step(kink, lo, hi, width, flat):
    """The new α of round t at a score z, with q = k‖x‖²/ridge."""

    def step(t, z, q, old):
        if width + q > 0.0:
            return clip(shrunk(z - kink[t] + q * old, flat) / (width + q), lo[t], hi[t])
        return bent_slope(shrunk(z - kink[t], flat), lo[t], hi[t], 0.0)

    return step


def epoch(rows, order, norms, step, weights, ridge, alpha, w):
    """Σ k·|change|; alpha and w are changed."""
    moved = 0.0
    for t in order:
        old = alpha[t]
        new = step(t, -score(rows[t], w) / ridge, weights[t] * norms[t] / ridge, old)
        if new != old:
            alpha[t] = new
            add(rows[t], weights[t] * (new - old), w)
            moved += weights[t] * abs(new - old)
    return moved


def logistic_residual(beta, yz, q, b):
    """What vanishes at the β that a logistic step takes."""
    return math.log(beta / (1.0 - beta)) + yz + q * (beta - b)


def path(rows, slopes, etas, growth, radius, width):
    """(w, Σc·w, [Σc‖w‖², Σc‖w‖]) of projected gradient descent from 0."""
    w, drift, sizes = [0.0] * width, [0.0] * width, [0.0, 0.0]
    for t, row in enumerate(rows):
        if slopes[t]:
            add(row, -etas[t] * slopes[t], w)
            norm = math.sqrt(loops.by_place(x * x for x in w))
            if norm > radius:
                factor = radius / norm
                w = [factor * x for x in w]
        if t < len(growth):
            square = loops.by_place(x * x for x in w)
            sizes[0] += growth[t] * square
            sizes[1] += growth[t] * math.sqrt(square)
            drift = [a + growth[t] * b for a, b in zip(drift, w, strict=True)]
    return w, drift, sizes
