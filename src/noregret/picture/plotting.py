"""`plot`: whatever there is to look at, drawn in the way its kind asks for.

Every thing has a few kinds of picture, the first being the one that is drawn unless another is asked for. A kind says
in a sentence why it cannot be drawn of a thing: whoever asked hears it before the work, and a report leaves it out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from noregret.comparison import Comparison
from noregret.errors import SettingError
from noregret.learner.core import Core
from noregret.picture.bounds import bounds_axes, drawable, mistakes_axes
from noregret.picture.canvas import MOVING, Picture, check_picture, new_figure, save_figure
from noregret.picture.error import error_axes, risk_axes
from noregret.picture.regret import by_radius, radius_axes, regret_axes, so_far
from noregret.receipt import Receipt
from noregret.run import Run


@dataclass(frozen=True)
class Subject:
    """What is to be drawn: the thing, the streams whose rows it is drawn among, and the receipt with its bounds."""

    thing: Any
    streams: tuple[Any, ...] = ()
    receipt: Receipt | None = None
    name: str = ""

    @property
    def certificates(self) -> list[dict[str, Any]]:
        return [] if self.receipt is None else self.receipt.certificates


@dataclass(frozen=True)
class Kind:
    """One kind of picture: `draw` on axes, or `fill` a figure with several; `missing` says why it cannot be."""

    title: str
    caption: str
    draw: Callable[[Any, Subject], Any] | None = None
    fill: Callable[[Any, Subject], Any] | None = None
    moving: Callable[[Subject, Any], None] | None = None
    missing: Callable[[Subject], str | None] = field(default=lambda subject: None)
    size: tuple[float, float] = (8.0, 4.5)


def _labels_only(subject: Subject) -> str | None:
    runs = _runs(subject).values()
    if any(run.learner.regression for run in runs):
        return "mistakes are of labels; numbers are not right or wrong: draw the risk"
    return None


def _runs(subject: Subject) -> dict[str, Run]:
    """The runs by name."""
    if isinstance(subject.thing, Run):
        return {subject.name or subject.thing.learner.name: subject.thing}
    return dict(subject.thing)


ERROR = Kind(
    "Error so far",
    "Mistakes so far divided by rounds so far; dashed and dotted, two rules that use no features.",
    draw=lambda axes, subject: error_axes(axes, _runs(subject)),
    missing=_labels_only,
)
RISK = Kind(
    "Mean loss so far",
    "The sequential risk: the losses suffered so far, each before its label was learned from, divided by the rounds.",
    draw=lambda axes, subject: risk_axes(axes, _runs(subject)),
)
MISTAKES = Kind(
    "Mistakes against bounds",
    "Mistakes so far, and what each theorem allows over all rounds (dashed): the curve stays below every such line.",
    draw=lambda axes, subject: mistakes_axes(axes, subject.thing, subject.certificates),
    missing=_labels_only,
)
BOUNDS = Kind(
    "Observed against promised",
    "One line a theorem: the dot is what was observed, the bar what it was promised not to exceed.",
    draw=lambda axes, subject: bounds_axes(axes, subject.thing.certificates),
    missing=lambda subject: None if drawable(subject.thing.certificates) else "no theorem gave a bound on this run",
)
REGRET = Kind(
    "Regret against promise so far",
    "The certified regret after 1, 2, 4, … rounds as a band between its two ends, and what was promised by then.",
    draw=lambda axes, subject: regret_axes(axes, subject.thing),
    missing=lambda subject: None if so_far(subject.thing) else "the receipt holds no regret so far: certify anytime",
)
RADIUS = Kind(
    "Regret by the comparator's radius",
    "The regret against the best fixed model of norm at most U: the larger the ball, the better its best model.",
    draw=lambda axes, subject: radius_axes(axes, subject.thing),
    missing=lambda subject: (
        None if by_radius(subject.thing) else "the receipt holds the regret of one ball only: certify with radii"
    ),
)

RUN = {"error": ERROR, "risk": RISK, "mistakes": MISTAKES}
RUNS = {"error": ERROR, "risk": RISK}
RECEIPT = {"regret": REGRET, "radius": RADIUS, "bounds": BOUNDS}


def plot(
    thing: Any,
    *streams: Any,
    kind: str | None = None,
    ax: Any = None,
    receipt: Receipt | None = None,
    to: str | os.PathLike[str] | None = None,
) -> Any:
    """Draw a thing on axes, new ones where none are given, and return them; `to` also writes the figure to a file."""
    subject, kinds = _known(thing, streams, receipt)
    chosen = _chosen(subject, kinds, kind)
    if to is not None:
        check_picture(to, moves=chosen.moving is not None)
        if Path(to).suffix.lower() == MOVING and chosen.moving is not None:
            chosen.moving(subject, to)
            return None
    drawn = _drawn(subject, chosen, ax)
    if to is not None:
        save_figure(_figure_of(drawn), to)
    return drawn


def _drawn(subject: Subject, chosen: Kind, ax: Any) -> Any:
    if chosen.fill is not None:
        if ax is not None:
            raise SettingError("plot: this picture has several axes of its own: leave out ax")
        return chosen.fill(new_figure(*chosen.size), subject)
    assert chosen.draw is not None
    return chosen.draw(new_figure(*chosen.size).add_subplot() if ax is None else ax, subject)


def _figure_of(drawn: Any) -> Any:
    return (drawn.flat[0] if hasattr(drawn, "flat") else drawn).get_figure(root=True)


def _chosen(subject: Subject, kinds: Mapping[str, Kind], kind: str | None) -> Kind:
    """The kind asked for, or the first that can be drawn."""
    if kind is not None and kind not in kinds:
        raise SettingError(f"plot: kind must be one of {', '.join(kinds)}, got {kind!r}")
    if kind is None:
        kind = next((name for name, one in kinds.items() if one.missing(subject) is None), next(iter(kinds)))
    why = kinds[kind].missing(subject)
    if why is not None:
        raise SettingError(f"plot: {why}")
    return kinds[kind]


def _known(thing: Any, streams: tuple[Any, ...], receipt: Receipt | None) -> tuple[Subject, dict[str, Kind]]:
    """The thing as it is drawn, and the kinds of picture that there are of it."""
    if isinstance(thing, Comparison):
        thing = thing.runs
    elif isinstance(getattr(thing, "core", None), Core):
        thing = Run.of(thing.core)
    subject = Subject(thing, streams, receipt)
    if isinstance(thing, Run):
        return subject, RUN
    if isinstance(thing, Receipt):
        return subject, RECEIPT
    if isinstance(thing, Mapping) and thing and all(isinstance(one, Run) for one in thing.values()):
        return subject, RUNS
    raise SettingError(f"plot: there is no picture of a {type(thing).__name__}")


def pictures_of(thing: Any, *streams: Any, receipt: Receipt | None = None) -> list[Picture]:
    """Every picture on one pair of axes that can be drawn of a thing, in the order of telling."""
    subject, kinds = _known(thing, streams, receipt)
    found = []
    for one in kinds.values():
        if one.draw is not None and one.missing(subject) is None:
            found.append(Picture(one.title, one.caption, _bound(one.draw, subject)))
    return found


def _bound(draw: Callable[[Any, Subject], Any], subject: Subject) -> Callable[[Any], Any]:
    return lambda axes: draw(axes, subject)
