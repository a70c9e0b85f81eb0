"""Regret: certified, so far and as the comparator's ball grows; and in each part of an audit."""

from __future__ import annotations

from typing import Any

from noregret.errors import SettingError
from noregret.picture.canvas import COLOURS, Ending, name_ends, plain_frame, signed
from noregret.proof.receipt import Receipt
from noregret.task.audit import Audit

TICKS = 10  # radii that have room for their numbers
Entry = dict[str, Any]  # one regret of a receipt


def so_far(receipt: Receipt) -> list[Entry]:
    """The regrets with what was promised by then, the earliest first."""
    found = [entry for entry in receipt.entries if "bounds" in entry]
    return sorted(found, key=lambda entry: int(entry["rounds"]))


def by_radius(receipt: Receipt) -> list[Entry]:
    """The regrets of all rounds against balls of several radii, the smallest first; empty where there is only one."""
    rounds = receipt.figures["rounds"]
    found = {float(entry["domain"]["radius"]): entry for entry in receipt.entries if entry["rounds"] == rounds}
    return [found[radius] for radius in sorted(found)] if len(found) > 1 else []


def regret_axes(axes: Any, receipt: Receipt) -> Any:
    """The regret's interval after 1, 2, 4, … rounds as a band, the bounds that held by then, the run's own loss."""
    points = so_far(receipt)
    if not points:
        raise SettingError("plot: the receipt holds no regret to draw: certify with anytime and a radius")
    rounds = [float(entry["rounds"]) for entry in points]
    _band(axes, rounds, points, "regret")
    endings = [_ending("regret", points[-1], float(points[-1]["upper"]), COLOURS[0])]
    own = [float(entry["own"]["upper"]) for entry in points]
    axes.plot(rounds, own, ":", color="0.45", label="loss of the run")
    endings.append(_ending("loss of the run", points[-1], own[-1], "0.45"))
    for place, name in enumerate(sorted({name for entry in points for name in entry["bounds"]})):
        there, colour = [entry for entry in points if name in entry["bounds"]], COLOURS[1 + place % (len(COLOURS) - 1)]
        promised = [float(one["bounds"][name]) for one in there]
        axes.plot([one["rounds"] for one in there], promised, "--", color=colour, label=name)
        endings.append(_ending(name, there[-1], promised[-1], colour))
    axes.set_xscale("log", base=2)
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_xlim(rounds[0] if len(rounds) > 1 else 0.5 * rounds[0], rounds[-1])
    if min(float(entry["lower"]) for entry in points) >= 0.0:
        axes.set_ylim(bottom=0.0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("rounds so far")
    axes.set_ylabel(f"total so far ({points[-1]['loss']} loss)")
    plain_frame(axes)
    name_ends(axes, endings)
    return axes


def radius_axes(axes: Any, receipt: Receipt) -> Any:
    """U ↦ the regret against the best comparator of norm at most U, as a band; it never falls as U grows."""
    points = by_radius(receipt)
    if not points:
        raise SettingError("plot: the receipt holds the regret for one radius only: certify with radii")
    radii = [float(entry["domain"]["radius"]) for entry in points]
    _band(axes, radii, points, "regret")
    own, end = float(points[-1]["own"]["upper"]), points[-1]
    axes.axhline(own, color="0.45", linestyle=":", label="loss of the run")
    axes.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
    axes.set_xscale("log")
    axes.set_xlim(radii[0], radii[-1])
    if len(radii) <= TICKS:
        axes.set_xticks(radii, [f"{radius:g}" for radius in radii])
        axes.set_xticks([], minor=True)
    else:
        axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.set_xlabel("radius U of the comparator's ball")
    axes.set_ylabel(f"regret over {end['rounds']:,} rounds ({end['loss']} loss)")
    plain_frame(axes)
    name_ends(
        axes,
        [
            Ending(f"regret {signed(float(end['upper']))}", radii[-1], float(end["upper"]), COLOURS[0]),
            Ending(f"loss of the run {signed(own)}", radii[-1], own, "0.45"),
        ],
    )
    return axes


def _band(axes: Any, places: list[float], points: list[Entry], name: str) -> None:
    low, high = ([float(entry[end]) for entry in points] for end in ("lower", "upper"))
    axes.fill_between(places, low, high, color=COLOURS[0], alpha=0.3, linewidth=0.0)
    axes.plot(places, high, "o-", color=COLOURS[0], label=name, markersize=4.0)


def _ending(name: str, entry: Entry, value: float, colour: str) -> Ending:
    return Ending(f"{name} {signed(value)}", float(entry["rounds"]), value, colour)


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
