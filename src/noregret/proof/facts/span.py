"""A kernel learner: its updates through the Gram matrix, and comparators v = Σ_s c_s·φ(x_s) of its rounds.

Such a v is given by c, a number for each round, most of them 0 for a long run. Hinge losses over all rounds and ‖v‖ are
sums of kernel values, enclosed; how c was found does not matter.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.interval import Interval, total
from noregret.proof.facts.comparator import Comparator
from noregret.proof.gram import Gram, hinges
from noregret.rounds import Rounds

Vector = NDArray[np.float64]
Places = NDArray[np.int64]
MOST = 2e9  # rounds × supports × entries of a row: beyond, the certificates are not computed


def gram_of(learner: Any, rounds: Rounds, updates: Places) -> Gram | None:
    """The kernel values between the rounds, unless there are too many."""
    gram = Gram(replace(rounds, weights=None), learner.kernel)
    return None if len(rounds) * max(len(updates), 1) * gram.entries > MOST else gram


def measured(gram: Gram, rounds: Rounds, updates: Places) -> tuple[bool, Interval, tuple[Vector, Vector]]:
    """Whether every update was made at y·score ≤ 0 beyond any doubt; ‖Σ y·φ(x)‖ over them; K(x,x) of every round."""
    y = rounds.y[updates]
    before = gram.sums(updates, y[None], updates, before=True)
    low, high = gram.sums(updates, y[None], updates)
    worst = np.where(y > 0.0, before[1][0], -before[0][0])
    sure = rounds.weights is None and bool((worst <= 0.0).all())
    return sure, gram.length(y, low[0], high[0]), gram.squares()


def comparators(gram: Gram, rounds: Rounds, given: dict[str, Vector]) -> dict[str, Comparator]:
    """Each row of coefficients c as v = Σ c_s·φ(x_s): ‖v‖, Σh(v) and Σh(v)² over all rounds."""
    if not given:
        return {}
    rows = np.array(list(given.values()))
    which = np.flatnonzero(rows.any(axis=0))
    made = []
    for c, a, b in zip(rows, *gram.sums(which, rows[:, which], np.arange(len(rounds))), strict=True):
        least, most = hinges(rounds.y, a, b)
        squares = np.maximum(np.nextafter(least * least, -np.inf), 0.0), np.nextafter(most * most, np.inf)
        own = np.flatnonzero(c)  # what other comparators lean on must not change this one's last digit
        norm = gram.length(c[own], a[own], b[own])
        made.append(Comparator(c, norm, total(least, most), total(*squares), Interval.of(0.0)))
    return dict(zip(given, made, strict=True))
