"""Several starts of the batch perceptron, in the plane of the weights: every end separates, and no two are the same.

The separators are an open cone {θ: y⟨θ, x⟩ > 0 for every row}: with θ every αθ, α > 0, is one. Where an iteration
enters it depends on where it began.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import sum_rows
from noregret.batch import BatchRun, retraced
from noregret.batch import run as iterate
from noregret.errors import SettingError
from noregret.picture.canvas import colour_of, plain_frame, thinned
from noregret.proof.separation import labelled_rows
from noregret.rounds import Rounds, Vector, as_sparse

Runs = Mapping[str, BatchRun]
STARTS = 8
KEPT = 500  # steps that are drawn
FAR = 4.0  # the length of a start, in those of the mean row


def several_starts(rounds: Rounds, count: int = STARTS, update: str = "average") -> dict[str, BatchRun]:
    """The batch perceptron from 0 and from places all around it, on rows with two weights."""
    columns = two_weights(rounds)
    total = np.zeros(rounds.width)
    sum_rows(rounds.native, rounds.y / max(len(rounds), 1), total)
    far = FAR * (arithmetic.norm(total) or 1.0)
    turns = [2.0 * math.pi * k / count for k in range(count)]
    places = [(0.0, 0.0), *((far * math.cos(turn), far * math.sin(turn)) for turn in turns)]
    starts = {f"({a:.3g}, {b:.3g})": np.zeros(rounds.width) for a, b in places}
    for start, place in zip(starts.values(), places, strict=True):
        start[columns] = place
    return {name: iterate(rounds, update=update, start=start) for name, start in starts.items()}


def two_weights(rounds: Rounds) -> NDArray[np.int64]:
    """Which two weights there are; a file that counts features from 1 has an empty one in front."""
    rows, columns = as_sparse(rounds.rows), np.arange(rounds.width)
    if len(columns) != 2:
        columns = np.unique(rows.indices[rows.values != 0.0]).astype(np.int64)
    if len(columns) != 2:
        raise SettingError(f"plot: {not_two(len(columns))}")
    return columns


def not_two(weights: int) -> str:
    return f"starts are drawn in the plane of two weights, the bias being one; these rows have {weights:,}"


def why_no_starts(thing: Any, streams: tuple[Any, ...]) -> str | None:
    """What keeps several runs from being drawn so."""
    if not streams:
        return "starts need the rows: pass the stream that the batch perceptrons were fitted on"
    if len({(run.bias, len(run.theta)) for run in thing.values()}) > 1:
        return "starts are compared on the same rows, all with a bias or all without"
    return None


def starts_axes(axes: Any, runs: Runs, streams: tuple[Any, ...]) -> Any:
    """The way of θ from each start to its end, and the cone of all separators."""
    if len(streams) > 1:
        raise SettingError("plot: pass exactly one stream, the one the rows came from")
    bias = next(iter(runs.values())).bias
    given = streams[0]
    rounds = given if isinstance(given, Rounds) else labelled_rows(given, reading={}, bias=bias).rounds
    columns = two_weights(rounds)
    if any(run.theta.shape != (rounds.width,) for run in runs.values()):
        raise SettingError("plot: these are not the rows that the batch perceptrons were fitted on")
    paths = [_path(rounds, run)[:, columns] for run in runs.values()]
    low = np.minimum(np.min([path.min(axis=0) for path in paths], axis=0), 0.0)
    high = np.maximum(np.max([path.max(axis=0) for path in paths], axis=0), 0.0)
    room = 0.1 * max(float((high - low).max()), 1e-300)
    ends = next((run.theta for run in runs.values() if run.separated), None)
    if ends is not None:
        _cone(axes, rounds, columns, ends[columns], 2.0 * float(np.abs([low, high]).max()) + room)
    for place, path in enumerate(paths):
        colour = colour_of(place)
        axes.plot(*path.T, "-", color=colour, linewidth=0.9, label=list(runs)[place])
        axes.plot(*path[:1].T, "o", color=colour, mfc="white", ms=5.0)
        axes.plot(*path[-1:].T, "o", color=colour, ms=6.0)
    axes.plot([0.0], [0.0], "+", color="black", ms=8.0)
    axes.set_xlim(low[0] - room, high[0] + room)
    axes.set_ylim(low[1] - room, high[1] + room)
    axes.set_aspect("equal")
    first, second = columns.tolist()
    names = ("bias", "weight of the feature") if bias else (f"weight of feature {first}", f"weight of feature {second}")
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[1])
    axes.set_title(_said(runs), fontsize=9)
    plain_frame(axes)
    return axes


def _said(runs: Runs) -> str:
    right = [run for run in runs.values() if run.separated]
    ends = len({tuple((run.theta + 0.0).tolist()) for run in right})
    if not right:
        return f"{len(runs):,} starts (hollow), no end that separates: there is no cone of separators"
    return f"{len(runs):,} starts (hollow), {ends:,} different ends (full) in the grey cone of all separators"


def _path(rounds: Rounds, run: BatchRun) -> NDArray[np.float64]:
    """The weights after some of the steps, the first and the last among them."""
    kept = set(thinned(run.iterations + 1, points=KEPT).tolist())
    way = enumerate([run.start, *(theta for _, theta in retraced(rounds, run))])
    return np.array([theta for k, theta in way if k in kept])


def _cone(axes: Any, rounds: Rounds, columns: NDArray[np.int64], inside: Vector, far: float) -> None:
    """{θ: y⟨θ, x⟩ > 0 on every row}, around one θ of it: each row leaves the half-plane around y·x."""
    rows = as_sparse(rounds.rows)
    z = np.zeros((len(rounds), rounds.width))
    z[np.repeat(np.arange(len(rounds)), np.diff(rows.indptr)), rows.indices.astype(np.int64)] = rows.values
    z = z[:, columns] * rounds.y[:, None]
    middle = math.atan2(inside[1], inside[0])
    turn = np.arctan2(z[:, 1], z[:, 0]) - middle
    turn = np.arctan2(np.sin(turn), np.cos(turn))  # between −π/2 and π/2, as the scores are positive
    sides = middle + np.linspace(float(turn.max()) - math.pi / 2, float(turn.min()) + math.pi / 2, 60)
    edge = far * np.column_stack([np.cos(sides), np.sin(sides)])
    axes.fill(*np.vstack([[0.0, 0.0], edge]).T, color="0.9", zorder=0, label="separators")
