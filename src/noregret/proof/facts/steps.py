"""What was done to the weights, step by step: steps, the span of the rows, the path, the distance of a comparator."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import PASSIVE, PASSIVE_SOFT, exact_steps, replay_path
from noregret.interval import Interval, ends, total
from noregret.loss import Loss, hinge, squared_hinge
from noregret.proof import enclose
from noregret.proof.gram import Gram, hinges
from noregret.rounds import Rounds
from noregret.run import Run

Vector = NDArray[np.float64]
EPS = 2.0**-52
TINY = 1e-300
POINT = "v_passive"


@dataclass(frozen=True)
class Steps:
    """Each round's step τ, cap C, ‖x‖² and own loss ℓ, with the ends of the exact loss at the replayed weights."""

    tau: Vector
    cap: Vector
    row2: tuple[Vector, Vector]
    own: tuple[Vector, Vector]  # both ends of the loss at the scores of the run
    exact: tuple[Vector, Vector]

    @property
    def moving(self) -> NDArray[np.bool_]:
        """The rounds with x ≠ 0."""
        return np.asarray(self.row2[1] > 0.0)

    def gain(self, extra: Vector | float = 0.0) -> tuple[Vector, Vector]:
        """Both ends of τ(2ℓ − τ(‖x‖² + extra)) for every round."""
        found = []
        for way, loss, row2 in ((-1.0, self.exact[0], self.row2[1]), (1.0, self.exact[1], self.row2[0])):
            first, second = 2.0 * self.tau * loss, self.tau * (self.tau * (row2 + extra))  # τ² alone may underflow
            slack = np.where(self.tau > 0.0, 8.0 * EPS * (np.abs(first) + second) + TINY, 0.0)
            found.append(first - second + way * slack)
        return found[0], found[1]

    def shortfall(self, floor: Vector, extra: Vector | float = 0.0) -> float:
        """Σ (floor − gain)₊, rounded up: what the gains lack of what the theorem has them be."""
        lack = np.maximum(floor * (1.0 + 8.0 * EPS) - self.gain(extra)[0], 0.0)
        return total(lack, lack).hi


@dataclass(frozen=True)
class Against:
    """A comparator u: ‖u‖ and both ends of its loss in every round."""

    u: Vector
    norm: Interval
    losses: tuple[Vector, Vector]

    @classmethod
    def at(cls, rounds: Rounds, loss: Loss, u: Vector) -> Against:
        lo, hi = enclose.margins(rounds, u)
        low, high = enclose.losses(loss, lo, rounds.y), enclose.losses(loss, hi, rounds.y)
        # These losses are 1-Lipschitz: between the ends of a score they fall by no more than its width.
        drop = (hi - lo) * (1.0 + 4.0 * EPS)
        return cls(u, enclose.norm(u), (np.maximum(low[0] - drop, 0.0), np.maximum(low[1], high[1])))

    def weighted(self, weights: Vector, power: int = 1) -> Interval:
        """Σ weights·ℓ(u)^power."""
        lo, hi = (weights * (part if power == 1 else part * part) for part in self.losses)
        slack = 4.0 * EPS
        return total(lo * (1.0 - slack), hi * (1.0 + slack)).positive()


def replayed(run: Run, rounds: Rounds) -> Steps:
    """The steps that follow from the scores of the run, and the exact losses along them."""
    assert rounds.scores is not None
    loss, y = run.learner.loss, rounds.y
    own, towards = loss.values(rounds.scores, y), -loss.gradients(rounds.scores, y)
    lo, hi = enclose.row_norms2(rounds)
    cap = caps(run, 0.5 * lo + 0.5 * hi)
    tau = step_lengths(run.learner.rate.code, own, 0.5 * lo + 0.5 * hi, cap)
    scores = np.zeros((len(rounds), 3))
    exact_steps(rounds.native, tau * towards, np.zeros((rounds.width, 3)), scores)
    low, high = ends(scores)
    assert loss.bend is not None
    flat = float(loss.bend(y, loss.number).flat)
    reached = np.where(towards > 0.0, y - high, low - y), np.where(towards > 0.0, y - low, high - y)
    if flat:
        reached = np.nextafter(reached[0], -np.inf) - flat, np.nextafter(reached[1], np.inf) - flat
    return Steps(
        tau,
        cap,
        (lo, hi),
        enclose.losses(loss, rounds.scores, y),
        (np.nextafter(reached[0], -np.inf), np.nextafter(reached[1], np.inf)),
    )


