"""A blend: whose forecasts it followed over time, its regret beside what was promised, and what each expert lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.picture.canvas import COLOURS, Ending, name_ends, plain_frame, signed, thinned
from noregret.task.blend import Blend

EDGES = 360  # an area has no more, which no drawing program makes simpler
HATCHES = ("", "//", "..", "xx", "oo", "--")  # where there are more experts than colours
THICK, LONG = 0.09, 0.14  # an area holds its name where it is so thick, in parts of 1, over so much of the width
LISTED = 24  # names of thin areas beside the picture; more are only counted


def blend_figure(figure: Any, blend: Blend) -> NDArray[Any]:
    """Weights above, regret below, over the same rounds."""
    above, below = figure.subplots(2, 1, sharex=True)
    weight_axes(above, blend).set_xlabel("")
    regret_axes(below, blend)
    return np.array([above, below])


def why_no_weights(blend: Blend) -> str | None:
    return None if len(blend.weights) else "the weights were not kept: there is nothing to draw"


def weight_axes(axes: Any, blend: Blend) -> Any:
    """The weight of every expert, stacked to 1; each area bears its name, or stands in the list beside it."""
    at = thinned(blend.rounds, points=EDGES)
    x = at + 1.0
    if blend.rounds == 1:
        at, x = np.zeros(2, dtype=np.int64), np.array([0.5, 1.5])
    shown, many = blend.weights[at], len(blend.names)
    colours = [COLOURS[i % len(COLOURS)] for i in range(many)]
    tops = np.minimum(np.cumsum(shown, axis=1), 1.0)
    thin = []
    for i, name in reversed(list(enumerate(blend.names))):  # each from 0 up to its top, over those above it
        look = {"facecolor": colours[i], "edgecolor": "white", "linewidth": 0.0}
        look["hatch"] = HATCHES[i // len(COLOURS) % len(HATCHES)]
        (area,) = axes.fill([x[0], *x, x[-1]], [0.0, *tops[:, i], 0.0], label=name, **look)
        place = _thickest(shown[:, i], max(len(name) / 90.0, LONG))
        if place is None:
            thin.append((area, name))
            continue
        middle = float(tops[place, i] - 0.5 * shown[place, i])
        dark = {"color": "white"} if colours[i] in COLOURS[:3] else {"color": "black"}
        axes.text(x[place], middle, name, ha="center", va="center", clip_on=True, **dark)
    thin.reverse()
    if thin:
        handles, names = zip(*thin[:LISTED], strict=True)
        more = "" if len(thin) <= LISTED else f"\nand {len(thin) - LISTED} more"
        title = "too small to label:" if len(thin) < many else None
        side = axes.legend(handles, names, title=title, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        side.get_texts()[-1].set_text(names[-1] + more)
    axes.set_ylim(0.0, 1.0)
    axes.set_xlim(x[0], x[-1])
    axes.set_xlabel("round")
    axes.set_ylabel("weight of each expert, stacked")
    plain_frame(axes)
    return axes


def _thickest(weights: NDArray[np.float64], long: float) -> int | None:
    """Where an area is thickest over a stretch as long as its name; None where it is thick enough nowhere."""
    half = max(int(0.5 * long * len(weights)), 1)
    if len(weights) <= 2 * half:
        return None
    least = np.lib.stride_tricks.sliding_window_view(weights, 2 * half + 1).min(axis=1)
    good = np.flatnonzero(least >= max(THICK, 0.9 * float(least.max())))
    return None if not len(good) else int(good[len(good) // 2]) + half


def regret_axes(axes: Any, blend: Blend) -> Any:
    """The regret against the best expert so far, and the promise, each named where it ends.

    Against the best fixed mean so far it is the linearised regret, which is never smaller than the regret itself.
    """
    at = thinned(blend.rounds)
    mean = blend.mean is not None
    regret = blend.linearised_so_far() if mean else blend.regret_so_far()
    promised = blend.promised_so_far()
    mark = "o" if blend.rounds == 1 else ""
    axes.plot(at + 1, regret[at], color=COLOURS[0], marker=mark)
    axes.plot(at + 1, promised[at], color=COLOURS[1], marker=mark, linestyle="--")
    axes.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
    axes.xaxis.get_major_locator().set_params(integer=True)
    if blend.rounds == 1:
        axes.set_xticks([1])
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.4g}")
    axes.set_xlabel("round")
    what = "expected cost" if blend.contest.judged_by.costs else f"{blend.reading['loss']} loss"
    axes.set_ylabel(f"regret against the best {'mean ' if mean else ''}so far{', at most' if mean else ''}\n({what})")
    axes.set_xlim(right=blend.rounds + 0.5 * (blend.rounds == 1))
    plain_frame(axes)
    named = "regret so far, at most" if mean else "regret so far"
    names = ((named, regret, COLOURS[0]), ("bound:", promised, COLOURS[1]))
    ends = [(name, float(values[-1]), colour) for name, values, colour in names]
    name_ends(axes, [Ending(f"{name} {signed(end)}", blend.rounds, end, colour) for name, end, colour in ends])
    return axes


SHOWN, LETTERS = 15, 24  # bars, and characters of a name


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
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"
