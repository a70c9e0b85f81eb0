"""What a round costs over three decades of rounds before it, of non-zeros and of features."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from noregret.picture.canvas import COLOURS, check_picture, new_figure, save_figure

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
