"""The theorems of windows from their statements, on the rounds themselves, every partition of them by hand."""

from fractions import Fraction
from itertools import combinations, pairwise

from oracle.rows import ONE, ZERO, Truth, dec, dense, fractions, norm, row, slope


class Rows:
    """Rounds of each window in exact fractions: k·s·z and k·s·x."""

    def __init__(self, parts, loss, domain):
        """`parts` are `Rounds` with scores; `loss` a name and a number."""
        self.shape, self.U, self.parts, self.switches = domain.shape, Fraction(domain.radius), [], 0
        for rounds in parts:
            X, y, z = [fractions(x) for x in dense(rounds)], fractions(rounds.y), fractions(rounds.scores)
            k = [ONE] * len(y) if rounds.weights is None else fractions(rounds.weights)
            slopes = [k[t] * slope(loss, z[t], y[t]) for t in range(len(y))]
            paid = [s * score for s, score in zip(slopes, z, strict=True)]
            taken = [[s * x for x in line] for s, line in zip(slopes, X, strict=True)]
            self.parts.append((paid, taken, rounds.width))

    def reach(self, first, last):
        """max ⟨u, −G⟩ over the domain, G of the windows from the first up to the last."""
        lines = [x for _, taken, _ in self.parts[first:last] for x in taken]
        width = self.parts[0][2]
        G = [sum((x[i] for x in lines), start=ZERO) for i in range(width)]
        sizes = [abs(g) for g in G]
        far = {
            "ball": lambda: norm(G),
            "box": lambda: dec(sum(sizes, start=ZERO)),
            "l1": lambda: dec(max(sizes, default=ZERO)),
            "simplex": lambda: dec(max([ZERO, *(-g for g in G)])),
        }[self.shape]()
        return dec(self.U) * far

    def paid(self, first, last):
        return sum((p for paid, _, _ in self.parts[first:last] for p in paid), start=ZERO)

    def bound(self, first, last):
        return dec(self.paid(first, last)) + self.reach(first, last)

    @property
    def size(self):
        """What roundings are measured by: Σ|k·s·z| + U·Σ|k·s·x_i|."""
        sizes = [abs(p) for paid, _, _ in self.parts for p in paid]
        reached = [abs(x) for _, taken, _ in self.parts for line in taken for x in line]
        return dec(sum(sizes, start=ZERO)) + dec(self.U) * dec(sum(reached, start=ZERO))

    @property
    def told(self):
        return {"rounds": Fraction(sum(len(paid) for paid, _, _ in self.parts)), "radius": self.U}


@row("window-linearised")
def window_linearised(rows):
    values = {**rows.told, "paid": rows.paid(0, 1), "reach": rows.reach(0, 1)}
    return Truth(rows.bound(0, 1), None, values, size=rows.size, sizes={"paid": rows.size, "reach": rows.size})


@row("switching-at-limits")
def switching_at_limits(rows):
    found = sum((rows.bound(i, i + 1) for i in range(len(rows.parts))), start=dec(0))
    return Truth(found, None, rows.told, size=rows.size)


@row("switching-k")
def switching_k(rows):
    m, sums = len(rows.parts), []
    for changes in range(rows.switches + 1):
        for limits in combinations(range(1, m), changes):
            ends = [0, *limits, m]
            sums.append(sum((rows.bound(i, j) for i, j in pairwise(ends)), start=dec(0)))
    return Truth(max(sums), None, {**rows.told, "switches": Fraction(rows.switches)}, size=rows.size)


WINDOW_NEEDS = {"the loss is convex in the score": lambda rows: True}
