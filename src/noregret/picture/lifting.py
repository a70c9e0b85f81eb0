"""The lifting in the proof of Mohri & Rostamizadeh's Theorem 3: a stream that nothing separates becomes separable.

Row t gets an axis of its own: x'_t = (x_t, Δ·e_t). Then u = (v, (y_t·h_t/Δ)_t), h_t = max(0, 1 − y⟨v,x_t⟩), has
y⟨u, x'_t⟩ = y⟨v, x_t⟩ + h_t ≥ 1 on every round. As no earlier row lies on the axis of a new one, the perceptron scores
all of them as before, and Novikoff's theorem holds for the lifted stream: M ≤ (r² + Δ²)(‖v‖² + ‖h‖²/Δ²), which is least
at Δ² = r‖h‖/‖v‖, and (r‖v‖ + ‖h‖)² there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError
from noregret.picture.bounds import at_most
from noregret.picture.canvas import COLOURS, plain_frame
from noregret.picture.plane import rounds_of
from noregret.proof import enclose
from noregret.proof.receipt import Receipt
from noregret.proof.solve.perceptron import least_l2
from noregret.rounds import Rounds
from noregret.run import Run

Vector = NDArray[np.float64]
NEAR, SECONDS = 1e-4, 10.0  # how exactly a comparator is looked for where no receipt has one
MARKS = ((1.0, "o", COLOURS[0], "+1"), (-1.0, "s", COLOURS[1], "−1"))
MOST = 2_000  # rows that are drawn
TINY = 1e-100  # a length below it, or above its inverse, is no place to draw around


@dataclass(frozen=True)
class Lifting:
    """A stream beside its lifted form: scores ⟨v, x⟩, losses h, labels, and the lengths that the bound is made of."""

    scores: Vector
    losses: Vector
    y: Vector
    radius: float  # r
    norm: float  # ‖v‖
    mistakes: int

    @classmethod
    def of(cls, rounds: Rounds, v: Vector, mistakes: int) -> Lifting:
        """The lifting by a comparator v."""
        low, high = enclose.margins(rounds, v)
        scores = 0.5 * low + 0.5 * high
        losses = np.maximum(1.0 - rounds.y * scores, 0.0)
        return cls(scores, losses, rounds.y, enclose.largest_norm(rounds).hi, enclose.norm(v).hi, mistakes)

    @property
    def own(self) -> Vector:
        """What the own axis of each row adds to its score: y·h."""
        return np.asarray(self.y * self.losses)

    @property
    def size(self) -> float:
        """‖h‖."""
        return float(np.sqrt(np.square(self.losses).sum()))

    @property
    def best(self) -> float:
        """Δ where the bound is least: 0 where v separates already, infinite for v = 0."""
        return math.inf if self.norm == 0.0 else math.sqrt(self.radius * self.size / self.norm)

    def bound(self, width: float) -> float:
        """(r² + Δ²)(‖v‖² + ‖h‖²/Δ²)."""
        return (math.hypot(self.radius, width) * math.hypot(self.norm, self.size / width)) ** 2


def why_no_lifting(thing: Any, streams: tuple[Any, ...]) -> str | None:
    """What keeps a thing from being drawn so."""
    if not isinstance(thing, Run) or not thing.learner.perceptron_rounds:
        return "a lifting is drawn of the run of a perceptron"
    return None if streams else "a lifting needs the rows: pass the stream that the learner was trained on"


def lifting_of(run: Run, streams: tuple[Any, ...], receipt: Receipt | None) -> Lifting:
    """By the receipt's comparator for the L2 bound, or by one that is looked for."""
    rounds = rounds_of(run, streams)
    if rounds.weights is not None:
        raise SettingError("plot: a lifting needs rows of weight 1")
    if not len(rounds):
        raise SettingError("plot: no round was played, so there is nothing to draw")
    known = None if receipt is None else receipt.points.get("v_l2")
    v = least_l2(rounds, gap=NEAR, seconds=SECONDS).v if known is None else known
    return Lifting.of(rounds, v, run.updates)