def caps(run: Run, row2: Vector) -> Vector:
    """C in every round: as it was set, or 1/max‖x‖² so far; before the first x ≠ 0 as at the end."""
    given = run.learner.rate.eta
    if given > 0.0:
        return np.full(len(row2), given)
    longest = np.maximum.accumulate(row2)
    last = float(longest[-1]) if len(row2) and longest[-1] > 0.0 else 1.0
    return np.asarray(1.0 / np.where(longest > 0.0, longest, last))


def step_lengths(rule: int, loss: Vector, row2: Vector, cap: Vector) -> Vector:
    """τ of every round; 0 where x = 0."""
    if rule == PASSIVE_SOFT:
        return np.where(row2 > 0.0, loss / (row2 + 0.5 / cap), 0.0)
    tau = np.where(row2 > 0.0, loss / np.where(row2 > 0.0, row2, 1.0), 0.0)
    return tau if rule == PASSIVE else np.minimum(tau, np.where(row2 > 0.0, cap, 0.0))


Places = NDArray[np.int64]
MOST = 2e9  # rounds × supports × entries of a row: beyond, the certificates are not computed


def gram_of(learner: Any, rounds: Rounds, updates: Places) -> Gram | None:
    """The kernel values between the rounds, unless there are too many."""
    gram = Gram(replace(rounds, weights=None), learner.kernel)
    return None if len(rounds) * max(len(updates), 1) * gram.entries > MOST else gram


def sum_of_updates(gram: Gram, rounds: Rounds, updates: Places) -> tuple[bool, Interval, tuple[Vector, Vector]]:
    """Whether every update was made at y·score ≤ 0 beyond any doubt; ‖Σ y·φ(x)‖ over them; K(x,x) of every round."""
    y = rounds.y[updates]
    before = gram.sums(updates, y[None], updates, before=True)
    low, high = gram.sums(updates, y[None], updates)
    worst = np.where(y > 0.0, before[1][0], -before[0][0])
    sure = rounds.weights is None and bool((worst <= 0.0).all())
    return sure, gram.length(y, low[0], high[0]), gram.self_products()


def comparators(gram: Gram, rounds: Rounds, given: dict[str, Vector]) -> dict[str, Comparator]:
    """Each row of coefficients c as v = Σ c_s·φ(x_s): ‖v‖, Σh(v) and Σh(v)² over all rounds."""
    if not given:
        return {}
    rows = np.array(list(given.values()))
    which = np.flatnonzero(rows.any(axis=0))
    made = []
    for c, a, b in zip(rows, *gram.sums(which, rows[:, which], np.arange(len(rounds))), strict=True):
        least, most = hinges(rounds.y, a, b)
        squares = np.maximum(np.nextafter(least * least, -np.inf), 0.0), np.nextafter(most * most, np.inf)
        own = np.flatnonzero(c)  # what other comparators lean on must not change this one's last digit
        norm = gram.length(c[own], a[own], b[own])
        made.append(Comparator(c, norm, total(least, most), total(*squares), Interval.of(0.0), (a, b)))
    return dict(zip(given, made, strict=True))


def shortest_separator(gram: Gram, y: Vector, weights: Vector) -> float:
    """Σλ/‖Σ λy·φ(x)‖, rounded down: no u with y⟨u, φ(x)⟩ ≥ 1 on every round is shorter, whatever the λ ≥ 0."""
    weights = np.maximum(weights, 0.0)
    which = np.flatnonzero(weights)
    c = weights[which] * y[which]
    g = gram.length(c, *(part[0] for part in gram.sums(which, c[None], which)))
    return max((total(weights, weights) / g).lo, 0.0) if g.lo > 0.0 else 0.0


LIMIT = 2e9  # rounds × features: beyond it the path is not replayed


