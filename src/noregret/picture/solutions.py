"""Rows that no line separates: the batch perceptron goes round, while the hinge loss has a minimiser that can be found.

J_soft has one too, θ = 0, where it is 0 whatever the rows are: no line at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.batch import BatchRun, retraced
from noregret.errors import SettingError
from noregret.interval import Interval
from noregret.loss import hinge
from noregret.picture.boundary import LOOKS, boundary_line, framed, said_above, scattered
from noregret.picture.canvas import COLOURS, Ending, name_ends, plain_frame, thinned
from noregret.picture.plane import Moment, linear_score, plane_of
from noregret.proof import enclose
from noregret.proof.separation import labelled_rows
from noregret.rounds import Rounds, Vector
from noregret.summary import at_least, at_most
from noregret.task.separate.minimisers import Minimisers, minimisers_of

SECONDS, GAP = 10.0, 1e-4
KEPT = 300  # steps whose losses are drawn
LINES = 24  # lines of the last steps


@dataclass(frozen=True)
class Solutions:
    """The steps that are looked at, their θ, hinge loss and J_soft, and the minimisers."""

    run: BatchRun
    rounds: Rounds
    steps: NDArray[np.int64]
    thetas: list[Vector]
    hinge: Vector
    best: Minimisers

    @property
    def last(self) -> list[Vector]:
        """The θ of one time round; of a run that does not come back, of its last steps."""
        first = self.run.returned_to if self.run.returned_to is not None else self.run.iterations - LINES
        found = [theta for k, theta in zip(self.steps.tolist(), self.thetas, strict=True) if k > first]
        return [found[i] for i in thinned(len(found), points=LINES)] or self.thetas[-1:]


def why_no_solutions(streams: tuple[Any, ...]) -> str | None:
    """What keeps a thing from being drawn so."""
    return None if streams else "solutions need the rows: pass the stream that the batch perceptron was fitted on"


def solutions_of(run: BatchRun, streams: tuple[Any, ...]) -> Solutions:
    """The batch perceptron's way on its rows, and the certified minimisers."""
    if len(streams) > 1:
        raise SettingError("plot: pass exactly one stream, the one the rows came from")
    given = streams[0]
    rounds = given if isinstance(given, Rounds) else labelled_rows(given, reading={}, bias=run.bias).rounds
    if run.theta.shape != (rounds.width,):
        raise SettingError("plot: these are not the rows that the batch perceptron was fitted on")
    kept = set(thinned(run.iterations + 1, points=KEPT).tolist()) | set(_end(run))
    way = enumerate([run.start, *(theta for _, theta in retraced(rounds, run))])
    steps, thetas = zip(*((k, theta) for k, theta in way if k in kept), strict=True)
    losses = [enclose.risk(rounds, hinge(), theta) for theta in thetas]
    best = minimisers_of(rounds, gap=GAP, seconds=SECONDS)
    return Solutions(run, rounds, np.array(steps), list(thetas), np.array([_middle(one) for one in losses]), best)


def _end(run: BatchRun) -> range:
    """The last steps, of which lines are drawn."""
    first = run.iterations - LINES if run.returned_to is None else max(run.returned_to, run.iterations - 500)
    return range(max(first, 0), run.iterations + 1)


def _middle(one: Interval) -> float:
    return 0.5 * one.lo + 0.5 * one.hi


def solutions_figure(figure: Any, found: Solutions) -> Any:
    """The lines among the rows, where these have two features, and beside them the losses step by step."""
    flat = found.rounds.width - int(found.rounds.bias) == 2
    figure.set_size_inches(12.5 if flat else 8.0, 4.6)
    *lines, losses = figure.subplots(1, 2 if flat else 1, squeeze=False)[0]
    for axes in lines:
        _lines(axes, found)
    _losses(losses, found)
    return np.array([*lines, losses])


def _lines(axes: Any, found: Solutions) -> None:
    plane, columns = plane_of(found.rounds)
    best = Moment(0, 0, linear_score(found.best.theta, found.rounds.bias, columns))
    framed(axes, plane)
    scattered(axes, plane, best)
    for theta in found.last:
        boundary_line(axes, plane, Moment(0, 0, linear_score(theta, found.rounds.bias, columns)), "0.6", 0.7)
    boundary_line(axes, plane, best, COLOURS[2], 2.0)
    names = [("● +1", LOOKS[0][2]), ("■ −1", LOOKS[1][2]), ("— perceptron, last steps", "0.45")]
    said_above(axes, [*names, ("— least hinge loss", COLOURS[2])])
    wrong = f"hollow: {found.best.misclassified:,} of {found.best.count:,} rows wrong at the least hinge loss"
    axes.set_xlabel(f"{plane.names[0]}\n{wrong}")


def _losses(axes: Any, found: Solutions) -> None:
    run, best = found.run, found.best.hinge
    soft = run.soft[found.steps]
    last = float(max(run.iterations, 1))
    endings = []
    for name, values, colour, style in (
        ("hinge loss of θ_k", found.hinge, COLOURS[0], "-"),
        ("J_soft of θ_k", soft, COLOURS[1], "-"),
    ):
        axes.plot(found.steps, values, style, color=colour, label=name, linewidth=1.0)
        endings.append(Ending(name, float(found.steps[-1]), float(values[-1]), colour))
    axes.axhspan(best.lower, best.upper, color=COLOURS[2], alpha=0.3, linewidth=0.0)
    axes.axhline(best.upper, color=COLOURS[2], linewidth=1.2, label="least hinge loss")
    axes.axhline(0.0, color="black", linewidth=1.2, linestyle="--", label="least J_soft")
    endings.append(Ending(f"least hinge loss: {best.upper:.5g}", last, best.upper, COLOURS[2]))
    endings.append(Ending("least J_soft: 0, at θ = 0", last, 0.0, "black"))
    axes.set_xlim(0.0, last)
    top = float(max(found.hinge.max(), soft.max(), best.upper))
    axes.set_yscale("symlog", linthresh=max(best.upper, 1e-9)) if top > 20.0 * best.upper > 0.0 else None
    axes.set_xlabel("step k of the batch perceptron")
    axes.set_ylabel("sum over the rows")
    proved = f"least hinge loss between {at_least(best.lower)} and {at_most(best.upper)}"
    axes.set_title(f"perceptron: {run.outcome.name.lower()}; {proved}", fontsize=9)
    plain_frame(axes)
    name_ends(axes, endings)
