"""`plot`: whatever there is to look at, drawn in the way its kind asks for.

Every thing has a few kinds of picture, the first being the one that is drawn unless another is asked for. A kind says
in a sentence why it cannot be drawn of a thing: whoever asked hears it before the work, and a report leaves it out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from noregret.adversary import LinearGame
from noregret.batch import BatchRun
from noregret.errors import SettingError
from noregret.finite import CoinGames, Dimensions, FiniteRun
from noregret.learner.core import Core
from noregret.mean import MeanRun
from noregret.picture import kinds as all_kinds
from noregret.picture.canvas import MOVING, Picture, check_picture, new_figure, save_figure
from noregret.picture.kinds import Kind, Subject
from noregret.proof.receipt import Receipt
from noregret.run import Run
from noregret.task.audit import Audit
from noregret.task.blend import Blend
from noregret.task.compare import Comparison
from noregret.task.select import Selection
from noregret.task.separate import Separation

KINDS: dict[type, dict[str, Kind]] = {
    Run: all_kinds.RUN,
    Receipt: all_kinds.RECEIPT,
    Selection: {"bounds": all_kinds.BOUNDS},
    Blend: all_kinds.BLENDED,
    Audit: {"parts": all_kinds.PARTS},
    BatchRun: all_kinds.BATCH,
    Separation: {"boundary": all_kinds.BOUNDARY},
    Dimensions: {"tree": all_kinds.TREE},
    FiniteRun: all_kinds.GAME,
    CoinGames: all_kinds.GAMES,
    LinearGame: {"regret": all_kinds.LINEAR_GAME},
    MeanRun: {"regret": all_kinds.MEAN},
}


def plot(
    thing: Any,
    *streams: Any,
    kind: str | None = None,
    ax: Any = None,
    receipt: Receipt | None = None,
    to: str | os.PathLike[str] | None = None,
) -> Any:
    """Draw a thing on the axes `ax`, or on a figure of its own, and return the Axes.

    A run (or a learner) has error, risk, mistakes, reliability, weights (those of the members of `auto`), boundary,
    updates, tangent and, of a perceptron, lifting and surrogate; runs by name, or a comparison, error, risk, overview,
    boundary and updates; a receipt regret, radius and bounds; a selection bounds; a blend weights, regret and overview;
    an audit parts; a batch perceptron steps, boundary, updates and solutions, several steps, boundary, updates and
    starts; a separation boundary; dimensions tree; a finite game tree and mistakes; games against fair coins, a linear
    game and a mean regret. The first that can be drawn is, unless `kind` asks for another.

    `streams` are those that were learned from: boundaries are drawn among their rows, which have two features.
    `receipt` gives the bounds that mistakes are drawn against. `to` also writes the figure to a file (.png, .svg, .pdf;
    updates as .gif too, which returns None). overview, updates, lifting, surrogate, tangent and solutions have several
    axes and return them as an array.

    >>> from noregret.learner import Perceptron
    >>> from noregret.protocol import play
    >>> rows = [[1.0, 2.0], [2.0, 0.5], [-1.0, -1.0]], [1, 1, -1]
    >>> axes = plot(play(Perceptron(), rows), rows, kind="boundary")
    >>> axes.get_xlabel()
    'feature 0'
    """
    subject, kinds = _known(thing, streams, receipt)
    chosen = _chosen(subject, kinds, kind)
    if to is not None:
        check_picture(to, moves=chosen.moving is not None)
        if Path(to).suffix.lower() == MOVING and chosen.moving is not None:
            chosen.moving(subject, to)
            return None
    drawn = _drawn(subject, chosen, ax)
    if to is not None:
        save_figure(_figure_of(drawn), to)
    return drawn


def pictures_of(thing: Any, *streams: Any, receipt: Receipt | None = None) -> list[Picture]:
    """Every picture on one pair of axes that can be drawn of a thing, in the order of telling."""
    subject, kinds = _known(thing, streams, receipt)
    return [
        Picture(one.title, one.caption, _drawing(one.draw, subject))
        for one in kinds.values()
        if one.draw is not None and one.missing(subject) is None
    ]


def _drawing(draw: Callable[[Any, Subject], Any], subject: Subject) -> Callable[[Any], Any]:
    return lambda axes: draw(axes, subject)


def _known(thing: Any, streams: tuple[Any, ...], receipt: Receipt | None) -> tuple[Subject, dict[str, Kind]]:
    """The thing as it is drawn, and the kinds of picture that there are of it."""
    thing = {name: _plain(one) for name, one in thing.items()} if isinstance(thing, Mapping) else _plain(thing)
    kinds = all_kinds.of_several(list(thing.values())) if isinstance(thing, Mapping) else KINDS.get(type(thing))
    if kinds is None:
        what = f"a {type(thing).__name__}" if not isinstance(thing, Mapping) else "these things together"
        raise SettingError(f"plot: there is no picture of {what}")
    return Subject(thing, streams, receipt), kinds


def _plain(thing: Any) -> Any:
    """A learner's run, a comparison's runs, the iteration of a batch perceptron; all else as it is."""
    if isinstance(thing, Comparison):
        return thing.runs
    if isinstance(thing, Selection):
        return thing
    if isinstance(getattr(thing, "core", None), Core):
        return Run.of(thing.core)
    iteration = getattr(thing, "run_", None)
    return iteration if isinstance(iteration, BatchRun) else thing


def _chosen(subject: Subject, kinds: Mapping[str, Kind], kind: str | None) -> Kind:
    """The kind asked for, or the first that can be drawn."""
    if kind is not None and kind not in kinds:
        raise SettingError(f"plot: kind must be one of {', '.join(kinds)}, got {kind!r}")
    if kind is None:
        kind = next((name for name, one in kinds.items() if one.missing(subject) is None), next(iter(kinds)))
    why = kinds[kind].missing(subject)
    if why is not None:
        raise SettingError(f"plot: {why}")
    return kinds[kind]


def _drawn(subject: Subject, chosen: Kind, ax: Any) -> Any:
    if chosen.fill is not None:
        if ax is not None:
            raise SettingError("plot: this picture makes its own axes: omit ax")
        return chosen.fill(new_figure(*chosen.size(subject)), subject)
    assert chosen.draw is not None
    if ax is not None and not hasattr(ax, "set_ylabel"):
        raise SettingError(f"plot: ax must be a matplotlib Axes, got {type(ax).__name__}")
    return chosen.draw(new_figure(*chosen.size(subject)).add_subplot() if ax is None else ax, subject)


def _figure_of(drawn: Any) -> Any:
    """The figure of axes, or of several."""
    return np.asarray(drawn).flat[0].get_figure(root=True)
