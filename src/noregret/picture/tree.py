"""A mistake tree as text for a terminal and as an SVG picture: label 0 to the left, label 1 to the right."""

from __future__ import annotations

import os
from collections.abc import Iterator
from html import escape
from pathlib import Path

from noregret.atomic import whole_file
from noregret.errors import SettingError
from noregret.finite import HypothesisClass, MistakeTree

SHOWN_IN_TEXT, SHOWN_IN_PICTURE = 5, 7  # levels; below them a tree has more nodes than can be looked at
STEP, DROP, RADIUS, MARGIN = 34, 72, 15, 30


def tree_lines(hypotheses: HypothesisClass, tree: MistakeTree, levels: int = SHOWN_IN_TEXT) -> Iterator[str]:
    """The tree a node a line, at the leaves a hypothesis that the labels lead to."""
    shown = min(tree.depth, levels)
    yield from _lines(hypotheses, tree, 1, hypotheses.everything, shown, "", "")
    if shown < tree.depth:
        yield f"({tree.depth - shown} more levels)"


def _lines(
    hypotheses: HypothesisClass, tree: MistakeTree, node: int, left: int, levels: int, lead: str, indent: str
) -> Iterator[str]:
    if not levels:
        yield lead + _end(hypotheses, tree, node, left)
        return
    point = tree.point(node)
    yield f"{lead}point {point}"
    for label, mark, under in ((0, "├─ 0: ", "│  "), (1, "└─ 1: ", "   ")):
        rest = hypotheses.agreeing(left, point, label)
        yield from _lines(hypotheses, tree, 2 * node + label, rest, levels - 1, indent + mark, indent + under)


def _end(hypotheses: HypothesisClass, tree: MistakeTree, node: int, left: int) -> str:
    """What stands below the last level shown: a hypothesis at a leaf of the tree, else that there is more."""
    whole = node > len(tree.nodes)
    return hypotheses.name((left & -left).bit_length() - 1) if whole else "…"


def draw_tree(hypotheses: HypothesisClass, tree: MistakeTree, path: str | os.PathLike[str]) -> None:
    """Write the tree as SVG, at most its first seven levels."""
    if Path(path).suffix != ".svg":
        raise SettingError(f"--svg: the file's name must end in .svg, got {os.fspath(path)!r}")
    with whole_file(path) as file:
        file.write(tree_svg(hypotheses, tree).encode())


def tree_svg(hypotheses: HypothesisClass, tree: MistakeTree, levels: int = SHOWN_IN_PICTURE) -> str:
    """The picture as text."""
    shown = min(tree.depth, levels)
    width = 2 * MARGIN + STEP * 2**shown
    height = 2 * MARGIN + DROP * shown + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="11" text-anchor="middle">',
        f"<title>A mistake tree of depth {tree.depth} that the class shatters</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        *_drawn(hypotheses, tree, 1, hypotheses.everything, 0, shown),
    ]
    if shown < tree.depth:
        parts.append(f'<text x="{width / 2:g}" y="{height - 8}">{tree.depth - shown} more levels</text>')
    return "\n".join([*parts, "</svg>\n"])


def _drawn(
    hypotheses: HypothesisClass, tree: MistakeTree, node: int, left: int, level: int, levels: int
) -> Iterator[str]:
    """The node at a level and all below it; the edges come before the circles that cover their ends."""
    x, y = _place(node, level, levels)
    if level == levels:
        yield f'<text x="{x:g}" y="{y + 4:g}" fill="#555">{escape(_end(hypotheses, tree, node, left))}</text>'
        return
    point = tree.point(node)
    for label in (0, 1):
        below = 2 * node + label
        to_x, to_y = _place(below, level + 1, levels)
        yield f'<line x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y - 10:g}" stroke="#999"/>'
        yield f'<text x="{(x + to_x) / 2 + 8 * (2 * label - 1):g}" y="{(y + to_y) / 2:g}" fill="#06c">{label}</text>'
        yield from _drawn(hypotheses, tree, below, hypotheses.agreeing(left, point, label), level + 1, levels)
    yield f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}" fill="#eef4ff" stroke="#336"/>'
    yield f'<text x="{x:g}" y="{y + 4:g}">{escape(str(point))}</text>'


def _place(node: int, level: int, levels: int) -> tuple[float, float]:
    across = STEP * 2 ** (levels - level)
    return MARGIN + across * (node - 2**level + 0.5), MARGIN + DROP * level
