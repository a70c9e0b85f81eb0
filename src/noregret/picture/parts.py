"""The parts of an audit: what the logged predictions lost, beside the best fixed model for each part."""

from __future__ import annotations

from typing import Any

from noregret.auditing import Audit
from noregret.picture.canvas import COLOURS, Ending, name_ends, plain_frame

NAMED = 40  # parts that have room for their names


def audit_width(audit: Audit) -> float:
    """Inches for as many parts as there are."""
    return max(5.0, min(3.5 + 0.6 * len(audit.segments), 20.0))


def audit_axes(axes: Any, audit: Audit) -> Any:
    """A dot for the predictions, a bar from end to end for the best model; the line between them is the regret.

    Where the predictions lost infinitely much, the dot is what all other rounds lost, hollow.
    """
    parts = [audit.overall, *audit.segments]
    places = range(len(parts))
    logged = [0.5 * (part.finite.lo + part.finite.hi) / part.rounds for part in parts]
    endless = [place for place, part in enumerate(parts) if part.infinite]
    low, high = ([max(getattr(part.best, end) / part.rounds, 0.0) for part in parts] for end in ("lower", "upper"))
    axes.vlines(places, high, logged, color="0.75", zorder=1, label="regret per row")
    axes.plot(places, logged, "o", color=COLOURS[1], label="logged predictions")
    if endless:
        label = "without infinite losses"
        axes.plot(endless, [logged[one] for one in endless], "o", color="white", mec=COLOURS[1], label=label)
    axes.vlines(places, low, high, color=COLOURS[0], linewidth=5.0)
    axes.plot(places, high, "_", color=COLOURS[0], markersize=12.0, label="best fixed model for each part")
    axes.set_xlim(-0.7, len(parts) - 0.3)
    axes.set_xlabel("part of the log")
    if len(parts) <= NAMED:
        axes.set_xticks(places, [part.name for part in parts], rotation=45, ha="right", rotation_mode="anchor")
    axes.set_ylabel(f"loss per row ({audit.loss.spec})")
    axes.set_ylim(bottom=0.0)
    plain_frame(axes)
    heights = (logged[-1], high[-1], 0.5 * (logged[-1] + high[-1]))
    said = "logged, without infinite losses" if parts[-1].infinite else "logged predictions"
    names = (said, "best fixed model", "regret per row")
    endings = [
        Ending(name, len(parts) - 1.0, height, colour)
        for name, height, colour in zip(names, heights, (COLOURS[1], COLOURS[0], "0.45"), strict=True)
    ]
    name_ends(axes, endings)
    return axes
