"""One pass over one shard: a function of the shard and of where it starts, and of nothing else.

Whoever computes it, and however often, gets the same weights, the same ledger and the same figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import WINDOW
from noregret.errors import DivergedError
from noregret.learner.core import Core
from noregret.rounds import Keeper
from noregret.shards.shard import Shard, begun, place, weights_of
from noregret.watch.ledger import Ledger, Tally

Vector = NDArray[np.float64]
SUMS = (
    *("rounds", "updates", "mistakes", "loss", "mistake_row2", "gradient2", "gradient2_sqrt", "gradient2_inverse"),
    *("gradient_dot_weights", "absolute", "squared", "positives", "fractional_weights", "label_sum"),
    *("last", "constant"),
)
NEVER = 2**62  # a round that does not come: no curve is kept of rounds that have no one order
LARGEST = ("row_max2", "gradient_max2", "label_max")


@dataclass(frozen=True)
class Pace:
    """What a shard's own rate goes on from: its rounds and the squared lengths of its gradients so far."""

    rounds: int = 0
    gradient2: float = 0.0


@dataclass(frozen=True)
class Played:
    """What a pass over a shard gave."""

    weights: Vector
    pace: Pace
    ledger: Ledger  # of these plays alone
    figures: dict[str, Any]
    recent: Vector  # what the window of the last rounds holds of this pass


def play_round(shard: Shard, start: Vector, pace: Pace) -> Played:
    """One pass from these weights: what it leads to, its ledger and its figures."""
    tally = Tally(begun(shard.agreed).judged_by, bool(shard.agreed.settings.get("bias")))
    core, unit = passed(shard, start, pace, tally)
    state = core.state
    figures = {name: state[name][0].item() for name in (*SUMS, *LARGEST)}
    figures["rounds"] -= pace.rounds
    figures["gradient2"] -= pace.gradient2
    figures["confusion"] = state["confusion"][0].reshape(-1).tolist()
    after = Pace(int(state["rounds"][0]), float(state["gradient2"][0]))
    tally.widen(shard.agreed.width)
    return Played(weights_of(core, unit), after, tally.ledger(), figures, _recent(state, figures["rounds"]))


def passed(shard: Shard, start: Vector, pace: Pace, keep: Keeper) -> tuple[Core, float]:
    """The learner after one pass from these weights, and the scale that it began with."""
    core = begun(shard.agreed)
    unit = float(core.state["scale"][0])
    place(core, start)
    core.state["rounds"], core.state["gradient2"] = pace.rounds, pace.gradient2
    core.state["trace_next"] = core.state["curve_next"] = NEVER
    for rows, y, weights in shard.blocks:
        try:
            core.play(rows, y, weights, keep)
        except DivergedError as error:
            error.args = (f"{shard.name}: {error}",)
            raise
    return core, unit


def _recent(state: NDArray[Any], rounds: int) -> Vector:
    """The window in the order of the rounds."""
    window: Vector = state["window"][0]
    return window[:rounds].copy() if rounds < WINDOW else np.roll(window, -int(state["window_at"][0]))


def merged(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The figures of several passes, added in their order."""
    found = dict(parts[0])
    for part in parts[1:]:
        for name in SUMS:
            found[name] += part[name]
        found["confusion"] = [a + b for a, b in zip(found["confusion"], part["confusion"], strict=True)]
        for name in LARGEST:
            found[name] = max(found[name], part[name])
    return found
