"""Late labels from the definition: every prediction by a copy of the learner as it then was."""

from copy import deepcopy

import numpy as np


def replayed(core, X, y, events):
    """The scores predicted, and τ of each label.

    `events` are pairs (what, row), what being "predict" or "label".
    """
    predicted, delays, labels = {}, {}, 0
    for what, row in events:
        if what == "predict":
            predicted[row] = deepcopy(core), labels
            continue
        before, version = predicted[row]
        known = X[row : row + 1, : before.width]
        predicted[row] = float(before.scores(rows(known))[0]) if before.width else 0.0
        core.play(rows(X[row : row + 1]), np.array([y[row]]))
        delays[row] = labels - version
        labels += 1
    return predicted, delays


def rows(X):
    from noregret.stream.block import Dense

    return Dense(np.ascontiguousarray(X))


def descent(loss, X, y, U, events):
    """Projected gradient descent with the rate of late labels, in plain Python: (w after each label, c, z, z')."""
    import math

    d = len(X[0])
    w = [0.0] * d
    waiting, said, W, C, Z, fresh = {}, {}, [], [], [], []
    for what, k in events:
        score = sum(a * b for a, b in zip(w, X[k], strict=True))
        if what == "predict":
            said[k] = score
            waiting[k] = math.sqrt(sum(a * a for a in X[k]))
            continue
        size = waiting.pop(k)
        g = loss.gradient(score, y[k])
        c = g * g * size * size + 2.0 * abs(g) * size * sum(waiting.values())
        C.append(c)
        if sum(C) > 0.0:
            eta = math.sqrt(2.0) * U / math.sqrt(sum(C))
            w = [a - eta * g * b for a, b in zip(w, X[k], strict=True)]
        norm = math.sqrt(sum(a * a for a in w))
        if norm > U:
            w = [a * U / norm for a in w]
        W.append(w)
        Z.append(said[k])
        fresh.append(score)
    return W, C, Z, fresh
