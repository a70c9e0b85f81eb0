"""Windows of a run: what was lost in each, above a band that ends where no model can have lost less."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from noregret.picture.canvas import COLOURS, Ending, name_ends, plain_frame
from noregret.watch.shown import AMONG

Figures = Mapping[str, Any]
DATED = 10  # dates that have room on the axis
HIGHEST = 3.0  # times the largest loss of the run: what lost more leaves the picture
TURNED: dict[str, Any] = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}


def why_no_windows(found: Figures | None) -> str | None:
    """Why there is no picture of windows."""
    if found is None:
        return "the run has no windows: ask for them with windows"
    if not any(_loss(part) is not None for part in found["parts"]):
        return "no window has a loss to draw"
    return None


def window_axes(axes: Any, found: Figures) -> Any:
    """Steps over the rounds, or the days: the run above the band, challengers dashed."""
    parts = [part for part in found["parts"] if _loss(part) is not None]
    ends = _ends(found, parts)
    own = [_loss(part) or 0.0 for part in parts]
    top = HIGHEST * max(own)
    highest, endings = max(own), []
    if all(part["bound"] is not None for part in parts) and found["against"] is not None:
        least = [float(part["best_at_least"]) / part["rounds"] for part in parts]
        axes.fill_between(ends, [*least, least[-1]], [*own, own[-1]], step="post", color=COLOURS[0], alpha=0.25, lw=0.0)
        against = found["against"]
        name = f"no {AMONG[against['domain']]} ≤ {against['radius']:g} is below"
        endings.append(Ending(name, ends[-1], least[-1], COLOURS[0]))
    endings.append(_steps(axes, ends, own, "the run", COLOURS[0], "-"))
    for place, (name, losses) in enumerate(_still(found, parts), 1):
        if None not in losses:
            values = [float(one or 0.0) for one in losses]
            end = _steps(axes, ends, values, name, COLOURS[place % len(COLOURS)], "--")
            endings.append(replace(end, y=min(end.y, top)))
            highest = max(highest, *values)
    axes.set_ylabel(f"loss per row ({found['loss']})" if found["loss"] else "loss per row")
    axes.set_ylim(0.0, 1.05 * min(highest, top) or 1.0)
    axes.set_xlim(ends[0], ends[-1])
    _name_places(axes, found, parts, ends)
    plain_frame(axes)
    name_ends(axes, endings)
    return axes


def _loss(part: Figures) -> float | None:
    value = part["loss_per_row"]
    return None if value is None or not math.isfinite(float(value)) else float(value)


def _still(found: Figures, parts: Sequence[Figures]) -> list[tuple[str, list[float | None]]]:
    """Those who no longer learned, by their names."""
    names = ["frozen", *map(os.path.basename, found["challengers"])]
    return [
        (name, [_loss([part["frozen"], *part["challengers"]][place]) for part in parts])
        for place, name in enumerate(names)
    ]


def _ends(found: Figures, parts: Sequence[Figures]) -> list[float]:
    """Where windows begin, and the end of the last one: rounds, or the how-manieth window where days decide."""
    if found["length"] in ("day", "week"):
        return [float(place) for place in range(len(parts) + 1)]
    return [*(part["first"] - 1.0 for part in parts), float(parts[-1]["last"])]


def _steps(axes: Any, ends: Sequence[float], values: Sequence[float], name: str, colour: str, style: str) -> Ending:
    axes.step(ends, [*values, values[-1]], style, where="post", color=colour, label=name)
    return Ending(f"{name} {values[-1]:.3g}", ends[-1], values[-1], colour)


def _name_places(axes: Any, found: Figures, parts: Sequence[Figures], ends: Sequence[float]) -> None:
    if found["length"] not in ("day", "week"):
        axes.set_xlabel("round")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        return
    axes.set_xlabel(found["length"])
    step = -(-len(parts) // DATED)
    places = range(0, len(parts), step)
    axes.set_xticks([ends[place] + 0.5 for place in places], [parts[place]["from"] for place in places], **TURNED)
