"""The figures of a run from their definitions, over the whole game at once."""

import itertools
import math

from oracle.learners import dot


def figures(X, y, game):
    """What every run reports, by the name of the field or property that holds it."""
    rows = [dot(x, x) for x in X]
    squares = [dot(g, g) for g in game.gradients]
    return {
        "rounds": len(y),
        "loss": sum(game.losses),
        "mistakes": sum(game.mistakes),
        "row_max2": max(rows),
        "mistake_row2": sum(row for row, miss in zip(rows, game.mistakes, strict=True) if miss),
        "gradient_max2": max(squares, default=0.0),
        "gradient2": sum(squares),
        "gradient2_sqrt": sum(square / math.sqrt(t) for t, square in enumerate(squares, 1)),
        "gradient2_inverse": sum(square / t for t, square in enumerate(squares, 1)),
        "gradient_dot_weights": sum(dot(g, w) for g, w in zip(game.gradients, game.W, strict=False)),
    }


def auc(scores, y):
    """The share of (negative, positive) pairs in the right order, equal scores counting half."""
    pairs = [(a > b) + (a == b) / 2 for a, p in zip(scores, y, strict=True) if p > 0
             for b, q in zip(scores, y, strict=True) if q < 0]  # fmt: skip
    return sum(pairs) / len(pairs)


def confusion(mistakes, y):
    table = dict.fromkeys(["true_negative", "false_positive", "false_negative", "true_positive"], 0)
    for miss, label in zip(mistakes, y, strict=True):
        guess = "positive" if (label > 0) != miss else "negative"
        table[f"{'false' if miss else 'true'}_{guess}"] += 1
    return table


def last_label_mistakes(y):
    return 1 + sum(now != before for before, now in itertools.pairwise(y))


def last_label_loss(y, value):
    return sum(value(before, now) for before, now in zip([0.0, *y], y, strict=False))


def mean_label_loss(y, value):
    return sum(value(sum(y[:t]) / t if t else 0.0, now) for t, now in enumerate(y))
