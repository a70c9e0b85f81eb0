"""The ledger of plays from its definition, in exact fractions, with the slopes of the loss as they are exactly."""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from oracle.rows import dec, norm, slope, value

ZERO = Fraction(0)


@dataclass
class Sums:
    """n, L, P, Q, G and N; roots are decimals."""

    rounds: int
    loss: object
    paid: object
    sizes: object
    G: list
    norms: object

    def bound(self, radius):
        """P + U‖G‖."""
        return dec(self.paid) + dec(Fraction(radius)) * norm(self.G)


def ledger(loss, X, y, z, weights=None, bias=False):
    """The sums over all rounds whose weight is not 0."""
    weights = [1.0] * len(y) if weights is None else weights
    width = len(X[0]) + bias if len(X) else bias
    found = Sums(0, ZERO, ZERO, ZERO, [ZERO] * width, Decimal(0))
    for x, label, score, weight in zip(X, y, z, weights, strict=True):
        k, score, label = Fraction(float(weight)), Fraction(float(score)), Fraction(float(label))
        if not k:
            continue
        row = [Fraction(1)] * bias + [Fraction(float(part)) for part in x]
        s = k * Fraction(slope(loss, score, label))
        found.rounds += 1
        found.loss += k * Fraction(value(loss, score, label))
        found.paid += s * score
        found.sizes += abs(s * score)
        found.G = [g + s * part for g, part in zip(found.G, row, strict=True)]
        found.norms += dec(abs(s)) * norm(row)
    return found


def holds(interval, exact):
    """Whether an interval of floats contains an exact number."""
    with localcontext() as context:
        context.prec = 60
        return dec(Fraction(interval.lo)) <= dec(exact) <= dec(Fraction(interval.hi))


def distance(G, exact):
    """‖Ĝ − G‖."""
    return norm([Fraction(float(a)) - b for a, b in zip(G, exact, strict=True)])
