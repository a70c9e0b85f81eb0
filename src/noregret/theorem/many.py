"""What is known of a perceptron of many classes: its updates replayed in twice the precision, comparators enclosed.

ℓ_t(V) = max(0, 1 − min_{r≠y} ⟨v_y − v_r, x_t⟩) for a comparator V with a row a class; norms are over all its entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from noregret import enclose
from noregret import loss as losses
from noregret._native import exact_class_updates
from noregret.interval import Interval, ends, total
from noregret.rounds import Rounds
from noregret.run import Run

Vector = NDArray[np.float64]
PIECE = 2**20  # scores looked at together


@dataclass(frozen=True)
class ManyAt:
    """V with ‖V‖ and Σℓ(V) over all rounds."""

    norm: Interval
    loss: Interval


@dataclass(frozen=True)
class One:
    """The perceptron of one class against the rest: its rounds begin where the class appears."""

    first: int
    count: int  # M_k
    norm2: Interval  # Σ‖x‖² over its mistakes
    hinge: Interval | None = None  # Σ h(v_k) over its rounds
    norm: Interval | None = None

    @property
    def bound(self) -> Interval:
        """Σ h(v_k) + ‖v_k‖·R_k."""
        assert self.hinge is not None
        assert self.norm is not None
        return self.hinge + self.norm * _root(self.norm2)


@dataclass(frozen=True)
class Many:
    """The mistakes, the update rounds I with S = Σ_I (e_y − e_ŷ)⊗x, R_I² = Σ_I ‖x‖² and r² = max‖x‖²."""

    classes: int
    mistakes: int
    unforeseen: int  # mistakes in the first round of a class that were no updates
    premise: bool
    sum_norm: Interval  # ‖S‖
    max_norm2: Interval
    update_norm2: Interval
    comparators: dict[str, ManyAt] = field(default_factory=dict)
    separator: Interval | None = None  # its norm
    ones: tuple[One, ...] = ()

    @property
    def radius(self) -> Interval:
        return _root(self.max_norm2)

    @property
    def reach(self) -> Interval:
        """√2·R_I, which bounds ‖S‖."""
        return _root(self.update_norm2 * 2.0)


def many(run: Run, rounds: Rounds) -> Many:
    """All that the rounds show by themselves."""
    assert run.tally is not None
    assert rounds.moves is not None
    assert rounds.scores is not None
    alone = run.learner.settings["update"] == "one-vs-rest"
    classes = len(run.tally["labels"])
    premise, size = _replayed(rounds, classes, 1 if alone else 2)
    wrong = run.learner.missed(rounds.scores, rounds.y)
    updated = np.zeros(len(rounds), bool)
    updated[rounds.moves[:, 0]] = True
    lo, hi = enclose.row_norms2(rounds)
    return Many(
        classes,
        int(wrong.sum()),
        0 if alone else int((wrong & ~updated).sum()),
        premise and rounds.weights is None,
        size,
        Interval(float(lo.max(initial=0.0)), float(hi.max(initial=0.0))),
        total(lo[updated], hi[updated]),
        ones=tuple(_one(rounds, k, first, lo, hi) for k, first in enumerate(firsts(run, rounds))) if alone else (),
    )


def firsts(run: Run, rounds: Rounds) -> list[int]:
    """The round from which on each class is known."""
    assert run.tally is not None
    reached = np.maximum.accumulate(np.maximum(rounds.y, getattr(run.learner.labels, "declared", 0) - 1.0))
    return [int(np.searchsorted(reached, k)) for k in range(len(run.tally["labels"]))]


def with_points(found: Many, rounds: Rounds, points: dict[str, Vector]) -> Many:
    """The same at comparators V_…, and at the separator V_apart."""
    shaped = {name[2:]: point.reshape(found.classes, -1) for name, point in points.items() if name.startswith("V_")}
    if found.ones:
        if "each" not in shaped:
            return found
        ones = [_compared(rounds, k, one, shaped["each"][k]) for k, one in enumerate(found.ones)]
        return replace(found, ones=tuple(ones))
    apart = shaped.pop("apart", None)
    compared = {name: ManyAt(enclose.norm(V.reshape(-1)), class_loss(rounds, V)) for name, V in shaped.items()}
    sure = apart is not None and least_margin(rounds, apart) >= 1.0
    size = enclose.norm(apart.reshape(-1)) if apart is not None and sure else None
    return replace(found, comparators=compared, separator=size)


def class_loss(rounds: Rounds, V: Vector) -> Interval:
    """Σ_t ℓ_t(V)."""
    parts = [(np.maximum(1.0 - hi, 0.0), np.maximum(1.0 - lo, 0.0)) for lo, hi in class_margins(rounds, V)]
    if not parts:
        return Interval.of(0.0)
    low, high = (np.concatenate(side) for side in zip(*parts, strict=True))
    return total(np.maximum(np.nextafter(low, -np.inf), 0.0), np.where(high > 0.0, np.nextafter(high, np.inf), 0.0))


def least_margin(rounds: Rounds, V: Vector) -> float:
    """The least ⟨v_y − v_r, x_t⟩ over rounds and wrong classes, rounded down."""
    return min((float(lo.min()) for lo, _ in class_margins(rounds, V)), default=np.inf)


def class_margins(rounds: Rounds, V: Vector) -> Iterator[tuple[Vector, Vector]]:
    """Lower and upper ends of min_{r≠y} ⟨v_y − v_r, x_t⟩, a piece of the rounds at a time."""
    size = max(PIECE // len(V), 1)
    for start in range(0, len(rounds), size):
        part = replace(rounds, moves=None).part(start, min(start + size, len(rounds)))
        low, high = (np.array(side) for side in zip(*(enclose.margins(part, v) for v in V), strict=True))
        own = np.arange(len(part)), part.y.astype(np.int64)
        mine = low[own[1], own[0]], high[own[1], own[0]]
        low[own[1], own[0]] = high[own[1], own[0]] = -np.inf
        yield np.nextafter(mine[0] - high.max(axis=0), -np.inf), np.nextafter(mine[1] - low.max(axis=0), np.inf)


def one_against_rest(rounds: Rounds, k: int, first: int) -> Rounds:
    """The rounds of class k's own perceptron: +1 for it, −1 for every other."""
    part = replace(rounds, moves=None, weights=None, scores=None).part(first, len(rounds))
    return replace(part, y=np.where(part.y == k, 1.0, -1.0))


def _one(rounds: Rounds, k: int, first: int, lo: Vector, hi: Vector) -> One:
    assert rounds.moves is not None
    chosen = rounds.moves[rounds.moves[:, 1] == k, 0]
    return One(first, len(chosen), total(lo[chosen], hi[chosen]))


def _compared(rounds: Rounds, k: int, one: One, v: Vector) -> One:
    hinge = enclose.risk(one_against_rest(rounds, k, one.first), losses.hinge(), v).positive()
    return replace(one, hinge=hinge, norm=enclose.norm(v))


def _replayed(rounds: Rounds, classes: int, step: int) -> tuple[bool, Interval]:
    """Whether no update was made where the right side was ahead, exactly; and ‖S‖."""
    assert rounds.moves is not None
    sums = np.zeros((classes * rounds.width, 3))
    out = np.empty((len(rounds.moves) // step, 3))
    exact_class_updates(rounds.given, np.ascontiguousarray(rounds.moves), step, classes, sums, out)
    return bool((ends(out)[1] <= 0.0).all()), enclose.norm_between(*ends(sums))


def _root(x: Interval) -> Interval:
    return x if x.hi == 0.0 else x.sqrt()
