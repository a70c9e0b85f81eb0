"""The loops of following experts: weights from cumulative losses, the forecast, what it lost, the update.

One kernel serves plain costs and forecasts, one round and a million. `given[t, i]` is expert i's cost, its forecast or
its probabilities in round t; NaN in its first number says that it sleeps. Cumulative losses are pairs, sums in the
first row and what they lost in rounding in the second, so that differences stay right after 10⁹ of accumulated loss;
weights are taken from these differences to the leader, so that they neither under- nor overflow.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret._kernel import compiled, inlined

# How weights are made from losses.
CONSTANT, ANYTIME, DOUBLING, ADAPTIVE, SHARING, GRADIENT = range(6)
# What a forecast loses.
COSTS, SQUARED, ABSOLUTE, LOG, ZERO_ONE, BRIER = range(6)
SERIES = 18  # terms of eˣ − 1 − x for |x| < 1
FAR = 700.0  # a weight of e to the minus this is none
TIE = 1e-12  # leaders are those behind by no more than this part of the least sum: decimals add up only nearly


@inlined
def add_to(pairs: Any, i: int, x: float) -> None:
    """pairs[:, i] += x, keeping what the sum loses in rounding (Knuth); of an infinity nothing is kept."""
    a = pairs[0, i]
    s = a + x
    b = s - a
    rest = pairs[1, i] + ((a - (s - b)) + (x - b))
    pairs[0, i] = s
    pairs[1, i] = rest if s - s == 0.0 else 0.0


@inlined
def apart(pairs: Any, i: int, j: int) -> float:
    """pairs[:, i] − pairs[:, j]."""
    return float((pairs[0, i] - pairs[0, j]) + (pairs[1, i] - pairs[1, j]))


@compiled
def leader(pairs: Any, awake: Any, all_of_them: bool) -> int:
    """The first of those awake whose sum is least, −1 where all sleep."""
    best = -1
    for i in range(pairs.shape[1]):
        if (all_of_them or awake[i]) and (best < 0 or apart(pairs, i, best) < 0.0):
            best = i
    return best


@inlined
def exponential(x: float) -> float:
    """eˣ for −700 ≤ x ≤ 0, to two units of the last place, from additions and products alone.

    The compiler works on several at once, as it cannot with the system's eˣ, and every machine gives the same figures.
    x = k·ln 2 + r with abs(r) ≤ ln(2)/2; k is read off the last bits of x/ln 2 + 1.5·2⁵².
    """
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    k = shifted - 6755399441055744.0
    r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    p = 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    return float(p * power)


@compiled
def weigh(pairs: Any, eta: float, awake: Any, all_of_them: bool, q: Any) -> None:
    """q ∝ exp(−η·sum) over those awake; for an infinite η equal weights on the leaders."""
    best = leader(pairs, awake, all_of_them)
    high, low = pairs[0, best], pairs[1, best]
    near = TIE * abs(high)
    if math.isinf(eta):
        for i in range(q.shape[0]):
            q[i] = 1.0 if (pairs[0, i] - high) + (pairs[1, i] - low) <= near else 0.0
    else:
        for i in range(q.shape[0]):
            x = -eta * ((pairs[0, i] - high) + (pairs[1, i] - low))
            q[i] = exponential(min(max(x, -FAR), 0.0)) if x > -FAR else 0.0
    total = 0.0
    for i in range(q.shape[0]):
        q[i] = q[i] if all_of_them or awake[i] else 0.0
        total += q[i]
    if total > 0.0:  # it is 0 where all who are awake have lost an infinity: then they weigh nothing
        for i in range(q.shape[0]):
            q[i] /= total


@inlined
def beyond_linear(x: float) -> float:
    """eˣ − 1 − x, which is never negative, without cancellation."""
    if abs(x) >= 1.0:
        return math.exp(x) - 1.0 - x
    term = 0.5 * x * x
    total = 0.0
    for k in range(3, SERIES + 3):
        total += term
        term *= x / k
    return total


@inlined
def apart_after(pairs: Any, costs: Any, i: int, j: int) -> float:
    """pairs[:, i] − pairs[:, j] once both have borne their costs."""
    a, b = pairs[0, i], pairs[0, j]
    s, r = a + costs[i], b + costs[j]
    u, v = s - a, r - b
    rest = (a - (s - u)) + (costs[i] - u)
    other = (b - (r - v)) + (costs[j] - v)
    return float((s - r) + ((pairs[1, i] + rest) - (pairs[1, j] + other)))


@compiled
def mixability(base: Any, p: Any, costs: Any, eta: float, least: float) -> float:
    """Σ p·cost + ln(Σ p·exp(−η·cost))/η, p ∝ exp(−η·base): how far the exponential mean lies below the mean.

    Costs are taken from that of the leader, so that those that differ in their last figures alone still differ. Where
    eˣ would grow without bound, the second sum is taken from who leads after the round, whose weight before it may
    have been too small for a float. For an infinite η no more than `least` counts as nothing.
    """
    n = p.shape[0]
    best = leader(base, p, True)
    ahead = best
    mean, low = 0.0, 0.0
    for i in range(n):
        mean += p[i] * (costs[i] - costs[best])
        low = min(low, costs[i] - costs[best])
        if apart_after(base, costs, i, ahead) < 0.0:
            ahead = i
    far = mean - apart_after(base, costs, ahead, best)
    if math.isinf(eta):
        return far if far > least else 0.0
    if eta * (mean - low) > 30.0:
        before, after = 0.0, 0.0
        for i in range(n):
            before += math.exp(-eta * apart(base, i, best))
            after += math.exp(-eta * apart_after(base, costs, i, ahead))
        return far + math.log(after / before) / eta
    total = 0.0
    for i in range(n):
        if p[i] > 0.0:
            total += p[i] * beyond_linear(-eta * ((costs[i] - costs[best]) - mean))
    return math.log1p(total) / eta


@inlined
def lost(loss: int, x: Any, t: int, i: int, y: float) -> float:
    """What x[t, i] loses where the outcome is y."""
    first = x[t, i, 0]
    if loss == COSTS:
        return float(first)
    if loss == ZERO_ONE:
        return 0.0 if first == y else 1.0
    if loss == SQUARED:
        return float((first - y) * (first - y))
    if loss == ABSOLUTE:
        return float(abs(first - y))
    if loss == LOG:
        chance = probability(x, t, i, y)
        return -math.log(chance) if chance > 0.0 else math.inf
    if x.shape[2] == 1:
        return float(2.0 * (first - y) * (first - y))
    total = 0.0
    for k in range(x.shape[2]):
        miss = x[t, i, k] - (1.0 if k == y else 0.0)
        total += miss * miss
    return total


@inlined
def probability(x: Any, t: int, i: int, y: float) -> float:
    """The probability that x[t, i] gives the outcome y; a single number is the probability of 1."""
    if x.shape[2] == 1:
        return float(x[t, i, 0] if y == 1.0 else 1.0 - x[t, i, 0])
    return float(x[t, i, int(y)])


@compiled
def blended(loss: int, x: Any, t: int, q: Any, awake: Any, votes: Any, out: Any) -> None:
    """out[t, 0]: the weighted mean of those awake; of labels the one with most weight."""
    if loss == ZERO_ONE:
        for c in range(votes.shape[0]):
            votes[c] = 0.0
        for i in range(q.shape[0]):
            if awake[i]:
                votes[int(x[t, i, 0])] += q[i]
        best = 0
        for c in range(1, votes.shape[0]):
            if votes[c] > votes[best] + TIE:
                best = c
        out[t, 0, 0] = best
        return
    for k in range(out.shape[2]):
        mean = 0.0
        for i in range(q.shape[0]):
            mean += q[i] * (x[t, i, k] if awake[i] else 0.0)
        out[t, 0, k] = mean


@compiled
def own_loss(loss: int, x: Any, t: int, y: float, q: Any, awake: Any, costs: Any, out: Any) -> float:
    """What the blend loses: the expected cost of following an expert drawn by weight, or the loss of the mean."""
    if loss in (SQUARED, ABSOLUTE, BRIER):
        return lost(loss, out, t, 0, y)
    total = 0.0
    for i in range(q.shape[0]):
        if awake[i] and q[i] > 0.0:
            total += q[i] * (probability(x, t, i, y) if loss == LOG else costs[i])
    if loss == LOG:  # from the probabilities, not from the mean: 1 − mean may lose all figures
        return -math.log(total) if total > 0.0 else math.inf
    return total


@inlined
def rate_of(rule: int, eta: float, round: int, period: int, gap: float) -> float:
    """η of this round."""
    if rule == ANYTIME:
        return eta / math.sqrt(round)
    if rule == DOUBLING:
        return eta / math.sqrt(period)
    if rule in (ADAPTIVE, GRADIENT):
        return eta / gap if gap > 0.0 else math.inf
    return eta


@compiled
def share_out(p: Any, costs: Any, eta: float, share: float) -> None:
    """p ← (1 − α)·(p·e^{−η·cost}, normalised) + α/N."""
    least = math.inf
    for i in range(p.shape[0]):
        least = min(least, costs[i])
    total = 0.0
    for i in range(p.shape[0]):
        p[i] *= math.exp(-eta * (costs[i] - least))
        total += p[i]
    for i in range(p.shape[0]):
        p[i] = (1.0 - share) * (p[i] / total) + share / p.shape[0]


@compiled
def weights_now(
    rule: int, eta: float, totals: Any, since: Any, shared: Any, clock: Any, sums: Any, awake: Any, q: Any
) -> None:
    """q: the weights of the next round over those awake; nothing else changes."""
    starts_anew = rule == DOUBLING and clock[0] + 1 == 2 * clock[1]
    if rule == SHARING:
        total = 0.0
        for i in range(q.shape[0]):
            q[i] = shared[i] if awake[i] else 0.0
            total += q[i]
        for i in range(q.shape[0]):
            q[i] /= total
    elif starts_anew:
        weigh(since, 0.0, awake, False, q)
    else:
        rate = rate_of(rule, eta, clock[0] + 1, clock[1], sums[0, 1] + sums[1, 1])
        weigh(since if rule in (DOUBLING, GRADIENT) else totals, rate, awake, False, q)


@compiled
def linearise(loss: int, x: Any, t: int, y: float, awake: Any, out: Any, costs: Any) -> None:
    """costs[i]: the slope of the loss at the blend's own forecast p, times x[t, i] − p; 0 for a sleeper."""
    p = out[t, 0, 0]
    slope = 2.0 * (p - y)
    if loss == ABSOLUTE:
        slope = 1.0 if p > y else (-1.0 if p < y else 0.0)
    for i in range(costs.shape[0]):
        costs[i] = slope * (x[t, i, 0] - p) if awake[i] else 0.0


