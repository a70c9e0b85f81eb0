"""A figure as SVG text that can stand in a page: the same bytes each time, no name twice, nothing from outside."""

from __future__ import annotations

import io
import re
from typing import Any

STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "noregret", "svg.image_inline": True}
NOBODY = dict.fromkeys(("Creator", "Date", "Format", "Type"))
PLACES = re.compile(r' (d|x|y)="([^"]*)"')
POINTS = re.compile(r'<g clip-path="([^"]*)">((?:\s*<use [^>]*/>)+)\s*</g>')
LOOK = re.compile(r' style="([^"]*)"')


def svg_text(figure: Any) -> str:
    """The `<svg>` element of a figure, text kept as text; names inside it depend on what is drawn and on nothing else.

    Groups that nothing refers to lose their numbers, so that several pictures of one page never share an id that means
    two things. Places are kept to a hundredth of a point, and a look that all points of a line share is said once.
    """
    from matplotlib import rc_context

    figure.draw_without_rendering()  # finds the places of everything once: a second look would move them by a hair
    figure.set_layout_engine("none")
    buffer = io.StringIO()
    with rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata=NOBODY)
    text = buffer.getvalue()
    text = text[text.index("<svg ") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", text))
    text = re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in used else "", text)
    return re.sub(r"\n +<", "\n<", POINTS.sub(_said_once, PLACES.sub(_rounded, text)))


def _rounded(found: re.Match[str]) -> str:
    """Numbers of an outline or a place, cut to two decimals."""
    short = re.sub(r"(\d\.\d\d)\d+", r"\1", found[2])
    return f' {found[1]}="{" ".join(short.split())}"'


def _said_once(found: re.Match[str]) -> str:
    """Points of one look, with the look at their group."""
    looks = set(LOOK.findall(found[2]))
    if len(looks) != 1:
        return found[0]
    return f'<g clip-path="{found[1]}" style="{looks.pop()}">{LOOK.sub("", found[2])}\n</g>'
