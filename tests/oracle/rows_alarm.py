"""The theorem of alarms from its statement, on the losses themselves."""

from fractions import Fraction

from oracle.alarm import e_values
from oracle.rows import Truth, row


class Watched:
    """Losses in exact fractions, and what is spent."""

    def __init__(self, facts):
        self.losses = [Fraction(float(one)) for one in facts.losses]
        self.level, self.delta = Fraction(facts.level), Fraction(facts.false_alarm)
        self.told, self.left_out = facts.told, facts.left_out
        self.e = e_values(self.losses, self.level) if 0 < self.level < 1 else []


@row("alarm")
def alarm(watched):
    found = [Fraction(1), *watched.e]
    rang = next((t for t, e in enumerate(found) if e >= 1 / watched.delta), 0)
    values = {"e_value": found[-1], "largest_e_value": max(found), "level": watched.level}
    return Truth(1 / max(found), None, {**values, "false_alarm": watched.delta, "rang": Fraction(rang)})


ALARM_NEEDS = {
    "every loss lies between 0 and 1": lambda w: all(0 <= one <= 1 for one in w.losses) and 0 < w.level < 1,
    "the level of each round was known before its label": lambda w: w.told,
    "no round was left out because of its label": lambda w: None if w.left_out else True,
    "given all that came before, the mean loss of every round is at most its level": lambda w: None,
}
