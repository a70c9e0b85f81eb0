"""The batch perceptron step by step: J_hard and J_soft of one, or the misclassified rows of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from noregret._native import sum_rows
from noregret.batch import BatchRun
from noregret.batch import run as iterate
from noregret.errors import SettingError
from noregret.picture.canvas import COLOURS, Ending, colour_of, name_ends, plain_frame, signed, thinned
from noregret.rounds import Rounds

SIZES = (0.01, 0.1, 1.0)
Runs = Mapping[str, BatchRun]


def steps_axes(axes: Any, run: BatchRun) -> Any:
    """J_hard, the rows misclassified, and J_soft = Σ max(−y·score, 0) after each step; shaded where it goes round."""
    endings = [
        _curve(axes, run.hard, "J_hard", COLOURS[0], "-"),
        _curve(axes, run.soft, "J_soft", COLOURS[1], "--"),
    ]
    if run.returned_to is not None:
        axes.axvspan(run.returned_to, run.iterations, color="0.9", zorder=0, label="comes back")
        axes.annotate(
            f"repeats every {run.iterations - run.returned_to} steps, forever",
            (0.5 * (run.returned_to + run.iterations), 1.01),
            xycoords=("data", "axes fraction"),
            ha="center",
            color="0.35",
        )
    axes.set_ylabel("J_hard: rows, J_soft: Σ max(−y·score, 0)")
    return _finished(axes, endings, [run])


def step_sizes_axes(axes: Any, runs: Runs) -> Any:
    """How many rows are misclassified after each step, a curve for each run."""
    why = why_not_compared(runs)
    if why is not None:
        raise SettingError(f"plot: {why}")
    styles = ("-", "--", "-.", ":")
    endings = [
        replace(
            _curve(axes, run.misclassified, name, colour_of(i), styles[i % len(styles)]),
            name=f"{name}: {int(run.misclassified[-1]):,} after {run.iterations:,}",
        )
        for i, (name, run) in enumerate(runs.items())
    ]
    axes.set_ylabel("rows misclassified, |M_k|")
    return _finished(axes, endings, list(runs.values()))


def step_sizes(rounds: Rounds, sizes: Sequence[float] = SIZES, limit: int = 10_000) -> dict[str, BatchRun]:
    """The batch perceptron with several step sizes, from θ_0 = −(1/n)Σ y·x, which points the wrong way.

    From 0 they would all make the same mistakes: there the step size only scales the weights.
    """
    total = np.zeros(rounds.width)
    sum_rows(rounds.native, -rounds.y / max(len(rounds), 1), total)
    return {f"step {size:g}": iterate(rounds, step=size, start=total, limit=limit) for size in sizes}


def why_not_compared(runs: Runs) -> str | None:
    """From θ = 0 a step size scales every θ_k and changes no prediction: such a picture would compare nothing."""
    if len(runs) > 1 and not any(run.start.any() for run in runs.values()):
        ways = {run.update for run in runs.values()}
        if len(ways) == 1 and len({run.step for run in runs.values()}) > 1:
            return "from 0 every step size makes the same mistakes: give the batch perceptron a start other than 0"
    return None


def _curve(axes: Any, values: Any, name: str, colour: str, style: str) -> Ending:
    at = thinned(len(values))
    mark = "o" if len(at) <= 30 else ""
    axes.plot(at, np.asarray(values)[at], style, color=colour, label=name, marker=mark, markersize=3.5)
    return Ending(f"{name}: {signed(float(values[-1]))}", float(at[-1]), float(values[-1]), colour)


def _finished(axes: Any, endings: list[Ending], runs: list[BatchRun]) -> Any:
    last = max(run.iterations for run in runs)
    highest = max(float(line.get_ydata().max()) for line in axes.lines)
    if len(runs) > 1 and last > 8 * max(min(run.iterations for run in runs), 1):
        axes.set_xscale("symlog", linthresh=10.0)
    if highest > 100.0:
        axes.set_yscale("symlog", linthresh=1.0)
        axes.yaxis.set_major_formatter("{x:,g}")
    axes.set_xlim(0.0, max(last, 1))
    axes.set_ylim(0.0, max(1.08 * highest, 1.0))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    if axes.get_xscale() == "linear":
        axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("step k")
    plain_frame(axes)
    name_ends(axes, endings)
    return axes