def lifting_figure(figure: Any, found: Lifting) -> Any:
    """The rows by their score; lifted, with the plane between the classes; and the bound as Δ grows."""
    before, after, widths = figure.subplots(1, 3)
    _before(before, found)
    _after(after, found)
    _widths(widths, found)
    for axes in (before, after, widths):
        plain_frame(axes)
    return np.array([before, after, widths])


def _some(found: Lifting, y: float) -> NDArray[np.int64]:
    """The rows of one label, in even steps where there are too many to draw."""
    rows = np.flatnonzero(found.y == y)
    return rows[:: max(1, -(-len(rows) // MOST))]


def _before(axes: Any, found: Lifting) -> None:
    for y, mark, colour, name in MARKS:
        rows = _some(found, y)
        short = found.losses[rows] > 0.0
        for some, face in ((rows[~short], colour), (rows[short], "none")):
            axes.plot(found.scores[some], some + 1, mark, color=colour, mfc=face, ms=4.0, label=f"label {name}")
    for edge in (-1.0, 1.0):
        axes.axvline(edge, color="0.5", linestyle="--", linewidth=0.8)
    axes.set_xlabel("score ⟨v, x⟩")
    axes.set_ylabel("round t")
    hollow = int(np.count_nonzero(found.losses))
    axes.set_title(f"before: {hollow:,} of {len(found.y):,} rows are short of margin 1 (hollow)", fontsize=9)


def _after(axes: Any, found: Lifting) -> None:
    for y, mark, colour, name in MARKS:
        rows = _some(found, y)
        axes.plot(found.scores[rows], found.own[rows], mark, color=colour, ms=4.0, label=f"label {name}")
    (left, right), (low, high) = _with_room(found.scores), _with_room(found.own)
    ends = np.array([left, right])
    axes.fill_between(ends, -1.0 - ends, 1.0 - ends, color="0.92", zorder=0, linewidth=0.0)
    axes.plot(ends, -ends, color="black", linewidth=1.2, label="⟨u, x'⟩ = 0")
    axes.set_xlim(left, right)
    axes.set_ylim(low, high)
    for (y, _, colour, name), place in zip(MARKS, (0.96, 0.04), strict=True):
        end = "right" if y > 0.0 else "left"
        axes.text(place, place, f"label {name}", transform=axes.transAxes, color=colour, ha=end, va="center")
    axes.set_xlabel("score ⟨v, x⟩")
    axes.set_ylabel("added by the row's own axis, y·h")
    axes.set_title("lifted: no row lies within the grey margin", fontsize=9)


def _with_room(values: Vector) -> tuple[float, float]:
    """The ends of an axis that has 0 and the margin in it."""
    low, high = min(float(values.min()), -1.0), max(float(values.max()), 1.0)
    room = 0.06 * (high - low)
    return low - room, high + room


def _widths(axes: Any, found: Lifting) -> None:
    middle = next((one for one in (found.best, found.radius) if TINY < one < 1.0 / TINY), 1.0)
    width = middle * np.geomspace(1.0 / 30.0, 30.0, 241)
    axes.plot(width, [found.bound(one) for one in width], color=COLOURS[2])
    least = (found.radius * found.norm + found.size) ** 2
    if middle == found.best:
        axes.plot([middle], [least], "o", color=COLOURS[2])
    axes.axhline(len(found.y), color="0.5", linestyle="--", linewidth=0.8)
    axes.axhline(found.mistakes, color=COLOURS[0], linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for height, text in ((len(found.y), f"T = {len(found.y):,} rounds"), (found.mistakes, f"M = {found.mistakes:,}")):
        axes.annotate(text, (width[0], height), (2, 3), textcoords="offset points", color="0.3", fontsize=8)
    axes.set_xlabel("length Δ of the new axes")
    axes.set_ylabel("(r² + Δ²)(‖v‖² + ‖h‖²/Δ²)")
    axes.set_title(f"Novikoff's bound: least {at_most(least)} = (r‖v‖ + ‖h‖)²", fontsize=9)
