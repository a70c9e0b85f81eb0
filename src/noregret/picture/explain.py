"""The picture that explains it all: what the run lost, what the best fixed weights would have lost, what was promised.

Three sums over the rounds so far. The lowest is the loss of the best fixed weights, solved for again at every dot. The
run's own loss lies above it, and the area between the two is the regret. The highest is the lowest plus the bound on
the regret. A run can never leave the area between the lowest and the highest.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.errors import SettingError
from noregret.learner import OnlineGradientDescent
from noregret.picture.canvas import (
    COLOURS,
    Ending,
    check_picture,
    name_ends,
    new_figure,
    plain_frame,
    save_figure,
    thinned,
)
from noregret.proof.facts import own_loss
from noregret.proof.regret import Against, promises
from noregret.proof.replay import chains, classes, fresh, replay
from noregret.proof.solve import prefixes
from noregret.run import Run
from noregret.summary import at_least, at_most

DOTS = 20  # rounds at which hindsight is solved for
POINTS = 150  # of the run's own curve
PROMISE = "ogd-linearised"


@dataclass(frozen=True)
class Story:
    """After each of `rounds`: the loss of the run, the two ends of the loss of hindsight, the bound at that time."""

    loss: str
    radius: float
    rounds: list[int]
    own: list[float]
    lower: list[float]
    upper: list[float]
    promised: list[float]
    regret: tuple[float, float]  # at the end, from and to


def story(run: Run, *streams: Any, dots: int = DOTS) -> Story:
    """The sums of a run of gradient descent in a ball, at some of its rounds and at the last."""
    core = run.learner
    against = Against.of(core, None, run.rounds) if isinstance(core, OnlineGradientDescent) else None
    if against is None:
        raise SettingError("explain: needs a run of ogd in a ball")
    again = replay(fresh(core.name, core.settings, classes(core)), chains(core), streams)
    counts = dotted(run.rounds, dots)
    found = prefixes(again.rounds, against.loss, against.radius, core.comparator_sigma, counts)
    parts = [again.rounds.first(count) for count in counts]
    own = [own_loss(again.run, part) for part in parts]
    made = [promises(again.run, part, one) for part, one in zip(parts, found, strict=True)]
    return Story(
        against.loss.spec,
        against.radius,
        counts,
        [0.5 * (one.lo + one.hi) for one in own],
        [one.lower for one in found],
        [one.upper for one in found],
        [one[PROMISE] for one in made],
        (own[-1].lo - found[-1].upper, own[-1].hi - found[-1].lower),
    )


def dotted(rounds: int, dots: int) -> list[int]:
    """Rounds in even steps to the last, and before the first step 1, 2, 4, …

    >>> dotted(100, 4)
    [1, 2, 4, 8, 16, 25, 50, 75, 100]
    """
    even = {max(1, round(rounds * k / dots)) for k in range(1, dots + 1)}
    return sorted(even | {2**k for k in range(rounds.bit_length()) if 2**k < min(even)})


def draw_story(shown: Story, run: Run, path: str | os.PathLike[str]) -> None:
    """Draw the story to a file."""
    check_picture(path)
    figure = new_figure(8.0, 4.4)
    story_axes(figure.add_subplot(), shown, run)
    save_figure(figure, path)


def story_axes(axes: Any, shown: Story, run: Run) -> Any:
    """The three sums, the room that the run cannot leave, and the regret between two of them."""
    rounds = np.array([0, *shown.rounds])
    best, own = np.array([0.0, *shown.upper]), np.array([0.0, *shown.own])
    limit = best + np.array([0.0, *shown.promised])
    trace = run.trace
    at = thinned(len(trace["rounds"]), points=POINTS)
    axes.fill_between(rounds, best, limit, color=COLOURS[1], alpha=0.08, linewidth=0.0)
    played, lost = (np.array([0.0, *trace[name][at]]) for name in ("rounds", "loss"))
    axes.fill_between(played, np.interp(played, rounds, best), lost, color=COLOURS[0], alpha=0.22, linewidth=0.0)
    axes.plot(rounds, limit, "--", color=COLOURS[1], label="bound from theory")
    axes.plot(played, lost, color=COLOURS[0], linewidth=2.0, label="loss of the run")
    axes.plot(rounds[1:], best[1:], "o-", color=COLOURS[2], markersize=3.0, label="best in hindsight")
    last = float(rounds[-1])
    axes.annotate(
        "",
        (0.985 * last, best[-1]),
        (0.985 * last, own[-1]),
        arrowprops={"arrowstyle": "<->", "color": "0.2", "linewidth": 1.0, "shrinkA": 0.0, "shrinkB": 0.0},
    )
    axes.set_xlim(0.0, last)
    axes.set_ylim(0.0, 1.05 * float(limit[-1]))
    axes.set_xlabel("round")
    axes.set_ylabel(f"total loss so far ({shown.loss})")
    plain_frame(axes)
    regret = f"{at_least(shown.regret[0])} … {at_most(shown.regret[1])}"
    name_ends(
        axes,
        [
            Ending(f"bound from theory: {limit[-1]:.1f}", last, float(limit[-1]), COLOURS[1]),
            Ending(f"loss of the run: {own[-1]:.1f}", last, float(own[-1]), COLOURS[0]),
            Ending(f"regret: {regret}", last, float(0.5 * (own[-1] + best[-1])), "0.2"),
            Ending(f"best in hindsight: {best[-1]:.1f}", last, float(best[-1]), COLOURS[2]),
        ],
    )
    return axes
