"""Learners with a step for every coordinate: AdaGrad and FTRL-Proximal, in the box |w_i| ≤ U, diagonal Newton, betting.

A feature that is rare keeps long steps, one that is common takes short ones: nothing needs scaling by how often a
feature appears. The bounds are made from Σ_i √Σ_t g²: small where most features are mostly 0. Betting needs no rate and
no radius either, and plays the same scores whatever unit a feature is measured in.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from noregret import _native, arithmetic
from noregret import loss as losses
from noregret._native import COORDINATE_KINDS, GRADIENTS, norm1, norm2
from noregret.domain import Domain
from noregret.errors import SettingError, spelled
from noregret.learner import settings
from noregret.learner.core import EVERYWHERE, Arrays, NativeRows, Vector, aligned, check_memory, fit
from noregret.learner.linear import Linear
from noregret.loss import Loss
from noregret.rate import Rate, of_coordinates
from noregret.stream.block import Rows, Sparse

WEIGHT, TOTAL, WEALTH, MEAN = 0, 2, 3, 6  # columns of the table: every kind has the first two


class Coordinate(Linear):
    """A table of a few numbers for each feature: the first is its weight, the third Σg."""

    columns: ClassVar[int]
    gathers = GRADIENTS
    _kind = _native.COORDINATES
    total: Any  # the table: `z` is its first column

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.grow(0, sparse=False)  # a first row without features finds a table too

    def _rounds(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> int:
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
    code, columns = COORDINATE_KINDS["adagrad"]
    declared = settings.AdaGrad
    params: settings.AdaGrad

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        box = Domain("box", self.params.radius)
        return losses.parse(self.params.loss), box, Rate(self.code, of_coordinates(self.params.rate, box))


class FollowTheRegularisedLeader(Coordinate):
    """FTRL-Proximal for each coordinate, with weights that λ₁ makes exactly 0."""

    name = "ftrl"
    code, columns = COORDINATE_KINDS["proximal"]
    declared = settings.FollowTheRegularisedLeader
    params: settings.FollowTheRegularisedLeader

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for name in ("beta", "l1", "l2"):
            self.config[name] = self.settings[name]

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        box = Domain("box", self.params.radius)
        return losses.parse(self.params.loss), box, Rate(self.code, of_coordinates(self.params.rate, box))


class DiagonalNewton(Coordinate):
    """Newton steps on the logistic loss with the diagonal of the matrix alone: for wide sparse rows.

    H_i = a + Σ k·h·x_i², h the curvature of the loss at the score. A round moves w to the minimum of its own loss and
    ½Σ H_i·(w_i − w_{t,i})²: along the row, and never past the label.
    """

    name = "diagonal"
    code, columns = COORDINATE_KINDS["diagonal"]
    declared = settings.DiagonalNewton
    params: settings.DiagonalNewton
    compared_only = True
    _remedy = "use a larger ridge"

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        return losses.logistic(), EVERYWHERE, Rate(self.code, self.params.ridge)

    @property
    def dual_norm(self) -> float:
        return self.gradient_norm


class ScaleFree(Coordinate):
    """Coordinate betting (ScInOL2 of Kempka, Kotłowski & Warmuth 2019): no rate, no radius, no feature scaling.

    Every feature bets a share of its own wealth on the sign of its next gradient, in units of the largest value it has
    had. A row of weight k is the row k·x to it. With `centre` it plays x − μ, μ the mean of all rows so far.
    """

    name = "scale-free"
    code, columns = COORDINATE_KINDS["bets"]
    declared = settings.ScaleFree
    params: settings.ScaleFree
    compared_only = True
    linear = False  # a value larger than all before makes its own bet smaller
    guarded = False

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.config["cut"] = self.params.centre

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        loss = losses.parse(self.params.loss)
        if math.isinf(loss.lipschitz):
            raise SettingError(
                f"scale-free: the slope of the loss must have a bound, and that of {loss.name} has none:"
                " use logistic or hinge, or absolute or huber for numbers"
            )
        return loss, EVERYWHERE, Rate(self.code, loss.lipschitz)

    @property
    def bias(self) -> float:
        """With means taken off, what is left where every feature has its mean."""
        bias = float(self.state["bias"][0])
        return bias - arithmetic.total(self.weights * self._column(MEAN)[: self.width]) if self.params.centre else bias

    @property
    def weight_norm(self) -> float:
        return arithmetic.norm(np.append(self.weights, self.bias))

    @property
    def dual_norm(self) -> float:
        return self.gradient_norm

    @property
    def wealth(self) -> Vector:
        """What every feature has to bet with, 0 before it had a value; Σ⟨g,w⟩ is what all of them lost."""
        return self._column(WEALTH)[: self.width].copy()

    def make_room(self, width: int, sparse: bool) -> None:
        if sparse and self.params.centre:
            raise SettingError(f"scale-free: {_centre()} needs dense rows, and these are sparse")
        super().make_room(width, sparse)

    def _new_single(self) -> _native.Single | None:
        return None if self.params.centre else super()._new_single()

    def _score(self, rows: Rows) -> Vector:
        if isinstance(rows, Sparse) and self.params.centre:
            raise SettingError(f"scale-free: {_centre()} needs dense rows, and these are sparse")
        scores = np.empty(len(rows))
        _native.score_coordinates(rows.native, self.total, self.record, scores)
        return scores


def _centre() -> str:
    return spelled("centre", python="centre=True")
