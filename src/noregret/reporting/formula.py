"""Formulas as the theorems state them, with indices lowered and powers raised: R_I² is R with a small I and a 2."""

from __future__ import annotations

import re
from html import escape

from noregret.reporting.markup import Markup, visible

BRACED = re.compile(r"([_^])\{([^{}]*)\}")
POWER = re.compile(r"\^\(((?:[^()]|\([^()]*\))*)\)|\^([A-Za-z]+)")
INDEX = re.compile(r"_([A-Za-zŷ](?![A-Za-z])|\d)")
CODE = re.compile(r"`([^`]+)`")


def formula(text: str) -> Markup:
    """The text with `_i`, `_{t+1}` as indices and `^d`, `^(…)` as powers; a name between backticks as code.

    >>> print(formula("Σ_t h_t(v) < w_{t+1}"))
    Σ<sub>t</sub> h<sub>t</sub>(v) &lt; w<sub>t+1</sub>
    """
    found = CODE.sub(r"<code>\1</code>", escape(visible(text)))
    found = POWER.sub(lambda match: f"<sup>{match[1] or match[2]}</sup>", INDEX.sub(r"<sub>\1</sub>", found))
    return Markup(BRACED.sub(lambda match: f"<{_tag(match)}>{match[2]}</{_tag(match)}>", found))


def _tag(match: re.Match[str]) -> str:
    return "sub" if match[1] == "_" else "sup"
