"""Twins of the experts, from the definitions: lists in, lists out; None in a row of costs: the expert sleeps."""

import math
from itertools import pairwise, product


def softmax(losses, eta, awake):
    """∝ exp(−η·loss) over those awake; η = ∞ means: even on the leaders."""
    least = min(loss for loss, there in zip(losses, awake, strict=True) if there)
    raw = [
        0.0
        if not there
        else float(loss - least <= 1e-12 * abs(least))
        if math.isinf(eta)
        else math.exp(-eta * (loss - least))
        for loss, there in zip(losses, awake, strict=True)
    ]
    return [one / math.fsum(raw) for one in raw]


def hedge(costs, rate, own_of=None):
    """(weights, own losses) with weights ∝ exp(−rate(t)·losses so far), t from 1; losses restart where rate says so.

    rate(t) is η, or (η, True) to forget all losses first.
    """
    losses, weights, own = [0.0] * len(costs[0]), [], []
    for t, row in enumerate(costs, 1):
        eta = rate(t)
        if isinstance(eta, tuple):
            eta, losses = eta[0], [0.0] * len(row)
        awake = [cost is not None for cost in row]
        q = softmax(losses, eta, awake)
        lost = math.fsum(p * cost for p, cost in zip(q, row, strict=True) if cost is not None)
        if own_of is not None:
            lost = own_of(t - 1, q)
        weights.append(q)
        own.append(lost)
        losses = [a + (lost if cost is None else cost) for a, cost in zip(losses, row, strict=True)]
    return weights, own


def weighted_majority(costs, rounds, width=1.0):
    eta = math.sqrt(2 * math.log(len(costs[0])) / rounds) / width
    return hedge(costs, lambda t: eta)


def anytime(costs, c, width=1.0):
    return hedge(costs, lambda t: c * math.sqrt(math.log(len(costs[0])) / t) / width)


def doubling(costs, width=1.0):
    def rate(t):
        period = 2 ** (t.bit_length() - 1)
        eta = math.sqrt(2 * math.log(len(costs[0])) / period) / width
        return (eta, True) if t == period else eta

    return hedge(costs, rate)


def adahedge(costs):
    """(weights, own losses, Δ)."""
    n = len(costs[0])
    losses, gap, weights, own = [0.0] * n, 0.0, [], []
    for row in costs:
        eta = math.log(n) / gap if gap > 0.0 else math.inf
        awake = [cost is not None for cost in row]
        q = softmax(losses, eta, awake)
        lost = math.fsum(p * cost for p, cost in zip(q, row, strict=True) if cost is not None)
        full = [lost if cost is None else cost for cost in row]
        after = [a + b for a, b in zip(losses, full, strict=True)]
        p = softmax(losses, eta, [True] * n)
        mean = math.fsum(a * b for a, b in zip(p, full, strict=True))
        if math.isinf(eta):
            mixed = min(after) - min(losses)
            mixed = mean if mean - mixed < 1e-12 else mixed  # a rounding, no gap
        else:
            least = min(full)
            raised = math.fsum(a * math.exp(-eta * (b - least)) for a, b in zip(p, full, strict=True))
            mixed = least - math.log(raised) / eta
        gap += max(mean - mixed, 0.0)
        losses = after
        weights.append(q)
        own.append(lost)
    return weights, own, gap


def fixed_share(costs, eta, share):
    n = len(costs[0])
    p, weights, own = [1.0 / n] * n, [], []
    for row in costs:
        there = math.fsum(a for a, cost in zip(p, row, strict=True) if cost is not None)
        q = [0.0 if cost is None else a / there for a, cost in zip(p, row, strict=True)]
        lost = math.fsum(a * cost for a, cost in zip(q, row, strict=True) if cost is not None)
        moved = [a * math.exp(-eta * (lost if cost is None else cost)) for a, cost in zip(p, row, strict=True)]
        p = [(1 - share) * a / math.fsum(moved) + share / n for a in moved]
        weights.append(q)
        own.append(lost)
    return weights, own


def loss_of(name, x, y):
    """x a number (or a list of probabilities), y the outcome (or its place)."""
    if name == "squared":
        return (x - y) ** 2
    if name == "absolute":
        return abs(x - y)
    if name == "zero-one":
        return float(x != y)
    full = x if isinstance(x, list) else [1.0 - x, x]
    if name == "log":
        return -math.log(full[int(y)]) if full[int(y)] > 0.0 else math.inf
    return math.fsum((p - (k == y)) ** 2 for k, p in enumerate(full))


def mixture(forecasts, outcomes, loss, eta):
    """(forecasts of the mixture, own losses): the weighted mean; a sleeper (None) suffers the mixture's loss."""
    n = len(forecasts[0])
    losses, said, own = [0.0] * n, [], []
    for row, y in zip(forecasts, outcomes, strict=True):
        q = softmax(losses, eta, [x is not None for x in row])
        some = next(x for x in row if x is not None)
        if isinstance(some, list):
            mean = [math.fsum(p * x[k] for p, x in zip(q, row, strict=True) if x is not None) for k in range(len(some))]
        else:
            mean = math.fsum(p * x for p, x in zip(q, row, strict=True) if x is not None)
        lost = loss_of(loss, mean, y)
        losses = [a + (lost if x is None else loss_of(loss, x, y)) for a, x in zip(losses, row, strict=True)]
        said.append(mean)
        own.append(lost)
    return said, own


def gradient(forecasts, outcomes, loss):
    """(forecasts, own losses, Δ, linearised regret of each expert): AdaHedge on slope(p)·(x − p); None sleeps, at 0."""
    n = len(forecasts[0])
    sums, gap, said, own = [0.0] * n, 0.0, [], []
    for row, y in zip(forecasts, outcomes, strict=True):
        eta = math.log(n) / gap if gap > 0.0 else math.inf
        q = softmax(sums, eta, [x is not None for x in row])
        p = math.fsum(a * x for a, x in zip(q, row, strict=True) if x is not None)
        slope = 2.0 * (p - y) if loss == "squared" else float((p > y) - (p < y))
        costs = [0.0 if x is None else slope * (x - p) for x in row]
        everyone, after = softmax(sums, eta, [True] * n), [a + b for a, b in zip(sums, costs, strict=True)]
        mean = math.fsum(a * b for a, b in zip(everyone, costs, strict=True))
        if math.isinf(eta):
            mixed = min(after) - min(sums)
            mixed = mean if mean - mixed < 1e-12 else mixed  # a rounding, no gap
        else:
            least = min(costs)
            raised = math.fsum(a * math.exp(-eta * (b - least)) for a, b in zip(everyone, costs, strict=True))
            mixed = least - math.log(raised) / eta
        gap += max(mean - mixed, 0.0)
        sums = after
        said.append(p)
        own.append(loss_of(loss, p, y))
    return said, own, gap, [-one for one in sums]


def best_with_switches(costs, m):
    """The least loss of all sequences with at most m changes, one by one."""
    rounds, n = len(costs), len(costs[0])
    return min(
        math.fsum(costs[t][i] for t, i in enumerate(path))
        for path in product(range(n), repeat=rounds)
        if sum(a != b for a, b in pairwise(path)) <= m
    )
