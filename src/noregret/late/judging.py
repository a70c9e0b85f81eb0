"""How a prediction is judged once its label is there, and rows that are kept until then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.learner.core import Core
from noregret.learner.forecaster import Forecaster
from noregret.stream.block import Dense, Rows

Vector = NDArray[np.float64]


def kept(row: Rows) -> Rows:
    """A row of its own: what was given may be written over."""
    if isinstance(row, Dense):
        return Dense(row.X.copy())
    return replace(row, indptr=row.indptr.copy(), indices=row.indices.copy(), values=row.values.copy())


def entries(row: Rows) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """The entries of a row that are not 0, by their features."""
    if isinstance(row, Dense):
        found = np.flatnonzero(row.X[0]).astype(np.uint32)
        return found, row.X[0][found].astype(np.float64)
    order = np.argsort(row.indices, kind="stable")
    order = order[row.values[order] != 0.0]
    return row.indices[order], row.values[order].astype(np.float64)


def same(row: Rows, other: Rows) -> bool:
    (places, values), (others, theirs) = entries(row), entries(other)
    return np.array_equal(places, others) and np.array_equal(values, theirs)


def escape_of(core: Core) -> float:
    """The probability that the next class is one that was never seen."""
    if not isinstance(core, Forecaster):
        return 0.0
    known, rounds, new = core.clock.tolist()
    return (new + 0.5) / (rounds + 1.0) if known else 1.0


def missed(core: Core, said: Vector, y: float) -> bool:
    """Whether a prediction was wrong; a tie of classes is."""
    if core.regression:
        return False
    if not core.multiclass:
        return bool(core.missed(said, np.array([y]))[0])
    place = int(y)
    return place >= len(said) or bool((np.delete(said, place) >= said[place]).any())


def paid(core: Core, said: Vector, escape: float, y: float) -> float:
    """The loss of a prediction."""
    if not core.multiclass:
        return core.loss(float(said[0]), y)
    if not isinstance(core, Forecaster):
        return float(missed(core, said, y))
    place = int(y)
    if place >= len(said):
        return -arithmetic.log(escape)
    top = float(said.max())
    spread = arithmetic.log(arithmetic.total(arithmetic.exp(said - top)))
    return spread - (float(said[place]) - top) - arithmetic.log1p(-escape)


def paid_fresh(core: Core, scores: Vector, y: float) -> float:
    """The loss of a round as the learner played it."""
    if isinstance(core, Forecaster):
        return -float(scores[0, 3])
    if core.multiclass:
        return float(core.missed(scores, np.array([y]))[0])
    return core.loss(float(scores[0]), y)
