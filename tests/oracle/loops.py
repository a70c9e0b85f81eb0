"""The core's sums and steps from their definitions, in the orders that native/rows.hpp and vector.hpp state.

Plain Python adds and multiplies as the core does, one rounding each: the two agree to the last bit.
"""

import math


def together(parts):
    """Sixteen partial sums as one."""
    a, b, c, d = ((parts[i] + parts[i + 4]) + (parts[i + 8] + parts[i + 12]) for i in range(4))
    return (a + c) + (b + d)


def dense_dot(x, z):
    """(⟨z, x⟩, ‖x‖²) of a row of a matrix."""
    x, z = [float(value) for value in x], [float(weight) for weight in z]
    length = len(x)
    sixteens, fours, pairs = length // 16 * 16, length // 4 * 4, length // 2 * 2
    dots, squares = [0.0] * 16, [0.0] * 16
    for i in range(length):
        part = i % 16 if i < sixteens else i % 4 if i < fours else 4 + i % 2 if i < pairs else 8
        dots[part] += x[i] * z[i]
        squares[part] += x[i] * x[i]
    return together(dots), together(squares)


def sparse_dot(indices, values, z):
    """(⟨z, x⟩, ‖x‖²) of a sparse row; NaN both if z has no room for a feature."""
    x = [float(value) for value in values]
    if any(i >= len(z) for i in indices):
        return math.nan, math.nan
    whole = len(x) // 4 * 4
    dots, squares = [0.0] * 4, [0.0] * 4
    for k, i in enumerate(indices):
        part = 0 if whole == 0 else k % 4 if k < whole else k + 4 - len(x)
        dots[part] += x[k] * float(z[i])
        squares[part] += x[k] * x[k]
    return (dots[0] + dots[2]) + (dots[1] + dots[3]), (squares[0] + squares[2]) + (squares[1] + squares[3])


def by_place(terms):
    """A sum over all weights: number i in part i modulo 16."""
    parts = [0.0] * 16
    for i, term in enumerate(terms):
        parts[i % 16] += term
    return together(parts)


def adagrad(indices, values, table, g, eta, radius):
    """AdaGrad's step, coordinate by coordinate; table[i] = (w, Σg², Σg, other)."""
    for i, x in zip(indices, values, strict=True):
        row, part = table[i], g * float(x)
        row[1] += part * part
        row[2] += part
        root = math.sqrt(row[1])
        w = row[0] - (eta * part / root if root > 0.0 else 0.0)
        row[0] = min(max(w, -radius), radius)


def score_bin(score):
    """64 equal steps to each power of two from 2⁻³² to 2³², on either side of one bin for 0; the last hold the rest."""
    if score == 0.0:
        return 4096
    mantissa, exponent = math.frexp(min(abs(score), 2.0**40))  # in [½, 1)
    step = 64 * (exponent - 1 + 32) + math.floor(64 * (2.0 * mantissa - 1.0))
    return 4096 + int(math.copysign(1 + min(max(step, 0), 4095), score))


def booked(labels, scores, tie, window, points):
    """What is booked of scored rounds of ±1 labels: figures by name. A score of NaN was no round."""
    found = {
        "rounds": 0,
        "positives": 0,
        "mistakes": 0,
        "last": 0,
        "confusion": [[0, 0], [0, 0]],
        "errors": [],
        "trace": [],
    }
    last, step = 0.0, 1
    for y, score in zip(labels, scores, strict=True):
        if math.isnan(score):
            continue
        said = tie if score == 0.0 else math.copysign(1.0, score)
        wrong = said != y
        found["rounds"] += 1
        found["positives"] += y > 0.0
        found["mistakes"] += wrong
        found["last"] += last != y
        last = y
        found["confusion"][y > 0.0][(y > 0.0) != wrong] += 1
        found["errors"].append(float(wrong))
        if found["rounds"] % step == 0:
            common = min(found["positives"], found["rounds"] - found["positives"])
            found["trace"].append((found["rounds"], found["mistakes"], common, found["last"]))
            if len(found["trace"]) == points:
                found["trace"], step = found["trace"][1::2], 2 * step
    found["errors"] = found["errors"][-window:]
    return found
