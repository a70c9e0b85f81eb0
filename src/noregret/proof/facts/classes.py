"""A perceptron of many classes: its updates replayed in twice the precision, comparators enclosed.

ℓ_t(V) = max(0, 1 − min_{r≠y} ⟨v_y − v_r, x_t⟩) for a comparator V with a row a class; norms are over all its entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret import loss as losses
from noregret._native import exact_class_updates
from noregret.interval import Interval, ends, total
from noregret.proof import enclose
from noregret.rounds import Rounds
from noregret.run import Run

Vector = NDArray[np.float64]
STEPS = 2.0**40  # a probability is a whole multiple of 1/STEPS
PIECE = 2**20  # scores looked at together


@dataclass(frozen=True)
class ComparatorOfClasses:
    """V with ‖V‖ and Σℓ(V) over all rounds."""

    norm: Interval
    loss: Interval


@dataclass(frozen=True)
class OneAgainstRest:
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
class ClassFacts:
    """The mistakes, the update rounds I with S = Σ_I (e_y − e_ŷ)⊗x, R_I² = Σ_I ‖x‖² and r² = max‖x‖²; points V_…"""

    run: Run
    rounds: Rounds
    points: dict[str, Vector]

    @property
    def count(self) -> int:
        """How many classes there are."""
        assert self.run.tally is not None
        return len(self.run.tally["labels"])

    @property
    def alone(self) -> bool:
        """Whether each class has a perceptron of its own."""
        return bool(self.run.learner.settings["update"] == "one-vs-rest")

    @property
    def moves(self) -> NDArray[np.int64]:
        """(round, class, ±1) wherever a row was added to a class or taken from it."""
        return np.zeros((0, 3), np.int64) if self.rounds.moves is None else np.ascontiguousarray(self.rounds.moves)

    @cached_property
    def wrong(self) -> NDArray[np.bool_]:
        assert self.rounds.scores is not None
        if not len(self.rounds):
            return np.zeros(0, bool)
        return self.run.learner.missed(self.rounds.scores, self.rounds.y)

    @cached_property
    def updated(self) -> NDArray[np.bool_]:
        """For each round whether some weights moved."""
        found = np.zeros(len(self.rounds), bool)
        found[self.moves[:, 0]] = True
        return found

    @property
    def mistakes(self) -> int:
        return int(self.wrong.sum())

    @property
    def unforeseen(self) -> int:
        """Mistakes in the first round of a class that were no updates."""
        return 0 if self.alone else int((self.wrong & ~self.updated).sum())

    @cached_property
    def row_squares(self) -> tuple[Vector, Vector]:
        return enclose.row_norms2(self.rounds)

    def norm2_over(self, chosen: NDArray[np.bool_]) -> Interval:
        """Σ‖x‖² over these rounds."""
        return total(self.row_squares[0][chosen], self.row_squares[1][chosen])

    @property
    def max_norm2(self) -> Interval:
        lo, hi = self.row_squares
        return Interval(float(lo.max(initial=0.0)), float(hi.max(initial=0.0)))

    @property
    def radius(self) -> Interval:
        return _root(self.max_norm2)

    @property
    def reach(self) -> Interval:
        """√2·R_I, which bounds ‖S‖."""
        return _root(self.norm2_over(self.updated) * 2.0)

    @cached_property
    def _replayed(self) -> tuple[bool, Interval]:
        """Whether no update was made where the right side was ahead, exactly; and ‖S‖."""
        step, moves = 1 if self.alone else 2, self.moves
        sums, out = np.zeros((self.count * self.rounds.width, 3)), np.empty((len(moves) // step, 3))
        exact_class_updates(self.rounds.native, moves, step, self.count, sums, out)
        sure = bool((ends(out)[1] <= 0.0).all()) and self._as_meant(moves.reshape(-1, step, 3))
        return sure and self.rounds.weights is None, enclose.norm_between(*ends(sums))

    def _as_meant(self, moved: NDArray[np.int64]) -> bool:
        """Whether x was added to the right class and taken from one other, or added as the class's own label says."""
        right = moved[:, :, 1] == self.rounds.y[moved[:, :, 0]]
        signs = bool((np.where(right, 1, -1) == moved[:, :, 2]).all())
        together = bool((moved[:, 0, 0] == moved[:, -1, 0]).all())
        return signs and together and (self.alone or bool((right.sum(axis=1) == 1).all()))

    @property
    def premise(self) -> bool:
        return self._replayed[0]

    @property
    def sum_norm(self) -> Interval:
        """‖S‖."""
        return self._replayed[1]

    def V(self, name: str) -> NDArray[np.float64]:
        return self.points[name].reshape(self.count, -1)

    @cached_property
    def comparators(self) -> dict[str, ComparatorOfClasses]:
        named = sorted(set(self.points) - {"V_each", "V_apart"})
        return {
            name[2:]: ComparatorOfClasses(enclose.norm(self.points[name]), class_loss(self.rounds, self.V(name)))
            for name in named
        }

    @cached_property
    def separator(self) -> Interval | None:
        """‖V‖ of V_apart, if ⟨v_y − v_r, x⟩ ≥ 1 everywhere."""
        if "V_apart" not in self.points or not least_margin(self.rounds, self.V("V_apart")) >= 1.0:
            return None
        return enclose.norm(self.points["V_apart"])

    @cached_property
    def ones(self) -> tuple[OneAgainstRest, ...]:
        """Each class's own perceptron, with its comparator where one is given."""
        return tuple(self._one(k, first) for k, first in enumerate(self.first))

    @property
    def first(self) -> list[int]:
        """The round from which on each class is known."""
        return [int(np.searchsorted(self._reached, k)) for k in range(self.count)]

    @property
    def _declared(self) -> int:
        """How many classes were known before the first round."""
        return int(getattr(self.run.learner.labels, "declared", 0))

    @property
    def _reached(self) -> Vector:
        """The last class that is known after each round."""
        return np.maximum.accumulate(np.maximum(self.rounds.y, self._declared - 1.0))

    @cached_property
    def paid(self) -> Interval:
        """Σ −ln p(y) of forecasts as they were made."""
        assert self.rounds.scores is not None
        paid, weights = -self.rounds.scores[:, 3] if len(self.rounds) else np.zeros(0), self.rounds.weights
        if weights is None:
            return total(paid, paid)
        return total(np.nextafter(weights * paid, -np.inf), np.nextafter(weights * paid, np.inf))

    def successions(self, order: int) -> list[list[int]]:
        """How often each class came, for each label before it, or of order 0 for all rounds together."""
        y = self.rounds.y.astype(np.int64)
        before = np.concatenate([[-1], y[:-1]]) if order else np.zeros(len(y), np.int64)
        return [np.bincount(y[before == context]).tolist() for context in np.unique(before).tolist()]

    @property
    def _before(self) -> Vector:
        """The last class that is known before each round; −1 where there is none."""
        return np.concatenate([[self._declared - 1.0], self._reached[:-1]])

    @property
    def known_labels(self) -> NDArray[np.bool_]:
        """For each round whether its label was known before."""
        return self.rounds.y <= self._before

    @property
    def escapes(self) -> list[int]:
        """Of the rounds in which some class was known: those with a label known before, and those with a new one."""
        known = self.known_labels[self._before >= 0.0]
        return [int(known.sum()), int((~known).sum())]

    @cached_property
    def forecasts(self) -> NDArray[np.float64]:
        """About the probability of each class, given that it is known, in each round whose label was known; else 0.

        Played again, and rounded to whole multiples of 2⁻⁴⁰ whose sum over the classes is exactly 1.
        """
        core = self.run.learner
        again = type(core)(**{**core.settings, "bias": False})
        again.take_prepared()
        assert core.labels is not None
        again.labels = core.labels.again(core.labels.needed_again or [])
        logs = again.play_all(self.rounds.rows, self.rounds.y, self.rounds.weights)[1]  # type: ignore[attr-defined]
        known = np.arange(logs.shape[1]) <= self._before[:, np.newaxis]
        whole = np.floor(losses.softmax(np.where(known, logs, -1e9)) * STEPS) / STEPS
        rows, own = np.arange(len(whole)), self.rounds.y.astype(np.int64)
        whole[rows, own] = 0.0
        whole[rows, own] = 1.0 - whole.sum(axis=1)
        whole[~self.known_labels] = 0.0
        return whole

    @property
    def slopes(self) -> NDArray[np.float64]:
        """p_k − [k = y], of those forecasts."""
        found = self.forecasts.copy()
        chosen = np.flatnonzero(self.known_labels)
        found[chosen, self.rounds.y[chosen].astype(np.int64)] -= 1.0
        return found

    @property
    def slope_sum_norm(self) -> Interval:
        """‖Σ k·(p − e_y)⊗x‖ over the rounds with a known label."""
        bare = replace(self.rounds, moves=None)
        sums = [enclose.combined(bare, np.ascontiguousarray(column)) for column in self.slopes.T]
        return enclose.norm_between(*(np.concatenate(side) for side in zip(*sums, strict=True)))

    @property
    def _shares(self) -> Vector:
        """About ln(1 − p(new)) in each round."""
        counted = (self._before >= 0.0).astype(float)
        fresh = counted * ~self.known_labels
        rounds, new = np.cumsum(counted) - counted, np.cumsum(fresh) - fresh
        return np.asarray(arithmetic.log((rounds - new + 0.5) / (rounds + 1.0)))

    @property
    def linearised(self) -> Interval:
        """Σ k·(ℓ + Σ_j p_j ln p_j) over the rounds with a known label, ℓ its loss given that it is known."""
        assert self.rounds.scores is not None
        p = self.forecasts
        lost = self._shares - self.rounds.scores[:, 3]
        for column in p.T:  # in the order of the classes, on every machine
            lost = lost + column * arithmetic.log(np.where(column > 0.0, column, 1.0))
        return self._over_known(lost, p.shape[1])

    @cached_property
    def paid_of_known(self) -> Interval:
        """Σ k·ℓ over the rounds with a known label, ℓ its loss given that it is known."""
        assert self.rounds.scores is not None
        return self._over_known(self._shares - self.rounds.scores[:, 3], 1)

    def _over_known(self, lost: Vector, terms: int) -> Interval:
        """Σ k·lost over the rounds with a known label, each a sum of that many terms and the two above."""
        assert self.rounds.scores is not None
        known = self.known_labels
        off = enclose.EPS * (terms + 8.0) * (4.0 - self.rounds.scores[:, 3] - self._shares)
        low, high = (lost - off)[known], (lost + off)[known]
        if self.rounds.weights is not None:
            weights = self.rounds.weights[known]
            low, high = np.nextafter(low * weights, -np.inf), np.nextafter(high * weights, np.inf)
        return total(low, high)

    def _one(self, k: int, first: int) -> OneAgainstRest:
        chosen = self.moves[self.moves[:, 1] == k, 0]
        lo, hi = self.row_squares
        bare = OneAgainstRest(first, len(chosen), total(lo[chosen], hi[chosen]))
        if "V_each" not in self.points:
            return bare
        v = np.ascontiguousarray(self.V("V_each")[k])
        hinge = enclose.risk(one_against_rest(self.rounds, k, first), losses.hinge(), v).positive()
        return replace(bare, hinge=hinge, norm=enclose.norm(v))


def class_loss(rounds: Rounds, V: NDArray[np.float64]) -> Interval:
    """Σ_t ℓ_t(V)."""
    parts = [(np.maximum(1.0 - hi, 0.0), np.maximum(1.0 - lo, 0.0)) for lo, hi in class_margins(rounds, V)]
    if not parts:
        return Interval.of(0.0)
    low, high = (np.concatenate(side) for side in zip(*parts, strict=True))
    return total(np.maximum(np.nextafter(low, -np.inf), 0.0), np.where(high > 0.0, np.nextafter(high, np.inf), 0.0))


def least_margin(rounds: Rounds, V: NDArray[np.float64]) -> float:
    """The least ⟨v_y − v_r, x_t⟩ over rounds and wrong classes, rounded down."""
    return min((float(lo.min()) for lo, _ in class_margins(rounds, V)), default=np.inf)


def class_margins(rounds: Rounds, V: NDArray[np.float64]) -> Iterator[tuple[Vector, Vector]]:
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


def _root(x: Interval) -> Interval:
    return x if x.hi == 0.0 else x.sqrt()
