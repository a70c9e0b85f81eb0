"""Alarms: how likely losses as large as those of a run are, if their mean has not risen above a level."""

from __future__ import annotations

from noregret.interval import Interval
from noregret.proof.facts.alarm import AlarmFacts
from noregret.proof.theorem import Claim, Need, theorem

NAME = "alarm"
WITHIN = Need[AlarmFacts]("every loss lies between 0 and 1", lambda f: f.within)
TOLD = Need[AlarmFacts]("the level of each round was known before its label", lambda f: f.told)
ALL = Need[AlarmFacts]("no round was left out because of its label", lambda f: None if f.left_out else True)
NULL = Need[AlarmFacts]("given all that came before, the mean loss of every round is at most its level", lambda f: None)


@theorem(
    "alarm",
    "probability, under the null, of an e-value as large as that of the run",
    "1/max E_t, E_t = Σ_j A_t(2^(−j)/m)/8 + 1/(t + 1), A_t(λ) = (A_{t−1}(λ) + 1/(t(t + 1)))·(1 + λ(ℓ_t − m))",
    "Ville 1939, for a mixture of bets that begin at every round",
    learners=(NAME,),
    needs=(WITHIN, TOLD, ALL, NULL),
)
def alarm(facts: AlarmFacts) -> Claim:
    """If the mean of every loss, given all that came before, is at most m, then E_t ≥ 1/δ ever with probability ≤ δ.

    So an alarm that rings when E_t ≥ 1/δ rings for nothing with probability at most δ in the whole life of the run.
    """
    largest = facts.largest
    values = {
        "e_value": facts.e_value.lo,
        "largest_e_value": largest.lo,
        "level": facts.level,
        "false_alarm": facts.false_alarm,
        "rang": float(facts.rang or 0),
    }
    return Claim(1.0 / Interval(largest.lo, largest.hi), None, 1.0, values)
