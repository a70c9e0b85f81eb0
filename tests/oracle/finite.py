"""Finite classes from their definitions, and the algorithm of the theory in plain Python.

A class is a list of distinct rows, tuples of 0 and 1; a version space is a frozenset of rows.
"""

import math
from functools import cache
from itertools import combinations, compress


def split(space, x):
    """The rows with 0 at column x, and those with 1."""
    return tuple(frozenset(row for row in space if row[x] == label) for label in (0, 1))


@cache
def ldim(space):
    """Ldim(∅) = −1; else the largest 1 + min(Ldim(V₀), Ldim(V₁)) over the columns that split V, or 0."""
    if not space:
        return -1
    parts = (split(space, x) for x in range(len(next(iter(space)))))
    return max((1 + min(ldim(zero), ldim(one)) for zero, one in parts if zero and one), default=0)


def vc(rows):
    """The largest number of columns on which all labellings occur; −1 of no rows."""
    if not rows:
        return -1
    width = len(rows[0])
    for d in range(min(width, len(rows).bit_length() - 1), 0, -1):
        for columns in combinations(range(width), d):
            if len({tuple(row[x] for x in columns) for row in rows}) == 2**d:
                return d
    return 0


def worst(space, predict):
    """The most mistakes that any realizable sequence forces on a learner that predicts from its version space."""

    @cache
    def value(space):
        best = 0
        for x in range(len(next(iter(space)))):
            parts = split(space, x)
            if parts[0] and parts[1]:
                said = predict(space, x)
                best = max(best, *(value(parts[label]) + (label != said) for label in (0, 1)))
        return best

    return value(space)


def weighed(weight, tie):
    """A learner that predicts the label whose part weighs more."""

    def predict(space, x):
        zero, one = (weight(part) for part in split(space, x))
        return tie if zero == one else int(one > zero)

    return predict


def halving(tie=1):
    return weighed(len, tie)


def soa(tie=1):
    return weighed(ldim, tie)


def smallest(space, x):
    """Consistent with the row that is first in the order of words."""
    return min(space)[x]


def experts(space, points, tie=1):
    """What every Expert(i₁ … i_L), L ≤ Ldim, predicts on the points, by its set of rounds."""
    predict, found = soa(tie), {}
    for length in range(ldim(space) + 1):
        for turns in combinations(range(len(points)), length):
            said, own = [], space
            for t, x in enumerate(points):
                label = (predict(own, x) if own else tie) ^ (t in turns)
                said.append(label)
                own = split(own, x)[label] if own else own
            found[turns] = said
    return found


def exponential_weights(predictions, labels, rate):
    """The probability of 1 in every round, weights exp(−rate·mistakes so far)."""
    losses, said = [0] * len(predictions), []
    for t, label in enumerate(labels):
        weights = [math.exp(-rate * loss) for loss in losses]
        said.append(sum(w * p[t] for w, p in zip(weights, predictions, strict=True)) / sum(weights))
        losses = [loss + (p[t] != label) for loss, p in zip(losses, predictions, strict=True)]
    return said


def plain_ldim(rows):
    """ge(V, d) with d ascending, prunings and a memory: the algorithm of the theory, columns as whole numbers."""
    rows = sorted(set(map(tuple, rows)))
    if not rows:
        return -1
    known = {}

    def folded(columns, size):
        full = (1 << size) - 1
        turned = (column ^ full if column & 1 else column for column in columns)
        return tuple(sorted({column for column in turned if column}))

    def part(columns, chosen, size):
        kept = [chosen >> i & 1 for i in range(size - 1, -1, -1)]
        cut = (compress(format(column, f"0{size}b"), kept) for column in columns)
        count = sum(kept)
        return folded((int("".join(bits), 2) for bits in cut), count), count

    def ge(columns, size, d):
        if size < 2**d or len(columns) < d:
            return False
        if d <= 1:
            return True
        low, high = known.get((size, columns), (0, size.bit_length() - 1))
        if d <= low or d > high:
            return d <= low
        sides = ((min(column.bit_count(), size - column.bit_count()), column) for column in columns)
        found = any(both(columns, size, x, d - 1) for side, x in sorted(sides, reverse=True) if side >= 2 ** (d - 1))
        known[size, columns] = (d, high) if found else (low, d - 1)
        return found

    def both(columns, size, x, d):
        full = (1 << size) - 1
        small, large = sorted((x, x ^ full), key=int.bit_count)
        return ge(*part(columns, small, size), d) and ge(*part(columns, large, size), d)

    size = len(rows)
    columns = folded((int("".join(map(str, column[::-1])), 2) for column in zip(*rows, strict=True)), size)
    d = 0
    while ge(columns, size, d + 1):
        d += 1
    return d
