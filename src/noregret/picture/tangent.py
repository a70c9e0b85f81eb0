"""Lemma 1 of Cesa-Bianchi's notes on a run: f(w_t) − f(u) ≤ ⟨g_t, w_t − u⟩, one round drawn and every round counted.

f is the round's loss and g_t its slope at w_t. Along the segment from w_t to u the tangent lies below f, so what it
falls by up to u, ⟨g_t, w_t − u⟩, is at least what f falls by. With a regulariser f holds (σ/2)‖w‖², and lies above the
tangent by (σ/2)‖u − w_t‖² or more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError
from noregret.loss import Loss
from noregret.picture.canvas import COLOURS, plain_frame, signed, thinned
from noregret.picture.plane import rounds_of
from noregret.proof import enclose, solve
from noregret.proof.facts import judged_by
from noregret.proof.receipt import Receipt
from noregret.proof.regret import Against
from noregret.proof.replay import classes, fresh
from noregret.rounds import Rounds
from noregret.run import Run
from noregret.stream.block import Sparse

Vector = NDArray[np.float64]
NEAR, SECONDS = 1e-3, 10.0  # how exactly the best model is looked for where no receipt has one
ALONG = np.linspace(-0.15, 1.15, 261)  # places on the line through w_t, at 0, and u, at 1
MOST = 2_000  # rounds that are drawn
ROUNDING = 1e-9


@dataclass(frozen=True)
class Tangents:
    """Every round's loss at w_t and at u, and the one round that is drawn."""

    loss: Loss
    weights: Vector
    y: Vector
    at_w: Vector  # the scores ⟨w_t, x_t⟩
    at_u: Vector
    place: int  # of the round that is drawn, from 0
    sigma: float
    ridge: tuple[float, float, float]  # ‖w‖², ⟨w, u⟩ and ‖u‖² of that round

    @property
    def falls(self) -> Vector:
        """f(w_t) − f(u) of every round, the regulariser left out."""
        return np.asarray(self.weights * (self.loss.values(self.at_w, self.y) - self.loss.values(self.at_u, self.y)))

    @property
    def linear(self) -> Vector:
        """⟨g_t, w_t − u⟩ of every round, the regulariser left out."""
        slopes = self.loss.gradients(self.at_w, self.y)
        return np.asarray(self.weights * slopes * (self.at_w - self.at_u))

    def along(self, s: Vector) -> Vector:
        """f at w + s(u − w), of the round that is drawn."""
        w, u = self.at_w[self.place], self.at_u[self.place]
        losses = self.loss.values(w + s * (u - w), np.full(len(s), self.y[self.place]))
        ww, wu, uu = self.ridge
        norm2 = (1.0 - s) ** 2 * ww + 2.0 * s * (1.0 - s) * wu + s**2 * uu
        return np.asarray(self.weights[self.place] * losses + 0.5 * self.sigma * norm2)

    @property
    def fall(self) -> float:
        """⟨g, w − u⟩ of the round that is drawn, the regulariser's part of g included."""
        ww, wu, _ = self.ridge
        return float(self.linear[self.place]) + self.sigma * (ww - wu)

    @property
    def bend(self) -> float:
        """(σ/2)‖u − w‖² of the round that is drawn."""
        ww, wu, uu = self.ridge
        return 0.5 * self.sigma * max(ww - 2.0 * wu + uu, 0.0)


def why_no_tangent(thing: Any, streams: tuple[Any, ...], receipt: Receipt | None) -> str | None:
    """What keeps a thing from being drawn so."""
    if not isinstance(thing, Run) or not thing.learner.linear or thing.tally is not None:
        return "a tangent is drawn of the run of a learner with weights"
    if not streams:
        return "a tangent needs the rows: pass the stream that the learner was trained on"
    return None if receipt is not None and "u" in receipt.points else why_no_best(thing.learner)


def why_no_best(core: Any, radius: float | None = None) -> str | None:
    """Why there is no best model to compare with."""
    if Against.of(core, radius, max(core.rounds, 1)) is not None:
        return None
    return "a tangent needs a best model in hindsight: give the learner a radius, or certify with one"


