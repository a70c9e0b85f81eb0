"""What each expert lost, beside what the blend lost: a bar each, the best at the top."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noregret.picture.canvas import COLOURS, plain_frame

SHOWN, LONG = 15, 24  # bars, and characters of a name


def loss_axes(axes: Any, blend: float, experts: Mapping[str, float]) -> Any:
    """The best experts and the blend, whose loss is drawn as a line through all bars."""
    kept = sorted(experts.items(), key=lambda pair: pair[1])[:SHOWN]
    names = [_short(name) for name, _ in kept]
    places = range(len(kept))
    axes.barh(places, [loss for _, loss in kept], color=COLOURS[5], height=0.6)
    axes.axvline(blend, color=COLOURS[1], linewidth=1.5)
    axes.annotate(
        f" loss of the blend: {blend:,.6g}",
        (blend, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(0.0, 3.0),
        textcoords="offset points",
        color=COLOURS[1],
        ha="center",
    )
    axes.set_yticks(places, names, parse_math=False)
    axes.invert_yaxis()
    axes.set_xlim(left=min(0.0, blend, *(loss for _, loss in kept)))
    axes.set_xlabel("total loss")
    return plain_frame(axes)


def _short(name: str) -> str:
    return name if len(name) <= LONG else f"{name[: LONG - 1]}…"
