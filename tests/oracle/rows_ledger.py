"""Ledgers: their theorems from the statements, on the rounds of each part."""

from decimal import Decimal
from fractions import Fraction

from oracle.ledger import ledger
from oracle.rows import Truth, dec, norm, row


class Parts:
    """The rounds of each part, as (X, y, z, weights), and what they come to without rounding."""

    def __init__(self, loss, radius, parts, bias):
        self.loss, self.U = loss, Fraction(radius)
        self.each = [ledger(loss, *part, bias=bias) for part in parts]
        self.paid = sum((one.paid for one in self.each), start=Fraction(0))
        self.G = [sum(column, start=Fraction(0)) for column in zip(*(one.G for one in self.each), strict=True)]
        self.size = dec(sum(one.sizes for one in self.each)) + dec(self.U) * sum(
            (one.norms for one in self.each), start=Decimal(0)
        ) * dec(len(self.G) + 1)

    def claim(self, reach, more=0, **values):
        paid = dec(self.paid if not more else abs(self.paid))
        bound = paid + dec(self.U) * dec(reach)
        truth = Truth(bound, None, {"paid": self.paid, "radius": self.U, **values}, size=self.size)
        truth.sizes.update(dict.fromkeys(("paid", *values), self.size + dec(1)))
        return truth


@row("ledger-ball")
def ledger_ball(data):
    return data.claim(norm(data.G), norm_of_sum=norm(data.G))


@row("ledger-box")
def ledger_box(data):
    size = sum(map(abs, data.G), start=Fraction(0))
    return data.claim(size, norm1_of_sum=size)


@row("ledger-l1")
def ledger_l1(data):
    largest = max(map(abs, data.G), default=Fraction(0))
    return data.claim(largest, largest_of_sum=largest)


@row("ledger-correction")
def ledger_correction(data):
    return data.claim(norm(data.G), 1, norm_of_sum=norm(data.G))


@row("ledger-parts")
def ledger_parts(data):
    bound = sum((one.bound(data.U) for one in data.each), start=Decimal(0))
    return Truth(bound, None, {"paid": data.paid, "radius": data.U}, size=data.size, sizes={"paid": data.size + 1})


LEDGER_NEEDS = {
    "the loss is convex in the score": lambda data: True,
    "no slope is smaller than the smallest normal float": lambda data: True,
}