def tangents_of(run: Run, streams: tuple[Any, ...], receipt: Receipt | None) -> Tangents:
    """The round with the largest ⟨g_t, w_t − u⟩ against the best u, that of the receipt or one that is looked for."""
    rounds = rounds_of(run, streams)
    if not len(rounds):
        raise SettingError("plot: no round was played, so there is nothing to draw")
    assert rounds.scores is not None
    core, loss = run.learner, judged_by(run.learner)
    known = None if receipt is None else receipt.points.get("u")
    against = Against.of(core, None, len(rounds)) if known is None else None
    if against is not None:
        known = solve.best(rounds, loss, against.radius, against.sigma, gap=NEAR, seconds=SECONDS).u
    assert known is not None
    low, high = enclose.margins(rounds, known)
    weights = np.ones(len(rounds)) if rounds.weights is None else rounds.weights
    at_u, sigma = 0.5 * low + 0.5 * high, float(core.config["sigma"][0])
    plain = Tangents(loss, weights, rounds.y, rounds.scores, at_u, 0, 0.0, (0.0, 0.0, 0.0))
    place = int(np.argmax(plain.linear))
    ridge = _ridge(run, rounds, known, place) if sigma else (0.0, 0.0, 0.0)
    return Tangents(loss, weights, rounds.y, rounds.scores, at_u, place, sigma, ridge)


def _ridge(run: Run, rounds: Rounds, u: Vector, place: int) -> tuple[float, float, float]:
    """‖w‖², ⟨w, u⟩ and ‖u‖² for the weights before a round: the rounds before it are played once more."""
    core = run.learner
    twin = fresh(core.name, core.settings, classes(core))
    twin.take_prepared()
    twin.grow(rounds.width - int(rounds.bias), sparse=isinstance(rounds.rows, Sparse))
    if place:
        part = rounds.first(place)
        twin.play(part.bare, np.ascontiguousarray(part.y), part.weights)
    w = np.concatenate([[twin.bias], twin.weights]) if rounds.bias else twin.weights
    w = np.concatenate([w, np.zeros(len(u) - len(w))])
    return float(w @ w), float(w @ u), float(u @ u)


def tangent_figure(figure: Any, found: Tangents) -> Any:
    """Left the loss of one round with its tangent at w_t, right both sides of the inequality for every round."""
    one, every = figure.subplots(1, 2)
    _one_round(one, found)
    _every_round(every, found)
    for axes in (one, every):
        plain_frame(axes)
    return np.array([one, every])


def _one_round(axes: Any, found: Tangents) -> None:
    at_w, at_u = found.along(np.array([0.0, 1.0])).tolist()
    axes.plot(ALONG, found.along(ALONG), color=COLOURS[0], label="f")
    axes.plot(ALONG, at_w - ALONG * found.fall, "--", color=COLOURS[1], label="tangent at w_t")
    if found.sigma:
        parabola = at_w - ALONG * found.fall + ALONG**2 * found.bend
        axes.plot(ALONG, parabola, ":", color=COLOURS[2], label="tangent + (σ/2)‖· − w_t‖²")
    axes.plot([0.0, 1.0, 1.0], [at_w, at_u, at_w - found.fall], "o", color="black", ms=4.0)
    for x, end in ((1.04, at_u), (1.10, at_w - found.fall)):
        axes.annotate("", (x, end), (x, at_w), arrowprops={"arrowstyle": "<->", "color": "0.35"})
    axes.axhline(at_w, color="0.8", linewidth=0.8, zorder=0)
    axes.set_xticks([0.0, 1.0], ["w_t", "u"])
    axes.set_ylabel(f"loss of round {found.place + 1:,}")
    axes.legend(frameon=False, fontsize=8)
    linear = f"⟨g, w − u⟩ = {signed(found.fall)}"
    if found.sigma:
        linear += f", less (σ/2)‖u − w‖² = {signed(found.bend)}"
    axes.set_title(f"f(w) − f(u) = {signed(at_w - at_u)}, at most {linear}", fontsize=9)


def _every_round(axes: Any, found: Tangents) -> None:
    falls, linear = found.falls, found.linear
    at = thinned(len(falls), points=MOST)
    axes.plot(linear[at], falls[at], "o", color=COLOURS[0], ms=3.0, alpha=0.6, label="rounds")
    axes.plot([linear[found.place]], [falls[found.place]], "o", color="black", mfc="none", ms=8.0, label="drawn left")
    low, high = float(min(linear.min(), falls.min())), float(max(linear.max(), falls.max()))
    axes.plot([low, high], [low, high], "--", color=COLOURS[1], label="equality")
    axes.set_xlabel("⟨g_t, w_t − u⟩")
    axes.set_ylabel("f(w_t) − f(u)")
    above = int(np.count_nonzero(falls > linear + ROUNDING * (1.0 + np.abs(linear))))
    said = f"{above:,} rounds lie above the line: this loss is not convex" if above else "no round lies above the line"
    without = " (without the regulariser)" if found.sigma else ""
    sums = f"sums {signed(float(falls.sum()))} and {signed(float(linear.sum()))}"
    axes.set_title(f"{said}; {sums}{without}", fontsize=9)
