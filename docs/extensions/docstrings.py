"""Docstrings are written in plain Markdown, and autodoc reads reStructuredText: backticks and stars are translated."""

from __future__ import annotations

import re
from typing import Any

CODE = re.compile(r"(`[^`]+`)")


def translated(line: str) -> str:
    """One line: `code` in two backticks, and every other mark that would mean something as itself."""
    parts = CODE.split(line)
    return "".join(f"`{part}`" if CODE.fullmatch(part) else re.sub(r"([*|_\\])", r"\\\1", part) for part in parts)


def examples(lines: list[str]) -> set[int]:
    """The lines of the examples: from a `>>>` to the next empty line."""
    found, inside = set(), False
    for number, line in enumerate(lines):
        inside = line.strip() != "" and (inside or line.lstrip().startswith(">>>"))
        if inside:
            found.add(number)
    return found


def process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    untouched = examples(lines)
    lines[:] = [line if number in untouched else translated(line) for number, line in enumerate(lines)]


def setup(app: Any) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True}
