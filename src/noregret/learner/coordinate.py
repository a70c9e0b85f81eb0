"""Learners with a step for every coordinate: AdaGrad and FTRL-Proximal, in the box |w_i| ≤ U.

A feature that is rare keeps long steps, one that is common takes short ones: nothing needs scaling by how often a
feature appears. The bounds are made from Σ_i √Σ_t g²: small where most features are mostly 0.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from noregret import _native
from noregret import loss as losses
from noregret._native import COORDINATE, GRADIENTS, PROXIMAL, norm1, norm2
from noregret.domain import Domain
from noregret.learner import settings
from noregret.learner.core import Arrays, Given, Vector, aligned, check_memory, fit
from noregret.learner.linear import Linear
from noregret.loss import Loss
from noregret.rate import Rate, of_coordinates

WEIGHT, TOTAL = 0, 2  # columns of the table that every kind has


class Coordinate(Linear):
    """A table of a few numbers for each feature: the first is its weight, the third Σg."""

    columns: ClassVar[int] = _native.COORDINATE_COLUMNS
    gathers = GRADIENTS
    _kind = _native.COORDINATES
    total: Any  # the table: `z` is its first column

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.grow(0, sparse=False)  # a first row without features finds a table too

    def _rounds(self, rows: Given, y: Vector, weights: Vector, scores: Vector) -> int:
        return _native.play_coordinates(self._native_loss(), rows, y, weights, self.total, self.record, scores)

    @property
    def gradient_sum(self) -> Vector:
        return self._column(TOTAL)[: self.width].copy()

    @property
    def gradient_norm(self) -> float:
        """‖Σg‖ with the bias."""
        return math.sqrt(norm2(self._column(TOTAL)) + float(np.square(self.state["bias_gradient"][0])))

    @property
    def dual_norm(self) -> float:
        """‖Σg‖₁ with the bias: what the box is measured against."""
        return norm1(self._column(TOTAL)) + abs(float(self.state["bias_gradient"][0]))

    def _column(self, place: int) -> Vector:
        return np.asarray(self.total[:, place])

    def arrays(self) -> Arrays:
        return {"table": self.total[: self.width]}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        fit(arrays, {"table": (width, self.columns)} if width else {})
        self.grow(width, sparse=paired)
        if width:
            self.total[:width] = arrays["table"]

    def make_room(self, width: int, sparse: bool) -> None:
        if width > self.z.shape[0] or not self.z.shape[0]:
            self.single = None
            room = max(width, 2, 3 * self.z.shape[0] // 2)
            check_memory(room * 8 * self.columns, width)
            table = aligned(room, self.columns)
            if self.z.shape[0]:
                table[: self.z.shape[0]] = self.total
            self.z, self.total = table[:, WEIGHT], table

    def __setstate__(self, stored: dict[str, Any]) -> None:
        super().__setstate__(stored)
        table = aligned(*self.total.shape)
        table[:] = self.total
        self.z, self.total = table[:, WEIGHT], table  # copies do not share memory by themselves


class AdaGrad(Coordinate):
    """Diagonal AdaGrad with any loss: coordinate i steps by η/√Σg_i², so that each has its own rate."""

    name = "adagrad"
    declared = settings.AdaGrad
    told: settings.AdaGrad

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        box = Domain("box", self.told.radius)
        return losses.parse(self.told.loss), box, Rate(COORDINATE, of_coordinates(self.told.rate, box))


class FollowTheRegularisedLeader(Coordinate):
    """FTRL-Proximal for each coordinate, with weights that λ₁ makes exactly 0."""

    name = "ftrl"
    declared = settings.FollowTheRegularisedLeader
    told: settings.FollowTheRegularisedLeader

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for name in ("beta", "l1", "l2"):
            self.config[name] = self.settings[name]

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        box = Domain("box", self.told.radius)
        return losses.parse(self.told.loss), box, Rate(PROXIMAL, of_coordinates(self.told.rate, box))
