"""Sums in twice the precision from their definition, rows as lists of (feature, value), a number as [s, c, error]."""

from fractions import Fraction


def two_sum(a, b):
    """a + b as rounded, and what the rounding dropped."""
    s = a + b
    return s, float(Fraction(a) + Fraction(b) - Fraction(s))


def two_product(a, b):
    p = a * b
    return p, float(Fraction(a) * Fraction(b) - Fraction(p))


def plus_product(number, a, b):
    """(s + c ± error) + a·b."""
    s, c, error = number
    p, dropped = two_product(a, b)
    if abs(p) < 1e-290 and a and b:
        error += 1e-320
    s, low = two_sum(s, p)
    c, lost = two_sum(c, low)
    c, more = two_sum(c, dropped)
    return [s, c, error + (abs(lost) + abs(more))]


def dot(row, weights, sign=1.0, start=(0.0, 0.0, 0.0)):
    """start + sign·⟨weights, x⟩, the weights being numbers [s, c, error]."""
    found = list(start)
    for j, x in row:
        s, c, error = weights[j]
        found = plus_product(found, sign * s, x)
        found = plus_product(found, sign * c, x)
        found[2] += error * abs(x)
    return found


def add(row, a, weights):
    for j, x in row:
        weights[j] = plus_product(weights[j], a, x)


def dots(rows, u):
    found = []
    for row in rows:
        number = [0.0, 0.0, 0.0]
        for j, x in row:
            number = plus_product(number, u[j], x)
        found.append(number)
    return found


def squares(rows):
    found = []
    for row in rows:
        number = [0.0, 0.0, 0.0]
        for _, x in row:
            number = plus_product(number, x, x)
        found.append(number)
    return found


def zeros(count):
    return [[0.0, 0.0, 0.0] for _ in range(count)]


def combination(rows, alpha, width):
    total = zeros(width)
    for row, a in zip(rows, alpha, strict=True):
        if a:
            add(row, a, total)
    return total


def steps(rows, step, width):
    """(weights at the end, ⟨w, x⟩ before each step)."""
    w, found = zeros(width), zeros(len(rows))
    for t, row in enumerate(rows):
        if step[t]:
            found[t] = dot(row, w)
            add(row, step[t], w)
    return w, found


def updates(rows, y, chosen, width):
    w, found = zeros(width), []
    for t in chosen:
        s, c, error = dot(rows[t], w)
        found.append([y[t] * s, y[t] * c, error])
        add(rows[t], y[t], w)
    return w, found


def class_updates(rows, moves, step, classes, width):
    """moves are (round, class, ±1), taken `step` at a time."""
    w, found = [zeros(width) for _ in range(classes)], []
    for first in range(0, len(moves), step):
        number = (0.0, 0.0, 0.0)
        for t, k, sign in moves[first : first + step]:
            number = dot(rows[t], w[k], float(sign), number)
        found.append(list(number))
        for t, k, sign in moves[first : first + step]:
            add(rows[t], float(sign), w[k])
    return [number for one in w for number in one], found
