"""Both ends of an interval in exact rationals: every float is one, so for a small stream nothing need be rounded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from noregret.loss import Loss
from noregret.proof.receipt import Vector
from noregret.rounds import Rounds, as_sparse

ENTRIES = 4000  # rows with more values than this in all take too long
HALF, ONE, ZERO = Fraction(1, 2), Fraction(1), Fraction(0)


def feasible(rounds: Rounds, loss: Loss) -> bool:
    """Whether the loss is rational and the stream small."""
    entries = rounds.rows.values.size
    return loss.bend is not None and entries <= ENTRIES


def risk_is_at_most(rounds: Rounds, loss: Loss, u: Vector, sigma: float, upper: float) -> bool:
    """Σ k·ℓ(⟨u, x⟩, y) + (σT/2)‖u‖² ≤ upper."""
    w = [Fraction(part) for part in u.tolist()]
    found = Fraction(sigma) * len(rounds) * HALF * sum((part * part for part in w), ZERO)
    for k, y, row in _rows(rounds):
        found += k * loss.exact_value(sum((w[j] * x for j, x in row), ZERO), y)
    return found <= Fraction(upper)


def dual_is_at_least(
    rounds: Rounds, loss: Loss, alpha: Vector, radius: float, sigma: float, lower: float
) -> bool | None:
    """−Σ k·ℓ*(α) − U‖Σ kαx‖ ≥ lower, decided by squaring; None where a ball and a regulariser come together."""
    if sigma and math.isfinite(radius):
        return None
    left = -Fraction(lower)
    total: dict[int, Fraction] = {}
    for a, (k, y, row) in zip((Fraction(one) for one in alpha.tolist()), _rows(rounds), strict=True):
        left -= k * loss.exact_conjugate(a, y)
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
