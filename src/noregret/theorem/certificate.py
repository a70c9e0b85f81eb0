"""One theorem evaluated on one run: what it promised, what was observed, and whether it could be promised at all."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from noregret.interval import Interval


class Verdict(Enum):
    """How a certificate came out."""

    HOLDS = "the observed value is within the bound"
    VACUOUS = "the bound says nothing: it is not below the number of rounds, the run's own loss, or probability 1"
    UNMET = "an assumption fails on this run, so nothing is claimed"
    OPEN = "the bound lies inside the interval for the regret: a smaller gap would tell"
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


def judge(
    theorem: str,
    source: str,
    bound: Interval,
    observed: Interval | None,
    ceiling: float,
    assumptions: tuple[Assumption, ...],
    values: dict[str, float],
    points: tuple[str, ...] = (),
) -> Certificate:
    """The certificate of `observed ≤ bound`; a bound of `ceiling` or more (the rounds, the run's own loss) is vacuous.

    The bound as printed is its upper end. It is broken only where even the lower end of what was observed lies above
    that, and it holds only where the upper end does not. Where nothing was observed the bound stands as it is.
    """
    if any(part.holds is False for part in assumptions):
        return Certificate(theorem, source, None, None, Verdict.UNMET, assumptions, {}, ())
    if math.isnan(bound.hi) or (observed is not None and observed.lo > bound.hi):
        verdict = Verdict.BROKEN
    elif bound.hi >= ceiling:
        verdict = Verdict.VACUOUS
    else:
        verdict = Verdict.HOLDS if observed is None or observed.hi <= bound.hi else Verdict.OPEN
    seen = None if observed is None else observed.hi
    return Certificate(theorem, source, bound.hi, seen, verdict, assumptions, values, points)
