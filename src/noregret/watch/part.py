"""A window of a run: the ledger of what was played in it, and what frozen models lost on the same rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.domain import Domain
from noregret.interval import Interval, largest
from noregret.learner.core import Core
from noregret.loss import Loss
from noregret.watch.frozen import missed
from noregret.watch.ledger import Ledger, Tally

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """What somebody's predictions came to: mistakes, where labels are classes, and the ledger by which they are judged.

    The ledger of one that no longer learned holds its losses alone.
    """

    mistakes: int | None
    ledger: Ledger | None

    def __add__(self, other: Measured) -> Measured:
        mistakes = None if self.mistakes is None or other.mistakes is None else self.mistakes + other.mistakes
        ledger = None if self.ledger is None or other.ledger is None else self.ledger + other.ledger
        return Measured(mistakes, ledger)


@dataclass(frozen=True)
class Part:
    """Consecutive windows as one. `units` says which windows; rounds are counted from 0."""

    units: tuple[int, int]
    rounds: tuple[int, int]  # those before it, and those at its end
    run: Measured
    others: tuple[Measured, ...]  # the model as it stood when a window began, then the challengers
    own: float = 0.0  # the loss as the run counts it
    left: dict[str, int] = field(default_factory=dict)  # predictions without a label, labels that were revised
    open: bool = False  # whether more may come
    labelled: int | None = None  # rounds with a label, where not all have one

    def __add__(self, other: Part) -> Part:
        """This part and the one behind it."""
        return Part(
            (self.units[0], other.units[1]),
            (self.rounds[0], other.rounds[1]),
            self.run + other.run,
            tuple(mine + theirs for mine, theirs in zip(self.others, other.others, strict=True)),
            self.own + other.own,
            {key: self.left.get(key, 0) + other.left.get(key, 0) for key in {**self.left, **other.left}},
            self.open or other.open,
            None if self.labelled is None or other.labelled is None else self.labelled + other.labelled,
        )

    @property
    def count(self) -> int:
        """How many rounds it has, those with a label."""
        return self.rounds[1] - self.rounds[0] if self.labelled is None else self.labelled


def reach(ledger: Ledger, domain: Domain) -> Interval:
    """The regret bound against every u of the domain: P + max ⟨u, −G⟩."""
    match domain.shape:
        case "box":
            return ledger.box(domain.radius)
        case "l1":
            return ledger.cross(domain.radius)
        case "simplex":  # the solid one, which holds 0
            return largest(ledger.ball(0.0), ledger.simplex(domain.radius))
        case _:
            return ledger.ball(domain.radius)


class Counter:
    """Somebody's predictions, as they come."""

    def __init__(self, loss: Loss | None, bias: bool = False, counts: bool = True) -> None:
        self.tally = None if loss is None else Tally(loss, bias)
        self.mistakes = 0 if counts else None

    def count(self, mistakes: int | None) -> None:
        """Mistakes in rounds that came."""
        if self.mistakes is not None and mistakes is not None:
            self.mistakes += mistakes

    def enter(self, core: Core, scores: Vector, y: Vector, weights: Vector | None) -> None:
        """What a model said that no longer learns."""
        self.count(missed(core, scores, y))
        if self.tally is not None:
            self.tally.enter(y, weights, scores)

    @property
    def measured(self) -> Measured:
        """All of it so far."""
        return Measured(self.mistakes, None if self.tally is None else self.tally.ledger())

    def stored(self) -> dict[str, Any]:
        """It as a model file keeps it."""
        tally = self.tally
        told = None
        if tally is not None:
            told = [tally.rounds, tally.slack, tally.weight, tally.sums.tobytes(), *packed(tally.G)]
        return {"mistakes": self.mistakes, "tally": told}

    def restore(self, kept: dict[str, Any]) -> None:
        """Go on from there; KeyError, ValueError or TypeError where it does not fit."""
        self.mistakes = kept["mistakes"]
        if (self.tally is None) != (kept["tally"] is None):
            raise ValueError("a window is judged by another loss")
        if self.tally is None:
            return
        rounds, slack, weight, sums, *G = kept["tally"]
        found = np.frombuffer(sums, "<f8").astype(np.float64)
        if found.shape != self.tally.sums.shape:
            raise ValueError("the sums of a window do not fit")
        self.tally.rounds, self.tally.slack, self.tally.weight = rounds, slack, weight
        self.tally.sums, self.tally.G = found, unpacked(*G)


# -- as a model file keeps them ----------------------------------------------------------------------------------------


def packed(vector: Vector) -> list[Any]:
    """Length, places and values of what is not 0."""
    places = np.flatnonzero(vector)
    return [len(vector), places.astype("<u4").tobytes(), vector[places].astype("<f8").tobytes()]


def unpacked(length: int, places: bytes, values: bytes) -> Vector:
    """The vector again."""
    found, at, held = np.zeros(length), np.frombuffer(places, "<u4"), np.frombuffer(values, "<f8")
    if len(at) != len(held) or (len(at) and int(at.max()) >= length):
        raise ValueError("the sums of a window do not fit")
    found[at] = held
    return found


def part_stored(part: Part) -> dict[str, Any]:
    """A window as a model file keeps it."""
    people = [_measured_stored(one) for one in (part.run, *part.others)]
    return {
        "units": list(part.units),
        "rounds": list(part.rounds),
        "measured": people,
        "own": part.own,
        "left": part.left,
        "labelled": part.labelled,
    }


def part_of(kept: dict[str, Any]) -> Part:
    """The window again; KeyError, ValueError or TypeError where it is none."""
    run, *others = (_measured_of(one) for one in kept["measured"])
    (first, last), (begin, end) = kept["units"], kept["rounds"]
    if not (0 <= begin <= end and first < last) or not math.isfinite(kept["own"]):
        raise ValueError("the limits of a window are wrong")
    left, labelled = dict(kept["left"]), kept["labelled"]
    return Part((first, last), (begin, end), run, tuple(others), kept["own"], left, labelled=labelled)


def _measured_stored(one: Measured) -> list[Any]:
    ledger = one.ledger
    if ledger is None:
        return [one.mistakes, None]
    ends = [ledger.loss.lo, ledger.loss.hi, ledger.paid.lo, ledger.paid.hi, ledger.error, ledger.norms]
    return [one.mistakes, [ledger.rounds, ends, ledger.bias, ledger.infinite, *packed(ledger.G)]]


def _measured_of(kept: list[Any]) -> Measured:
    mistakes, said = kept
    if said is None:
        return Measured(mistakes, None)
    rounds, (low, high, least, most, error, norms), bias, infinite, *G = said
    if not (low <= high and least <= most and error >= 0.0 and norms >= 0.0):
        raise ValueError("the ledger of a window is wrong")
    ledger = Ledger(
        rounds, Interval(low, high), Interval(least, most), unpacked(*G), error, norms, bool(bias), infinite
    )
    return Measured(mistakes, ledger)
