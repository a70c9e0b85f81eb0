"""Learners of many classes and the vote, from their definitions in plain Python; whole numbers stay exact."""

import math
from dataclasses import dataclass, field

import numpy as np

from oracle.learners import dot, shares


@dataclass
class ManyGame:
    """W at the end, and of each round its margin, the class predicted, whether it erred and which weights moved."""

    W: list
    margins: list = field(default_factory=list)
    predicted: list = field(default_factory=list)
    mistakes: list = field(default_factory=list)
    moves: list = field(default_factory=list)  # (round, class, ±1)
    unforeseen: int = 0


def best_of(scores, but=None):
    """The first class of the highest score, or None."""
    order = [k for k in range(len(scores)) if k != but]
    return max(order, key=lambda k: (scores[k], -k), default=None)


def many(X, y, update="max-score", declared=0, weights=None):
    """Classes are 0, 1, 2, … and known from the round on in which they come, or from the start if declared."""
    game = ManyGame([[0] * len(X[0]) for _ in range(declared)])
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        k = 1 if weights is None else weights[t]
        said = [dot(w, x) for w in game.W]
        game.predicted.append(best_of(said) if said.count(max(said, default=0)) == 1 else None)  # a tie says nothing
        before = len(game.W)
        while len(game.W) <= label:
            game.W.append([0] * len(x))
        scores = [dot(w, x) for w in game.W]
        rival = best_of(scores[:before], but=label)
        margin = float("inf") if rival is None else scores[label] - scores[rival]
        game.margins.append(margin)
        game.mistakes.append(margin <= 0 or label >= before)
        if update == "one-vs-rest":
            moved = [(c, 1 if c == label else -1) for c in range(len(game.W))]
            moved = [(c, sign) for c, sign in moved if sign * scores[c] <= 0]
        else:
            moved = [(label, 1), (rival, -1)] if margin <= 0 else []
            game.unforeseen += label >= before and not moved
        for c, sign in moved:
            game.W[c] = [w + k * sign * part for w, part in zip(game.W[c], x, strict=True)]
            game.moves.append((t, c, sign))
    return game


def sign(score, tie=0):
    return tie if score == 0 else 1 if score > 0 else -1


def vote(game, x, tie=0):
    """Of w_1 … w_{T+1}, one vote each: what every predictor of the run says of x."""
    return sum(sign(dot(w, x), tie) for w in game.W)


@dataclass
class Forecasts:
    """Of each round ln p of every class known and of a new one; a learner's scores and learning are two functions."""

    logs: list = field(default_factory=list)  # (ln p of each known class, ln p of a new one)

    def paid(self, t, y):
        """ln p(y) in round t."""
        known, fresh = self.logs[t]
        return known[y] if y < len(known) else fresh


def forecasts(X, y, model, declared=0, weights=None):
    """The rounds of a model with `scores(x, K)`, for K known classes, and `learn(x, y, K, weight)`."""
    game, known, rounds, new = Forecasts(), declared, 0, 0
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        scores = model.scores(x, known)
        whole = math.fsum(math.exp(s) for s in scores)
        fresh = (new + 0.5) / (rounds + 1) if known else 1.0
        game.logs.append(([math.log((1 - fresh) * math.exp(s) / whole) for s in scores], math.log(fresh)))
        if known:
            rounds, new = rounds + 1, new + (label >= known)
        known = max(known, label + 1)
        model.learn(x, label, known, 1 if weights is None else weights[t])
    return game


def chances(scores):
    """The softmax of a few scores."""
    whole = math.fsum(math.exp(s) for s in scores)
    return [math.exp(s) / whole for s in scores]


class Softmax:
    """Softmax regression with AdaGrad, a dictionary for the weights and one for the sums of squares."""

    def __init__(self, rate):
        self.rate, self.w, self.squares = rate, {}, {}

    def scores(self, x, known):
        return [math.fsum(self.w.get((k, i), 0.0) * a for i, a in enumerate(x)) for k in range(known)]

    def learn(self, x, y, known, weight):
        for k, p in enumerate(chances(self.scores(x, known))):
            for i, a in enumerate(x):
                g = weight * (p - (k == y)) * a
                if g:
                    self.squares[k, i] = self.squares.get((k, i), 0.0) + g * g
                    self.w[k, i] = self.w.get((k, i), 0.0) - self.rate * g / math.sqrt(self.squares[k, i])


class Newton:
    """Softmax regression with one matrix for all classes, solved afresh in every round, and a temperature."""

    def __init__(self, ridge):
        self.ridge, self.H, self.w, self.theta, self.squares = ridge, None, {}, 0.0, 0.0

    def _raw(self, x, known):
        return [float(np.dot(self.w[k], x)) if k in self.w else 0.0 for k in range(known)]

    def scores(self, x, known):
        return [math.exp(self.theta) * s for s in self._raw(x, known)]

    def learn(self, x, y, known, weight):
        x = np.array(x)
        self.H = self.ridge * np.eye(len(x)) if self.H is None else self.H
        scores, raw = self.scores(x, known), self._raw(x, known)
        slope = math.fsum(p * s for p, s in zip(chances(scores), scores, strict=True)) - scores[y]
        self.squares += slope * slope
        if self.squares:
            self.theta = min(max(self.theta - 0.1 * slope / math.sqrt(self.squares), -3.0), 3.0)
        p = chances(raw)
        self.H = self.H + weight * max(math.fsum(q * (1 - q) for q in p) / known, 1e-3) * np.outer(x, x)
        step = np.linalg.solve(self.H, x)
        for k in range(known):
            self.w[k] = self.w.get(k, np.zeros(len(x))) - weight * (p[k] - (k == y)) * step


class Succession:
    """Counts of labels, or of labels that came after the same label."""

    def __init__(self, order):
        self.order, self.counts, self.last = order, {}, None

    def scores(self, x, known):
        return [math.log(self.counts.get((self.last, k), 0.0) + 0.5) for k in range(known)]

    def learn(self, x, y, known, weight):
        self.counts[self.last, y] = self.counts.get((self.last, y), 0.0) + weight
        self.last = y if self.order else None


class Nearest:
    """The classes of the nearest of the last rows, each counted with its weight and (d₁/d_i)⁴."""

    def __init__(self, window, neighbours, smoothing):
        self.window, self.neighbours, self.smoothing, self.places, self.count = window, neighbours, smoothing, [], 0

    def scores(self, x, known):
        votes = [self.smoothing] * known
        for (_, label, k), share in shares(self.places, x, self.neighbours):
            votes[label] += k * share
        return [math.log(vote) for vote in votes]

    def learn(self, x, y, known, weight):
        place = self.count % self.window
        self.places[place : place + 1] = [(x, y, weight)]
        self.count += 1
