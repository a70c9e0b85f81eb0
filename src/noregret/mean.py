"""Rows a_1, a_2, … with the losses (σ/2)‖w − a_t‖²: strongly convex by themselves, and their best w is the mean.

Gradient descent with the step 1/(σt), w ← Π(w − (w − a_t)/t), is the mean of the rows so far; with a radius U it is
projected onto ‖w‖ ≤ U. σ must be known beforehand. Everything claimed of a run is computed in whole numbers: a float is
a multiple of a power of two. So the regret against the mean, or against the nearest point of the ball, is exact.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.errors import InputError, SettingError, spelled
from noregret.interval import Interval, total
from noregret.rational import nearest, whole_numbers
from noregret.setting import as_number
from noregret.stream import read
from noregret.stream.block import Dense

Vector = NDArray[np.float64]
ENTRIES = 2_000_000  # rounds × columns: the run keeps every row and every w_t
SPREAD = 1e100  # the largest number: its square is finite, and so are the sums
MISSING = ("error", "zero", "skip")  # what becomes of a row with an empty cell
NOBODY = "\0"  # the name of no column
ZERO, HALF = Fraction(0), Fraction(1, 2)


@dataclass(frozen=True)
class MeanRun:
    """A run: the rows a_t, the points w_1 … w_{T+1} as floats, and what it was played with."""

    rows: Vector
    points: Vector
    sigma: float
    radius: float
    source: str
    columns: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def mean(self) -> Vector:
        """w_{T+1}: the mean of all rows, within the ball."""
        return np.asarray(self.points[-1])

    @cached_property
    def _whole(self) -> tuple[NDArray[Any], NDArray[Any], Fraction]:
        (rows, points), unit = whole_numbers(self.rows, self.points)
        return rows, points, unit

    @cached_property
    def distances2(self) -> list[Fraction]:
        """‖w_t − a_t‖² for every round: the loss is σ/2 of it, and ‖g_t‖² is σ² of it."""
        rows, points, unit = self._whole
        apart = points[:-1] - rows
        return [one * unit * unit for one in (apart * apart).sum(axis=1).tolist()]

    @cached_property
    def loss(self) -> Fraction:
        """Σ (σ/2)‖w_t − a_t‖²."""
        return Fraction(self.sigma) * HALF * sum(self.distances2, ZERO)

    @cached_property
    def scatters(self) -> list[Fraction]:
        """min_w Σ_{s≤t} ‖w − a_s‖² over all w, for every t: Σ‖a‖² − ‖Σa‖²/t."""
        rows, _, unit = self._whole
        squares = np.cumsum((rows * rows).sum(axis=1))
        sums = np.cumsum(rows, axis=0)
        whole = zip(squares.tolist(), (sums * sums).sum(axis=1).tolist(), range(1, len(self) + 1), strict=True)
        return [(square - Fraction(of_sum, t)) * unit * unit for square, of_sum, t in whole]

    @cached_property
    def outside(self) -> Interval:
        """How far the exact mean lies outside of the ball."""
        if math.isinf(self.radius):
            return Interval.of(0.0)
        return (nearest(self.mean_norm2).sqrt() - self.radius).positive()

    @property
    def mean_norm2(self) -> Fraction:
        """‖Σa/T‖²."""
        rows, _, unit = self._whole
        added = rows.sum(axis=0)
        return Fraction(int((added * added).sum()), len(self) ** 2) * unit * unit

    @cached_property
    def regret(self) -> Interval:
        """Against the mean, or the point of the ball that is nearest to it: rational unless the mean lies outside."""
        inside = nearest(self.loss - Fraction(self.sigma) * HALF * self.scatters[-1])
        if self.outside.hi == 0.0 or Fraction(self.radius) ** 2 >= self.mean_norm2:
            return inside
        return inside - self.outside.square() * (0.5 * len(self)) * self.sigma

    @cached_property
    def comparator(self) -> Vector:
        """The best point as floats, inside the ball beyond doubt."""
        rows, _, unit = self._whole
        u = np.array([float(Fraction(int(one), len(self)) * unit) for one in rows.sum(axis=0)])
        if math.isfinite(self.radius):
            limit = Fraction(self.radius) ** 2
            size = arithmetic.norm(u)
            u = u * (self.radius / size) if size > self.radius else u
            while sum((Fraction(one) ** 2 for one in u.tolist()), ZERO) > limit:
                u = u * (1.0 - 2.0**-52)
        return u

    @cached_property
    def rounding(self) -> Interval:
        """What rounding may add to the regret that exact steps have.

        (σ/2)Σ t·max(‖w_{t+1} − u‖² − ‖v_t − u‖², 0) for v_t = w_t − (w_t − a_t)/t, of which w_{t+1} would be the
        projection, and what the comparator u loses more than the best point.
        """
        (rows, points, u), unit = whole_numbers(self.rows, self.points, self.comparator)
        t = np.arange(1, len(self) + 1).astype(object)[:, None]
        step = (t - 1) * points[:-1] + rows  # t·v_t
        further = ((t * points[1:] - step) * (t * points[1:] + step - 2 * t * u)).sum(axis=1).tolist()
        parts = [nearest(Fraction(max(one, 0), k) * unit * unit) for k, one in enumerate(further, 1)]
        moved = total(np.array([one.lo for one in parts]), np.array([one.hi for one in parts]))
        off = len(self) * u - rows.sum(axis=0)
        apart = nearest(Fraction(int((off * off).sum()), len(self)) * unit * unit)
        lost = (apart - self.outside.square() * float(len(self))).positive()
        return (moved + lost) * (0.5 * self.sigma)


def mean_estimation(
    rows: Any, *, sigma: float = 1.0, radius: float = math.inf, ignore: Sequence[str] = (), missing: str = "error"
) -> MeanRun:
    """Play gradient descent with the step 1/(σt) on the losses (σ/2)‖w − a_t‖² of rows of numbers: their mean so far.

    `rows` are a matrix, or a table of numbers (a file, a frame, a mapping of columns) without the columns in `ignore`.

    >>> run = mean_estimation([[1.0], [0.0], [2.0]])
    >>> run.points.ravel().tolist(), run.regret.lo
    ([0.0, 1.0, 0.5, 1.0], 1.125)
    """
    for name, value in (("sigma", sigma), ("radius", radius)):
        most = math.inf if name == "radius" else SPREAD
        if not 1.0 / SPREAD <= as_number(value) <= most:
            raise SettingError(f"mean estimation: {name} must lie between 1e-100 and {most:g}, got {value}")
    if missing not in MISSING:
        raise SettingError(
            f"mean estimation: {spelled('missing')} must be one of {', '.join(MISSING)}, got {missing!r}"
        )
    table, source, columns = _table(rows, ignore, missing)
    if not table.size:
        raise SettingError(f"mean estimation: there are no {'columns' if len(table) else 'rows'}")
    if table.size > ENTRIES:
        raise SettingError(f"mean estimation: rows times columns may be {ENTRIES:,} at most, got {table.size:,}")
    if not np.isfinite(table).all() or float(np.abs(table).max()) > SPREAD:
        raise SettingError("mean estimation: rows must be finite numbers of at most 1e100")
    points = np.zeros((len(table) + 1, table.shape[1]))
    for t, row in enumerate(table, 1):
        w = points[t - 1] - (points[t - 1] - row) / t
        size = arithmetic.norm(w) if math.isfinite(radius) else 0.0
        points[t] = w * (radius / size) if size > radius else w
    return MeanRun(table, points, float(sigma), float(radius), source, columns)


def _table(rows: Any, ignore: Sequence[str], missing: str) -> tuple[Vector, str, tuple[str, ...]]:
    """Rows of numbers, where they came from, and what the columns are called."""
    if isinstance(rows, Mapping):
        import pyarrow

        rows = pyarrow.table(dict(rows))
    if isinstance(rows, list | tuple | np.ndarray):
        try:
            table = np.array(rows, dtype=np.float64)
        except (TypeError, ValueError):
            table = np.zeros(0)
        if table.ndim != 2 or not table.shape[1]:
            raise SettingError("mean estimation: rows must be a matrix of numbers, a row a round")
        return table, "the rows", tuple(str(i) for i in range(table.shape[1]))
    where = os.fspath(rows) if isinstance(rows, str | os.PathLike) else "the rows"
    unfit = InputError("mean estimation needs a table of numbers, with the same columns in every row", where)
    try:
        stream = read(rows, label=NOBODY, labels=False, columns={}, ignore=ignore, missing=missing)
    except SettingError as error:
        raise (unfit if "no named columns" in str(error) else error) from error
    parts = []
    for block in stream.blocks():
        if not isinstance(block.rows, Dense):
            raise unfit
        parts.append(block.rows.X.astype(np.float64))
    table = np.concatenate(parts) if parts else np.zeros((0, 1))
    return table, stream.source, tuple(str(stream.features.name_of(i)) for i in range(table.shape[1]))
