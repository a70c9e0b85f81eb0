"""Preparations from their definitions, on rows that are lists of (feature, value), one after another."""

import math


def scaled(rows, peak, learn):
    """x_i ← x_i / max |x_i| so far, the row itself included while learning; 0 for a feature never seen."""
    out = []
    for row in rows:
        for i, x in row:
            if learn:
                peak[i] = max(peak.get(i, 0.0), abs(x))
        out.append([(i, x / peak[i] if peak.get(i, 0.0) > 0.0 else 0.0) for i, x in row])
    return out


def unit(rows):
    """x ← x/‖x‖ with the largest |x_i| divided out first and squares added in order; zero rows stay."""
    out = []
    for row in rows:
        top = max((abs(x) for _, x in row), default=0.0)
        if top > 0.0:
            total = 0.0
            for _, x in row:
                total += (x / top) * (x / top)
            row = [(i, x / top / math.sqrt(total)) for i, x in row]
        out.append(row)
    return out


def standardised(rows, columns, learn, before=()):
    """(x − mean)/sd over the rows so far, two passes over all of them, clipped to ±5; 0 where sd is 0."""
    past, out = list(before), []
    for row in rows:
        x = [dict(row).get(i, 0.0) for i in range(columns)]
        if learn:
            past.append(x)
        scores = []
        for i in range(columns):
            seen = [one[i] for one in past]
            mean = math.fsum(seen) / max(len(seen), 1)
            variance = math.fsum((one - mean) ** 2 for one in seen) / max(len(seen), 1)
            flat = not seen or min(seen) == max(seen)
            scores.append(0.0 if flat else max(-5.0, min(5.0, (x[i] - mean) / math.sqrt(variance))))
        out.append(scores)
    return out


def logs(rows):
    """x ← sign(x)·ln(1 + |x|)."""
    return [[(i, math.copysign(math.log1p(abs(x)), x)) for i, x in row] for row in rows]


MASK = 2**64 - 1


def mixed(state):
    """splitmix64's output for a state."""
    state = (state + 0x9E3779B97F4A7C15) & MASK
    state = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ state >> 27) * 0x94D049BB133111EB) & MASK
    return state ^ state >> 31


def frequency(i, j):
    """ω_ij: Box and Muller's pair for the even j and the one behind it."""
    key = (i << 32) | (j - j % 2)
    a, b = mixed(mixed(key)), mixed(mixed(key + 1))
    size = math.sqrt(-2.0 * math.log(((a >> 11) + 1) * 2.0**-53))
    turn = 2.0 * math.pi * (b >> 11) * 2.0**-53
    return size * (math.sin(turn) if j % 2 else math.cos(turn))


def cosines(rows, D, bandwidth):
    """√(2/D)·cos(b_j + ⟨ω_j, x⟩·γ/√n), n columns that were not 0 so far."""
    seen, out = set(), []
    shifts = [2.0 * math.pi * (mixed(mixed(~j & MASK)) >> 11) * 2.0**-53 for j in range(D)]
    for row in rows:
        seen |= {i for i, x in row if x}
        share = bandwidth / math.sqrt(max(len(seen), 1))
        dots = [math.fsum(x * frequency(i, j) for i, x in row) for j in range(D)]
        out.append([math.sqrt(2.0 / D) * math.cos(b + share * z) for b, z in zip(shifts, dots, strict=True)])
    return out


def bins(X, K):
    """For each row the bin of each column, None while it is 0, by edges set after 32, 128, 512 and 2048 rows."""
    out = []
    for t, row in enumerate(X):
        n = max((look for look in (32, 128, 512, 2048) if look <= t), default=0)
        first = [sorted(past[i] for past in X[:n]) for i in range(len(row))]
        seen = [any(past[i] != 0.0 for past in X[: t + 1]) for i in range(len(row))]
        reached = [sum(x >= first[i][n * k // K] for k in range(1, K)) if n else 0 for i, x in enumerate(row)]
        out.append([bin if known else None for bin, known in zip(reached, seen, strict=True)])
    return out


def one_hot(found, K, cross):
    """A 1 for each bin, and before them the crosses of every two columns, added up by slot."""
    out = []
    for row in found:
        places = [i * K + b for i, b in enumerate(row) if b is not None]
        made = {(2**16 if cross else 0) + place: 1.0 for place in places}
        for i in range(len(places)) if cross else ():
            for j in range(i + 1, len(places)):
                slot = mixed(places[i] << 32 | places[j]) % 2**16
                made[slot] = made.get(slot, 0.0) + 1.0
        out.append(made)
    return out
