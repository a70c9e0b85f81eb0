"""Blending many experts, against River's EWARegressor doing the same a round at a time.

River's model asks its experts for their forecasts itself; here they hand out a number that is already there, so that
what is measured is the weighing. It is measured on fewer rounds, and compared by the round.
`python -m benchmarks.experts` prints the rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.timing import best_of
from noregret.blending import blend

Row = dict[str, Any]
EXPERTS = 64


def forecasts(rounds: int) -> tuple[Any, Any]:
    """(forecasts, outcomes): 64 experts of growing noise, all in [0, 1]."""
    rng = np.random.default_rng(0)
    y = rng.random(rounds)
    x = np.clip(y[:, None] + rng.normal(size=(rounds, EXPERTS)) * np.linspace(0.05, 0.5, EXPERTS), 0.0, 1.0)
    return x, y


def experts(rounds: int, river_rounds: int, turns: int) -> Iterator[Row]:
    """A row for each method of ours, beside what River takes for as many rounds."""
    x, y = forecasts(rounds)
    peer = river_seconds(x, y, river_rounds) / river_rounds
    for loss, method in (("squared", "mixture"), ("absolute", "adahedge"), ("absolute", "hedge")):
        took, found = best_of(
            {"ours": lambda loss=loss, method=method: blend((x, y), loss=loss, method=method, keep_weights=False)},
            turns,
        )["ours"]
        row = {"job": f"blend {EXPERTS} experts, {loss}, {method}", "ns a round": 1e9 * took / rounds}
        row |= {"mean loss": found.loss / rounds}
        yield row | {"river takes ×": peer * rounds / took}


def river_seconds(x: Any, y: Any, rounds: int) -> float:
    """Seconds of River's loop; its squared loss a round is printed beside ours, so that speed buys nothing."""
    from river import base, ensemble, optim

    class Reader(base.Regressor):
        """An expert whose forecast is a number of the row."""

        def __init__(self, place: int) -> None:
            self.place = place

        def predict_one(self, x: dict[int, float]) -> float:
            return x[self.place]

        def learn_one(self, x: dict[int, float], y: float) -> None:
            pass

    model = ensemble.EWARegressor([Reader(i) for i in range(EXPERTS)], loss=optim.losses.Squared(), learning_rate=0.5)
    rows = [dict(enumerate(row)) for row in x[:rounds].tolist()]
    outcomes, total = y[:rounds].tolist(), 0.0
    began = time.perf_counter()
    for row, outcome in zip(rows, outcomes, strict=True):
        total += (model.predict_one(row) - outcome) ** 2
        model.learn_one(row, outcome)
    took = time.perf_counter() - began
    print(f"river EWARegressor: {1e9 * took / rounds:.0f} ns a round, mean squared loss {total / rounds:.6f}")
    return took


def main() -> None:
    for row in experts(1_000_000, 2_000, 3):
        print(row)


if __name__ == "__main__":
    main()