@compiled
def play_rounds(
    rule: int,
    loss: int,
    eta: float,
    share: float,
    least: float,
    given: Any,
    outcomes: Any,
    totals: Any,
    since: Any,
    shared: Any,
    clock: Any,
    sums: Any,
    awake: Any,
    costs: Any,
    q: Any,
    votes: Any,
    kept: Any,
    out: Any,
    losses: Any,
    gaps: Any,
) -> int:
    """Play the rounds; how many were played: fewer than there are where a loss was not finite.

    `totals` are the experts' losses (a sleeper suffers the blend's own), `since` those of this period of a doubling
    run, or the linearised ones of a gradient run, `shared` the weights of a sharing one; `clock` is (rounds, period);
    `sums` the blend's loss and Δ. Filled: the weights in `kept` (if it has rows), the forecasts in `out`, the blend's
    `losses`, Δ after each round in `gaps`.
    """
    n = totals.shape[1]
    base = since if rule in (DOUBLING, GRADIENT) else totals
    for t in range(given.shape[0]):
        if rule == DOUBLING and clock[0] + 1 == 2 * clock[1]:
            clock[1] *= 2
            for i in range(n):
                since[0, i] = 0.0
                since[1, i] = 0.0
        some_sleep = False
        for i in range(n):
            awake[i] = not math.isnan(given[t, i, 0])
            some_sleep = some_sleep or not awake[i]
        weights_now(rule, eta, totals, since, shared, clock, sums, awake, q)
        y = outcomes[t]
        for i in range(n):
            costs[i] = lost(loss, given, t, i, y) if awake[i] else 0.0
        if loss != COSTS:
            blended(loss, given, t, q, awake, votes, out)
        own = own_loss(loss, given, t, y, q, awake, costs, out)
        if not math.isfinite(own):
            return t
        losses[t] = own
        if kept.shape[0]:
            for i in range(n):
                kept[t, i] = q[i]
        if some_sleep:
            for i in range(n):
                costs[i] = costs[i] if awake[i] else own
        if rule in (DOUBLING, GRADIENT):
            for i in range(n):
                add_to(totals, i, costs[i])
        if rule == GRADIENT:
            linearise(loss, given, t, y, awake, out, costs)
        if rule in (ADAPTIVE, GRADIENT):
            rate = rate_of(rule, eta, 0, 0, sums[0, 1] + sums[1, 1])
            if some_sleep:
                weigh(base, rate, awake, True, q)
            gap = mixability(base, q, costs, rate, least)
            if gap > 0.0:
                add_to(sums, 1, gap)
        elif rule == SHARING:
            share_out(shared, costs, eta, share)
        for i in range(n):
            add_to(base, i, costs[i])
        add_to(sums, 0, own)
        clock[0] += 1
        if gaps.shape[0]:
            gaps[t] = sums[0, 1] + sums[1, 1]
    return int(given.shape[0])


