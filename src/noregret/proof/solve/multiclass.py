"""Comparators with a row a class: V with a small Σ_t ℓ_t(V) + ρ‖V‖, ℓ_t(V) = max(0, 1 − min_{r≠y} ⟨v_y − v_r, x_t⟩).

The loss is smoothed (a log-sum-exp of width μ in place of the maximum) and descended by L-BFGS for falling μ.
Any V is sound in a mistake bound, so nothing is proved here: whoever uses V encloses its loss itself.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.rounds import Rounds
from noregret.stream.block import Sparse
from noregret.threads import calm

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
WIDTHS = (1.0, 0.1, 0.01)
STEPS = 80  # of the descent at each width
ROOTS = 2  # of the iteration for the order-free bound
SMALLER = (0.3, 0.03, 0.003)  # penalties under which a separator is looked for


class Out(Exception):
    """The time is over."""


class Problem:
    """Σ ℓ_t(V) + ρ‖V‖ in units in which the longest row has length 1."""

    def __init__(self, rounds: Rounds, classes: int, radius: float, deadline: float) -> None:
        self.rows = _matrix(rounds, radius)
        self.column_norms2 = _column_norms2(self.rows)
        self.unit = np.ones(rounds.width)
        self.y = rounds.y.astype(np.int64)
        self.own = np.arange(len(self.y)), self.y
        self.classes, self.radius = classes, radius
        self.deadline = deadline
        self.best = np.zeros((classes, rounds.width))
        self.value = float(len(self.y))
        self.rho = 0.0

    def solve(self, rho: float, start: Matrix) -> Matrix:
        """A V near the best, never worse than 0."""
        from scipy.optimize import minimize

        self.rho, self.best, self.value = rho, np.zeros_like(start), float(len(self.y))
        # descent moves V/unit, to which columns are of one size; no best V is longer than T/ρ, so ρ‖V‖ bends by ρ²/T
        bend = self.column_norms2 + rho * rho / max(len(self.y), 1)
        self.unit = 1.0 / np.sqrt(np.where(bend > 0.0, bend, 1.0))
        v = start
        try:
            for mu in WIDTHS if not start.any() else WIDTHS[1:]:
                found = minimize(
                    self._smooth,
                    (v / self.unit).reshape(-1),
                    (mu,),
                    "L-BFGS-B",
                    jac=True,
                    options={"maxiter": STEPS, "maxcor": 20, "ftol": 1e-6},
                )
                v = found.x.reshape(start.shape) * self.unit
        except Out:
            pass
        return self.best

    def margins(self, V: Matrix) -> Vector:
        """min_{r≠y} ⟨v_y − v_r, x_t⟩."""
        scores = np.asarray(self.rows @ V.T)
        mine = scores[self.own].copy()
        scores[self.own] = -np.inf
        return np.asarray(mine - scores.max(axis=1))

    def _smooth(self, v: Vector, mu: float) -> tuple[float, Vector]:
        """The smoothed value and its slope; the unsmoothed value is looked at on the way."""
        if time.perf_counter() > self.deadline:
            raise Out
        V = v.reshape(self.classes, -1) * self.unit
        scores = np.asarray(self.rows @ V.T)
        mine = scores[self.own].copy()
        scores += 1.0 - mine[:, None]
        scores[self.own] = 0.0
        top = scores.max(axis=1)  # at least 0, the right class's own
        size = float(np.linalg.norm(V))
        value = float(top.sum()) + self.rho * size
        if value < self.value:
            self.value, self.best = value, V.copy()
        share = np.exp((scores - top[:, None]) / mu)
        weight = share.sum(axis=1)
        smooth = float((top + mu * np.log(weight)).sum())
        share /= weight[:, None]
        share[self.own] -= 1.0
        slope = np.asarray((self.rows.T @ share).T)
        length = math.sqrt(size * size + mu * mu * 1e-4)
        slope = (slope + (self.rho / length) * V) * self.unit
        return smooth + self.rho * length, slope.reshape(-1)


def comparators(
    rounds: Rounds, classes: int, penalties: dict[str, float], radius: float, seconds: float
) -> dict[str, Vector]:
    """V_name for each penalty ρ, V_root for the bound that needs no penalty, and V_apart if a separator was found."""
    if radius == 0.0:
        return {f"V_{name}": np.zeros(classes * rounds.width) for name in (*penalties, "root")}
    problem = Problem(rounds, classes, radius, time.perf_counter() + seconds)
    with calm(len(rounds), rounds.width):
        found = _solved(problem, penalties, np.zeros((classes, rounds.width)))
    return {name: (V / radius).reshape(-1) for name, V in found.items()}


def _solved(problem: Problem, penalties: dict[str, float], v: Matrix) -> dict[str, Matrix]:
    """The comparators in the problem's units, each from the one before."""
    found: dict[str, Matrix] = {}
    for name, rho in penalties.items():
        v = found[f"V_{name}"] = problem.solve(rho / problem.radius, v)
    found["V_root"] = _root(problem, v)
    apart = _apart(problem, found["V_root"])
    if apart is not None:
        found["V_apart"] = apart
    return found


def _root(problem: Problem, v: Matrix) -> Matrix:
    """The V of least Q(Σℓ(V), √2‖V‖): s ← √Q at the best V for the penalty √2·s, from a first V on."""
    best, least = v, _order_free(problem, v)
    for _ in range(ROOTS):
        v = problem.solve(math.sqrt(2.0 * least), v)
        value = _order_free(problem, v)
        if value >= least * (1.0 - 1e-3):
            break
        best, least = v, value
    return best


def _order_free(problem: Problem, v: Matrix) -> float:
    """Q(c, b) = c + b²/2 + b√(c + b²/4), c = Σℓ(V) and b = √2‖V‖."""
    c, b = float(np.maximum(1.0 - problem.margins(v), 0.0).sum()), math.sqrt(2.0) * float(np.linalg.norm(v))
    return c + b * b / 2.0 + b * math.sqrt(c + b * b / 4.0)


def _apart(problem: Problem, v: Matrix) -> Matrix | None:
    """A short V with ⟨v_y − v_r, x⟩ ≥ 1 everywhere, by ever smaller penalties."""
    best: Matrix | None = None
    for part in SMALLER:
        v = problem.solve(part, v)
        worst = float(problem.margins(v).min())
        if worst > 0.0:
            apart = v * ((1.0 + 1e-9) / worst)
            if best is None or np.linalg.norm(apart) < np.linalg.norm(best):
                best = apart
        elif best is not None:
            break
    return best


def _column_norms2(rows: Any) -> Vector:
    squares = rows.multiply(rows) if hasattr(rows, "multiply") else rows * rows
    return np.asarray(squares.sum(axis=0), dtype=np.float64).reshape(-1)


def _matrix(rounds: Rounds, radius: float) -> Any:
    rows = rounds.rows
    if isinstance(rows, Sparse):
        from scipy.sparse import csr_matrix

        return csr_matrix((rows.values / radius, rows.indices, rows.indptr), (len(rows), rounds.width))
    return rows.X / radius
