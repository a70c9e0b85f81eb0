"""A blend over time: whose forecasts it followed, and its regret so far beside what was promised of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from noregret.atomic import whole_file
from noregret.blending import Blend
from noregret.errors import SettingError
from noregret.picture.error import COLOURS, check_picture

POINTS = 2000  # a curve has no more: a file of a million points draws nothing else


def draw_blend(blend: Blend, path: str | os.PathLike[str]) -> None:
    """Draw weights and regret over time to a file."""
    check_picture(path)
    if not len(blend.weights):
        raise SettingError("plot: the weights were not kept, so there is nothing to draw")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 7.0), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    weight_axes(above, blend)
    regret_axes(below, blend)
    with whole_file(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=150)


def shown_rounds(rounds: int) -> Any:
    """The rounds that are drawn, the first and the last among them."""
    return np.unique(np.linspace(0, rounds - 1, min(rounds, POINTS)).astype(np.int64))


def weight_axes(axes: Any, blend: Blend) -> Any:
    """The weight of every expert, stacked to 1."""
    at = shown_rounds(blend.rounds)
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(blend.names))]
    axes.stackplot(at + 1, blend.weights[at].T, labels=blend.names, colors=colours, linewidth=0.0)
    axes.set_ylim(0.0, 1.0)
    axes.set_xlim(1, max(blend.rounds, 2))
    axes.set_ylabel("weight")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, ncols=1 + len(blend.names) // 25)
    return axes


def regret_axes(axes: Any, blend: Blend) -> Any:
    """The regret against the best expert so far, and the promise."""
    at = shown_rounds(blend.rounds)
    axes.plot(at + 1, blend.regret_so_far()[at], color=COLOURS[0], label="regret so far")
    axes.plot(at + 1, blend.promised_so_far()[at], color=COLOURS[1], linestyle="--", label="promised")
    axes.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("round")
    axes.set_ylabel(f"regret ({blend.reading['loss']})")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return axes
