"""Regret so far against promise so far: the interval after 1, 2, 4, … rounds and the bounds that held by then."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from noregret.atomic import whole_file
from noregret.errors import SettingError
from noregret.picture.error import COLOURS, check_picture
from noregret.receipt import Receipt


def draw_regret(receipt: Receipt, path: str | os.PathLike[str]) -> None:
    """Draw the regret of an `anytime` receipt to a file."""
    check_picture(path)
    points = sorted((entry for entry in receipt.entries if "bounds" in entry), key=lambda entry: int(entry["rounds"]))
    if not points:
        raise SettingError("plot: the receipt holds no regret to draw: certify with anytime and a radius")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.5), layout="constrained")
    regret_axes(figure.add_subplot(), points)
    with whole_file(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=150)


def regret_axes(axes: Any, points: list[dict[str, Any]]) -> Any:
    """The curves on given axes."""
    rounds = [entry["rounds"] for entry in points]
    low, high = ([float(entry[end]) for entry in points] for end in ("lower", "upper"))
    axes.plot(rounds, high, "o-", color=COLOURS[0], label="regret, certified")
    axes.fill_between(rounds, low, high, color=COLOURS[0], alpha=0.3)
    axes.plot(rounds, [entry["own"]["upper"] for entry in points], ":", color="0.5", label="the run's own loss")
    names = sorted({name for entry in points for name in entry["bounds"]})
    for name, colour in zip(names, COLOURS[1:] * len(names), strict=False):
        there = [entry for entry in points if name in entry["bounds"]]
        axes.plot(
            [one["rounds"] for one in there], [one["bounds"][name] for one in there], "--", color=colour, label=name
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("symlog", linthresh=1.0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("rounds so far")
    axes.set_ylabel("sum over the rounds so far")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return axes
