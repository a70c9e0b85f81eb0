"""The pictures of a section as SVG inside the page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

from noregret.receipt import Receipt
from noregret.reporting.markup import Markup, element
from noregret.reporting.subject import Subject
from noregret.theorem import THEOREMS

MISSING = "The pictures need matplotlib: pip install 'noregret[plot]', then make the report again."
SIZE = (8.0, 4.2)  # inches
NAMED = re.compile(r'(\bid="|"#|url\(#)')


def drawable() -> bool:
    return find_spec("matplotlib") is not None


def figures(subject: Subject, key: str) -> Iterator[tuple[str, Markup]]:
    """Every picture of a section with its title; `key` keeps the names inside one picture from those of another."""
    from matplotlib.figure import Figure

    from noregret.picture import pictures_of
    from noregret.picture.svg import svg_text

    receipt, run = subject.drawn or (None, None)
    receipt = None if receipt is None else _known(receipt)
    found = [] if receipt is None else pictures_of(receipt)
    if run is not None and run.rounds:
        found += pictures_of(run, receipt=receipt)
    for place, (title, caption, draw) in enumerate(found, 1):
        figure = Figure(figsize=SIZE, layout="constrained")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a name too long for its place is no news
            draw(figure.add_subplot())
            svg = svg_text(figure)
        yield title, framed(svg, title, caption, f"{key}-{place}")


def _known(receipt: Receipt) -> Receipt:
    """The receipt with those theorems that there are: a name that anyone may have written is drawn by nobody."""
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
    own = NAMED.sub(rf"\g<1>{key}-", svg[svg.index("<svg") :])
    picture = element("div", Markup(own), class_="picture", role="img", aria_label=title)
    return element("figure", element("figcaption", element("b", f"{title}. "), caption), picture)
