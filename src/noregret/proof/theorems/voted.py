"""What the vote of all a perceptron's predictors may be expected to lose on rows to come."""

from __future__ import annotations

from noregret.interval import Interval
from noregret.proof.facts import Facts
from noregret.proof.theorem import Claim, Need, theorem
from noregret.proof.theorems.hinge import best, l2_sum
from noregret.proof.theorems.shared import COMPARED, FROM_ZERO, PREMISE
from noregret.run import played_once, rows_weigh_one

ONE_PASS = Need[Facts]("every row was played once", lambda e: played_once(e.learner.segments))
UNIT_ROWS = Need[Facts]("every row weighs 1", lambda e: rows_weigh_one(e.learner.segments, e.rounds.weights))
ALIKE = Need[Facts]("the rows are independent and alike, and so is the row to come", lambda e: None)
TYPICAL = Need[Facts]("this sample's (r‖v‖ + a)² stands for its mean over samples", lambda e: None)


@theorem(
    "voted-test-error",
    "expected test error",
    "Pr[the vote errs] ≤ (2/T)·E[inf_v (r‖v‖ + a)²], a² = Σ_t h_t(v)²; evaluated at this sample of T rows",
    "Freund & Schapire 1999, Corollary 1",
    learners=("voted",),
    needs=(UNIT_ROWS, PREMISE, FROM_ZERO, COMPARED, ONE_PASS, ALIKE, TYPICAL),
)
def voted_test_error(facts: Facts) -> Claim:
    """The vote after T − 1 independent rows errs on the next with probability at most 2·E[M]/T, M the mistakes on T.

    A row that the vote gets wrong is got wrong by half of the predictors, and on average over the place where it comes
    each of those would be a mistake of the run. The mean over samples is not known: what is printed is its value at
    this one, an estimate and not a proof.
    """
    r, rounds = facts.mistakes.radius, float(len(facts.rounds))
    found = best(facts, lambda one: l2_sum(one.hinge2.sqrt(), one.norm * r))
    return Claim(found.bound * (Interval.of(2.0) / rounds), None, 1.0, found.values, found.points)
