"""Rows of two features, and a learner on its way through them: what the pictures of boundaries are drawn from.

Rows are drawn as they were played, so with `unit_norm` or `scale` in the prepared coordinates: there a linear learner's
boundary is the line ⟨w, x⟩ + b = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.batch import BatchRun, retraced
from noregret.errors import SettingError
from noregret.learner.core import Core
from noregret.picture.canvas import thinned
from noregret.proof.replay import chains, classes, fresh, replay
from noregret.proof.separation import labelled_rows
from noregret.rounds import Rounds
from noregret.run import Run
from noregret.stream.block import Dense, Sparse
from noregret.stream.features import Features
from noregret.task.separate import Separation

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Ints = NDArray[np.int64]
Score = Callable[[Matrix], Vector]
SHORT = 5_000  # a run of at most this length is looked at after each update, a longer one now and then
GRID = 60  # places a side at which a score is asked for
ROUNDING = 1e-9  # of the largest score: a plane that is missed by no more is a plane


@dataclass(frozen=True)
class Plane:
    """The rows as points of the plane, their labels −1 and +1, and what the two features are called."""

    X: Matrix
    y: Vector
    names: tuple[str, str]

    @property
    def box(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """A frame with some room around the points."""
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        room = np.where(high > low, 0.12 * (high - low), 1.0)
        (left, bottom), (right, top) = (low - room).tolist(), (high + room).tolist()
        return (left, right), (bottom, top)

    @property
    def grid(self) -> tuple[Matrix, Matrix, Matrix]:
        """Places across and up the frame, and all of them as rows."""
        (left, right), (bottom, top) = self.box
        across, up = np.meshgrid(np.linspace(left, right, GRID), np.linspace(bottom, top, GRID))
        return across, up, np.column_stack([across.ravel(), up.ravel()])


@dataclass(frozen=True)
class Moment:
    """A predictor after some updates and rounds; `rows` are those that the last update was made for."""

    updates: int
    rounds: int
    score: Score
    rows: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def line(self, plane: Plane) -> tuple[Vector, float] | None:
        """(w, b) where the score is ⟨w, x⟩ + b on the whole frame and w is not 0."""
        places = plane.grid[2]
        with_one = np.column_stack([places, np.ones(len(places))])
        scores = self.score(places)
        found = np.linalg.lstsq(with_one, scores, rcond=None)[0]
        size = float(np.abs(scores).max())
        straight = float(np.abs(with_one @ found - scores).max()) <= ROUNDING * size
        w = np.asarray(found[:2])
        return (w, float(found[2])) if straight and float(np.abs(w).max()) > ROUNDING * size else None


@dataclass(frozen=True)
class Film:
    """A learner's moments on its rows, the first and the last among them; `proof` are rows that prove the last one.

    Without a moment there is no boundary, and the proof is that there can be none.
    """

    name: str
    plane: Plane
    moments: tuple[Moment, ...]
    unit: str = "update"
    proof: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def some(self, count: int) -> Film:
        """The film with at most `count` moments."""
        return replace(self, moments=tuple(self.moments[i] for i in thinned(len(self.moments), points=count)))


def film_of(name: str, thing: Any, streams: tuple[Any, ...], most: int) -> Film:
    """Some moments of a run, a batch perceptron or a separation on the streams that it came from.

    A run whose rounds were kept may be given with them instead.
    """
    if not streams:
        raise SettingError("plot: a boundary needs the rows: pass the stream that the learner was trained on")
    if isinstance(thing, Run):
        return _film_of_run(name, thing, streams, most)
    if len(streams) > 1:
        raise SettingError("plot: pass exactly one stream, the one the rows came from")
    if isinstance(thing, BatchRun):
        rounds = (
            streams[0]
            if isinstance(streams[0], Rounds)
            else labelled_rows(streams[0], reading={}, bias=thing.bias).rounds
        )
        return _film_of_batch(name, thing, rounds, most)
    if isinstance(thing, Separation):
        return _film_of_separation(name, thing, streams[0])
    raise SettingError(f"plot: a {type(thing).__name__} has no boundary")


def why_no_boundary(thing: Any) -> str | None:
    """What can be said before any row is read."""
    if not isinstance(thing, Run):
        return None
    if thing.tally is not None or thing.learner.regression:
        return "a boundary needs exactly two classes"
    if thing.learner.ordered:
        return "a precomputed kernel has no feature plane to draw in"
    return None if thing.learner.features is None else why_not_plane(thing.learner.features)


def why_not_plane(features: Features) -> str | None:
    """The same of features that are still being met; those of a file that counts from 1 begin with an empty one."""
    if features.kind == "index" and features.width <= 3:
        return None
    return why_not_flat(features.count)


def why_not_flat(features: int) -> str | None:
    """A sentence where rows have not two features."""
    return None if features == 2 else f"a boundary needs rows with two features; these have {features:,}"


# -- a run of play -----------------------------------------------------------------------------------------------------


def _film_of_run(name: str, run: Run, streams: tuple[Any, ...], most: int) -> Film:
    why = why_no_boundary(run)
    if why is not None:
        raise SettingError(f"plot: {why}")
    return film_of_rounds(name, run.learner, rounds_of(run, streams), most)


def rounds_of(run: Run, streams: tuple[Any, ...]) -> Rounds:
    """The rounds of a run, from its streams or as they were kept."""
    if isinstance(streams[0], Rounds):
        return streams[0]
    core = run.learner
    return replay(fresh(core.name, core.settings, classes(core)), chains(core), streams).rounds


def film_of_rounds(name: str, core: Core, rounds: Rounds, most: int) -> Film:
    """The film of a learner whose rounds were kept: they are played once more, from the first."""
    plane, columns = plane_of(rounds, core)
    twin = fresh(core.name, core.settings, classes(core))
    twin.take_prepared()
    width = rounds.width - int(rounds.bias)
    twin.grow(width, sparse=isinstance(rounds.rows, Sparse))
    found = [_moment(twin, 0, width, columns)]
    for start, stop in _stretches(rounds, core, most):
        before, part = int(twin.state["updates"][0]), rounds.part(start, stop)
        twin.play(part.bare, np.ascontiguousarray(part.y), part.weights)
        if int(twin.state["updates"][0]) > before:
            rows = np.array([start]) if stop - start == 1 else np.zeros(0, np.int64)
            found.append(_moment(twin, stop, width, columns, rows))
    return Film(name, plane, tuple(found)).some(most)


def _stretches(rounds: Rounds, core: Core, most: int) -> Iterator[tuple[int, int]]:
    """Round after round, or as many longer stretches as there are to be moments."""
    count = len(rounds)
    step = 1 if count <= SHORT else -(-count // most)
    yield from ((start, min(start + step, count)) for start in range(0, count, step))


def _moment(core: Core, rounds: int, width: int, columns: Ints, rows: Ints | None = None) -> Moment:
    still = deepcopy(core)

    def score(X: Matrix) -> Vector:
        placed = np.zeros((len(X), width))
        placed[:, columns] = X
        return still.scores(Dense(placed))

    updates = int(core.state["updates"][0])
    return Moment(updates, rounds, score, np.zeros(0, np.int64) if rows is None else rows)


# -- rows without a run ------------------------------------------------------------------------------------------------


def _film_of_batch(name: str, run: BatchRun, rounds: Rounds, most: int) -> Film:
    plane, columns = plane_of(rounds)
    if run.theta.shape != (rounds.width,):
        raise SettingError("plot: these are not the rows that the batch perceptron was fitted on")
    kept = set(thinned(run.iterations + 1, points=most).tolist())
    steps: Iterable[tuple[Ints, Vector]] = ((np.zeros(0, np.int64), run.start), *retraced(rounds, run))
    found = [
        Moment(k, k, linear_score(theta, rounds.bias, columns), rows)
        for k, (rows, theta) in enumerate(steps)
        if k in kept
    ]
    return Film(name, plane, tuple(found), unit="step")


def _film_of_separation(name: str, found: Separation, stream: Any) -> Film:
    labelled = labelled_rows(stream, reading=found.reading, **found.preparation)
    plane, columns = plane_of(labelled.rounds)
    moments: tuple[Moment, ...] = ()
    if found.separator is not None:
        moments = (Moment(0, found.count, linear_score(found.separator, labelled.rounds.bias, columns)),)
    return Film(name, plane, moments, proof=found.rows)


def linear_score(theta: Vector, bias: bool, columns: Ints) -> Score:
    w, b = (theta[1:], float(theta[0])) if bias else (theta, 0.0)
    return lambda X: np.asarray(X @ w[columns] + b)


def plane_of(rounds: Rounds, core: Core | None = None) -> tuple[Plane, Ints]:
    """The rows as points, and which features they are; a file that counts features from 1 has an empty one in front."""
    rows = rounds.bare
    if not len(rounds):
        raise SettingError("plot: no round was played, so there is nothing to draw")
    width, known = rows.width, None if core is None or core.features is None else core.features
    columns = np.arange(width)
    if isinstance(rows, Sparse):
        used = np.unique(rows.indices[rows.values != 0.0]).astype(np.int64)
        columns = used if len(used) > 2 or width > 3 else np.arange(width - 2, width) if width >= 2 else columns
    why = why_not_flat(len(columns))
    if why is not None:
        raise SettingError(f"plot: {why}")
    if isinstance(rows, Sparse):
        X = np.zeros((len(rows), width))
        line = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
        X[line, rows.indices.astype(np.int64)] = rows.values
    else:
        X = np.asarray(rows.X, dtype=np.float64)
    names = tuple(f"feature {column}" for column in columns.tolist()) if known is None else _names(known, columns)
    return Plane(np.ascontiguousarray(X[:, columns]), np.asarray(rounds.y), (names[0], names[1])), columns


def _names(features: Features, columns: Ints) -> tuple[str, ...]:
    """What the stream calls the two features."""
    return tuple(str(features.name_of(column)) for column in columns.tolist())