@compiled
def best_path(costs: Any, now: Any, before: Any, came: Any, moved: Any) -> None:
    """The least loss of every sequence of experts, by how often it changes and where it ends.

    `now[k, i]` (a pair) is the least loss of sequences that end at i after at most k changes. `moved[t, k, i]` says
    that the best one came to i in round t by a change, and `came[t, k]` from whom.
    """
    changes, n = now.shape[0], now.shape[1]
    for t in range(costs.shape[0]):
        for k in range(changes):
            best = 0
            for i in range(n):
                before[k, i, 0] = now[k, i, 0]
                before[k, i, 1] = now[k, i, 1]
                if (now[k, i, 0] - now[k, best, 0]) + (now[k, i, 1] - now[k, best, 1]) < 0.0:
                    best = i
            came[t, k] = best
        for k in range(changes):
            for i in range(n):
                moved[t, k, i] = 0
                if k and t:
                    j = came[t, k - 1]
                    gain = (before[k - 1, j, 0] - before[k, i, 0]) + (before[k - 1, j, 1] - before[k, i, 1])
                    if gain < 0.0:
                        moved[t, k, i] = 1
                        now[k, i, 0] = before[k - 1, j, 0]
                        now[k, i, 1] = before[k - 1, j, 1]
                a = now[k, i, 0]
                s = a + costs[t, i]
                b = s - a
                now[k, i, 1] += (a - (s - b)) + (costs[t, i] - b)
                now[k, i, 0] = s
