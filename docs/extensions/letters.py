"""Formulas are text: w_{t+1} and e^(−x²). In the built pages what stands low or high is set low or high.

Code is left alone, and so are the pages made from the program, whose words are those of the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes

INNER = r"(?:[^{}()]|\{[^{}]*\}|\([^()]*\))*"
MARK = re.compile(
    r"(?<=[^\s_])"
    rf"(?:_(?:\{{(?P<low>{INNER})\}}|(?P<letters>[A-Za-z]+|\d+))"
    rf"|\^(?:\{{(?P<high>{INNER})\}}|\((?P<round>{INNER})\)|(?P<letter>\w)))"
)
CODE = (nodes.literal, nodes.literal_block, nodes.raw, nodes.comment)


def set_apart(text: str) -> Iterator[nodes.Node]:
    """The text in parts: as it stands, low, or high; a low part may have low parts of its own."""
    end = 0
    for found in MARK.finditer(text):
        if text[end : found.start()]:
            yield nodes.Text(text[end : found.start()])
        low = found["low"] or found["letters"]
        kind = nodes.subscript if low else nodes.superscript
        yield kind("", "", *set_apart(low or found["high"] or found["round"] or found["letter"] or ""))
        end = found.end()
    if text[end:]:
        yield nodes.Text(text[end:])


def inside_code(node: nodes.Node) -> bool:
    while node is not None:
        if isinstance(node, CODE):
            return True
        node = node.parent
    return False


def process(app: Any, doctree: nodes.document) -> None:
    if app.env.current_document.docname.startswith("reference/"):
        return
    for text in list(doctree.findall(nodes.Text)):
        if MARK.search(text) and not inside_code(text):
            text.parent.replace(text, list(set_apart(str(text))))


def setup(app: Any) -> dict[str, Any]:
    app.connect("doctree-read", process)
    return {"parallel_read_safe": True}
