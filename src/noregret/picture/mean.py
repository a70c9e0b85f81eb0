"""The mean of rows as they come: its regret grows like ln T, below both of its bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret.mean import MeanRun
from noregret.picture.canvas import COLOURS, Ending, name_ends, plain_frame, round_axis, thinned


def mean_axes(axes: Any, run: MeanRun) -> Any:
    """The regret after every round against the best point for the rows so far, and the two bounds by then."""
    t = np.arange(1, len(run) + 1)
    squares = np.array([float(one) for one in run.distances2])
    own, best = np.cumsum(squares), np.array([float(one) for one in run.scatters]) + _outside(run)
    half, at = 0.5 * run.sigma, thinned(len(run), logarithmic=True)
    endings = []
    for name, values, colour, style in (
        ("(G²/2σ)·H_t", half * np.maximum.accumulate(squares) * np.cumsum(1.0 / t), COLOURS[1], "--"),
        ("Σ‖g_s‖²/(2σs)", half * np.cumsum(squares / t), COLOURS[2], ":"),
        ("regret", half * (own - best), COLOURS[0], "-"),
    ):
        axes.plot(t[at], values[at], style, color=colour, label=name)
        endings.append(Ending(name, float(t[-1]), float(values[-1]), colour))
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("sum so far")
    round_axis(axes, float(t[-1]), logarithmic=True)
    plain_frame(axes)
    name_ends(axes, endings)
    return axes


def _outside(run: MeanRun) -> Any:
    """t·dist(mean of the first t rows, ball)²: what the ball costs its best point."""
    t = np.arange(1, len(run) + 1)
    norms = np.sqrt(np.square(np.cumsum(run.rows, axis=0) / t[:, None]).sum(axis=1))
    return t * np.square(np.maximum(norms - run.radius, 0.0))
