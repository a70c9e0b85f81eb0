"""Sets whose coverage is tracked, from the definition: q in floats as the core has it, and in fractions."""

import math
from fractions import Fraction

WARM = 50
BITS = 53


class Tracker:
    """One list of what became of every set; q₁ and η may be given, and then there is a set from the first round on."""

    def __init__(self, target, first=None, step=0.0):
        self.target, self.alpha = target, 1.0 - target
        self.first, self.step = first, step
        self.warm, self.unset, self.scored, self.largest, self.between = [], 0, [], 0.0, 0

    @property
    def misses(self):
        return sum(missed for _, missed in self.scored)

    @property
    def q(self):
        if not self.step:
            return math.nan
        return self.first + self.step * (float(self.misses) - self.alpha * float(len(self.scored)))

    @property
    def exact_q(self):
        """The same, without any rounding."""
        return Fraction(self.first) + Fraction(self.step) * (self.misses - Fraction(self.alpha) * len(self.scored))

    def begin(self, score):
        self.warm = [*self.warm[: WARM - 1], score]
        if len(self.warm) < WARM or not any(self.warm):
            return
        in_order = sorted(self.warm)
        typical = middle(in_order) or middle([one for one in in_order if one > 0.0])
        self.step = max(0.05 * typical, 2.0**-1022)
        self.first = in_order[math.ceil(self.target * float(WARM)) - 1]

    def label(self, score, q=None, since=None):
        """A score; of a label that comes late with the threshold of its set, and how many labels there were by then."""
        score = float(score)
        q, since = (self.q if q is None else q), (len(self.scored) if since is None else since)
        if math.isnan(q):
            if not self.step:
                self.begin(score)
            self.unset += 1
            return
        self.between = max(self.between, len(self.scored) - since)
        self.largest = max(self.largest, score)
        self.scored.append((score, bool(score > q)))


def middle(in_order):
    n = len(in_order)
    return 0.5 * in_order[(n - 1) // 2] + 0.5 * in_order[n // 2]


def most_missed(target, first, step, largest, rounds, between):
    """The bound on the misses, in fractions: Theorem 7 (ii), and its version for late labels."""
    alpha, step = Fraction(1.0 - target), Fraction(step)
    above = Fraction(largest) - Fraction(first)
    if between:
        return alpha * rounds + max(Fraction(0), above) / step + (1 + between) * (1 - alpha)
    return alpha * rounds + max(Fraction(0), above + step * (1 - alpha)) / step


def most_held(target, first, step, rounds, between):
    """The bound on the labels within their sets."""
    alpha = Fraction(1.0 - target)
    return (1 - alpha) * rounds + Fraction(first) / Fraction(step) + (1 + between) * alpha
