"""The weights of a mixture's linear members as one row, in the units of the columns that came.

A member that is given z = (x − m)/s and scores ⟨w, z⟩ + b scores ⟨w/s, x⟩ + b − Σ w·m/s (but for what is clipped). The
rows are added by the members' shares. Members whose rows are remade, or divided by their norm, have no such row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret import arithmetic
from noregret.learner.auto import Auto
from noregret.learner.classes import Multiclass
from noregret.learner.core import Vector
from noregret.stream.block import Ints


@dataclass(frozen=True)
class Combined:
    """The mean of the linear members' weights by their shares: a row a class where there are many."""

    members: list[dict[str, Any]]  # name and share of each, the largest first
    weights: Vector
    bias: Vector
    spread: Vector | None  # how much each column varies
    spread_word: str | None

    @property
    def share(self) -> float:
        """The part of the mixture that these members are."""
        return float(sum(one["share"] for one in self.members))

    @property
    def effect(self) -> Vector:
        """Weight times spread: what a usual change of the column does to the score."""
        return self.weights if self.spread is None else self.weights * self.spread

    @property
    def effect_words(self) -> str:
        return "the weight itself" if self.spread_word is None else f"weight × the column's {self.spread_word}"


def combined(core: Auto) -> Combined | None:
    """The linear members together; None where none of them plays."""
    width, outputs = core.width, core.tally()
    rows = 1 if outputs is None else len(outputs["labels"])
    weights, biases = np.zeros((rows, width)), np.zeros(rows)
    found, whole = [], 0.0
    for i, share in enumerate(core.shares.tolist()):
        part = of_columns(core, i, rows) if share > 0.0 else None
        if part is None:
            continue
        weights += share * part[0]
        biases += share * part[1]
        whole += share
        found.append({"name": core.members[i].name, "share": share})
    if not found:
        return None
    spread, word = _spread(core)
    found.sort(key=lambda one: -one["share"])
    return Combined(found, weights / whole, biases / whole, spread, word)


def of_columns(pool: Auto, i: int, rows: int) -> tuple[Vector, Vector] | None:
    """A member's weights and biases in the units of the columns, a row a class; None where it has none."""
    core, own = pool.cores[i], np.atleast_2d(pool.cores[i].weights)
    columns = _features(pool, own.shape[1])
    kept = len(columns)
    units = pool.views[pool.view_of[i]].units(kept, pool.recipe)
    judged = core.loss.probabilistic or core.regression  # a margin is divided by a mean that it is part of
    if units is None or not judged or not own.size:
        return None
    (means, sizes), (level, size) = units, pool.units_of(i)
    weights, biases = np.zeros((rows, pool.width)), np.full(rows, level)
    weights[: len(own), columns] = size * own[:rows, :kept] / sizes
    own_biases = np.atleast_1d(core.class_biases if isinstance(core, Multiclass) else core.bias)
    biases[: len(own_biases)] += size * own_biases
    for k in range(rows):
        biases[k] -= arithmetic.inner(weights[k, columns], means)
    return weights, biases


def _features(pool: Auto, width: int) -> Ints:
    """Which features the first numbers are that members know."""
    found = pool.numbering.features(width)
    return found[found < pool.width]


def _spread(core: Auto) -> tuple[Vector | None, str | None]:
    """How much each column varies, as some member knows it."""
    for view in core.views:
        if view.moments is not None and len(view.moments.mean):
            columns = _features(core, len(view.moments.mean))
            sizes, spread = view.moments.units(len(columns), core.recipe)[1], np.ones(core.width)
            spread[columns] = np.where(np.isfinite(sizes), sizes, 0.0)
            return spread, "standard deviation"
    for view in core.views:
        if view.scale == "max" and len(view.peak):
            columns, peak = _features(core, len(view.peak)), np.zeros(core.width)
            peak[columns] = view.peak[: len(columns)]
            return peak, "largest value"
    return None, None
