"""Sets whose coverage is tracked: their theorems from the statements, on the scores of the rounds and nothing else."""

from fractions import Fraction

from oracle.cover import Tracker, most_held, most_missed
from oracle.rows import Truth, row


class Covered:
    """A run's scores a(y), each with the number of labels that were there when its row was predicted.

    The first threshold is not made from rows that were predicted before any label, but for the first label.
    """

    def __init__(self, target, scores, by_then=None):
        self.tracker = Tracker(target)
        shown = {0: (self.tracker.q, 0)}  # after so many labels: the threshold, and how many had had a set
        for k, score in enumerate(scores):
            q, since = shown[k if by_then is None else by_then[k]]
            if by_then is None or by_then[k] or not k:
                self.tracker.label(score, q, since)
            shown[k + 1] = self.tracker.q, len(self.tracker.scored)

    @property
    def told(self):
        one = self.tracker
        return {"target": one.target, "first": one.first, "step": one.step}


def truth(data, bound, observed):
    one = data.tracker
    values = {"target": Fraction(one.target), "rounds": len(one.scored), "step": Fraction(one.step)}
    values |= {"first_q": Fraction(one.first), "last_q": one.exact_q, "largest": Fraction(one.largest)}
    return Truth(bound, observed, values, scale=bound)


@row("cover-identity")
def identity(data):
    one = data.tracker
    exact = Fraction(one.alpha) * len(one.scored) + (one.exact_q - Fraction(one.first)) / Fraction(one.step)
    return truth(data, exact, one.misses)


@row("cover-missed")
@row("cover-late")
def missed(data):
    one = data.tracker
    bound = most_missed(**data.told, largest=one.largest, rounds=len(one.scored), between=one.between)
    return truth(data, bound, one.misses)


@row("cover-held")
def held(data):
    one = data.tracker
    bound = most_held(**data.told, rounds=len(one.scored), between=one.between)
    return truth(data, bound, len(one.scored) - one.misses)
