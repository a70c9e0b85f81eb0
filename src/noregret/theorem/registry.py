"""A theorem: its statement, what it needs, and the function that evaluates it on a run's evidence.

A module of this package decorates a function from Evidence to a Claim with `theorem`; its docstring is the statement.
What a theorem needs is checked first: where a need fails nothing is computed and nothing claimed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field

from noregret.interval import Interval
from noregret.theorem.certificate import Assumption, Certificate, judge
from noregret.theorem.evidence import Evidence

NOTHING = Interval(0.0, 0.0)


@dataclass(frozen=True)
class Need:
    """An assumption and how a run is asked for it; None where no run can tell."""

    statement: str
    holds: Callable[[Evidence], bool | None]


@dataclass(frozen=True)
class Claim:
    """observed ≤ bound; a bound from `ceiling` on says nothing."""

    bound: Interval
    observed: Interval | None
    ceiling: float
    values: dict[str, float] = field(default_factory=dict)
    points: tuple[str, ...] = ()


@dataclass(frozen=True)
class Theorem:
    """One theorem; called with the evidence of a run it gives the certificate."""

    name: str
    title: str  # what it bounds
    formula: str
    source: str
    needs: tuple[Need, ...]
    learners: tuple[str, ...]
    erratum: str | None
    applies: Callable[[Evidence], bool]
    function: Callable[[Evidence], Claim]

    @property
    def statement(self) -> str:
        return inspect.cleandoc(self.function.__doc__ or "")

    @property
    def assumptions(self) -> tuple[str, ...]:
        return tuple(need.statement for need in self.needs)

    def __call__(self, evidence: Evidence) -> Certificate:
        checked = tuple(Assumption(need.statement, need.holds(evidence)) for need in self.needs)
        if any(one.holds is False for one in checked):
            return judge(self.name, self.source, NOTHING, None, 0.0, checked, {})
        claim = self.function(evidence)
        return judge(
            self.name, self.source, claim.bound, claim.observed, claim.ceiling, checked, claim.values, claim.points
        )


def theorem(
    name: str,
    title: str,
    formula: str,
    source: str,
    *,
    learners: tuple[str, ...],
    needs: tuple[Need, ...] = (),
    erratum: str | None = None,
    applies: Callable[[Evidence], bool] = lambda evidence: True,
) -> Callable[[Callable[[Evidence], Claim]], Theorem]:
    """Make a function a theorem; `applies` says of which runs of its learners it speaks at all."""

    def made(function: Callable[[Evidence], Claim]) -> Theorem:
        return Theorem(name, title, formula, source, needs, learners, erratum, applies, function)

    return made
