"""Shards: mixed perceptrons and merged ledgers, from the definitions, on the rows of each shard."""

from fractions import Fraction

from oracle.rows import ZERO, Truth, dec, dot, fractions, norm, norm2, root, row
from oracle.rows_gradient import grads


class Mixed:
    """Perceptrons on shards in plain numbers: decisions and mixtures as floats make them, all else in fractions.

    `shards` are lists of (x, y); `points` the comparators; a score of 0 is a mistake.
    """

    def __init__(self, facts, shards, mixing, passes):
        self.facts, self.shards, self.mixing = facts, shards, mixing
        self.width = len(shards[0][0][0])
        self.K, self.played, self.norms2, self.E, self.erring = ZERO, ZERO, ZERO, dec(0), 0
        self.counted = [ZERO] * len(shards)
        self.w, self.premise, self.mistakes = [0.0] * self.width, True, []
        for _ in range(passes):
            self._epoch()
            if not self.mistakes[-1]:
                break
        self.passes = len(self.mistakes)
        self.r2 = max(norm2(fractions(x)) for shard in shards for x, _ in shard)
        self.against = {name: fractions(v) for name, v in facts.points.items() if name.startswith("v_")}

    def _epoch(self):
        """One pass of each shard from the mixture, and the next mixture."""
        ends = [self._pass(shard) for shard in self.shards]
        ks = [k for *_, k in ends]
        counts = ks if self.mixing == "mistakes" and any(ks) else [1] * len(ks)
        total = [0.0] * self.width
        for (w, *_), c in zip(ends, counts, strict=True):
            total = [a + c * b for a, b in zip(total, w, strict=True)] if c else total
        mixture = [a / sum(counts) for a in total]
        mu = [Fraction(c, sum(counts)) for c in counts]
        exact = [sum((m * end[1][j] for m, end in zip(mu, ends, strict=True)), start=ZERO) for j in range(self.width)]
        self.E += norm([a - b for a, b in zip(fractions(mixture), exact, strict=True)])
        for place, (m, end, shard) in enumerate(zip(mu, ends, self.shards, strict=True)):
            self.K, self.norms2 = self.K + m * end[3], self.norms2 + m * end[2]
            self.counted[place] += m
            self.played += m * len(shard)
        self.w = mixture
        self.mistakes.append(sum(ks))
        self.erring += any(ks)

    def _pass(self, shard):
        """The float weights after a pass, the exact ones, Σ_I‖x‖², the number of updates."""
        w, exact, squares, k = list(self.w), fractions(self.w), ZERO, 0
        for x, y in shard:
            z = sum(a * b for a, b in zip(w, x, strict=True))
            if y * z <= 0.0:
                self.premise = self.premise and y * dot(exact, fractions(x)) <= 0
                w = [a + y * b for a, b in zip(w, x, strict=True)]
                exact = [a + int(y) * b for a, b in zip(exact, fractions(x), strict=True)]
                squares, k = squares + norm2(fractions(x)), k + 1
        return w, exact, squares, k

    def hinge(self, v):
        """ΣΣ μ·Σh(v)."""
        found = ZERO
        for m, shard in zip(self.counted, self.shards, strict=True):
            found += m * sum((max(ZERO, 1 - int(y) * dot(v, fractions(x))) for x, y in shard), start=ZERO)
        return found

    def separates(self, v):
        return all(int(y) * dot(v, fractions(x)) >= 1 for shard in self.shards for x, y in shard)

    @property
    def separators(self):
        return {name: v for name, v in self.against.items() if self.separates(v)}


def _largest(c, b):
    """The largest root of K = c + b√K."""
    return c + b * b / 2 + b * (c + b * b / 4).sqrt()


def _truth(mixed, among, bound, **more):
    found = {name: bound(v) for name, v in among.items()}
    at = {name: {"hinge": dec(mixed.hinge(v)), "norm": norm(v), "rounding": mixed.E} for name, v in among.items()}
    size = max([dec(1), *found.values(), *(one["hinge"] + one["norm"] for one in at.values())])
    return Truth(min(found.values()), mixed.K, at=at, size=size, **more)


@row("mixing-sum")
def mixing_sum(mixed):
    w = fractions(mixed.w)
    return _truth(mixed, mixed.against, lambda v: dec(mixed.hinge(v) + dot(v, w)) + norm(v) * mixed.E)


@row("mixing-mistakes")
def mixing_mistakes(mixed):
    length = root(mixed.norms2) + 2 * mixed.E
    return _truth(mixed, mixed.against, lambda v: dec(mixed.hinge(v)) + norm(v) * length)


def _rooted(mixed, v, hinge):
    return _largest(dec(hinge) + 2 * norm(v) * mixed.E, norm(v) * root(mixed.r2))


@row("mixing-root")
def mixing_root(mixed):
    return _truth(mixed, mixed.against, lambda v: _rooted(mixed, v, mixed.hinge(v)))


@row("mixing-novikoff")
def mixing_novikoff(mixed):
    return _truth(mixed, mixed.separators, lambda v: _rooted(mixed, v, ZERO))


@row("mixing-epochs")
def mixing_epochs(mixed):
    truth = mixing_novikoff(mixed)
    times = 1 if mixed.mixing == "mistakes" else len(mixed.shards)
    truth.bound, truth.size, truth.observed = truth.bound * times, truth.size * times, mixed.erring
    for one in truth.at.values():
        del one["hinge"]
    return truth


class Merged:
    """The plays of gradient descent on shards: for each shard the data of its passes."""

    def __init__(self, facts, shards, U):
        self.facts, self.shards, self.U = facts, shards, dec(U)

    def certificate(self, passes):
        """P + U‖G‖ over some passes, the size of what it is made from, P and ‖G‖."""
        found = [grads(one) for one in passes]
        total = [sum(column, start=ZERO) for column in zip(*(one.total for one in found), strict=True)]
        paid, size = sum(one.dot_weights for one in found), sum(one.dot_size for one in found)
        spread = sum(
            (
                abs(s) * sum(map(abs, x))
                for one, data in zip(found, passes, strict=True)
                for s, x in zip(one.slopes, data.X, strict=True)
            ),
            start=ZERO,
        )
        return dec(paid) + self.U * norm(total), dec(size) + self.U * dec(spread), paid, norm(total)


@row("shards-one")
def shards_one(merged):
    bound, size, paid, length = merged.certificate([one for passes in merged.shards for one in passes])
    values = {"paid": dec(paid), "norm_of_sum": length, "radius": Fraction(merged.facts.learner.domain.radius)}
    return Truth(bound, None, values, size=size)


@row("shards-each")
def shards_each(merged):
    parts = [merged.certificate(passes) for passes in merged.shards]
    bound, size = sum(part[0] for part in parts), sum(part[1] for part in parts)
    return Truth(bound, None, {"radius": Fraction(merged.facts.learner.domain.radius)}, size=size)


SHARD_NEEDS = {
    "every round weighs 1": lambda mixed: True,
    "every update was made at y⟨w,x⟩ ≤ 0, in exact arithmetic": lambda mixed: mixed.premise,
    "a comparator v is given": lambda mixed: bool(mixed.against),
    "a separator is known: y⟨u,x⟩ ≥ 1 on every row": lambda mixed: bool(mixed.separators),
    "the loss is convex in the score": lambda mixed: True,
}
