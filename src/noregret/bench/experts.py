"""Blending many experts, against River's EWARegressor doing the same a round at a time.

River's model asks its experts for their forecasts itself; here they hand out a number that is already there, so that
what is measured is the weighing. It is measured on fewer rounds, and compared by the round.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from noregret.bench.row import OURS, Row, installed, missing, row
from noregret.bench.size import Size
from noregret.bench.timing import best_of
from noregret.blending import blend

EXPERTS = 64


def forecasts(rounds: int) -> tuple[Any, Any]:
    """(forecasts, outcomes): 64 experts of growing noise, all in [0, 1]."""
    rng = np.random.default_rng(0)
    y = rng.random(rounds)
    x = np.clip(y[:, None] + rng.normal(size=(rounds, EXPERTS)) * np.linspace(0.05, 0.5, EXPERTS), 0.0, 1.0)
    return x, y


def experts(size: Size, folder: Path) -> Iterator[Row]:
    """Each method of ours, and River's beside the one with the same loss."""
    rounds, fewer = size.expert_rounds
    x, y = forecasts(rounds)
    for loss, method in (("squared", "mixture"), ("absolute", "adahedge"), ("absolute", "hedge")):
        job = f"blend of {EXPERTS} experts, {loss} loss, {method}"
        ours = partial(blend, (x, y), loss=loss, method=method, keep_weights=False)
        took, found = best_of({OURS: ours}, size.turns)[OURS]
        each = took / rounds
        yield row(job, OURS, each, each, loss=found.loss / rounds, nanoseconds_per_row=1e9 * each)
        if loss == "squared" and installed("River"):
            theirs, lost = river(x[:fewer], y[:fewer])
            yield row(job, "River", theirs, each, loss=lost, nanoseconds_per_row=1e9 * theirs)
        elif loss == "squared":
            yield missing(job, "River")


def river(x: Any, y: Any) -> tuple[float, float]:
    """(seconds, mean squared loss) a round of River's loop."""
    from river import base, ensemble, optim

    class Reader(base.Regressor):  # type: ignore[misc]
        """An expert whose forecast is a number of the row."""

        def __init__(self, place: int) -> None:
            self.place = place

        def predict_one(self, x: dict[int, float]) -> float:
            return x[self.place]

        def learn_one(self, x: dict[int, float], y: float) -> None:
            pass

    model = ensemble.EWARegressor([Reader(i) for i in range(EXPERTS)], loss=optim.losses.Squared(), learning_rate=0.5)
    rows, outcomes, total = [dict(enumerate(line)) for line in x.tolist()], y.tolist(), 0.0
    began = time.perf_counter()
    for line, outcome in zip(rows, outcomes, strict=True):
        total += (model.predict_one(line) - outcome) ** 2
        model.learn_one(line, outcome)
    return (time.perf_counter() - began) / len(rows), total / len(rows)
