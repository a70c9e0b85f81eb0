"""The learners from their definitions, in plain Python: whole vectors, no scale, no running norm, nothing saved up."""

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Game:
    """All that happened: w_1 … w_{T+1}, and each round's score, loss, gradient and whether it was a mistake."""

    W: list
    scores: list = field(default_factory=list)
    losses: list = field(default_factory=list)
    gradients: list = field(default_factory=list)
    mistakes: list = field(default_factory=list)


def dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), start=0)


def is_mistake(score, y, tie):
    """`tie` is what a score of 0 counts as: +1, −1, or 0 for a mistake either way."""
    return tie != y if score == 0 else (score > 0) != (y > 0)


def perceptron(X, y, eta=1, tie=0, start=None):
    """On a mistake w ← w + η·y·x. Exact where the numbers are: integers and fractions stay what they are."""
    game = Game([list(start) if start is not None else [0] * len(X[0])])
    for x, label in zip(X, y, strict=True):
        w = game.W[-1]
        game.scores.append(dot(w, x))
        game.mistakes.append(is_mistake(game.scores[-1], label, tie))
        step = eta * label if game.mistakes[-1] else 0
        game.losses.append(int(game.mistakes[-1]))
        game.W.append([weight + step * part for weight, part in zip(w, x, strict=True)])
    return game


def second_order(X, y, a, weights=None, tie=0, every=False):
    """⟨b, (A + k·x·xᵀ)⁻¹x⟩, solved anew each round; A = aI + Σ k·x·xᵀ and b = Σ k·y·x over mistakes, or over `every`.

    W holds A⁻¹b. With `every` the loss is the squared one, else 1 for a mistake.
    """
    X = np.asarray(X, dtype=float)
    A, b = a * np.eye(X.shape[1]), np.zeros(X.shape[1])
    game = Game([b.tolist()])
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        k = 1.0 if weights is None else weights[t]
        after = A + k * np.outer(x, x)
        score = float(b @ np.linalg.solve(after, x))
        game.scores.append(score)
        game.mistakes.append(is_mistake(score, label, tie))
        game.losses.append(k * (score - label) ** 2 if every else k * game.mistakes[-1])
        if every:
            game.gradients.append((2.0 * k * (score - label) * x).tolist())
        if every or game.mistakes[-1]:
            A, b = after, b + k * label * x
        game.W.append(np.linalg.solve(A, b).tolist())
    return game


def averaged(X, y, **settings):
    """The perceptron, and after its rounds the mean of the weights that each round left behind."""
    game = perceptron(X, y, **settings)
    game.W[-1] = [sum(column) / len(y) for column in zip(*game.W[1:], strict=True)]
    return game


def passive_step(rule, lost, row2, C):
    """τ of PA, PA-I and PA-II."""
    if rule == "pa2":
        return lost / (row2 + 1 / (2 * C))
    return lost / row2 if rule == "pa" else min(C, lost / row2)


def passive(X, y, loss, rule, C=None, weights=None, tie=0):
    """w ← w + τ·s·x with s the downhill direction of the loss and τ by the rule; C = None is 1/max‖x‖² so far."""
    value, slope = loss
    game = Game([[0.0] * len(X[0])])
    longest = 0.0
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        w, k, row2 = game.W[-1], 1.0 if weights is None else weights[t], dot(x, x)
        longest = max(longest, row2)
        z = dot(w, x)
        lost, towards = value(z, label), -slope(z, label)
        bound = None if not longest else k * (1 / longest if C is None else C)
        tau = 0.0 if not row2 else passive_step(rule, lost, row2, bound)
        game.scores.append(z)
        game.losses.append(k * lost)
        game.gradients.append([-k * towards * part for part in x])
        game.mistakes.append(is_mistake(z, label, tie))
        game.W.append([weight + tau * towards * part for weight, part in zip(w, x, strict=True)])
    return game


def adagrad(X, y, loss, eta, radius, weights=None):
    """w_i ← clip(w_i − η·g_i/√Σg_i², ±U)."""

    def step(w, n, dual, g):
        return min(max(w - eta * g / math.sqrt(n), -radius), radius), dual

    return _by_coordinate(X, y, loss, step, weights)


def proximal(X, y, loss, alpha, radius, beta=0.0, l1=0.0, l2=0.0, weights=None):
    """w_i minimises θ_i·w + λ₁|w| + ((β + √n_i)/α + λ₂)w²/2 over |w| ≤ U, θ_i = Σg − Σσw."""

    def step(w, n, dual, g):
        dual += g - (math.sqrt(n) - math.sqrt(n - g * g)) / alpha * w
        best = -math.copysign(max(abs(dual) - l1, 0.0), dual) / ((beta + math.sqrt(n)) / alpha + l2)
        return min(max(best, -radius), radius), dual

    return _by_coordinate(X, y, loss, step, weights)


