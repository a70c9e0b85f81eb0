"""Curves of a run: the error and the mean loss so far beside the baselines, and the reliability of its scores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import LOWEST
from noregret.errors import SettingError
from noregret.picture.canvas import (
    COLOURS,
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
from noregret.picture.rings import mark_rings
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
    if len(runs) == 1:
        mark_rings(axes, _first(runs))
    name_ends(axes, endings)
    return axes


def _curve(axes: Any, name: str, run: Run, what: str, colour: str, style: str) -> Ending:
    trace = run.trace
    at = thinned(len(trace["rounds"]), logarithmic=True)
    rounds, so_far = trace["rounds"][at], trace[what][at] / trace["rounds"][at]
    axes.plot(rounds, so_far, style, color=colour, label=name, marker="o" if len(rounds) == 1 else "")
    return Ending(f"{name} {so_far[-1]:.3g}", float(rounds[-1]), float(so_far[-1]), colour)


GROUPS = 12
Z = 1.959963984540054  # the 0.975 quantile of the normal distribution

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """Rounds with about the same score: the mean of what was said, how many there were, how many were +1."""

    said: float
    rounds: int
    positive: int

    @property
    def frequency(self) -> float:
        return self.positive / self.rounds

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's: where p lies with |frequency − p| ≤ z·√(p(1 − p)/n)."""
        n, p = self.rounds, self.frequency
        middle, half = p + Z * Z / (2 * n), Z * np.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
        return max(float((middle - half) / (1 + Z * Z / n)), 0.0), min(float((middle + half) / (1 + Z * Z / n)), 1.0)


def why_no_reliability(run: Run) -> str | None:
    if run.learner.regression or run.tally is not None:
        return "reliability needs scores for two classes"
    if run.rounds and not run.state["bins"].any():
        return "reliability needs scores that were counted, and a run on shards counts none"
    return None if run.rounds else "no round was played, so there is nothing to draw"


def bin_scores(bins: int) -> Vector:
    """The score in the middle of each bin: 64 to each power of two from 2⁻³² to 2³², one for 0, and the negative."""
    patterns = (LOWEST + np.arange(bins // 2 + 1, dtype=np.int64)) << 46
    edges = patterns.view(np.float64)
    middles = 0.5 * (edges[:-1] + edges[1:])
    return np.concatenate([-middles[::-1], [0.0], middles])


def is_probability(run: Run) -> bool:
    """Whether the score is ln(p/(1 − p)) of a probability p that was meant."""
    return run.learner.loss.probabilistic


def groups(run: Run, count: int = GROUPS) -> list[Group]:
    """The rounds by score, in groups of about the same size."""
    return grouped(run.state["bins"][0], is_probability(run), count)


def grouped(bins: NDArray[np.int64], probable: bool, count: int = GROUPS) -> list[Group]:
    """The same of counts in bins of scores, which are log-odds where they are `probable`."""
    counts = bins.astype(np.float64)
    scores = bin_scores(counts.shape[1])
    said = 1.0 / (1.0 + np.exp(-np.clip(scores, -700.0, 700.0))) if probable else scores
    both = counts.sum(axis=0)
    place = np.minimum((np.cumsum(both) - 0.5 * both) * count / both.sum(), count - 1e-9).astype(np.int64)
    found = []
    for group in range(count):
        here = (place == group) & (both > 0.0)
        n = float(both[here].sum())
        if n:
            found.append(Group(float(said[here] @ both[here]) / n, int(n), int(counts[1, here].sum())))
    return found


def reliability_axes(axes: Any, run: Run) -> Any:
    """How often +1 came against what was said; of probabilities a perfect forecaster lies on the diagonal."""
    why = why_no_reliability(run)
    if why is not None:
        raise SettingError(f"plot: {why}")
    calibrated = run.reliability is not None and run.reliability.any()
    if run.reliability is not None and calibrated:
        before, after = (grouped(bins, True) for bins in run.reliability)
        drawn = {"before": (before, "0.6"), "calibrated": (after, COLOURS[0])}
    else:
        drawn = {"came": (groups(run), COLOURS[0])}
    if calibrated or is_probability(run):
        axes.plot([0.0, 1.0], [0.0, 1.0], "--", color="0.6", linewidth=1.0, label="perfect")
        axes.set_xlim(0.0, 1.0)
        axes.set_xlabel("predicted probability of +1")
    else:
        axes.axhline(0.5, color="0.85", linewidth=0.8, zorder=0)
        axes.axvline(0.0, color="0.85", linewidth=0.8, zorder=0)
        axes.set_xlabel(f"score ({run.learner.name})")
    for label, (found, colour) in drawn.items():
        said, seen = [group.said for group in found], [group.frequency for group in found]
        low, high = zip(*(group.interval for group in found), strict=True)
        axes.vlines(said, low, high, color=colour, linewidth=1.5)
        axes.plot(said, seen, "o-", color=colour, linewidth=1.0, markersize=4.5, label=label, clip_on=False)
    axes.set_ylim(0.0, 1.0)
    axes.set_ylabel("share of rounds with label +1")
    plain_frame(axes)
    if calibrated:
        axes.legend(frameon=False, loc="upper left")
    elif is_probability(run):
        name_ends(axes, [Ending("perfect", 1.0, 1.0, "0.45")])
    return axes


PANELS = {
    "scaling in the rounds before": ("rounds played before", "nanoseconds per row"),
    "scaling in the non-zeros of a row": ("non-zeros of a row", "nanoseconds per row"),
    "scaling in the number of features": ("features", "nanoseconds per row"),
}


def draw_scaling(rows: Sequence[Mapping[str, Any]], path: str | os.PathLike[str]) -> None:
    """Three panels, one line a learner, both axes logarithmic; a dashed line where the cost should be linear."""
    check_picture(path)
    figure = new_figure(13.0, 4.2)
    for axes, (job, names) in zip(figure.subplots(1, 3), PANELS.items(), strict=True):
        scaling_axes(axes, [row for row in rows if row["job"] == job], *names)
    save_figure(figure, path)


def scaling_axes(axes: Any, rows: Sequence[Mapping[str, Any]], along: str, cost: str) -> Any:
    """One panel on given axes."""
    for who, colour in zip(dict.fromkeys(row["who"] for row in rows), COLOURS, strict=False):
        points = [(row["at"], row[cost]) for row in rows if row["who"] == who]
        axes.plot(*zip(*points, strict=True), "o-", color=colour, label=who.removeprefix("noregret, "))
    axes.set_xscale("log")
    axes.set_yscale("log")
    low, high = min(row[cost] for row in rows), max(row[cost] for row in rows)
    if along.startswith("non-zeros"):
        first, last = rows[0]["at"], rows[-1]["at"]
        axes.plot([first, last], [high * first / last, high], "--", color="0.6", label="linear")
    else:
        axes.set_ylim(low / 5.0, high * 5.0)
    axes.set_xlabel(along)
    axes.set_ylabel(cost)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return axes
