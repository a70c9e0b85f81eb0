"""Both ends of an interval in exact rationals: every float is one, so for a small stream nothing need be rounded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from noregret.loss import Loss
from noregret.proof.receipt import Vector
from noregret.rounds import Rounds, as_sparse

ENTRIES = 4000  # rows with more values than this in all take too long
HALF, ONE, ZERO = Fraction(1, 2), Fraction(1), Fraction(0)
Value = Callable[[Fraction, Fraction, Fraction], Fraction]

VALUES: dict[str, Value] = {
    "hinge": lambda z, y, p: max(1 - y * z, ZERO),
    "margin-hinge": lambda z, y, p: max(1 - y * z / p, ZERO),
    "squared-hinge": lambda z, y, p: max(1 - y * z, ZERO) ** 2,
    "perceptron": lambda z, y, p: max(-y * z, ZERO),
    "squared": lambda z, y, p: (z - y) ** 2,
    "absolute": lambda z, y, p: abs(z - y),
    "huber": lambda z, y, p: (z - y) ** 2 / 2 if abs(z - y) <= p else p * abs(z - y) - p * p / 2,
    "pinball": lambda z, y, p: max(p * (y - z), (1 - p) * (z - y)),
}
CONJUGATES: dict[str, Value] = {
    "hinge": lambda a, y, p: a * y,
    "margin-hinge": lambda a, y, p: a * y * p,
    "squared-hinge": lambda a, y, p: a * y + a * a / 4,
    "perceptron": lambda a, y, p: ZERO,
    "squared": lambda a, y, p: a * y + a * a / 4,
    "absolute": lambda a, y, p: a * y,
    "huber": lambda a, y, p: a * y + a * a / 2,
    "pinball": lambda a, y, p: a * y,
}


def feasible(rounds: Rounds, loss: Loss) -> bool:
    """Whether the loss is rational and the stream small."""
    entries = rounds.rows.values.size
    return loss.name in VALUES and entries <= ENTRIES


def risk_is_at_most(rounds: Rounds, loss: Loss, u: Vector, sigma: float, upper: float) -> bool:
    """Σ k·ℓ(⟨u, x⟩, y) + (σT/2)‖u‖² ≤ upper."""
    p, value = Fraction(loss.number), VALUES[loss.name]
    w = [Fraction(part) for part in u.tolist()]
    found = Fraction(sigma) * len(rounds) * HALF * sum((part * part for part in w), ZERO)
    for k, y, row in _rows(rounds):
        found += k * value(sum((w[j] * x for j, x in row), ZERO), y, p)
    return found <= Fraction(upper)


def dual_is_at_least(
    rounds: Rounds, loss: Loss, alpha: Vector, radius: float, sigma: float, lower: float
) -> bool | None:
    """−Σ k·ℓ*(α) − U‖Σ kαx‖ ≥ lower, decided by squaring; None where a ball and a regulariser come together."""
    if sigma and math.isfinite(radius):
        return None
    p, conjugate = Fraction(loss.number), CONJUGATES[loss.name]
    left = -Fraction(lower)
    total: dict[int, Fraction] = {}
    for a, (k, y, row) in zip((Fraction(one) for one in alpha.tolist()), _rows(rounds), strict=True):
        left -= k * conjugate(a, y, p)
        for j, x in row:
            total[j] = total.get(j, ZERO) + k * a * x
    norm2 = sum((part * part for part in total.values()), ZERO)
    if sigma:
        return left >= norm2 / (2 * Fraction(sigma) * len(rounds))
    return left >= 0 and left * left >= Fraction(radius) ** 2 * norm2


def _rows(rounds: Rounds) -> Iterator[tuple[Fraction, Fraction, list[tuple[int, Fraction]]]]:
    """Each round's weight, label and non-zeros."""
    rows = as_sparse(rounds.rows)
    for t, y in enumerate(rounds.y.tolist()):
        start, stop = int(rows.indptr[t]), int(rows.indptr[t + 1])
        inside = zip(rows.indices[start:stop].tolist(), rows.values[start:stop].tolist(), strict=True)
        k = ONE if rounds.weights is None else Fraction(float(rounds.weights[t]))
        yield k, Fraction(y), [(j, Fraction(x)) for j, x in inside]
