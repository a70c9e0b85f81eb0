"""The pictures of a section as SVG inside the page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from noregret.proof.receipt import Receipt
from noregret.proof.theorems import THEOREMS
from noregret.reporting.html import Markup, element, visible
from noregret.reporting.words import Subject, about
from noregret.run import Run

if TYPE_CHECKING:
    from noregret.picture.canvas import Picture

MISSING = "Pictures need matplotlib: run pip install 'noregret[plot]', then make the report again."
SIZE = (8.0, 4.2)  # inches
NAMED = re.compile(r'(\bid="|"#|url\(#)')


def figures(subject: Subject, key: str) -> Iterator[tuple[str, Markup]]:
    """Every picture of a section with its title; `key` keeps the names inside one picture from those of another."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from noregret.picture.svg import svg_text

    for place, (title, caption, draw) in enumerate(_pictures(subject), 1):
        figure = Figure(figsize=SIZE, layout="constrained")
        with warnings.catch_warnings(), rc_context({"text.parse_math": False}):  # a $ in a name is a $
            warnings.simplefilter("ignore")  # a name may be too long for its place
            draw(figure.add_subplot())
            svg = svg_text(figure)
        yield title, framed(svg, title, caption, f"{key}-{place}")


def _pictures(subject: Subject) -> Iterator[Picture]:
    from noregret.picture import pictures_of

    receipt = next((_known(one) for one in subject.drawn if isinstance(one, Receipt)), None)
    for thing in subject.drawn:
        if isinstance(thing, Receipt):
            assert receipt is not None
            yield from pictures_of(receipt)
        elif isinstance(thing, Run):
            yield from pictures_of(thing, receipt=receipt) if thing.rounds else ()
        elif isinstance(thing, dict):
            yield from _of_blend(thing)
        else:
            yield from pictures_of(thing)


def _of_blend(body: dict[str, Any]) -> Iterator[Picture]:
    """From a blend's receipt: the loss of every expert, and the bounds."""
    from noregret.picture.bounds import bounds_axes
    from noregret.picture.canvas import Picture
    from noregret.picture.losses import loss_axes

    losses = {visible(str(one["expert"])): about(one["loss"]) for one in body["experts"]}
    told = "The total loss of each expert and of the blend, which stays close to the best of them."
    yield Picture("Loss of each expert", told, lambda axes: loss_axes(axes, float(body["loss"]["upper"]), losses))
    judged = [one for one in body["certificates"] if one["theorem"] in THEOREMS and one["bound"] is not None]
    if len(judged) > 1:
        told = "One line per theorem: the dot is the observed value, the bar the bound that it may not exceed."
        yield Picture("Observed values and bounds", told, lambda axes: bounds_axes(axes, judged))


def _known(receipt: Receipt) -> Receipt:
    """The receipt with only the theorems that are known: anyone may have written the names in it."""
    entries = [
        {**entry, "bounds": {name: bound for name, bound in entry["bounds"].items() if name in THEOREMS}}
        if "bounds" in entry
        else entry
        for entry in (receipt.regret, *receipt.curve)
        if entry is not None
    ]
    judged = [one for one in receipt.certificates if one["theorem"] in THEOREMS]
    first = receipt.regret is not None
    return replace(receipt, certificates=judged, regret=entries[0] if first else None, curve=entries[first:])


def framed(svg: str, title: str, caption: str, key: str) -> Markup:
    """One picture with its caption."""
    own = NAMED.sub(rf"\g<1>{key}-", visible(svg[svg.index("<svg") :]))
    picture = element("div", Markup(own), class_="picture", role="img", aria_label=title)
    return element("figure", element("figcaption", element("b", f"{title}. "), caption), picture)
