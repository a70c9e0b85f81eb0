"""Where an alarm rang, as a mark in every picture of a run whose axis is that of rounds."""

from __future__ import annotations

from typing import Any

from noregret.run import Run

COLOUR = "#B00020"
NAMED = 3  # more marks than this have one name together


def mark_rings(axes: Any, run: Any) -> None:
    """A line at each round after which it rang; where a new learner began there, the axis says from where it counts."""
    alarm = run.alarm if isinstance(run, Run) else None
    if alarm is None or not alarm["rang"]:
        return
    rang = alarm["rang"]
    if alarm["on_alarm"] == "restart" and alarm["earlier"]:
        axes.set_xlabel(f"round, counted from the restart after round {rang[-1]:,}")
        return
    several = len(rang) > NAMED
    for place, at in enumerate(rang):
        axes.axvline(at, color=COLOUR, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        if several and place:
            continue
        name = f"{len(rang):,} alarms from round {at:,} on" if several else f"alarm: round {at:,}"
        axes.annotate(
            name,
            (at, 1.0),
            (0, 3),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            color=COLOUR,
            ha="center" if not several else "left",
            va="bottom",
            fontsize="small",
            annotation_clip=False,
        )
