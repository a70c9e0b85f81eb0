"""The doubling trick: the learner for a known horizon, started anew at rounds 1, 2, 4, 8, … for as many rounds."""

from __future__ import annotations

from noregret._native import DOUBLING
from noregret.interval import Interval
from noregret.theorem.constant import gradient_parameter, gradients_within
from noregret.theorem.evidence import Evidence
from noregret.theorem.needs import BALL_DOMAIN, CONVEX, INSIDE
from noregret.theorem.registry import Claim, Need, theorem
from noregret.theorem.regret import OWN, claim, exact_sqrt, plain_steps, radius, root_rounds

SS = "Shalev-Shwartz & Ben-David ch. 21, exercise 4"
NEEDS = (CONVEX, BALL_DOMAIN, INSIDE, Need("no gradient is longer than G", gradients_within))
LAST_PERIOD = (
    "The last period may be incomplete, and then its learner must keep its promise at every round of it: a constant"
    " step does, another learner need not."
)


def period_roots(rounds: int) -> Interval:
    """Σ√P over the periods P = 1, 2, 4, … begun within so many rounds."""
    found = Interval.of(0.0)
    for m in range(rounds.bit_length()):
        found = found + exact_sqrt(2**m)
    return found


def closed(root: Interval) -> Interval:
    """√2/(√2 − 1)·√T."""
    two = Interval.of(2.0).sqrt()
    return two / (two - 1.0) * root


def _doubling(evidence: Evidence) -> bool:
    return plain_steps(evidence) and evidence.rate == DOUBLING


@theorem(
    "ogd-doubling",
    "regret",
    "U·G·Σ√P over the periods P = 1, 2, 4, … that were begun",
    SS,
    learners=OWN,
    needs=NEEDS,
    applies=_doubling,
    erratum=LAST_PERIOD,
)
def ogd_doubling(evidence: Evidence) -> Claim:
    """Each period of P rounds has the step U/(G√P) and regret at most U·G√P; the regrets of the periods add up."""
    G = gradient_parameter(evidence)
    bound = radius(evidence) * G * period_roots(len(evidence.rounds))
    return claim(evidence, bound, gradient_bound=G.hi)


@theorem(
    "ogd-doubling-closed",
    "regret",
    "√2/(√2 − 1)·U·G√T",
    SS,
    learners=OWN,
    needs=NEEDS,
    applies=_doubling,
    erratum=LAST_PERIOD,
)
def ogd_doubling_closed(evidence: Evidence) -> Claim:
    """The sum of the periods' bounds is at most √2/(√2 − 1) ≈ 3.41 times that of a learner told T beforehand."""
    G = gradient_parameter(evidence)
    return claim(evidence, closed(root_rounds(evidence)) * radius(evidence) * G, gradient_bound=G.hi)
