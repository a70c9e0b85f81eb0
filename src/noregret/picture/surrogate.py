"""The surrogate losses of Shalev-Shwartz & Ben-David 21.4: the perceptron is gradient descent on them.

f_t(w) = max(0, 1 − y⟨w, x_t⟩) where round t is a mistake, and f_t = 0 everywhere where it is not. So f_t(w_t) is never
below the 0–1 loss of the round, f_t is convex, and a step along its slope at w_t is the perceptron's: y_t·x_t, or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError
from noregret.picture.canvas import COLOURS, plain_frame
from noregret.picture.plane import rounds_of
from noregret.proof.facts import Facts
from noregret.run import Run

Vector = NDArray[np.float64]
MOST = 2_000  # rounds of a kind that are drawn


@dataclass(frozen=True)
class Surrogates:
    """Every round's margin y·score, as played, and whether it was a mistake."""

    margins: Vector
    mistake: NDArray[np.bool_]

    @property
    def losses(self) -> Vector:
        """f_t(w_t): the hinge loss of a mistake, 0 of any other round."""
        return np.where(self.mistake, self.hinge, 0.0)

    @property
    def hinge(self) -> Vector:
        """max(0, 1 − y·score) of every round; what f_t leaves out is that of rounds right by a margin below 1."""
        return np.maximum(1.0 - self.margins, 0.0)


def why_no_surrogates(thing: Any, streams: tuple[Any, ...]) -> str | None:
    """What keeps a thing from being drawn so."""
    if not isinstance(thing, Run) or not thing.learner.perceptron_rounds:
        return "surrogate losses are drawn of the run of a perceptron"
    return None if streams else "surrogate losses need the rows: pass the stream that the learner was trained on"


def surrogates_of(run: Run, streams: tuple[Any, ...]) -> Surrogates:
    """From the run's rounds with their scores."""
    rounds = rounds_of(run, streams)
    if rounds.weights is not None:
        raise SettingError("plot: surrogate losses need rows of weight 1")
    if not len(rounds) or rounds.scores is None:
        raise SettingError("plot: no round was played, so there is nothing to draw")
    mistake = np.zeros(len(rounds), dtype=bool)
    mistake[Facts(run, rounds).updates] = True
    return Surrogates(rounds.y * rounds.scores, mistake)


def surrogate_figure(figure: Any, found: Surrogates) -> Any:
    """f_t(w_t) round by round, the rounds that are zero marked; and both kinds of f_t by the margin."""
    along, across = figure.subplots(1, 2, width_ratios=(3, 2))
    _along(along, found)
    _across(across, found)
    for axes in (along, across):
        plain_frame(axes)
    return np.array([along, across])


def _some(rounds: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The rounds of one kind, in even steps where there are too many to draw."""
    places = np.flatnonzero(rounds)
    return places[:: max(1, -(-len(places) // MOST))]


def _along(axes: Any, found: Surrogates) -> None:
    wrong, right = _some(found.mistake), _some(~found.mistake)
    axes.vlines(wrong + 1, 0.0, found.losses[wrong], color=COLOURS[1], linewidth=0.9)
    axes.plot(wrong + 1, found.losses[wrong], "o", color=COLOURS[1], ms=3.5, label="mistake: hinge loss")
    axes.plot(right + 1, np.zeros(len(right)), "|", color=COLOURS[0], ms=7.0, label="f_t = 0")
    short = _some(~found.mistake & (found.hinge > 0.0))
    axes.plot(short + 1, found.hinge[short], "o", color="0.6", mfc="none", ms=3.0, label="hinge loss left out")
    axes.axhline(1.0, color="0.5", linestyle="--", linewidth=0.8)
    axes.set_xlabel("round t")
    axes.set_ylabel("f_t(w_t)")
    axes.legend(fontsize=8, frameon=False)
    count, rounds = int(found.mistake.sum()), len(found.mistake)
    axes.set_title(f"{count:,} of {rounds:,} rounds are mistakes; {rounds - count:,} losses f_t are 0", fontsize=9)


def _across(axes: Any, found: Surrogates) -> None:
    wrong, right = _some(found.mistake), _some(~found.mistake)
    low, high = min(float(found.margins.min()), -1.0), max(float(found.margins.max()), 2.0)
    ends = np.array([low, 1.0, high])
    axes.plot(ends, np.maximum(1.0 - ends, 0.0), color=COLOURS[1], linewidth=1.2, label="f_t of a mistake")
    axes.plot([low, high], [0.0, 0.0], color=COLOURS[0], linewidth=1.2, label="f_t of another round: 0")
    axes.step(
        [low, 0.0, high], [1.0, 1.0, 0.0], where="pre", color="0.5", linestyle="--", linewidth=0.8, label="0–1 loss"
    )
    axes.plot(found.margins[wrong], found.losses[wrong], "o", color=COLOURS[1], ms=3.5)
    axes.plot(found.margins[right], np.zeros(len(right)), "|", color=COLOURS[0], ms=7.0)
    axes.set_xlabel("margin y⟨w, x_t⟩")
    axes.set_ylabel("f_t(w)")
    axes.legend(fontsize=8, frameon=False)
    axes.set_title(f"Σ f_t(w_t) = {float(found.losses.sum()):.4g}, never below the mistakes", fontsize=9)
