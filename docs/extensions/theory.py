"""The heads of the theory pages' sections, as the registry of theorems has them.

A section of `docs/theory/` is a theorem: the heading is its name; then come its statement, formula, source, assumptions
and erratum, which this file writes, and its proof and the tests that check it, which people write. When the registry
changes, `python docs/extensions/theory.py` writes the heads again; a test fails until that is done.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGES = Path(__file__).parents[1] / "theory"
SECTION = re.compile(r"^(?:#{2}) ([a-z0-9-]+)\n(.*?)(?=^\*\*Proof\.\*\*)", re.MULTILINE | re.DOTALL)


def filled(text: str) -> str:
    """A paragraph in lines of 120 characters, none of which begins with what Markdown takes for a list or a quote."""
    lines = textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)
    return re.sub(r"\n(?=[-+*>#] |\d+[.)] )", " ", lines)


def parts(one: Any) -> Iterator[str]:
    """The paragraphs of a theorem's head."""
    first, *more = one.statement.split("\n\n")
    yield filled(f"**Statement.** {first}")
    yield from map(filled, more)
    yield f"> {one.formula}"
    yield filled(f"*Of*: {', '.join(one.learners) or 'any class'}. *Bounds*: {one.title}. *Source*: {one.source}.")
    yield filled(f"*Assumes*: {'; '.join(one.assumptions) or 'nothing'}.")
    if one.erratum:
        yield filled(f"**Erratum.** {one.erratum}")


def head(one: Any) -> str:
    """What stands between the heading of a section and its proof."""
    return "\n" + "\n\n".join(parts(one)) + "\n\n"


def renewed(text: str) -> str:
    """A page with the heads of its sections as they are now."""
    from noregret.proof.theorems import THEOREMS

    return SECTION.sub(
        lambda found: f"## {found[1]}\n{head(THEOREMS[found[1]])}" if found[1] in THEOREMS else found[0], text
    )


if __name__ == "__main__":
    for page in sorted(PAGES.glob("*.md")):
        page.write_text(renewed(page.read_text()))