def _by_coordinate(X, y, loss, step, weights):
    value, slope = loss
    game, squares, duals = Game([[0.0] * len(X[0])]), [0.0] * len(X[0]), [0.0] * len(X[0])
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        w, k = list(game.W[-1]), 1.0 if weights is None else weights[t]
        z = dot(w, x)
        g = [k * slope(z, label) * part for part in x]
        game.scores.append(z)
        game.losses.append(k * value(z, label))
        game.gradients.append(g)
        game.mistakes.append(is_mistake(z, label, 0))
        for i, part in enumerate(g):
            if part:
                squares[i] += part * part
                w[i], duals[i] = step(w[i], squares[i], duals[i], part)
        game.W.append(w)
    return game


def coin(X, y, loss, G, wealth=1.0, weights=None):
    """w = wealth·θ/n with θ = −Σg/G, n counting the rounds with a gradient; the wealth loses ⟨g, w⟩/G."""
    value, slope = loss
    theta, bets = [0.0] * len(X[0]), 1
    game = Game([[0.0] * len(X[0])])
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        w, k = game.W[-1], 1.0 if weights is None else weights[t]
        z = dot(w, x)
        g = [k * slope(z, label) * part for part in x]
        game.scores.append(z)
        game.losses.append(k * value(z, label))
        game.gradients.append(g)
        game.mistakes.append(is_mistake(z, label, 0))
        if slope(z, label):
            wealth -= dot(g, w) / G
            theta, bets = [a - b / G for a, b in zip(theta, g, strict=True)], bets + 1
        game.W.append([wealth * part / bets for part in theta])
    return game


def descent(X, y, loss, step, project=list, sigma=0.0, weights=None, tie=0, start=None, restart=False, l1=0.0, l2=0.0):
    """w ← Π(shrunk(w − η_t·g_t)), g_t = k·ℓ'(⟨w,x⟩)·x + σw; step(t, Σ_{s≤t}‖g_s‖²) is η_t.

    A penalty λ₁‖w‖₁ + (λ₂/2)‖w‖² shrinks v to sgn(v)·max(|v| − ηλ₁, 0)/(1 + ηλ₂).
    """
    value, slope = loss
    game = Game([list(start) if start is not None else [0.0] * len(X[0])])
    squares = 0.0
    for t, (x, label) in enumerate(zip(X, y, strict=True), 1):
        if restart and t & (t - 1) == 0:
            game.W[-1] = [0.0] * len(x)
        w = game.W[-1]
        k = 1.0 if weights is None else weights[t - 1]
        z = dot(w, x)
        g = [k * slope(z, label) * part + sigma * weight for part, weight in zip(x, w, strict=True)]
        squares += dot(g, g)
        eta = step(t, squares)
        game.scores.append(z)
        game.losses.append(k * value(z, label) + sigma / 2 * dot(w, w))
        game.gradients.append(g)
        game.mistakes.append(is_mistake(z, label, tie))
        moved = [weight - eta * part for weight, part in zip(w, g, strict=True)]
        shrunk = [math.copysign(max(abs(v) - eta * l1, 0.0), v) / (1 + eta * l2) for v in moved]
        game.W.append(project(shrunk))
    return game


def constant(eta):
    return lambda t, squares: eta


def over_root(eta):
    return lambda t, squares: eta / math.sqrt(t)


def adaptive(radius):
    return lambda t, squares: math.sqrt(2) * radius / math.sqrt(squares) if squares else 0.0


def strong(sigma):
    return lambda t, squares: 1 / (sigma * t)


def doubling(radius, bound):
    """radius/(bound·√T) for the period of length T = 1, 2, 4, … that round t lies in."""
    return lambda t, squares: radius / (bound * math.sqrt(2 ** int(math.log2(t))))


def ball(radius):
    def project(w):
        norm = math.sqrt(dot(w, w))
        return [part * radius / norm for part in w] if norm > radius else list(w)

    return project


def box(radius):
    return lambda w: [min(max(part, -radius), radius) for part in w]


def cross(radius):
    """‖w‖₁ ≤ U: of the soft thresholds that could be the nearest point, the one that is."""

    def project(w):
        sizes = sorted((abs(part) for part in w), reverse=True)
        if sum(sizes) <= radius:
            return list(w)
        for k in range(1, len(sizes) + 1):
            theta = (sum(sizes[:k]) - radius) / k
            if k == len(sizes) or sizes[k] <= theta:
                return [math.copysign(max(abs(part) - theta, 0.0), part) for part in w]
        raise AssertionError

    return project


def simplex(radius):
    """w ≥ 0, Σw ≤ U."""
    return lambda w: cross(radius)([max(part, 0.0) for part in w])
