"""The batch perceptron on a finite sample: θ ← θ + α·(what the misclassified rows ask for).

M_k = {rows with y⟨θ_k, x⟩ ≤ 0}: a score of 0 is misclassified, or nothing would ever be learned from θ = 0. With
S_k = Σ_{M_k} y·x the step is S_k (sum), S_k/|M_k| (average), S_k/‖S_k‖ (normalised), or y·x of one row of M_k (random).
The iteration stops at a separator. If there is none, it would go on forever within bounds: it is stopped when S_k = 0
or when the weights return to an earlier value.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import scores_of, sum_rows
from noregret.errors import DivergedError, SettingError
from noregret.rounds import Rounds, Vector
from noregret.setting import as_number

UPDATES = ("sum", "average", "normalised", "random")
Ints = NDArray[np.int64]


class Outcome(Enum):
    """How an iteration ended."""

    SEPARATED = "stopped at a separator: no row is misclassified"
    STALLED = (
        "stalls: the misclassified rows add up to 0, so no step moves the weights: up to rounding, no separator exists"
    )
    OSCILLATES = "oscillates: the weights returned to an earlier value: up to rounding, no separator exists"
    LIMIT = "stopped by the limit on iterations: some rows are still misclassified"


@dataclass(frozen=True)
class BatchRun:
    """A finished iteration; the traces hold one entry for each of θ_0, …, θ_K.

    J_hard counts the rows that the sign of the score gets wrong, a score of 0 being −1; J_soft = Σ max(−y·score, 0).
    If nothing was rounded, steps that add up to 0 prove that no separator exists; `noregret.separate` always proves it.
    """

    update: str
    step: float
    start: Vector
    theta: Vector  # with a bias, its weight first
    iterations: int  # K: steps taken, each with a misclassified row
    hard: Ints
    soft: Vector
    misclassified: Ints  # |M_k|
    outcome: Outcome
    limit: int
    returned_to: int | None  # the k at which the weights were the same as at the end
    picks: Ints | None  # the row of each step, of the random rule
    bias: bool

    @property
    def separated(self) -> bool:
        """Whether it ended with no row misclassified."""
        return self.outcome is Outcome.SEPARATED

    @property
    def oscillates(self) -> bool:
        """Whether it returned to earlier weights, or its steps add up to 0: it would go on forever."""
        return self.outcome in (Outcome.STALLED, Outcome.OSCILLATES)

    @property
    def weights(self) -> Vector:
        """θ without the bias."""
        return self.theta[1:] if self.bias else self.theta

    @property
    def intercept(self) -> float:
        """The bias; 0 without one."""
        return float(self.theta[0]) if self.bias else 0.0

    @property
    def sentence(self) -> str:
        """How it ended, for people."""
        if self.returned_to is not None and self.outcome is Outcome.OSCILLATES:
            steps = self.iterations - self.returned_to
            same = f"after step {self.iterations} as after step {self.returned_to}"
            return f"{self.outcome.value} ({same}, a cycle of {steps})"
        return f"{self.outcome.value} (after {self.iterations} steps)"


def run(
    rounds: Rounds,
    *,
    update: str = "average",
    step: float = 1.0,
    start: Vector | None = None,
    limit: int = 10_000,
    rng: np.random.Generator | int | None = None,
) -> BatchRun:
    """Iterate from `start` (0) until no row is misclassified, the weights come back, or `limit` steps were taken.

    >>> rounds = Rounds.of(np.array([[2.0, 1.0]] * 11 + [[-2.0, 1.0]]), np.ones(12))
    >>> run(rounds, update="sum").iterations, run(rounds, update="average").iterations
    (7, 2)
    """
    rng = _checked(update, step, limit, rng)
    first = np.zeros(rounds.width) if start is None else np.array(start, dtype=np.float64)
    if first.shape != (rounds.width,) or not np.isfinite(first).all():
        raise SettingError(f"batch perceptron: start must be {rounds.width} finite numbers")
    trace = _Trace(rounds, update, rng)
    theta, outcome, back = _iterated(trace, first, step, limit)
    return BatchRun(
        update,
        step,
        first,
        theta,
        trace.steps,
        np.array(trace.hard, dtype=np.int64),
        np.array(trace.soft),
        np.array(trace.misclassified, dtype=np.int64),
        outcome,
        limit,
        back,
        None if rng is None else np.array(trace.picks, dtype=np.int64),
        rounds.bias,
    )


def _iterated(trace: _Trace, theta: Vector, step: float, limit: int) -> tuple[Vector, Outcome, int | None]:
    """The weights in the end, why it is the end, and the step whose weights came back."""
    seen = {_state(theta): 0}
    while len(wrong := trace.look(theta)):
        if trace.steps == limit:
            return theta, Outcome.LIMIT, None
        direction = trace.direction(wrong)
        if direction is None:
            return theta, Outcome.STALLED, None
        theta = theta + step * direction
        if not np.isfinite(theta).all():
            raise DivergedError("batch perceptron: the weights are no longer finite; scale the rows or the step")
        trace.steps += 1
        back = seen.setdefault(_state(theta), trace.steps)
        if back != trace.steps:
            trace.look(theta)
            return theta, Outcome.OSCILLATES, back
    return theta, Outcome.SEPARATED, None


def _checked(update: str, step: float, limit: int, rng: Any) -> np.random.Generator | None:
    if update not in UPDATES:
        raise SettingError(f"batch perceptron: update must be one of {', '.join(UPDATES)}, got {update!r}")
    if not 0.0 < as_number(step) < math.inf:
        raise SettingError(f"batch perceptron: step must be positive and finite, got {step}")
    if not isinstance(limit, int | np.integer) or limit < 0:
        raise SettingError(f"batch perceptron: max_iterations must be a whole number of at least 0, got {limit}")
    if update != "random":
        return None
    if rng is None:
        raise SettingError("batch perceptron: update random needs rng, a seed or a numpy Generator")
    return np.random.default_rng(rng)


class _Trace:
    """Scores of all rows at each θ, and what they count up to."""

    def __init__(self, rounds: Rounds, update: str, rng: np.random.Generator | None = None) -> None:
        self._rounds, self._update, self._rng = rounds, update, rng
        self._scores = np.empty(len(rounds))
        self.steps = 0
        self.hard: list[int] = []
        self.soft: list[float] = []
        self.misclassified: list[int] = []
        self.picks: list[int] = []  # the row of each step, where one is drawn

    def look(self, theta: Vector) -> Ints:
        """The misclassified rows."""
        scores_of(self._rounds.native, theta, self._scores)
        margins = self._rounds.y * self._scores
        wrong = np.flatnonzero(margins <= 0.0).astype(np.int64)
        self.hard.append(int(np.count_nonzero(np.where(self._scores > 0.0, 1.0, -1.0) != self._rounds.y)))
        self.soft.append(arithmetic.total(np.maximum(-margins, 0.0)))
        self.misclassified.append(len(wrong))
        return wrong

    def direction(self, wrong: Ints) -> Vector | None:
        """The step for α = 1; None where the rows add up to 0."""
        if self._rng is None:
            return _direction(self._rounds, self._update, wrong)
        pick = int(wrong[self._rng.integers(len(wrong))])
        found = _direction(self._rounds, self._update, np.array([pick]))
        self.picks += [] if found is None else [pick]
        return found


def _direction(rounds: Rounds, update: str, wrong: Ints) -> Vector | None:
    """The step for α = 1; None where the rows add up to 0."""
    signs, total = np.zeros(len(rounds)), np.zeros(rounds.width)
    signs[wrong] = rounds.y[wrong]
    sum_rows(rounds.native, signs, total)
    if not total.any():
        return None
    if update == "average":
        return total / len(wrong)
    if update == "normalised":
        largest = float(np.abs(total).max())
        return total / largest / arithmetic.norm(total / largest)
    return total


def _state(theta: Vector) -> bytes:
    """Equal for equal weights, −0 being 0."""
    return hashlib.blake2b((theta + 0.0).tobytes(), digest_size=16).digest()


def stepped(rounds: Rounds, run: BatchRun) -> Iterator[Ints]:
    """The rows of each step, one after another, by the same arithmetic."""
    if run.picks is not None:
        yield from (run.picks[k : k + 1] for k in range(run.iterations))
        return
    yield from (rows for rows, _ in retraced(rounds, run))


def retraced(rounds: Rounds, run: BatchRun) -> Iterator[tuple[Ints, Vector]]:
    """The rows of each step and the weights after it, by the same arithmetic."""
    theta, trace = run.start, _Trace(rounds, run.update)
    for k in range(run.iterations):
        rows = trace.look(theta) if run.picks is None else run.picks[k : k + 1]
        direction = _direction(rounds, run.update, rows)
        assert direction is not None
        theta = theta + run.step * direction
        yield rows, theta
