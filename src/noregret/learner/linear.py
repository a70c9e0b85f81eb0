"""What every linear learner is: weights w = scale·z, and the compiled rounds that change them.

The score of a row x is ⟨w, x⟩ (+ b with a bias); the label is its sign, or the score itself for regression. With a bias
every row is played as (x, 1): norms and bounds are those of the longer row.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar

import numpy as np

from noregret import _native
from noregret._native import SMALL, largest, lowest, norm1, norm2
from noregret.errors import SettingError
from noregret.learner.core import NO_WEIGHTS, Arrays, Call, Core, NativeRows, Vector, aligned, check_memory, fit
from noregret.stream.block import Rows, Sparse

SOME = 2**17  # rows that are learned from at a time where nobody asks for the scores


class Linear(Core):
    """A linear learner: `play` rounds, ask for `scores`, read the weights."""

    linear = True
    _kind: ClassVar[int] = _native.LINEAR  # how a single example is scored and played

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.z = np.zeros(0)
        self.total = np.zeros(0)
        start = self.settings.get("start")
        if start is not None:
            self._begin_at(np.asarray(start, dtype=np.float64))

    @property
    def guarded(self) -> bool:
        return self.plain and not self.z.shape[0]  # there may be more weights than the rows have columns

    @property
    def weights(self) -> Vector:
        """w, without the bias."""
        return np.asarray(self.state["scale"][0] * self.z[: self.width])

    @property
    def bias(self) -> float:
        return float(self.state["scale"][0] * self.state["bias"][0])

    @property
    def gradient_sum(self) -> Vector:
        """Σg without the bias: the gradients of the losses, not of the regulariser."""
        return self.total[: self.width].copy()

    @property
    def weight_norm(self) -> float:
        """‖w‖ with the bias, taken from the weights themselves."""
        scale, bias = float(self.state["scale"][0]), float(self.state["bias"][0])
        return abs(scale) * math.sqrt(norm2(self.z) + bias * bias)

    @property
    def gradient_norm(self) -> float:
        """‖Σg‖ with the bias; 0 where it is not kept."""
        return math.sqrt(norm2(self.total) + float(np.square(self.state["bias_gradient"][0])))

    @property
    def dual_norm(self) -> float:
        """‖Σg‖ in a ball, ‖Σg‖₁ in a box, max|Σg_i| where ‖w‖₁ ≤ U, max(0, −Σg_i) in the simplex."""
        bias = float(self.state["bias_gradient"][0])
        match self.domain.shape:
            case "box":
                return norm1(self.total) + abs(bias)
            case "l1":
                return max(largest(self.total), abs(bias))
            case "simplex":
                return -min(lowest(self.total), bias, 0.0)
            case _:
                return self.gradient_norm

    def __setstate__(self, stored: dict[str, Any]) -> None:
        super().__setstate__(stored)
        if self.paired and self.total.shape[0]:  # a copy lays each in one piece, which other instructions would add up
            both = np.column_stack([self.z, self.total])
            self.z, self.total = both[:, 0], both[:, 1]

    def arrays(self) -> Arrays:
        return {"z": self.z[: self.width], "total": self.total[: self.width]}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        summed = bool(self.config["gather"][0]) and width > 0
        fit(arrays, {"z": (width,), **({"total": (width,)} if summed else {})})
        self.grow(width, sparse=paired)
        self.z[:width] = arrays["z"]
        if summed:
            self.total[:width] = arrays["total"]

    def _new_single(self) -> _native.Single | None:
        if not self.plain:
            return None
        columns = self.features is not None and self.features.width == self.width  # arrays and pairs can be rows
        state = (self.z, self.total, self.record, self.extent)
        return _native.Single(self.lock, self._native_loss(), self._kind, *state, columns)

    def _native_loss(self) -> _native.Loss:
        """The loss as the loops take it, asked for once: a loss of the user's own is read again after a restart."""
        if self._loss is None:
            self._loss = self.loss.native
        return self._loss

    def round_call(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> Call:
        state = (self.z, self.total, self.record)
        return partial(_native.play_linear, self._native_loss(), rows, y, weights, *state, scores)

    def score_call(self, rows: NativeRows, scores: Vector) -> Call:
        return partial(_native.score_linear, rows, self.z, self.record, scores)

    def learn(self, rows: Rows, y: Vector, weights: Vector | None = None) -> None:
        """As `play`, where nobody asks for the scores: they are written over each other."""
        if weights is not None or not self.plain or self.sure is not None:
            self.play(rows, y, weights)
            return
        with self.lock:
            self.grow(rows.width, sparse=isinstance(rows, Sparse))
            if len(rows) > SOME:
                _native.foresee(self.record, len(rows))
            scores = self._blank(min(len(rows), SOME))
            for start in range(0, len(rows), SOME):
                stop = min(start + SOME, len(rows))
                self._play(rows.native_part(start, stop), y[start:stop], NO_WEIGHTS, scores[: stop - start])

    def _blank(self, rows: int) -> Vector:
        return np.empty(rows)  # the loop writes every score, or the play is refused

    def _score(self, rows: Rows) -> Vector:
        z = self.z
        if rows.width > z.shape[0]:
            z = np.concatenate([z, np.zeros(rows.width - z.shape[0])])
        scores = np.empty(len(rows))
        _native.score_linear(rows.native, z, self.record, scores)
        return scores

    def grow(self, width: int, sparse: bool) -> None:
        """Make room for features below `width`; new weights are 0.

        A learner that first meets sparse rows and keeps Σg lays w_i and Σg_i side by side in memory, where one access
        brings both; for dense rows each lies in one piece, as vector instructions want it.
        """
        if width > self.width:
            self.width, self.single = width, None
        self.make_room(width, sparse)

    def make_room(self, width: int, sparse: bool) -> None:
        """Memory for features below `width`; nothing that anybody sees changes."""
        if width <= self.z.shape[0]:
            return
        room, gathers = max(width, 3 * self.z.shape[0] // 2), bool(self.config["gather"][0])
        check_memory(room * 8 * (2 if gathers else 1), width)
        self.single = None
        if not gathers:
            self.z = _extended(self.z, aligned(room))
            return
        if not self.z.shape[0]:
            self.paired = sparse
        both = aligned(room, 2) if self.paired else aligned(2, room).T
        self.z, self.total = _extended(self.z, both[:, 0]), _extended(self.total, both[:, 1])

    def _begin_at(self, start: Vector) -> None:
        if not self.domain.holds(start):
            raise SettingError(f"{self.name}: start must lie in the {self.domain.shape} of radius {self.domain.radius}")
        self.grow(start.shape[0], sparse=False)
        self.z[: start.shape[0]] = start
        self.state["norm2"] = norm2(start)
        self.state["norm1"] = norm1(start)
        self.state["large"] = start.shape[0] > SMALL


def _extended(vector: Vector, grown: Vector) -> Vector:
    grown[: vector.shape[0]] = vector
    return grown
