"""A game of linear losses: the regret grows like √T, and no learner can keep it smaller."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret.adversary import LinearGame
from noregret.picture.canvas import COLOURS, Ending, name_ends, plain_frame, round_axis, thinned


def linear_game_axes(axes: Any, game: LinearGame) -> Any:
    """The regret so far between the least that any learner has, U·G·√t, and the most of gradient descent, U·G·√(8t)."""
    rounds = np.arange(1, len(game) + 1)
    own = np.cumsum([float(one) for one in game.own])
    best = game.radius * np.sqrt([float(one) for one in game.sums_norm2])
    unit = game.radius * game.length
    at = thinned(len(game))
    endings = []
    for name, values, colour, style in (
        ("gradient descent has at most U·G·√(8t)", unit * np.sqrt(8.0 * rounds), COLOURS[1], "--"),
        (f"regret of {game.learner}", own + best, COLOURS[0], "-"),
        ("every learner has at least U·G·√t", unit * np.sqrt(rounds), COLOURS[2], ":"),
        ("loss of the learner", own, "0.45", "-"),
    ):
        axes.plot(rounds[at], values[at], style, color=colour, label=name)
        endings.append(Ending(name, float(rounds[-1]), float(values[-1]), colour))
    axes.set_ylim(bottom=min(0.0, float(own.min())))
    axes.set_ylabel("sum so far")
    round_axis(axes, float(rounds[-1]), logarithmic=False)
    axes.set_xlim(left=0.0)
    plain_frame(axes)
    name_ends(axes, endings)
    return axes
