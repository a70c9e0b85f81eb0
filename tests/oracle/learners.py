"""The learners from their definitions, in plain Python: whole vectors, no scale, no running norm, nothing saved up."""

import math
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np


@dataclass
class Game:
    """All that happened: w_1 … w_{T+1}, and each round's score, loss, gradient and whether it was a mistake."""

    W: list
    scores: list = field(default_factory=list)
    losses: list = field(default_factory=list)
    gradients: list = field(default_factory=list)
    mistakes: list = field(default_factory=list)

    def round_of_numbers(self, score, label, k, x):
        """A round with the squared loss, of weight k."""
        self.scores.append(score)
        self.losses.append(k * (score - label) ** 2)
        self.gradients.append((2.0 * k * (score - label) * x).tolist())
        self.mistakes.append(is_mistake(score, label, 0))


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


def scored(X, y, score, learn, weights=None, tie=0):
    """Log-odds `score(x)` played with the logistic loss; `learn(x, y, k)` after each round. There are no weights."""
    game = Game([])
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        k = 1.0 if weights is None else weights[t]
        z = score(x)
        p = 1.0 / (1.0 + math.exp(-label * z))  # of the label that came
        game.scores.append(z)
        game.losses.append(-k * math.log(p))
        game.gradients.append([k * (p - 1.0) * label * part for part in x])
        game.mistakes.append(is_mistake(z, label, tie))
        learn(x, label, k)
    return game


def markov(X, y, order, weights=None, tie=0):
    """(n₁ + ½)/(n + 1) of the rounds before which the same last labels came."""
    labels, counts = [], {}

    def of_context():
        return counts.setdefault(tuple(labels[max(len(labels) - order, 0) :]), [0.0, 0.0])

    def score(x):
        n0, n1 = of_context()
        p = (n1 + 0.5) / (n0 + n1 + 1.0)
        return math.log(p) - math.log(1.0 - p)

    def learn(x, label, k):
        of_context()[label > 0] += k
        labels.append(label)

    return scored(X, y, score, learn, weights, tie)


def newton(X, y, ridge, walk=0.0, weights=None, two_label=True):
    """B = (aI + Σ k·h·x·xᵀ)⁻¹ as it is, grown by 1/(1 − walk) after each round with no diagonal place above 1/a.

    Both equations for one number are solved by halving: the score, and the margin at the minimum of the round.
    """
    X = np.asarray(X, dtype=float)
    B, theta = np.eye(X.shape[1]) / ridge, np.zeros(X.shape[1])
    game = Game([theta.tolist()])
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        k = 1.0 if weights is None else weights[t]
        q, z0 = B @ x, float(theta @ x)
        Q = float(x @ q)
        z = halved(lambda z, Q=Q, z0=z0: z + Q * math.tanh(z / 2) - z0, -abs(z0), abs(z0)) if two_label else z0
        sigma = 1 / (1 + math.exp(-label * z))
        game.scores.append(z)
        game.mistakes.append(label * z <= 0)
        game.losses.append(k * math.log1p(math.exp(-label * z)))
        game.gradients.append((-k * label * (1 - sigma) * x).tolist())
        m0 = label * z0
        m = halved(lambda m, m0=m0, kQ=k * Q: m - m0 - kQ / (1 + math.exp(m)), m0, m0 + k * Q)
        theta = theta + k * label / (1 + math.exp(m)) * q
        h = k * max(sigma * (1 - sigma), 1e-3)
        B = (B - h / (1 + h * Q) * np.outer(q, q)) / (1 - walk)
        if walk:
            shrink = np.minimum(1.0, np.sqrt(1 / ridge / np.diag(B)))
            B = B * np.outer(shrink, shrink)
        game.W.append(theta.tolist())
    return game


def diagonal(X, y, ridge, weights=None):
    """w ← the minimum of k·ln(1 + e^(−y⟨w,x⟩)) + ½Σ H_i(w_i − w_{t,i})²; H_i ← H_i + k·h·x_i²."""
    w, H = np.zeros(len(X[0])), np.full(len(X[0]), float(ridge))
    game = Game([w.tolist()])
    for t, (x, label) in enumerate(zip(np.asarray(X, dtype=float), y, strict=True)):
        k = 1.0 if weights is None else weights[t]
        z, Q = float(w @ x), float(x @ (x / H))
        sigma = 1 / (1 + math.exp(-label * z))
        game.scores.append(z)
        game.mistakes.append(label * z <= 0)
        game.losses.append(k * math.log1p(math.exp(-label * z)))
        game.gradients.append((-k * label * (1 - sigma) * x).tolist())
        m = halved(lambda m, z=label * z, kQ=k * Q: m - z - kQ / (1 + math.exp(m)), label * z, label * z + k * Q)
        w = w + k * label / (1 + math.exp(m)) * x / H
        H = H + k * max(sigma * (1 - sigma), 1e-3) * x * x
        game.W.append(w.tolist())
    return game


