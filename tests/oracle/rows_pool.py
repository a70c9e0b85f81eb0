"""Mixtures of a pool: what members lost and the bounds, from the definitions, in decimals."""

from fractions import Fraction

from oracle.rows import ONE, ZERO, Truth, dec, exp, ln, own_loss, row
from oracle.rows_labels import contexts, lost

SWITCHES = 8


def chances(logs):
    """Probabilities from their logarithms up to a constant."""
    top = max(logs)
    powers = [exp(dec(one) - dec(top)) for one in logs]
    return [one / sum(powers) for one in powers]


def known_before(data):
    """How many classes were known before each round: declared, or met."""
    found, known = [], data.declared
    for y in data.y:
        found.append(known)
        known = max(known, int(y) + 1)
    return found


def learned(data):
    """(round from 1, label, weight, what each member says) of each round that members are judged by; None: asleep."""
    if not data.multiclass:
        both = [[None if z is None else (ZERO, Fraction(z)) for z in line] for line in data.said]
        return [(t, int(y > 0), k, line) for t, (y, k, line) in enumerate(zip(data.y, data.k, both, strict=True), 1)]
    found = []
    for t, (y, k, line, known) in enumerate(zip(data.y, data.k, data.said, known_before(data), strict=True), 1):
        if y < known:
            found.append((t, int(y), k, [None if one is None else one[:known] for one in line]))
    return found


def members(data):
    """What each member lost, and what the best sequence of members did, its members awake."""
    n = len(data.priors)
    losses, best = [dec(0)] * n, {(i, 0): dec(0) for i in range(n)}
    for t, y, k, line in learned(data):
        e = dec(1) / (t + 2) ** 2
        p = [None if logs is None else (1 - e) * chances(logs)[y] + e / len(logs) for logs in line]
        weights = [dec(one) * exp(-lost_) for one, lost_ in zip(data.priors, losses, strict=True)]
        awake = [i for i in range(n) if p[i] is not None]
        mean = sum(weights[i] * p[i] for i in awake) / sum(weights[i] for i in awake)
        paid = [-dec(k) * ln(mean if one is None else one) for one in p]
        losses = [a + b for a, b in zip(losses, paid, strict=True)]
        now = {}
        for (i, used), so_far in best.items():
            for j in awake:
                key = (j, used + (j != i and bool(t > 1)))
                if key[1] <= SWITCHES and (key not in now or so_far + paid[j] < now[key]):
                    now[key] = so_far + paid[j]
        best = now
    return losses, min(best.values())


def own(data):
    """L; of many classes on those known, given that the class is known."""
    if not data.multiclass:
        return dec(own_loss(data))
    found, rounds, new = dec(0), 0, 0
    for y, k, scores, known in zip(data.y, data.k, data.scores, known_before(data), strict=True):
        if y < known:
            found += dec(k) * (ln(1 - (dec(new) + dec(ONE / 2)) / (rounds + 1)) - dec(Fraction(scores[3])))
        if known:
            rounds, new = rounds + 1, new + (y >= known)
    return found


@row("mixture")
def mixture(data):
    mine, (losses, _) = own(data), members(data)
    above = max(mine - one + ln(prior) for one, prior in zip(losses, data.priors, strict=True))
    return Truth(ln(2), above, {"members": len(losses)}, size=1 + mine, scale=1 + mine + max(losses))


@row("tracking")
def tracking(data):
    mine, (losses, sequence) = own(data), members(data)
    n = len(losses)
    bound = ln(8) - ln(min(data.priors)) + SWITCHES * ln(max(n - 1, 1)) + (SWITCHES + 1) * ln(data.T)
    return Truth(bound, mine - sequence, {"members": n}, size=bound + max(losses), scale=1 + mine + max(losses))


def final_range(data):
    """The ends of the range, as floats: what is said of the first row, doubled where a label lies outside."""
    first = [one for one in data.said[0] if one is not None]
    a, b = min(first), max(first)
    for y in map(float, data.y):
        if y > b:
            b = a + 2.0 * (y - a)
        elif y < a:
            a = b - 2.0 * (b - y)
    return Fraction(a), Fraction(b)


@row("aggregating")
def aggregating(data):
    a, b = final_range(data)
    mine = own_loss(data)
    losses = [
        sum(k * (y - (z if line[i] is None else Fraction(line[i]))) ** 2 for y, k, z, line in rounds_of(data))
        for i in range(len(data.priors))
    ]
    square = (b - a) ** 2
    above = max(dec(mine - one) + dec(square) / 2 * ln(p) for one, p in zip(losses, data.priors, strict=True))
    values = {"members": len(losses), "range": b - a}
    return Truth(square / 3, above, values, size=square + mine, scale=10 * square + mine + max(losses))


def rounds_of(data):
    return zip(data.y, data.k, data.z, data.said, strict=True)


def above_labels(data, member, order):
    """The estimator's price in each context, and what the mixture pays for having it as a member."""
    found = contexts(data.y, order).values()
    best = sum((lost(one) for one in found), start=dec(0))
    price = sum((ln(sum(one)) / 2 + ln(2) for one in found), start=dec(0))
    prior = dec(data.priors[data.names.index(member)])
    mine = own(data)
    return Truth(price - ln(prior) + ln(3), mine - best, size=1 + price + mine, scale=1 + mine + best)


row("baseline-frequency")(lambda data: above_labels(data, "labels", 0))
row("baseline-previous")(lambda data: above_labels(data, "labels-1", 1))
