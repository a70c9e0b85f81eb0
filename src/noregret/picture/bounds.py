"""What was observed beside what every theorem promised: of one run over time, or of all certificates side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError
from noregret.finite import FiniteRun
from noregret.picture.canvas import (
    COLOURS,
    Ending,
    colour_of,
    name_ends,
    plain_frame,
    round_axis,
    thinned,
)
from noregret.picture.rings import mark_rings
from noregret.proof.theorem import Certificate
from noregret.proof.theorems import THEOREMS
from noregret.run import Run

Vector = NDArray[np.float64]
Statement = dict[str, Any]  # a certificate as receipts hold it
NAMED = 8  # bounds that are drawn over time; the others are the larger ones
TICKS = 7  # along a logarithmic axis


def statements(certificates: Sequence[Certificate | Statement]) -> list[Statement]:
    """Certificates as receipts hold them."""
    return [one.to_dict() if isinstance(one, Certificate) else one for one in certificates]


def drawable(certificates: Sequence[Statement]) -> list[Statement]:
    """Those with a finite bound, the smallest first."""
    found = [one for one in certificates if one["bound"] is not None and math.isfinite(float(one["bound"]))]
    return sorted(found, key=lambda one: float(one["bound"]))


def of_mistakes(certificates: Sequence[Statement]) -> list[Statement]:
    """Those that bound the number of mistakes from above."""
    return [
        one
        for one in certificates
        if one["theorem"] in THEOREMS
        and THEOREMS[one["theorem"]].title.partition(",")[0] == "mistakes"
        and "from below" not in THEOREMS[one["theorem"]].title
    ]


def mistakes_of(run: Run | FiniteRun) -> tuple[Vector, Vector]:
    """Round numbers, and the mistakes made by then."""
    if isinstance(run, Run):
        return run.trace["rounds"], run.trace["mistakes"]
    made = np.cumsum([0.0, *(float(one.mistake) for one in run.rounds)])
    return np.arange(float(len(made))), made


def mistakes_axes(axes: Any, run: Run | FiniteRun, certificates: Sequence[Statement] = ()) -> Any:
    """The mistakes so far, and every bound on the mistakes of all rounds as a line that they may not cross."""
    rounds, made = mistakes_of(run)
    if not len(made):
        raise SettingError("plot: no round was played, so there is nothing to draw")
    bounds = [one for one in drawable(of_mistakes(certificates)) if one["observed"] == made[-1]][:NAMED]
    at = thinned(len(rounds))
    rounds, made = rounds[at], made[at]
    axes.plot(
        rounds,
        made,
        color=COLOURS[0],
        label="mistakes so far",
        drawstyle="steps-post" if len(rounds) < 50 else "default",
        marker="o" if len(rounds) == 1 else "",
    )
    endings = [Ending(f"mistakes so far {made[-1]:,.0f}", float(rounds[-1]), float(made[-1]), COLOURS[0])]
    for place, one in enumerate(bounds):
        colour, bound = COLOURS[1 + place % (len(COLOURS) - 1)], float(one["bound"])
        axes.plot([0.0, rounds[-1]], [bound, bound], "--", color=colour, linewidth=1.0, label=one["theorem"])
        endings.append(Ending(f"{one['theorem']}: at most {at_most(bound)}", float(rounds[-1]), bound, colour))
    round_axis(axes, float(rounds[-1]), logarithmic=False)
    axes.set_xlim(left=0.0)
    top = max([float(made[-1]), 1.0, *(float(one["bound"]) for one in bounds)])
    if top > 20.0 * max(float(made[-1]), 1.0):
        axes.set_yscale("symlog", linthresh=10.0)
        axes.yaxis.set_major_formatter("{x:,.0f}")
    elif top < 10.0:
        axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_ylim(0.0, 1.08 * top)
    axes.set_ylabel("mistakes")
    plain_frame(axes)
    mark_rings(axes, run)
    name_ends(axes, endings)
    return axes


def at_most(value: float) -> str:
    """A bound with four figures, never below itself."""
    if value >= 9999.5:
        return f"{math.ceil(value):,}"
    with localcontext(Context(prec=4, rounding=ROUND_CEILING)):
        return f"{float(+Decimal(value)):.4g}"


def bounds_axes(axes: Any, certificates: Sequence[Certificate | Statement]) -> Any:
    """One line a theorem: a dot for what was observed, a bar for the bound, in its verdict's colour between them."""
    shown = drawable(statements(certificates))
    if not shown:
        raise SettingError("plot: no theorem gave a bound on this run, so there is nothing to draw")
    low = min(max(float(one["observed"] or 0.0), 0.0) for one in shown)
    for place, one in enumerate(shown):
        _line(axes, place, one)
    values = [float(one[key]) for one in shown for key in ("bound", "observed") if one[key] is not None]
    if low >= 0.0 and max(values) > 50.0 * max(min(abs(value) for value in values), 1e-9):
        axes.set_xscale("symlog", linthresh=1.0)
        axes.xaxis.get_major_locator().set_params(numticks=TICKS)
    if min(values) >= 0.0:
        axes.set_xlim(left=0.0)  # a line is as long as what it stands for
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.set_yticks(range(len(shown)), [one["theorem"] for one in shown])
    axes.set_ylim(-0.6, len(shown) - 0.4)
    seen = any(one["observed"] is not None for one in shown)
    axes.set_xlabel("observed (dot) and bound (bar), in the units of each theorem" if seen else "bound (bar)")
    plain_frame(axes)
    return axes


VERDICTS = {"holds": COLOURS[2], "vacuous": "0.6", "open": COLOURS[4], "broken": COLOURS[1]}


def _line(axes: Any, place: int, one: Statement) -> None:
    colour, bound = VERDICTS.get(one["verdict"], "0.6"), float(one["bound"])
    if one["observed"] is not None:
        seen = float(one["observed"])
        axes.plot([seen, bound], [place, place], color=colour, linewidth=1.2)
        axes.plot([seen], [place], "o", color=colour_of(0), markersize=5.0)
    axes.plot([bound], [place], "|", color=colour, markersize=12.0, markeredgewidth=2.5)
    said = one["verdict"] if one["verdict"] != "holds" or one["observed"] != one["bound"] else "holds, attained"
    axes.annotate(
        f" {at_most(bound)} ({said})",
        (bound, place),
        (6, 0),
        textcoords="offset points",
        va="center",
        color="0.25",
        fontsize=8,
        annotation_clip=False,
    )
