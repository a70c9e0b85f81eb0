"""What every linear learner is: weights w = scale·z, and the compiled rounds that change them.

The score of a row x is ⟨w, x⟩ (+ b with a bias); the label is its sign, or the score itself for regression. With a bias
every row is played as (x, 1): norms and bounds are those of the longer row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._kernel.linear import score_row, score_rows
from noregret._kernel.record import foresee
from noregret._kernel.state import SMALL
from noregret._kernel.vector import largest, lowest, norm1, norm2
from noregret.domain import Domain
from noregret.errors import SettingError
from noregret.learner.core import FLOAT64, NO_WEIGHTS, Arrays, Core, Given, Settings, Vector, aligned, check_memory, fit
from noregret.loss import Loss
from noregret.prepare import Preparation
from noregret.rate import Rate
from noregret.stream.block import Rows, Sparse

SOME = 2**17  # rows that are learned from at a time where nobody asks for the scores


class Linear(Core):
    """A linear learner: `play` rounds, ask for `scores`, read the weights."""

    def __init__(
        self,
        settings: Settings,
        loss: Loss,
        domain: Domain,
        rate: Rate,
        *,
        gather: int,
        tie: str = "mistake",
        sigma: float = 0.0,
        bias: bool = False,
        start: Sequence[float] | None = None,
        preparation: Preparation,
    ) -> None:
        super().__init__(
            settings, loss, domain, rate, gather=gather, tie=tie, sigma=sigma, bias=bias, preparation=preparation
        )
        self.z = np.zeros(0)
        self.total = np.zeros(0)
        self._rounds: Callable[..., int] | None = None
        self._one = (np.zeros(1), np.zeros(1))  # the label and the score of a single round
        if start is not None:
            self._begin_at(np.asarray(start, dtype=np.float64))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_rounds": None}  # machine code stays behind

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
        return math.sqrt(norm2(self.total) + float(self.state["bias_gradient"][0]) ** 2)

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

    def _compiled(self) -> Callable[..., int]:
        """The rounds as machine code."""
        return self.loss.kernel()

    def score_array(self, x: NDArray[Any]) -> float | None:
        """The score of a plain row of as many float64 as there are features; None for another, or if not finite."""
        if x.shape != self.shape or x.dtype is not FLOAT64 or not self.plain or not x.flags.c_contiguous:
            return None
        score = score_row(x, self.z, self.head)
        return score if score - score == 0.0 else None

    def play_array(self, x: NDArray[Any], y: float) -> bool:
        """One round for a plain row of as many float64 as there are features; False, and nothing played, for another.

        This is `play_one` without its detours, for those who come one example at a time; nor does it play a row
        that would overflow, or holds what is not finite.
        """
        if x.shape != self.shape or x.dtype is not FLOAT64 or not self.plain or self._rounds is None:
            return False
        if not x.flags.c_contiguous:
            return False
        label, score = self._one
        label[0] = y
        return self._rounds(x[None], label, NO_WEIGHTS, self.z, self.total, self.record, score) == 1

    def play_one(self, row: Given, width: int, y: float, weight: float) -> None:
        """One round, for a row as the kernels take it (`Rows.given`) with features below `width`."""
        if width > self.width:
            self.grow(width, sparse=isinstance(row, tuple))
        if self._rounds is None:
            self._rounds = self._compiled()
        label, score = self._one
        label[0] = y
        weights = NO_WEIGHTS if weight == 1.0 else np.array([weight])
        if not self._rounds(row, label, weights, self.z, self.total, self.record, score):
            self._diverged()

    def _play(self, rows: Given, y: Vector, weights: Vector, scores: Vector) -> None:
        if self._rounds is None:
            self._rounds = self._compiled()
        played = self._rounds(rows, y, weights, self.z, self.total, self.record, scores)
        if played < len(y):
            self._diverged()

    def learn(self, rows: Rows, y: Vector, weights: Vector | None = None) -> None:
        """As `play`, where nobody asks for the scores: they are written over each other."""
        if weights is not None or not self.plain:
            self.play(rows, y, weights)
            return
        self.grow(rows.width, sparse=isinstance(rows, Sparse))
        if len(rows) > SOME:
            foresee(self.record, len(rows))
        scores = self._unwritten(min(len(rows), SOME))
        for start in range(0, len(rows), SOME):
            stop = min(start + SOME, len(rows))
            self._play(rows.given_part(start, stop), y[start:stop], NO_WEIGHTS, scores[: stop - start])

    def _unwritten(self, rows: int) -> Vector:
        return np.empty(rows)  # the loop writes every score, or the play is refused

    def score_one(self, row: Given) -> float:
        return score_row(row, self.z, self.head)

    def _score(self, rows: Rows) -> Vector:
        z = self.z
        if rows.width > z.shape[0]:
            z = np.concatenate([z, np.zeros(rows.width - z.shape[0])])
        scores = np.empty(len(rows))
        score_rows(rows.given, z, self.head, scores)
        return scores

    def grow(self, width: int, sparse: bool) -> None:
        """Make room for features below `width`; new weights are 0.

        A learner that first meets sparse rows and keeps Σg lays w_i and Σg_i side by side in memory, where one access
        brings both; for dense rows each lies in one piece, as vector instructions want it.
        """
        self.width = max(self.width, width)
        self.shape = (self.width,)
        if width > self.z.shape[0]:
            room = max(width, 3 * self.z.shape[0] // 2)
            check_memory(room * 8 * (2 if self.config["gather"][0] else 1), width)
            if not self.config["gather"][0]:
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
        self.state["norm2"] = float(np.sum(start**2))
        self.state["norm1"] = float(np.sum(np.abs(start)))
        self.state["large"] = start.shape[0] > SMALL


def as_start(name: str, start: Any) -> list[float] | None:
    """The weights to begin with, as they are kept among the settings."""
    if start is None:
        return None
    try:
        found = np.asarray(start, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.full((1, 1), math.nan)
    if found.ndim != 1 or not np.isfinite(found).all():
        raise SettingError(f"{name}: start must be one row of finite numbers, got {start!r}")
    return [float(part) for part in found]


def _extended(vector: Vector, grown: Vector) -> Vector:
    grown[: vector.shape[0]] = vector
    return grown
