"""A theorem: its statement, what it needs, and its formula over the facts of a run; and the certificate of one run.

A row of `theorems/` is a function from facts to a `Claim`, decorated with `theorem`; its docstring is the statement.
What a theorem needs is asked first: where a need fails nothing is computed and nothing claimed.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, TypeVar

from noregret.interval import Interval

F = TypeVar("F")
NOTHING = Interval(0.0, 0.0)


class Verdict(Enum):
    """How a certificate came out."""

    HOLDS = "the observed value is within the bound"
    VACUOUS = "the bound says nothing: it is not below the number of rounds, the run's own loss, or probability 1"
    UNMET = "an assumption fails on this run, so nothing is claimed"
    OPEN = "the bound lies inside the interval for what was observed: a smaller gap would tell"
    BROKEN = "every assumption holds and the bound is exceeded: a bug"


@dataclass(frozen=True, slots=True)
class Assumption:
    """What a theorem needs: `holds` is None where no run can tell."""

    statement: str
    holds: bool | None

    @property
    def checked(self) -> bool:
        return self.holds is not None

    def to_dict(self) -> dict[str, Any]:
        return {"statement": self.statement, "checked": self.checked, "holds": self.holds}


@dataclass(frozen=True, slots=True)
class Certificate:
    """A theorem's name and source, its bound, the observed value that it limits, and the verdict.

    `bound` is rounded up, so that it is a bound as printed. `observed` is the number of mistakes, or the upper end of
    the regret. `values` are the numbers the bound was made from, `points` the names of the vectors.
    """

    theorem: str
    source: str
    bound: float | None
    observed: float | None
    verdict: Verdict
    assumptions: tuple[Assumption, ...] = ()
    values: dict[str, float] = field(default_factory=dict)
    points: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "theorem": self.theorem,
            "source": self.source,
            "bound": self.bound,
            "observed": self.observed,
            "verdict": self.verdict.name.lower(),
            "assumptions": [part.to_dict() for part in self.assumptions],
            "values": dict(self.values),
            "points": list(self.points),
        }


@dataclass(frozen=True)
class Need(Generic[F]):
    """An assumption and how the facts are asked for it; None where no run can tell."""

    statement: str
    holds: Callable[[F], bool | None]


@dataclass(frozen=True)
class Claim:
    """observed ≤ bound; a bound from `ceiling` on says nothing."""

    bound: Interval
    observed: Interval | None
    ceiling: float
    values: dict[str, float] = field(default_factory=dict)
    points: tuple[str, ...] = ()

    def verdict(self, bound: float, observed: float | None) -> Verdict:
        """What follows from a bound and an observed value as they are claimed, neither below what is found here.

        It is broken only where even the lower end of what was observed lies above the bound as found, and it holds
        only where the upper end does not. Where nothing was observed the bound stands as it is.
        """
        if math.isnan(self.bound.hi) or (self.observed is not None and self.observed.lo > self.bound.hi):
            return Verdict.BROKEN
        if bound >= self.ceiling:
            return Verdict.VACUOUS
        return Verdict.HOLDS if observed is None or observed <= bound else Verdict.OPEN


@dataclass(frozen=True)
class Theorem(Generic[F]):
    """One theorem; called with facts it gives the certificate."""

    name: str
    title: str  # what it bounds
    formula: str
    source: str
    needs: tuple[Need[F], ...]
    learners: tuple[str, ...]
    erratum: str | None
    applies: Callable[[F], bool]
    function: Callable[[F], Claim]

    @property
    def statement(self) -> str:
        return inspect.cleandoc(self.function.__doc__ or "")

    @property
    def assumptions(self) -> tuple[str, ...]:
        return tuple(need.statement for need in self.needs)

    def asked(self, facts: F) -> tuple[Assumption, ...]:
        """Each need, asked of these facts."""
        return tuple(Assumption(need.statement, need.holds(facts)) for need in self.needs)

    def __call__(self, facts: F) -> Certificate:
        assumed = self.asked(facts)
        if any(one.holds is False for one in assumed):
            return Certificate(self.name, self.source, None, None, Verdict.UNMET, assumed)
        return self.certified(self.function(facts), assumed)

    def certified(self, claim: Claim, assumed: tuple[Assumption, ...] = ()) -> Certificate:
        """The certificate of a claim: its bound as printed is the upper end, and so is what was observed."""
        seen = None if claim.observed is None else claim.observed.hi
        verdict = claim.verdict(claim.bound.hi, seen)
        return Certificate(self.name, self.source, claim.bound.hi, seen, verdict, assumed, claim.values, claim.points)


def theorem(
    name: str,
    title: str,
    formula: str,
    source: str,
    *,
    learners: tuple[str, ...],
    needs: tuple[Need[F], ...] = (),
    erratum: str | None = None,
    applies: Callable[[F], bool] = lambda facts: True,
) -> Callable[[Callable[[F], Claim]], Theorem[F]]:
    """Make a function a theorem; `applies` says of which runs of its learners it speaks at all."""

    def made(function: Callable[[F], Claim]) -> Theorem[F]:
        return Theorem(name, title, formula, source, needs, learners, erratum, applies, function)

    return made


def rows(names: Mapping[str, Any]) -> list[Theorem[Any]]:
    """The theorems among some names, those of a module say, in the order in which they stand there."""
    return [one for one in names.values() if isinstance(one, Theorem)]


def speaking(theorems: Iterable[Theorem[F]], learner: str, facts: F) -> list[Theorem[F]]:
    """Those that speak of this learner and of this run of it."""
    return [one for one in theorems if learner in one.learners and one.applies(facts)]
