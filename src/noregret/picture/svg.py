"""A figure as SVG text that can stand in a page: the same bytes each time, no name twice, nothing from outside."""

from __future__ import annotations

import io
import re
from typing import Any

SALT = "noregret"
STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": SALT, "svg.image_inline": True}
NOBODY = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def svg_text(figure: Any) -> str:
    """The `<svg>` element of a figure, text kept as text; names inside it depend on what is drawn and on nothing else.

    Groups that nothing refers to lose their numbers, so that several pictures of one page never share an id that means
    two things.
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
    return re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in used else "", text)
