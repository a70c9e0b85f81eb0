"""The estimator of the labels alone: contexts as tuples of labels, entropies from their definition."""

from oracle.rows import ZERO, Truth, dec, ln, own_loss, row


def contexts(y, order):
    """How often each label followed each tuple of the last labels, the first rounds' tuples being shorter."""
    found = {}
    for t, label in enumerate(y):
        before = tuple(y[max(t - order, 0) : t])
        found.setdefault(before, [0, 0])[label > 0] += 1
    return found


def lost(counts):
    """n·H(n₁/n)."""
    n = sum(counts)
    return -sum((part * ln(dec(part) / n) for part in counts if part), start=dec(ZERO))


def price(data):
    found = contexts(data.y, data.settings["order"])
    best = sum((lost(one) for one in found.values()), start=dec(ZERO))
    bound = sum((ln(sum(one)) / 2 + ln(2) for one in found.values()), start=dec(ZERO))
    own = dec(own_loss(data))
    size = sum((1 + abs(dec(z)) for z in data.z), start=dec(0))
    return Truth(bound, own - best, {"best": best}, size=bound + size, scale=own + best)


row("kt")(price)
row("markov")(price)
