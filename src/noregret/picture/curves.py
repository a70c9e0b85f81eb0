"""Learners side by side: the error or the mean loss so far; and the parts of an audit beside their best models."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from noregret.atomic import whole_file
from noregret.auditing import Audit
from noregret.errors import SettingError
from noregret.picture.canvas import COLOURS, check_picture
from noregret.run import Run

NAMED = 40  # parts of an audit that have room for their names


def draw_curves(runs: Mapping[str, Run], path: str | os.PathLike[str]) -> None:
    """Draw the error so far of every run, and beside it the mean loss so far where they all have one loss."""
    check_picture(path)
    if not all(run.rounds for run in runs.values()):
        raise SettingError("plot: no round was played, so there is nothing to draw")
    losses = {run.learner.loss.spec for run in runs.values()}
    first = next(iter(runs.values()))
    figures = ["loss"] if first.learner.regression else ["mistakes"]
    if len(losses) == 1 and first.learner.loss.convex and not first.learner.regression:
        figures.append("loss")
    figure = _figure(7.0 * len(figures), 4.5)
    for place, what in enumerate(figures, 1):
        curve_axes(figure.add_subplot(1, len(figures), place), runs, what)
    _save(figure, path)


def curve_axes(axes: Any, runs: Mapping[str, Run], what: str) -> Any:
    """One figure of every run on given axes, with the two baselines dashed where they are counted in it."""
    for (name, run), colour in zip(runs.items(), COLOURS * len(runs), strict=False):
        _curve(axes, run, what, name, colour, "-")
    first = next(iter(runs.values()))
    regression = first.learner.regression
    if regression or what == "mistakes":
        _curve(axes, first, "constant", "mean of the labels" if regression else "commoner label", "0.35", "--")
        _curve(axes, first, "last", "last label", "0.65", "--")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("round")
    axes.set_ylabel("mistakes so far / rounds so far" if what == "mistakes" else _mean_loss(runs))
    axes.set_ylim(bottom=0.0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return axes


def _mean_loss(runs: Mapping[str, Run]) -> str:
    losses = sorted({run.learner.loss.spec for run in runs.values()})
    return f"mean loss so far ({losses[0] if len(losses) == 1 else 'each learner in its own'})"


def _curve(axes: Any, run: Run, what: str, name: str, colour: str, style: str) -> None:
    trace = run.trace
    axes.plot(trace["rounds"], trace[what] / trace["rounds"], style, color=colour, label=name)


def draw_audit(audit: Audit, path: str | os.PathLike[str]) -> None:
    """Draw the loss a round of the logged predictions and of the best fixed model, overall and by segment."""
    check_picture(path)
    count = 1 + len(audit.segments)
    figure = _figure(max(5.0, min(2.5 + 0.6 * count, 20.0)), 4.5)
    audit_axes(figure.add_subplot(), audit)
    _save(figure, path)


def audit_axes(axes: Any, audit: Audit) -> Any:
    """A dot for the predictions, a bar from end to end for the best model; the line between them is the regret."""
    parts = [audit.overall, *audit.segments]
    places = range(len(parts))
    logged = [0.5 * (part.loss.lo + part.loss.hi) / part.rounds for part in parts]
    low, high = ([max(getattr(part.best, end) / part.rounds, 0.0) for part in parts] for end in ("lower", "upper"))
    axes.vlines(places, high, logged, color="0.75", zorder=1, label="regret a round")
    axes.plot(places, logged, "o", color=COLOURS[1], label="logged predictions")
    axes.vlines(places, low, high, color=COLOURS[0], linewidth=5.0)
    axes.plot(places, high, "_", color=COLOURS[0], markersize=12.0, label="best fixed model of the part")
    axes.set_xlim(-0.7, len(parts) - 0.3)
    axes.set_xlabel("part of the log")
    if len(parts) <= NAMED:
        axes.set_xticks(places, [part.name for part in parts], rotation=45, ha="right", rotation_mode="anchor")
    axes.set_ylabel(f"loss a round ({audit.loss.spec})")
    axes.set_ylim(bottom=0.0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return axes


def _figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _save(figure: Any, path: str | os.PathLike[str]) -> None:
    with whole_file(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=150)
