"""The pictures of a section as SVG inside the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec

from noregret.reporting.markup import Markup, element
from noregret.reporting.subject import Subject

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
    found = [] if receipt is None else pictures_of(receipt)
    if run is not None and run.rounds:
        found += pictures_of(run, receipt=receipt)
    for place, (title, caption, draw) in enumerate(found, 1):
        figure = Figure(figsize=SIZE, layout="constrained")
        draw(figure.add_subplot())
        yield title, framed(svg_text(figure), title, caption, f"{key}-{place}")


def framed(svg: str, title: str, caption: str, key: str) -> Markup:
    """One picture with its caption."""
    own = NAMED.sub(rf"\g<1>{key}-", svg[svg.index("<svg") :])
    picture = element("div", Markup(own), class_="picture", role="img", aria_label=title)
    return element("figure", element("figcaption", element("b", f"{title}. "), caption), picture)
