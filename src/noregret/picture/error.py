"""The error and the mean loss so far: one curve a run, with the two baselines that every run is read against."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from noregret.errors import SettingError
from noregret.picture.canvas import (
    Ending,
    check_picture,
    colour_of,
    name_ends,
    new_figure,
    plain_frame,
    round_axis,
    save_figure,
    thinned,
)
from noregret.run import Run

Runs = Mapping[str, Run]
BASELINES = (("constant", "0.45", "--"), ("last", "0.6", ":"))


def draw_error(runs: Runs, path: str | os.PathLike[str]) -> None:
    """Draw the running mistake rate (regression: mean loss) of the runs to a file."""
    check_picture(path)
    figure = new_figure(8.0, 4.5)
    draw = risk_axes if _first(runs).learner.regression else error_axes
    draw(figure.add_subplot(), runs)
    save_figure(figure, path)


def error_axes(axes: Any, runs: Runs) -> Any:
    """Mistakes so far / rounds so far of every run, each curve named where it ends."""
    check_played(runs)
    if _first(runs).learner.regression:
        raise SettingError("plot: error counts wrong labels, and these labels are numbers: draw the risk instead")
    axes.set_ylabel("mistakes so far / rounds so far")
    return _so_far(axes, runs, "mistakes", baselines=True)


def risk_axes(axes: Any, runs: Runs) -> Any:
    """The sequential risk, loss so far / rounds so far, of every run in its own loss."""
    check_played(runs)
    losses = sorted({run.learner.loss.spec for run in runs.values()})
    axes.set_ylabel(f"mean loss so far ({losses[0] if len(losses) == 1 else 'each learner in its own'})")
    return _so_far(axes, runs, "loss", baselines=_first(runs).learner.regression)


def check_played(runs: Runs) -> None:
    if not runs or not all(run.rounds for run in runs.values()):
        raise SettingError("plot: no round was played, so there is nothing to draw")


def _first(runs: Runs) -> Run:
    return next(iter(runs.values()))


def _so_far(axes: Any, runs: Runs, what: str, baselines: bool) -> Any:
    regression = _first(runs).learner.regression
    drawn = [(name, run, what, colour_of(i), "-") for i, (name, run) in enumerate(runs.items())]
    if baselines:
        names = ("mean of the labels" if regression else "most frequent label", "previous label")
        drawn += [(name, _first(runs), *how) for name, how in zip(names, BASELINES, strict=True)]
    endings = [_curve(axes, *one) for one in drawn]
    round_axis(axes, max(end.x for end in endings), logarithmic=True)
    axes.set_ylim(bottom=0.0)
    plain_frame(axes)
    name_ends(axes, endings)
    return axes


def _curve(axes: Any, name: str, run: Run, what: str, colour: str, style: str) -> Ending:
    trace = run.trace
    at = thinned(len(trace["rounds"]), logarithmic=True)
    rounds, so_far = trace["rounds"][at], trace[what][at] / trace["rounds"][at]
    axes.plot(rounds, so_far, style, color=colour, label=name, marker="o" if len(rounds) == 1 else "")
    return Ending(f"{name} {so_far[-1]:.3g}", float(rounds[-1]), float(so_far[-1]), colour)