@dataclass(frozen=True)
class Path:
    """With c_t = 1/η_{t+1} − 1/η_t: Σ c_t·w_{t+1}, Σ c_t‖w_{t+1}‖², Σ c_t‖w_{t+1}‖ over t < T, w₁ and w_{T+1}."""

    first: Vector
    last: Vector
    drift: Vector
    norms2: float
    norms: float
    eta: float
    rounds: int
    allowance: float  # relative, for the roundings of the replay and of the run

    def telescoped(self, u: Vector, gradients: Interval) -> Interval:
        """‖w₁−u‖²/2η₁ + ½Σc_t‖w_{t+1}−u‖² − ‖w_{T+1}−u‖²/2η_T + `gradients`."""
        root = math.sqrt(self.rounds)
        size = arithmetic.norm(u)
        start = _distance2(self.first, u) / (2.0 * self.eta)
        middle = self.norms2 - 2.0 * _dot(u, self.drift) + size * size * (root - 1.0) / self.eta
        end = _distance2(self.last, u) * root / (2.0 * self.eta)
        moved = self.norms2 + 2.0 * size * arithmetic.norm(self.drift) + size * size * root / self.eta
        return self._near(start + 0.5 * middle - end, start + moved + end) + gradients

    def triangle(self, size: float, gradients: Interval) -> Interval:
        """The same with ‖w−u‖ ≤ ‖w‖ + ‖u‖ throughout and without the last distance, ‖u‖ being `size`."""
        start = float(np.square(arithmetic.norm(self.first) + size)) / (2.0 * self.eta)
        grown = (math.sqrt(self.rounds) - 1.0) / self.eta
        value = start + 0.5 * (self.norms2 + 2.0 * size * self.norms + size * size * grown)
        return self._near(value, value) + gradients

    def _near(self, value: float, size: float) -> Interval:
        if not math.isfinite(value + size):
            return Interval(-math.inf, math.inf)
        return Interval.around(value, self.allowance * size)


def exact_path(
    rounds: Rounds, slopes: Vector, eta: float, radius: float, start: Vector, allowance: float
) -> Path | None:
    """The path from `start`, g_t being slopes[t]·x_t; None where it would take too long."""
    T, width = len(rounds), max(rounds.width, len(start))
    if T * width > LIMIT:
        return None
    t = np.sqrt(np.arange(1.0, T + 1.0))
    growth = 1.0 / (eta * (t[1:] + t[:-1]))
    w = np.zeros(width)
    w[: len(start)] = start
    first, drift, sizes = w.copy(), np.zeros(width), np.zeros(2)
    replay_path(rounds.native, slopes, eta / t, growth, radius, w, drift, sizes)
    return Path(first, w, drift, float(sizes[0]), float(sizes[1]), eta, T, allowance)


def _distance2(w: Vector, u: Vector) -> float:
    both = np.zeros(max(len(w), len(u)))
    both[: len(w)] += w
    both[: len(u)] -= u
    return arithmetic.norm2(both)


def _dot(u: Vector, v: Vector) -> float:
    shared = min(len(u), len(v))
    return arithmetic.inner(u[:shared], v[:shared])


@dataclass(frozen=True)
class Start:
    """Where the learner began: w₁ in the features of its rounds, the bias included, and the step η of a perceptron."""

    w: Vector
    eta: float = 1.0

    @property
    def zero(self) -> bool:
        return not self.w.any()

    @property
    def norm(self) -> Interval:
        """‖w₁‖/η."""
        return enclose.norm(self.w) / self.eta if not self.zero else Interval.of(0.0)

    def along(self, v: Vector) -> Interval:
        """⟨v, w₁⟩/η."""
        if self.zero:
            return Interval.of(0.0)
        shared = min(len(v), len(self.w))
        lo, hi = enclose.margins(Rounds.of(self.w[None, :shared], [1.0]), v[:shared])
        return Interval(float(lo[0]), float(hi[0])) / self.eta


@dataclass(frozen=True)
class Comparator:
    """v with ‖v‖, Σh(v) and Σh(v)² over **all** rounds, h = max(0, 1 − y⟨v,x⟩), and ⟨v, w₁⟩/η."""

    v: Vector
    norm: Interval
    hinge: Interval
    hinge2: Interval
    along_start: Interval
    scores: tuple[Vector, Vector] | None = None  # of a kernel's comparator: both ends of ⟨v, φ(x)⟩ in every round

    @classmethod
    def at(cls, rounds: Rounds, v: Vector, start: Start) -> Comparator:
        """The comparator v, evaluated with every rounding accounted for."""
        plain = replace(rounds, weights=None)
        v = np.ascontiguousarray(v, dtype=np.float64)
        first, second = (enclose.risk(plain, loss, v).positive() for loss in (hinge(), squared_hinge()))
        return cls(v, enclose.norm(v), first, second, start.along(v))
