"""The shares of a mixture's members over time, stacked to 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.learner.auto import Auto
from noregret.picture.canvas import plain_frame, round_axis, thinned
from noregret.picture.rings import mark_rings
from noregret.run import Run

TINTS = (  # of the members that have a name; the others are one area
    "#0072B2",
    "#56B4E9",
    "#009E73",
    "#8FCFB0",
    "#E69F00",
    "#F2D06B",
    "#D55E00",
    "#CC79A7",
)
REST = "#D9D9D9"
LEAST = 0.005  # mean share from which a member has a name
EDGES = 240  # corners of an area at the most
WINDOW = 9  # kept rounds that are averaged, so that single rounds do not hide the course


def why_no_shares(run: Run) -> str | None:
    if not isinstance(run.learner, Auto):
        return f"shares are those of a mixture's members, and {run.learner.name} is one learner"
    return None if len(sampled_rows(run)) else "no round was played: there are no shares to draw"


def sampled_rows(run: Run) -> NDArray[np.float64]:
    """A row for each round that is kept: the round, and the share of each member."""
    assert isinstance(run.learner, Auto)
    rows = run.learner.history[: run.learner.beats[0]]
    return rows[rows[:, 0] <= run.rounds]


def share_axes(axes: Any, run: Run) -> Any:
    """Who led the mixture, by how much, when: the largest on average have a name, the others are one area."""
    assert isinstance(run.learner, Auto)
    rows = sampled_rows(run)
    rounds, shares = rows[:, 0], _smooth(rows[:, 1:])
    names = [member.name for member in run.learner.members]
    means = shares.mean(axis=0)
    named = [int(i) for i in np.argsort(-means, kind="stable")[: len(TINTS)] if means[i] >= LEAST]
    others = [i for i in range(len(names)) if i not in named]
    at = thinned(len(rounds), points=EDGES)
    parts = [(f"{names[i]}  {_percent(float(means[i]))}", TINTS[place], shares[at, i]) for place, i in enumerate(named)]
    if others:
        title = f"{len(others)} other{'s' * (len(others) > 1)}  {_percent(float(means[others].sum()))}"
        parts.append((title, REST, shares[at][:, others].sum(axis=1)))
    rounds = rounds[at]
    if len(rounds) == 1:
        rounds, parts = np.array([0.5, 1.5]), [(title, colour, part.repeat(2)) for title, colour, part in parts]
    _stack(axes, rounds, parts)
    mark_rings(axes, run)
    return axes


def _smooth(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over neighbours, over fewer at both ends; each row still sums to 1."""
    sums = np.vstack([np.zeros(shares.shape[1]), np.cumsum(shares, axis=0)])
    places = np.arange(len(shares))
    half = np.minimum(np.minimum(places, places[::-1]), WINDOW // 2)
    means = (sums[places + half + 1] - sums[places - half]) / (2 * half + 1)[:, None]
    return np.asarray(means / means.sum(axis=1, keepdims=True))


def _stack(axes: Any, rounds: NDArray[np.float64], parts: list[tuple[str, str, NDArray[np.float64]]]) -> None:
    """The areas from the top down, and beside them their names in the same order."""
    top, areas = np.ones(len(rounds)), []
    for _, colour, part in parts:
        below = np.maximum(top - part, 0.0)
        areas.append(axes.fill_between(rounds, below, top, facecolor=colour, edgecolor="white", linewidth=0.6))
        top = below
    axes.set_ylim(0.0, 1.0)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100.0 * value:.0f} %")
    axes.set_ylabel("share in the mixture, stacked")
    round_axis(axes, float(rounds[-1]), logarithmic=False)
    axes.set_xlim(float(rounds[0]), float(rounds[-1]))
    plain_frame(axes)
    axes.legend(
        areas,
        [title for title, _, _ in parts],
        title="mean share",
        alignment="left",
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        frameon=False,
    )


def _percent(part: float) -> str:
    return "< 1 %" if part < LEAST else f"{100.0 * part:.0f} %"
