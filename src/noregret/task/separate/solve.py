"""`separate`: which of the two it is, by whatever method fits, and then the proof with every rounding accounted for."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError, SettingError
from noregret.interval import Interval, total
from noregret.proof import enclose, solve
from noregret.proof.separation import labelled_rows
from noregret.proof.solve.design import Design
from noregret.proof.solve.perceptron import length
from noregret.rounds import Rounds, Vector, as_sparse
from noregret.stream.block import Dense
from noregret.task.separate.rational import Weighed, weigh
from noregret.task.separate.result import Separation
from noregret.threads import calm

NARROW = 1_000  # features: a linear programme first; beyond, coordinate descent
SMALL = 1e-6  # part of the longest row: no margin below is looked for by descent
HEAVY = 2_000  # rounds that weigh most
NEGLIGIBLE = 1e-15  # part of the largest weight
NONE = np.zeros(0, np.int64)
Watch = Callable[[str, float | None], None]


def separate(
    source: Any,
    *,
    bias: bool = False,
    gap: float = 1e-4,
    seconds: float = 60.0,
    unit_norm: bool = False,
    label: str | None = None,
    positive: Any = None,
    text: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    date: Sequence[str] = (),
    keep: Sequence[str] = (),
    ignore: Sequence[str] = (),
    interactions: Sequence[str] = (),
    hash_bits: int = 18,
    missing: str = "error",
    watch: Watch | None = None,
) -> Separation:
    """Decide whether a hyperplane separates the two classes of a stream, through 0 or anywhere (`bias`), with a proof.

    The margin of a separator is an interval whose width is at most `gap` times its upper end, unless `seconds` of
    solving run out first. Convex weights λ with Σ λ·y·x = 0, which prove that there is no separator, are whole numbers.

    >>> found = separate(([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], [1, 1, -1]))
    >>> found.answer, round(found.margin.lo, 4), found.mistake_bound
    ('separable', 0.7071, 2)
    >>> found = separate(([[1.0], [1.0]], [1, -1]))
    >>> found.answer, found.rows.tolist(), found.exact
    ('inseparable', [0, 1], (1, 1))
    """
    if not 0.0 < gap < math.inf:
        raise SettingError(f"separate: gap must be positive and finite, got {gap}")
    if not seconds > 0.0:
        raise SettingError(f"separate: seconds must be positive, got {seconds}")
    named = {"text": text, "categorical": categorical, "numeric": numeric, "date": date, "keep": keep}
    named |= {"ignore": ignore, "interactions": interactions}
    given = {"label": label} | {option: list(columns) for option, columns in named.items()}
    reading = {key: value for key, value in given.items() if value} | {"hash_bits": hash_bits, "missing": missing}
    preparation = {"bias": bias, "unit_norm": unit_norm, "positive": positive}
    labelled = labelled_rows(source, reading=reading, watch=watch, **preparation)
    began = time.perf_counter()
    found = answered(labelled.rounds, gap, began + seconds, watch)
    return Separation(
        **vars(found),
        count=len(labelled.rounds),
        features=labelled.features,
        classes=labelled.classes,
        source=labelled.source,
        seconds=time.perf_counter() - began,
        digest=labelled.digest,
        reading={**{key: value for key, value in reading.items() if key in ("ignore", "missing")}, **labelled.read},
        preparation=preparation,
        width=labelled.rounds.width,
    )


@dataclass(frozen=True)
class Answer:
    """The fields of `Separation` that speak of rounds alone."""

    answer: str
    margin: Interval
    radius: Interval
    separator: Vector | None
    rows: NDArray[np.int64]
    weights: Vector
    exact: tuple[int, ...] | None
    finished: bool


def answered_within(rounds: Rounds, gap: float, seconds: float) -> Answer:
    """The answer for rounds as they are, within a time limit."""
    return answered(rounds, gap, time.perf_counter() + seconds)


def answered(rounds: Rounds, gap: float, deadline: float, watch: Watch | None = None) -> Answer:
    """The answer for rounds as they are."""
    radius = enclose.largest_norm(rounds)
    if not math.isfinite(radius.hi):
        raise InputError("a row is too long: the square of its norm is not finite")
    told = watch or (lambda what, fraction: None)
    found = _at_sight(rounds) or _decided(rounds, deadline, told)
    if found.exact is not None:
        assert found.rounds is not None
        return _inseparable(found.rounds, found.exact, radius)
    if found.u is None:
        return _undecided(rounds, found, radius)
    told("looking for the largest margin", None)
    return _largest(rounds, found.u, gap, deadline, radius)


def _at_sight(rounds: Rounds) -> Weighed | None:
    """A row of zeros, or two rows that contradict each other."""
    seen: dict[bytes, int] = {}
    rows = as_sparse(rounds.rows)
    for t in range(len(rounds)):
        low, high = int(rows.indptr[t]), int(rows.indptr[t + 1])
        values, features = rows.values[low:high], rows.indices[low:high]
        if not values.all():
            features, values = features[values != 0.0], values[values != 0.0]
        if not len(values):
            return Weighed(rounds=np.array([t]), exact=(1,))
        order = features.tobytes()
        other = seen.get(order + (-rounds.y[t] * values).tobytes())
        if other is not None:
            return Weighed(rounds=np.array([other, t]), exact=(1, 1))
        seen[order + (rounds.y[t] * values).tobytes()] = t
    return None


def _decided(rounds: Rounds, deadline: float, told: Watch) -> Weighed:
    """Linear programmes for few features; for many, coordinate descent comes before them.

    Where it finds no separator either, its dual point has weights with a small sum: they bound every margin, and the
    rounds that weigh most are those to look at first.
    """
    if rounds.width <= NARROW:
        told("a separator, or the proof that there is none", None)
        return weigh(rounds, NONE, deadline)
    told("looking for a separator", None)
    found = solve.separator(rounds, gap=math.inf, seconds=0.4 * (deadline - time.perf_counter()))
    if found is not None:
        return Weighed(u=found.u)
    told("looking for the proof that there is none", None)
    left = max(deadline - time.perf_counter(), 1e-3)
    beta = solve.penalised(rounds, SMALL * enclose.largest_norm(rounds).hi, gap=0.1, seconds=0.3 * left).beta
    heavy = np.sort(np.argsort(-beta, kind="stable")[: min(np.count_nonzero(beta), HEAVY)]).astype(np.int64)
    decided = weigh(rounds, heavy, deadline)
    if decided.u is None and decided.exact is None and beta.any():
        return _lighter(rounds, decided, beta)
    return decided


def _lighter(rounds: Rounds, found: Weighed, beta: Vector) -> Weighed:
    """Those of two weightings that prove more."""
    every = np.arange(len(rounds))
    if found.weights is not None and found.rounds is not None:
        other = np.zeros(len(rounds))
        other[found.rounds] = found.weights
        if _weighed(rounds, other) <= _weighed(rounds, beta):
            return found
    return Weighed(rounds=every, weights=beta)


def _inseparable(rows: NDArray[np.int64], exact: tuple[int, ...], radius: Interval) -> Answer:
    whole = sum(exact)
    weights = np.array([one / whole for one in exact])
    return Answer("inseparable", Interval.of(0.0), radius, None, rows, weights, exact, True)


def _undecided(rounds: Rounds, found: Weighed, radius: Interval) -> Answer:
    """The margin lies between 0 and what the best weights prove."""
    shortest = np.zeros(len(rounds))
    shortest[int(enclose.row_norms2(rounds)[1].argmin())] = 1.0
    best, upper = shortest, _weighed(rounds, shortest)
    if found.weights is not None:
        assert found.rounds is not None
        weights = np.zeros(len(rounds))
        weights[found.rounds] = found.weights
        if _weighed(rounds, weights) < upper:
            best, upper = weights, _weighed(rounds, weights)
    rows = np.flatnonzero(best).astype(np.int64)
    return Answer("undecided", Interval(0.0, upper), radius, None, rows, best[rows], None, False)


def _largest(rounds: Rounds, u: Vector, gap: float, deadline: float, radius: Interval) -> Answer:
    """The separator of the largest margin, from one that is known."""
    best, weights = u, np.full(len(rounds), 1.0)
    lower, upper = _margin(rounds, u), _weighed(rounds, weights)
    for method in (_by_hull, _by_descent) if rounds.width <= NARROW else (_by_descent,):
        if upper - lower <= gap * upper:
            break
        for direction, convex in method(rounds, best, gap, deadline):
            reached, proved = _margin(rounds, direction), _weighed(rounds, convex)
            if reached > lower:
                best, lower = direction, reached
            if proved < upper:
                weights, upper = convex, proved
    rows = np.flatnonzero(weights > NEGLIGIBLE * weights.max()).astype(np.int64)
    kept = np.zeros(len(rounds))
    kept[rows] = weights[rows]
    margin = Interval(lower, max(_weighed(rounds, kept), lower))
    done = margin.hi - margin.lo <= gap * margin.hi
    return Answer("separable", margin, radius, best, rows, weights[rows], None, done)


def _by_hull(rounds: Rounds, u: Vector, gap: float, deadline: float) -> list[tuple[Vector, Vector]]:
    half = time.perf_counter() + 0.5 * (deadline - time.perf_counter())
    found = nearest_point(rounds, 0.1 * min(gap, 1e-3), half)
    return [] if found is None else [(found.u, found.weights)]


def _by_descent(rounds: Rounds, u: Vector, gap: float, deadline: float) -> list[tuple[Vector, Vector]]:
    left = max(deadline - time.perf_counter(), 1e-3)
    found = solve.separator(rounds, gap=0.5 * gap, seconds=left, start=u / _margin_of(rounds, u))
    return [] if found is None else [(found.u, found.weights)]


def _margin_of(rounds: Rounds, u: Vector) -> float:
    low, high = enclose.margins(rounds, u)
    return float(np.where(rounds.y > 0.0, low, -high).min())


def _margin(rounds: Rounds, u: Vector) -> float:
    """min y⟨u, x⟩/‖u‖, rounded down; −∞ where u separates nothing."""
    least = _margin_of(rounds, u)
    return (Interval.of(least) / enclose.norm(u)).lo if least > 0.0 else -math.inf


def _weighed(rounds: Rounds, weights: Vector) -> float:
    """‖Σ λ·y·x‖/Σλ, rounded up."""
    whole = total(weights, weights)
    return (length(rounds, weights) / whole).hi if whole.lo > 0.0 else math.inf


MOST = 5_000  # corners to join
Matrix = NDArray[np.float64]
Corners = list[int]


@dataclass(frozen=True)
class Near:
    """A direction u, and convex weights of the rounds."""

    u: Vector
    weights: Vector


def nearest_point(rounds: Rounds, gap: float, deadline: float) -> Near | None:
    """u with y⟨u, x⟩ ≥ 1 − gap on every round, ‖u‖ the least; the best so far where time or figures run out."""
    design = Design.of(rounds)
    corners, weights = [int(design.square_norms().argmin())], np.ones(1)
    found, best = None, -np.inf
    with calm(len(rounds), rounds.width), np.errstate(all="ignore"):
        for _ in range(MOST):
            u = _plane(_corners(rounds, corners))[0]
            margins = rounds.y * design.scores(design.inward(u))
            worst = int(margins.argmin())
            reached = float(margins[worst] / np.linalg.norm(u))
            if reached > best:
                found, best = Near(u, _spread(weights, corners, len(rounds))), reached
            if margins[worst] >= 1.0 - gap or worst in corners or time.perf_counter() > deadline:
                break
            joined = _joined(rounds, [*corners, worst], np.append(weights, 0.0))
            if joined is None:
                break
            corners, weights = joined
    return found


def _spread(weights: Vector, corners: Corners, count: int) -> Vector:
    found = np.zeros(count)
    found[corners] = weights
    return found


def _joined(rounds: Rounds, corners: Corners, weights: Vector) -> tuple[Corners, Vector] | None:
    """The corners that stay, with the weights of the nearest point of their plane; None where figures run out."""
    while True:
        P = _corners(rounds, corners)
        wanted = _plane(P)[1] if len(corners) <= rounds.width else _through_origin(P)
        if not np.isfinite(wanted).all():
            return None
        if (wanted > 0.0).all():
            return corners, wanted
        falling = np.flatnonzero(wanted <= 0.0)
        steps = weights[falling] / np.maximum(weights[falling] - wanted[falling], 1e-300)
        weights = np.maximum(weights + float(steps.min()) * (wanted - weights), 0.0)
        weights[falling[steps.argmin()]] = 0.0
        keep = np.flatnonzero(weights > 0.0)
        if not len(keep):
            return None
        corners, weights = [corners[place] for place in keep.tolist()], weights[keep] / weights[keep].sum()


def _corners(rounds: Rounds, corners: Corners) -> Matrix:
    """y·x of some rounds as rows of a matrix."""
    rows = rounds.rows.take(np.array(corners, dtype=np.int64))
    if isinstance(rows, Dense):
        X = np.asarray(rows.X, dtype=np.float64)
    else:
        X = np.zeros((len(corners), rounds.width))
        X[np.repeat(np.arange(len(corners)), np.diff(rows.indptr)), rows.indices] = rows.values
    return np.asarray(X * rounds.y[corners][:, None])


def _plane(P: Matrix) -> tuple[Vector, Vector]:
    """The u of least norm with ⟨u, p⟩ = 1 at every corner, and the weights of the point nearest to 0 in their plane."""
    from scipy.linalg import solve_triangular

    Q, R = np.linalg.qr(P.T)
    if not np.abs(np.diag(R)).all():
        return np.full(P.shape[1], np.nan), np.full(len(P), np.nan)
    z = solve_triangular(R, np.ones(len(P)), trans="T")
    weights = solve_triangular(R, z)
    return Q @ z, weights / weights.sum()


def _through_origin(P: Matrix) -> Vector:
    """The weights of 0 itself, where there is one corner more than features and the plane is all of space."""
    try:
        return np.linalg.solve(np.vstack([P.T, np.ones(len(P))]), np.append(np.zeros(P.shape[1]), 1.0))
    except np.linalg.LinAlgError:
        return np.full(len(P), np.nan)
