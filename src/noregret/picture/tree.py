"""A mistake tree as text for a terminal and as a picture: label 0 to the left, label 1 to the right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from noregret.finite import HypothesisClass, MistakeTree, Round
from noregret.picture.canvas import COLOURS

SHOWN_IN_TEXT, SHOWN_IN_PICTURE = 5, 6  # levels; below them a tree has more nodes than can be looked at
PLAYED, QUIET = COLOURS[1], "0.6"


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


def tree_axes(axes: Any, hypotheses: HypothesisClass, tree: MistakeTree, rounds: Sequence[Round] = ()) -> Any:
    """The tree, at most its first six levels, each leaf with a hypothesis that goes its way; thick, what was played."""
    shown = min(tree.depth, SHOWN_IN_PICTURE)
    small = 9.0 if shown <= 4 else 6.0
    played = {one.node: one.label for one in rounds if one.node is not None}
    for node, level, left in _nodes(hypotheses, tree, shown):
        x, y = _place(node, level)
        if level == shown:
            text = _end(hypotheses, tree, node, left)
            axes.text(x, y, text, ha="center", va="center", color="0.35", fontsize=small, rotation=90 * (shown > 4))
            continue
        for label in (0, 1):
            _edge(axes, node, level, label, played.get(node) == label, small, 0.12 * (level + 1 == shown))
        axes.plot(
            [x], [y], "o", color=PLAYED if node in played else QUIET, markerfacecolor="white", markersize=2 * small
        )
        axes.text(x, y, str(tree.point(node)), ha="center", va="center", fontsize=small)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(-shown - 0.4, 0.4)
    axes.set_axis_off()
    axes.set_title(_said(tree, shown, rounds), fontsize=10)
    return axes


def _said(tree: MistakeTree, shown: int, rounds: Sequence[Round]) -> str:
    said = f"Shattered mistake tree of depth {tree.depth} that the class shatters: label 0 to the left, 1 to the right"
    if shown < tree.depth:
        said += f"; {tree.depth - shown} more levels"
    if rounds:
        wrong = sum(one.mistake for one in rounds)
        said += f"\nthick: the game that was played, {wrong} mistakes in {len(rounds)} rounds"
    return said


def _nodes(hypotheses: HypothesisClass, tree: MistakeTree, levels: int) -> Iterator[tuple[int, int, int]]:
    """Every node down to a level, with the level and the hypotheses that lead there."""
    here = [(1, hypotheses.everything)]
    for level in range(levels + 1):
        yield from ((node, level, left) for node, left in here)
        if level < levels:
            here = [
                (2 * node + label, hypotheses.agreeing(left, tree.point(node), label))
                for node, left in here
                for label in (0, 1)
            ]


def _edge(axes: Any, node: int, level: int, label: int, played: bool, size: float, short: float) -> None:
    (x, y), (to_x, to_y) = _place(node, level), _place(2 * node + label, level + 1)
    look = {"color": PLAYED, "linewidth": 3.0} if played else {"color": QUIET, "linewidth": 0.8}
    axes.plot([x, to_x], [y, to_y + short], zorder=0, label="played" if played else "edge", **look)
    beside = {"ha": "right", "xytext": (-7, 4)} if label == 0 else {"ha": "left", "xytext": (7, 4)}
    middle = (0.5 * (x + to_x), 0.5 * (y + to_y))
    axes.annotate(str(label), middle, textcoords="offset points", color=look["color"], fontsize=size, **beside)


def _place(node: int, level: int) -> tuple[float, float]:
    return (node - 2**level + 0.5) / 2**level, -float(level)
