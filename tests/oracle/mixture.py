"""The mixtures of a pool from their definitions, in plain Python: for two classes, and for numbers of unknown range."""

from __future__ import annotations

import math
from collections.abc import Sequence

SHARE, SLOW, FAST, CAUTION = 0.01, 0.002, 0.005, 1.0


def mixture(
    said: Sequence[Sequence[float]], y: Sequence[int], priors: Sequence[float], caution: float = CAUTION
) -> dict:
    """said[t][i] is member i's log-odds in round t, NaN where it sleeps; y[t] is 0 or 1."""
    n = len(priors)
    losses, shared, mixed = [0.0] * n, [list(priors), list(priors)], None
    tops, top_priors = [0.0] * 5, [0.5, 0.125, 0.125, 0.125, 0.125]
    scores, total = [], 0.0
    for t, (row, truth) in enumerate(zip(said, y, strict=False), 1):
        awake = [i for i in range(n) if not math.isnan(row[i])]
        if mixed is None:
            mixed = [[1.0 / len(awake)] * n for _ in range(2)]
        e = caution / (t + 2) ** 2
        p = {
            i: [(1 - e) * one + e / 2 for one in (1 / (1 + math.exp(row[i])), 1 / (1 + math.exp(-row[i])))]
            for i in awake
        }
        least = min(losses[i] for i in awake)
        v = {i: priors[i] * math.exp(least - losses[i]) for i in awake}
        says = [_mean(v, p)] + [_mean({i: shared[w][i] for i in awake}, p) for w in range(2)]
        for w in range(2):
            z = [math.exp(sum(mixed[w][i] * math.log(p[i][k]) for i in awake)) for k in range(2)]
            says.append([one / sum(z) * (1 - e) + e / 2 for one in z])
        weights = [q * math.exp(min(tops) - lost) for q, lost in zip(top_priors, tops, strict=False)]
        said_at_last = [sum(w * one[k] for w, one in zip(weights, says, strict=False)) / sum(weights) for k in range(2)]
        scores.append(math.log(said_at_last[1] / said_at_last[0]))
        total -= math.log(said_at_last[truth])
        for w, alpha in ((0, 1 / (t + 1)), (1, SHARE)):
            u = [shared[w][i] * (p[i][truth] if i in p else says[1 + w][truth]) for i in range(n)]
            u = [one / sum(u) for one in u]
            shared[w] = [(1 - alpha) * one + alpha / (n - 1) * (1 - one) for one in u] if n > 1 else u
        for w, rate in ((0, SLOW), (1, FAST)):
            for i in awake:
                slope = sum((says[3 + w][k] - (k == truth)) * math.log(p[i][k]) for k in range(2))
                mixed[w][i] -= rate * slope
        for i in range(n):
            losses[i] -= math.log(p[i][truth] if i in p else says[0][truth])
        for k in range(5):
            tops[k] -= math.log(says[k][truth])
    return {"scores": scores, "loss": total, "losses": losses, "tops": tops, "shared": shared, "mixed": mixed}


def _mean(weights: dict[int, float], p: dict[int, list[float]]) -> list[float]:
    found = [sum(w * p[i][k] for i, w in weights.items()) for k in range(2)]
    return [one / sum(found) for one in found]


def best_sequence(losses: Sequence[Sequence[float]], switches: int) -> float:
    """The least that a sequence of members with at most so many switches loses, by trying every last switch."""
    n = len(losses[0])
    best = {(i, 0): 0.0 for i in range(n)}
    for t, row in enumerate(losses):
        now: dict[tuple[int, int], float] = {}
        for (i, k), lost in best.items():
            for j in range(n):
                used = k + (j != i and t > 0)
                if used <= switches and (t > 0 or j == i):
                    now[j, used] = min(now.get((j, used), math.inf), lost + row[j])
        best = now
    return min(best.values())


def aggregate(
    said: Sequence[Sequence[float]], y: Sequence[float], priors: Sequence[float], known: tuple | None = None
) -> dict:
    """The aggregating algorithm for squared loss; `known` is the range (a, b), if it is."""
    a, b = known or (min(said[0]), max(said[0]))
    clipped = [0.0] * len(priors)
    forecasts, loss, breaks = [], 0.0, 0.0
    for row, truth in zip(said, y, strict=False):
        cut = [min(max(one, a), b) for one in row]
        p = a
        if b > a:
            eta = 2 / (b - a) ** 2
            least = min(clipped)
            v = [q * math.exp(-eta * (lost - least)) for q, lost in zip(priors, clipped, strict=False)]
            g = [
                -math.log(sum(w * math.exp(-eta * (end - c) ** 2) for w, c in zip(v, cut, strict=False)) / sum(v)) / eta
                for end in (a, b)
            ]
            p = (a + b) / 2 + (g[0] - g[1]) / (2 * (b - a))
        forecasts.append(p)
        loss += (truth - p) ** 2
        if a <= truth <= b:
            clipped = [lost + (truth - c) ** 2 for lost, c in zip(clipped, cut, strict=False)]
            continue
        breaks += (truth - p) ** 2
        a, b = (a, a + 2 * (truth - a)) if truth > b else (b - 2 * (b - truth), b)
    return {"forecasts": forecasts, "loss": loss, "range": (a, b), "breaks": breaks}
