"""What is promised of the batch perceptron on rows that can be separated: how many steps it takes, rule by rule.

With R = max‖x‖ and a separator u of margin γ = min y⟨u, x⟩/‖u‖ let B = R²/γ²; the largest margin gives the least B. All
of it needs of the rows of each step only that Σ y⟨θ, x⟩ ≤ 0 over them, which is replayed in whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from noregret.batch import BatchRun, stepped
from noregret.interval import Interval
from noregret.proof import enclose
from noregret.proof.theorem import Certificate, Claim, Need, Theorem, rows, speaking, theorem
from noregret.rounds import Rounds, Vector, as_sparse

CHAN = "Chan's ECE 595 lecture 17, the perceptron convergence theorem, repaired"
REPLAYED = 3_000_000  # entries of misclassified rows, over all steps
DIGITS = 256  # bits behind the point, where a norm is no fraction


@dataclass(frozen=True)
class BatchFacts:
    """An iteration, its rows, and a separator where one is known."""

    run: BatchRun
    rounds: Rounds
    separator: Vector | None = None

    @cached_property
    def margin(self) -> Interval:
        """min y⟨u, x⟩."""
        assert self.separator is not None
        low, high = enclose.margins(self.rounds, self.separator)
        y = self.rounds.y
        lower, upper = np.where(y > 0.0, low, -high), np.where(y > 0.0, high, -low)
        return Interval(float(lower.min(initial=math.inf)), float(upper.min(initial=math.inf)))

    @cached_property
    def bound(self) -> Interval:
        """B = R²‖u‖²/(min y⟨u, x⟩)²."""
        assert self.separator is not None
        return (enclose.largest_norm(self.rounds) * enclose.norm(self.separator) / self.margin).square()

    @cached_property
    def premise(self) -> bool | None:
        return replayed(self.rounds, self.run)


def certificates(run: BatchRun, rounds: Rounds, separator: Vector | None) -> list[Certificate]:
    """Every theorem that speaks of this update rule, evaluated on its iteration."""
    facts = BatchFacts(run, rounds, separator)
    return [one(facts) for one in speaking(rows(globals()), f"batch-{run.update}", facts)]


def replayed(rounds: Rounds, run: BatchRun) -> bool | None:
    """Whether Σ y⟨Θ_k, x⟩ ≤ 0 over the rows of every step, Θ_k the steps before it added up without any rounding.

    None where there are too many rows to add up, or where a normalised step is so near a tie that 256 bits do not tell.
    """
    rows = as_sparse(rounds.rows)
    lengths = np.diff(rows.indptr)
    if rounds.width * run.iterations > REPLAYED or int(lengths.sum()) * max(run.iterations, 1) > 20 * REPLAYED:
        return None
    units = max((value.as_integer_ratio()[1] for value in np.unique(rows.values).tolist()), default=1)
    whole = [above * (units // below) for above, below in (value.as_integer_ratio() for value in rows.values.tolist())]
    path, work = _Path(run.update, rounds.width), 0
    for chosen in stepped(rounds, run):
        work += int(lengths[chosen].sum())
        if work > REPLAYED:
            return None
        total = np.zeros(rounds.width, dtype=object)
        for t in chosen.tolist():
            sign = int(rounds.y[t])
            for k in range(int(rows.indptr[t]), int(rows.indptr[t + 1])):
                total[rows.indices[k]] += sign * whole[k]
        fair = path.take(total, len(chosen))
        if fair is not True:
            return fair
    return True


class _Path:
    """Θ_k = numerator/denominator, in units of its own; of normalised steps to within `error` in each feature."""

    def __init__(self, update: str, width: int) -> None:
        self._update = update
        self._numerator = np.zeros(width, dtype=object)
        self._denominator, self._error = 1, 0

    def take(self, total: Any, count: int) -> bool | None:
        """Whether ⟨Θ_k, S_k⟩ ≤ 0; then Θ_k moves on."""
        product = int(self._numerator @ total)
        doubt = self._error * int(np.abs(total).sum())
        if self._update == "normalised":
            norm2 = int(total @ total)
            shift = DIGITS + norm2.bit_length()
            self._numerator = self._numerator + (
                total * math.isqrt((1 << (2 * shift)) // max(norm2, 1)) >> norm2.bit_length()
            )
            self._error += 2
        else:
            part = count if self._update == "average" else 1
            common = math.lcm(self._denominator, part)
            self._numerator = self._numerator * (common // self._denominator) + total * (common // part)
            self._denominator = common
        return None if product != 0 and abs(product) <= doubt else product <= 0


def _theorem(
    name: str, bounds: str, formula: str, source: str, *updates: str, **more: Any
) -> Callable[[Callable[[BatchFacts], Claim]], Theorem[BatchFacts]]:
    learners = tuple(f"batch-{one}" for one in updates)
    return theorem(name, bounds, formula, source, learners=learners, needs=NEEDS, **more)


NEEDS = (
    Need[BatchFacts]("the iteration starts at θ₀ = 0", lambda e: not e.run.start.any()),
    Need[BatchFacts](
        "a separator is known: y⟨u,x⟩ > 0 on every row", lambda e: e.separator is not None and e.margin.lo > 0.0
    ),
    Need[BatchFacts]("every step was taken at Σ y⟨θ,x⟩ ≤ 0 over its rows, in exact arithmetic", lambda e: e.premise),
)


def _steps(facts: BatchFacts) -> int:
    """Σ_k m_k over the steps taken."""
    return int(facts.run.misclassified[: facts.run.iterations].sum())


@_theorem(
    "batch-iterations",
    "steps of the batch perceptron",
    "K ≤ R²/γ², R = max‖x‖, γ = min y⟨u,x⟩/‖u‖",
    CHAN,
    "average",
    "normalised",
    "random",
    erratum="Printed for the sum of the misclassified rows, and as a limit of Σ|M_k|, with < and with M_k = {y·g < 0}."
    " Of two rows x = y = 1 the sum misclassifies two at its one step, and R²/γ² = 1; of 11 rows (2, 1) and one"
    " (−2, 1), all of label 1, it takes 7 steps where R²/γ² = 5; and from θ₀ = 0 no row has y·g < 0, so that nothing is"
    " ever learned. The limit is some separator, not θ*.",
)
def batch_iterations(facts: BatchFacts) -> Claim:
    """Steps by the average of the misclassified rows, by their normalised sum, or by one of them, whichever it is:
    each adds at least α·γ (normalised: α·γ/R) along a separator and at most α²R² (α²) to ‖θ‖². So K ≤ R²/γ², for any
    step size α > 0."""
    run = facts.run
    values = {"radius_over_margin": math.sqrt(facts.bound.hi), "rows": float(len(facts.rounds))}
    return Claim(facts.bound, Interval.of(float(run.iterations)), float(run.limit), values)


@_theorem(
    "batch-sum",
    "misclassified rows of the batch perceptron, summed over its steps",
    "Σ_k m_k ≤ √(B·Σ_k m_k²), B = R²/γ²",
    CHAN,
    "sum",
    erratum="The printed K ≤ Σ_k m_k < B is false: ‖Σ_M y·x‖² is at most m²R², not mR². Ten rows (−2, 1) of label 1 and"
    " one (0, 1) of label −1 have B = 10, and the sum takes 11 steps.",
)
def batch_sum(facts: BatchFacts) -> Claim:
    """Steps by the sum of the m_k misclassified rows: each adds at least m_k·γ along a separator and at most m_k²R² to
    ‖θ‖². So (Σ m_k)² ≤ B·Σ m_k²."""
    counts = facts.run.misclassified[: facts.run.iterations].tolist()
    bound = (facts.bound * float(sum(one * one for one in counts))).sqrt()
    most = float(facts.run.limit * len(facts.rounds))
    return Claim(bound, Interval.of(float(_steps(facts))), most, {"steps": float(facts.run.iterations)})


@_theorem(
    "batch-sum-rows",
    "misclassified rows of the batch perceptron, summed over its steps",
    "K ≤ Σ_k m_k ≤ N·B, B = R²/γ², of N rows",
    CHAN,
    "sum",
)
def batch_sum_rows(facts: BatchFacts) -> Claim:
    """As m_k ≤ N, (Σ m_k)² ≤ B·Σ m_k² gives Σ m_k ≤ N·B, and K is no larger: known before the iteration begins."""
    most = float(facts.run.limit * len(facts.rounds))
    bound = facts.bound * float(len(facts.rounds))
    return Claim(bound, Interval.of(float(_steps(facts))), most, {"steps": float(facts.run.iterations)})
