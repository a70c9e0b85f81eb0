"""What every linear learner is: settings that never change, named state that does, and the compiled rounds between.

The score of a row x is ⟨w, x⟩ (+ b with a bias); the label is its sign, or the score itself for regression. With a bias
every row is played as (x, 1): norms and bounds are those of the longer row.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from noregret._kernel.linear import score_row, score_rows
from noregret._kernel.state import RECORD, SMALL, new_state
from noregret._kernel.vector import norm2
from noregret.domain import Domain
from noregret.errors import DivergedError, SettingError
from noregret.loss import Loss, tie_code
from noregret.prepare import Preparation
from noregret.rate import Rate
from noregret.rounds import Gathering
from noregret.stream.block import Rows, Sparse
from noregret.stream.features import Features
from noregret.stream.labels import Labels

Vector = NDArray[np.float64]
NO_WEIGHTS: Vector = np.zeros(0)
FLOAT64 = np.dtype(np.float64)
Settings = dict[str, Any]
Given = Any  # a matrix, or the triple (indptr, indices, values)
Segment = dict[str, Any]  # one `learn` call: its rows, those skipped before it, and their digest


class Linear:
    """A linear learner: `play` rounds, ask for `scores`, read the weights; state is arrays, compared bit for bit."""

    name: ClassVar[str]

    def __init__(
        self,
        settings: Settings,
        loss: Loss,
        domain: Domain,
        rate: Rate,
        *,
        gather: bool,
        tie: str = "mistake",
        sigma: float = 0.0,
        bias: bool = False,
        start: Sequence[float] | None = None,
        preparation: Preparation,
    ) -> None:
        self.settings = settings
        self.loss = loss
        self.domain = domain
        self.rate = rate
        self.preparation = preparation
        self.plain = not preparation.active  # rows are played as they come
        self.record = np.zeros(1, RECORD)
        self.head = _head(self.record)
        self.state = new_state()
        self.config["rate"], self.config["eta"] = rate.code, rate.eta
        self.config["domain"], self.config["radius"] = domain.code, domain.radius
        self.config["sigma"], self.config["bias"] = sigma, float(bias)
        self.config["tie"], self.config["parameter"] = tie_code(tie), loss.number
        self.config["classify"], self.config["gather"] = not loss.regression, gather
        self.z = np.zeros(0)
        self.total = np.zeros(0)
        self.paired = False  # w and Σg side by side in memory
        self.width = 0
        self.shape = (0,)  # of an array that holds one row
        self.features: Features | None = None
        self.labels: Labels | None = None if loss.regression else Labels()
        self.segments: list[Segment] = []
        self.options: dict[str, Any] = {}  # how its streams were read, kept with the model
        self._rounds: Callable[..., int] | None = None
        self._one = (np.zeros(1), np.zeros(1))  # the label and the score of a single round
        if start is not None:
            self._begin_at(np.asarray(start, dtype=np.float64))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_rounds": None}  # machine code stays behind

    @property
    def core(self) -> Self:
        return self

    @property
    def regression(self) -> bool:
        return self.loss.regression

    @property
    def state(self) -> NDArray[Any]:
        """The named figures: one record, which changes with every round."""
        return np.asarray(self.record["state"])

    @state.setter
    def state(self, state: NDArray[Any]) -> None:
        self.record["state"] = state

    @property
    def config(self) -> NDArray[Any]:
        """The settings as the kernels read them: one record, which never changes."""
        return np.asarray(self.record["config"])

    def __setstate__(self, stored: dict[str, Any]) -> None:
        vars(self).update(stored)
        self.head = _head(self.record)  # copies do not share memory by themselves

    @property
    def rounds(self) -> int:
        return int(self.state["rounds"][0])

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

    def play(self, rows: Rows, y: Vector, weights: Vector | None = None, keep: Gathering | None = None) -> Vector:
        """Predict, suffer and update on each row in turn; the scores that were predicted with.

        Rows of weight 0 are no rounds and have the score NaN. `keep` takes in the rows as they are played.
        """
        if not self.plain:
            if weights is not None and not weights.all():
                return self._play_some(rows, y, weights, keep)
            rows = self.preparation.apply(rows, learn=True)
        self.grow(rows.width, sparse=isinstance(rows, Sparse))
        scores = np.empty(len(rows))
        self._play(rows.given, y, NO_WEIGHTS if weights is None else weights, scores)
        if keep is not None:
            keep.add(rows, y, weights, scores)
        return scores

    def _play_some(self, rows: Rows, y: Vector, weights: Vector, keep: Gathering | None) -> Vector:
        """Rows of weight 0 are not even looked at: they must not move the maxima that others are scaled by."""
        scores, some = np.full(len(rows), math.nan), np.flatnonzero(weights)
        scores[some] = self.play(rows.take(some), y[some], weights[some], keep)
        return scores

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
            self._rounds = self.loss.kernel()
        label, score = self._one
        label[0] = y
        weights = NO_WEIGHTS if weight == 1.0 else np.array([weight])
        if not self._rounds(row, label, weights, self.z, self.total, self.record, score):
            self._diverged()

    def _play(self, rows: Given, y: Vector, weights: Vector, scores: Vector) -> None:
        if self._rounds is None:
            self._rounds = self.loss.kernel()
        played = self._rounds(rows, y, weights, self.z, self.total, self.record, scores)
        if played < len(y):
            self._diverged()

    def _diverged(self) -> NoReturn:
        raise DivergedError(
            f"{self.name}: the weights or the loss would overflow in round {self.rounds + 1}: use a smaller"
            " rate or radius, or scale the rows (--unit-norm, --scale max)"
        )

    def scores(self, rows: Rows) -> Vector:
        """⟨w, x⟩ (+ b) for each row; the learner is left as it was. A feature never learned from counts nothing."""
        if not self.plain:
            rows = self.preparation.apply(rows, learn=False)
        scores = np.empty(len(rows))
        z = self.z
        if rows.width > z.shape[0]:
            z = np.concatenate([z, np.zeros(rows.width - z.shape[0])])
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
            check_memory(room * 8 * (1 + int(self.config["gather"][0])), width)
            if not self.config["gather"][0]:
                self.z = _extended(self.z, np.zeros(room))
                return
            if not self.z.shape[0]:
                self.paired = sparse
            both = np.zeros((room, 2)) if self.paired else np.zeros((2, room)).T
            self.z, self.total = _extended(self.z, both[:, 0]), _extended(self.total, both[:, 1])

    def reset(self) -> None:
        """Back to before the first round; settings stay."""
        fresh = type(self)(**self.settings)
        vars(self).update(vars(fresh))

    def _begin_at(self, start: Vector) -> None:
        size = float(np.linalg.norm(start)) if self.domain.shape == "ball" else float(np.abs(start).max(initial=0.0))
        if size > self.domain.radius:
            raise SettingError(f"{self.name}: start must lie in the {self.domain.shape} of radius {self.domain.radius}")
        self.grow(start.shape[0], sparse=False)
        self.z[: start.shape[0]] = start
        self.state["norm2"] = float(np.sum(start**2))
        self.state["large"] = start.shape[0] > SMALL


def positive(who: str, what: str, value: Any) -> float:
    """A setting that must be a positive finite number."""
    if isinstance(value, str) or not 0.0 < value < math.inf:
        raise SettingError(f"{who}: {what} must be positive and finite, got {value}")
    return float(value)


def _head(record: NDArray[Any]) -> Vector:
    """The scale and the bias, where a single score finds them at once."""
    return record.view(np.float64)[:2]


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


def check_memory(needed: int, width: int) -> None:
    """A sentence instead of an exhausted machine."""
    if needed < 1 << 28:
        return
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):  # a system that does not tell
        return
    if needed > free:
        raise SettingError(
            f"feature {width - 1} needs {needed / 1e9:.1f} GB of weights and {free / 1e9:.1f} GB are free:"
            " number the features from 0 or 1 without large gaps, or hash them"
        )