def halved(rising, low, high):
    """Where a function that rises is 0."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return (low + high) / 2


def ridge(X, y, a, forgotten, weights=None):
    """`second_order` of numbers, where A and b lose a share after every round; every 64 rounds aI is made whole."""
    X = np.asarray(X, dtype=float)
    left, A, b = 1.0 - forgotten, a * np.eye(X.shape[1]), np.zeros(X.shape[1])
    game = Game([b.tolist()])
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        k = 1.0 if weights is None else weights[t]
        A = A + k * np.outer(x, x)
        score = float(b @ np.linalg.solve(A, x))
        game.round_of_numbers(score, label, k, x)
        A, b = left * A, left * (b + k * label * x)
        if t % 64 == 63:
            A += a * (1.0 - left**64) * np.eye(X.shape[1])
        game.W.append(np.linalg.solve(A, b).tolist())
    return game


def persistence(X, y, rule, weights=None):
    """The mean of the labels so far, the last of them, or the last and the mean step from the first to it."""
    weights = [1.0] * len(y) if weights is None else list(weights)
    nothing = [0.0] * len(X[0])
    game = Game([nothing])
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        before = y[:t]
        score = before[-1] if before else 0.0
        if rule == "mean" and before:
            score = math.fsum(k * z for k, z in zip(weights, before, strict=False)) / math.fsum(weights[:t])
        if rule == "drift" and t > 1:
            score += (before[-1] - before[0]) / (t - 1)
        game.round_of_numbers(score, label, weights[t], np.asarray(x))
        game.W.append(nothing)
    return game


class Platt:
    """z ↦ a·z/m + b, m the mean of |z| with the score in hand; one Newton step a round from a = 1, b = 0, H = I."""

    def __init__(self, slope=1.0):
        self.theta, self.H, self.sizes = np.array([slope, 0.0]), np.eye(2), [0.0, 0.0]

    def inputs(self, z):
        mean = (self.sizes[1] + abs(z)) / (self.sizes[0] + 1.0)
        return np.array([z / mean if mean else 0.0, 1.0])

    def said(self, z):
        return float(self.theta @ self.inputs(z))

    def learn(self, z, label, k):
        f, p = self.inputs(z), 1.0 / (1.0 + math.exp(label * self.said(z)))  # of the other label
        self.H += k * max(p * (1.0 - p), p * p) * np.outer(f, f)
        self.theta = self.theta + np.linalg.solve(self.H, k * p * label * f)
        self.sizes = [self.sizes[0] + k, self.sizes[1] + k * abs(z)]


def naive_bayes(X, y, alpha, weights=None, tie=0):
    """ln of the shares of every count in the rows of either class, then Platt scaling."""
    told, seen = Platt(2.0), []

    def plain(x):
        words = {label: [sum(k * abs(r[j]) for r, at, k in seen if at == label) for j in range(len(x))]
                 for label in (1.0, -1.0)}  # fmt: skip
        known = sum(1 for a, b in zip(*words.values(), strict=True) if a + b)
        share = {label: [(n + alpha) / (sum(own) + alpha * (known + 1)) for n in own] for label, own in words.items()}
        labels = {label: 0.5 + sum(k for _, at, k in seen if at == label) for label in (1.0, -1.0)}
        ratios = zip(x, share[1.0], share[-1.0], strict=True)
        return sum(abs(part) * math.log(a / b) for part, a, b in ratios) + math.log(labels[1.0] / labels[-1.0])

    def learn(x, label, k):
        told.learn(plain(x), label, k)
        seen.append((x, label, k))

    return scored(X, y, lambda x: told.said(plain(x)), learn, weights, tie)


def shares(places, x, neighbours):
    """The nearest of some rows, each with (d₁/d_i)⁴ for its distance d_i; rows at distance 0 count 1."""
    found = sorted(
        ((sum((a - b) ** 2 for a, b in zip(one[0], x, strict=True)), one) for one in places), key=itemgetter(0)
    )
    return [(one, (found[0][0] / d) ** 2 if d else 1.0) for d, one in found[:neighbours]]


def nearest_numbers(X, y, window, neighbours, weights=None):
    """The mean label of the nearest of the last rows, each counted with its weight and its share; 0 without any."""
    weights = [1.0] * len(y) if weights is None else list(weights)
    nothing = [0.0] * len(X[0])
    game, places = Game([nothing]), []
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        votes = [(k * share, z) for (_, z, k), share in shares(places, x, neighbours)]
        score = math.fsum(v * z for v, z in votes) / math.fsum(v for v, _ in votes) if votes else 0.0
        game.round_of_numbers(score, label, weights[t], np.asarray(x))
        game.W.append(nothing)
        places[t % window : t % window + 1] = [(x, label, weights[t])]
    return game


def nearest(X, y, window, neighbours, weights=None, tie=0):
    """The labels of the nearest of the last rows vote with k/√i; a row takes the place of the oldest."""
    places = []

    def score(x):
        order = sorted(places, key=lambda one: sum((a - b) ** 2 for a, b in zip(one[0], x, strict=True)))
        votes = {1.0: 0.25, -1.0: 0.25}
        for i, (_, label, k) in enumerate(order[:neighbours], 1):
            votes[label] += k / math.sqrt(i)
        return math.log(votes[1.0] / votes[-1.0])

    def learn(x, label, k):
        place = learn.count % window
        places[place : place + 1] = [(x, label, k)]
        learn.count += 1

    learn.count = 0
    return scored(X, y, score, learn, weights, tie)


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


def scale_free(X, y, loss, bound, weights=None, centre=False, share=0.75, start=0.5):
    """w_i = c·clip(G/q, ±1)·E/q, q² = S + M²; E loses g·w. `bound` is the loss's Λ, and a row of weight k is k·x.

    Of each coordinate: G = −Σg/Λ, S = Σ(g/Λ)², M = max|k·x|, and E from ε on. W holds the bets before a further row.
    """
    value, slope = loss
    table = [{"G": 0.0, "S": 0.0, "M": 0.0, "E": start, "mean": 0.0} for _ in X[0]]

    def bet(one, reach):
        q = math.sqrt(one["S"] + reach * reach)
        return share * max(-1.0, min(1.0, one["G"] / q)) * one["E"] / q if q else 0.0

    game = Game([[0.0] * len(X[0])])
    for t, (row, label) in enumerate(zip(X, y, strict=True), 1):
        k = 1.0 if weights is None else weights[t - 1]
        for one, part in zip(table, row, strict=True):
            one["mean"] += (part - one["mean"]) / t
        x = [part - one["mean"] if centre else part for one, part in zip(table, row, strict=True)]
        for one, part in zip(table, x, strict=True):
            one["M"] = max(one["M"], abs(k * part))
        w = [bet(one, one["M"]) for one in table]
        z = dot(w, x)
        s = slope(z, label) / bound
        for one, part, weight in zip(table, x, w, strict=True):
            one["E"] -= s * k * part * weight
            one["G"] -= s * k * part
            one["S"] += (s * k * part) ** 2
        game.scores.append(z)
        game.losses.append(k * value(z, label))
        game.gradients.append([k * slope(z, label) * part for part in row])
        game.mistakes.append(is_mistake(z, label, 0))
        game.W.append([bet(one, one["M"]) for one in table])
    game.wealth = [one["E"] for one in table]
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


def normalised(X, y, loss, eta, radius):
    """w ← Π(w − τ·s·x) with τ = min(η, ℓ/s²)/‖x‖²."""
    value, slope = loss
    game = Game([[0.0] * len(X[0])])
    for x, label in zip(X, y, strict=True):
        w = game.W[-1]
        z = dot(w, x)
        s = slope(z, label)
        tau = min(eta, value(z, label) / s**2) / dot(x, x) if s and dot(x, x) else 0.0
        game.scores.append(z)
        game.losses.append(value(z, label))
        game.gradients.append([s * part for part in x])
        game.mistakes.append(is_mistake(z, label, 0))
        game.W.append(ball(radius)([weight - tau * s * part for weight, part in zip(w, x, strict=True)]))
    return game


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
