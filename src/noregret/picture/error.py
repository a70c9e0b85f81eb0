"""The error, or the loss, so far: one curve a run, with the two baselines that every run is read against."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from noregret.atomic import whole_file
from noregret.errors import SettingError
from noregret.run import Run

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # told apart by every kind of sight
FORMATS = (".png", ".svg", ".pdf")


def draw_error(runs: Mapping[str, Run], path: str | os.PathLike[str]) -> None:
    """Draw the running mistake rate (regression: mean loss) of the runs to a file."""
    check_picture(path)
    if not all(run.rounds for run in runs.values()):
        raise SettingError("plot: no round was played, so there is nothing to draw")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.5), layout="constrained")
    error_axes(figure.add_subplot(), runs)
    with whole_file(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=150)


def check_picture(path: str | os.PathLike[str]) -> None:
    """Whether such a file can be drawn at all, said before the work."""
    if Path(path).suffix.lower() not in FORMATS:
        raise SettingError(f"plot: the file must end in {', '.join(FORMATS)}, got {os.fspath(path)!r}")
    if find_spec("matplotlib") is None:
        raise SettingError("plot: needs matplotlib; install it with pip install 'noregret[plot]'")


def error_axes(axes: Any, runs: Mapping[str, Run]) -> Any:
    """The curves on given axes, each named where it ends."""
    regression = next(iter(runs.values())).learner.regression
    what = "loss" if regression else "mistakes"
    for (name, run), colour in zip(runs.items(), COLOURS * len(runs), strict=False):
        _curve(axes, run.trace, what, name, colour, "-")
    first = next(iter(runs.values())).trace
    _curve(axes, first, "constant", "mean of the labels" if regression else "commoner label", "0.45", "--")
    _curve(axes, first, "last", "last label", "0.65", ":")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("round")
    axes.set_ylabel("mean loss so far" if regression else "mistakes so far / rounds so far")
    axes.set_ylim(bottom=0.0)
    axes.spines[["top", "right"]].set_visible(False)
    _spread_names(axes)
    return axes


def _curve(axes: Any, trace: Mapping[str, Any], what: str, name: str, colour: str, style: str) -> None:
    rounds, so_far = trace["rounds"], trace[what] / trace["rounds"]
    axes.plot(rounds, so_far, style, color=colour, label=name)
    axes.annotate(
        f" {name} {so_far[-1]:.3f}",
        (rounds[-1], so_far[-1]),
        color=colour,
        va="center",
        annotation_clip=False,
    )


def _spread_names(axes: Any) -> None:
    """Move names apart that would be written over each other."""
    low, high = axes.get_ylim()
    gap = (high - low) * 0.05
    names = sorted(axes.texts, key=lambda name: float(name.xy[1]))
    places = [float(name.xy[1]) for name in names]
    for _ in range(50):
        for i in range(1, len(places)):
            short = gap - (places[i] - places[i - 1])
            if short > 0.0:
                places[i - 1] -= short / 2
                places[i] += short / 2
    for name, place in zip(names, places, strict=True):
        name.set_position((name.xy[0], place))
