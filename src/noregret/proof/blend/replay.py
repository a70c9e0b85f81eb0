"""Every round of a blend again, by the library's own loop: the same bits as when it was played."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import ReceiptError
from noregret.experts import loss as losses
from noregret.experts.blender import Blender
from noregret.experts.forecasts import Laid

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Replay:
    """A run again: own losses, forecasts, all costs (a sleeper's are the blend's own), weights after the last round."""

    own: Vector
    forecasts: NDArray[np.float64]
    costs: NDArray[np.float64]
    weights: Vector
    gap: float
    # slope·(expert's forecast − own) of every round and expert, where losses are linearised
    linear: NDArray[np.float64]

    @property
    def total(self) -> float:
        return math.fsum(self.own)


def replayed(laid: Laid, reading: Mapping[str, Any]) -> Replay:
    """Play the table once more as the receipt says it was played."""
    loss = reading["loss"]
    rounds, experts, _ = laid.given.shape
    more = {} if reading["rate"] is None else {"rate": reading["rate"]}
    blender = Blender(
        reading["experts"],
        loss=loss,
        range=reading["range"],
        outcomes=list(laid.names) or None,
        method=reading["method"],
        last_value=reading["last_value"],
        rounds=rounds,
        switches=reading["switches"],
        **more,
    )
    played = blender.engine.play(laid.given, laid.outcomes)
    if played.rounds < rounds:
        raise ReceiptError("the blend cannot be replayed: every expert left gave an outcome probability 0", failed=True)
    forecasts = np.zeros((rounds, 1)) if loss == "costs" else played.forecasts
    costs = [losses.values(loss, laid.given[:, i], laid.outcomes) for i in range(experts)]
    linear = np.zeros((0, experts))
    if reading["method"] == "gradient":
        linear = losses.linearised(loss, laid.given[:, :, 0], forecasts[:, 0], laid.outcomes)
    return Replay(
        played.losses,
        forecasts,
        np.where(np.isnan(laid.given[:, :, 0]), played.losses[:, None], np.column_stack(costs)),
        blender.engine.weights(),
        blender.engine.gap,
        linear,
    )


def least_switching(costs: NDArray[np.float64], switches: int) -> float:
    """The least loss of sequences with at most so many changes, by the recursion over rounds."""
    least = np.zeros((min(switches, len(costs) - 1) + 1, costs.shape[1]))
    lost = np.zeros_like(least)  # what the sums lost in rounding
    for row in costs:
        best = least[:-1] + lost[:-1]
        came = best.argmin(axis=1)
        at = np.arange(len(came))
        changes = (least[:-1][at, came] + lost[:-1][at, came])[:, None] < least[1:] + lost[1:]
        for kept in (least, lost):
            kept[1:] = np.where(changes, kept[:-1][at, came][:, None], kept[1:])
        after = least + row
        with np.errstate(invalid="ignore"):  # a loss may be infinite
            part = after - least
            lost = lost + np.where(np.isfinite(after), (least - (after - part)) + (row - part), 0.0)
        least = after
    return float((least[-1] + lost[-1]).min())
