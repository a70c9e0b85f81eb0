"""Perceptrons of many classes and the vote, from their definitions in plain Python; whole numbers stay exact."""

from dataclasses import dataclass, field

from oracle.learners import dot


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
