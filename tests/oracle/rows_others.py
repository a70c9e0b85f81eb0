"""Finite classes, the batch perceptron and risk: their theorems from the statements; and what these need."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from oracle import finite
from oracle.rows import ONE, ZERO, Truth, combination, dec, dot, fractions, largest_root, ln, norm2, root, row, value
from oracle.rows_perceptron import _mistakes

# -- finite classes ----------------------------------------------------------------------------------------------------


class Finite:
    """A game: the class as rows, its rounds (place, prediction, label), and the adversary's tree where there is one."""

    def __init__(self, run):
        known = run.hypotheses
        self.H = frozenset(tuple(int(b) for b in line) for line in known.matrix.tolist())
        self.rounds = [(known.points.index(one.point), Fraction(one.prediction), one.label) for one in run.rounds]
        self.T, self.M = len(self.rounds), sum(p != label for _, p, label in self.rounds)
        self.best = min(sum(h[x] != label for x, _, label in self.rounds) for h in self.H)
        self.horizon = getattr(run.learner, "horizon", None)
        tree = getattr(run.adversary, "tree", None)
        self.depth = None if tree is None else tree.depth
        self.tree = [] if tree is None else [known.points.index(point) for point in tree.nodes]

    @property
    def walked(self):
        """Down the tree by i ← 2i + y, every prediction wrong, and every way down that of a hypothesis."""
        node = 1
        if self.depth > self.T:
            return False
        for x, p, label in self.rounds[: self.depth]:
            if x != self.tree[node - 1] or p == label:
                return False
            node = 2 * node + label
        return self.shattered

    @property
    def shattered(self):
        leaves = set()
        for h in self.H:
            node = 1
            for _ in range(self.depth):
                node = 2 * node + h[self.tree[node - 1]]
            leaves.add(node)
        return len(leaves) == 2**self.depth


row("consistent-size")(lambda run: Truth(len(run.H) - 1, run.M, {"hypotheses": len(run.H)}))
row("halving-log")(lambda run: Truth(ln(len(run.H)) / ln(2), run.M, {"hypotheses": len(run.H)}))
row("soa-littlestone")(lambda run: Truth(finite.ldim(run.H), run.M, {"littlestone": finite.ldim(run.H)}))
row("littlestone-lower")(lambda run: Truth(run.M, run.depth, {"tree_depth": run.depth}))


@row("agnostic-littlestone")
def agnostic_littlestone(run):
    dimension = finite.ldim(run.H)
    d = sum(math.comb(run.horizon, length) for length in range(dimension + 1))
    lost = sum((abs(p - label) for _, p, label in run.rounds), start=ZERO)
    values = {"log_experts": ln(d), "littlestone": dimension}
    return Truth(
        root(2 * run.horizon * ln(d)), lost - run.best, values, size=run.T + root(2 * run.horizon * ln(d)), scale=run.T
    )


@row("littlestone-regret")
def littlestone_regret(games):
    """The expectation from the definition: |ones − zeros|/2 over every count of ones in every block."""
    d, T = games.tree.depth, games.rounds
    ends = [b * T // d for b in range(d + 1)]  # as many long and short blocks, in another order
    total = ZERO
    for k in (end - start for start, end in pairwise(ends)):
        total += sum((Fraction(math.comb(k, ones) * abs(2 * ones - k), 2 ** (k + 1)) for ones in range(k + 1)), ZERO)
    return Truth(total, root(Fraction(d * T, 8)), {"tree_depth": d})


@row("dimension-order")
def dimension_order(found):
    rows_ = [tuple(int(b) for b in line) for line in found.hypotheses.matrix.tolist()]
    vc, depth = finite.vc(rows_), finite.ldim(frozenset(rows_))
    return Truth(math.floor(math.log2(len(rows_)) + 1e-12), max(vc, depth), {"vc": vc, "littlestone": depth})


# -- the batch perceptron ----------------------------------------------------------------------------------------------


class Batch:
    """An iteration: the rows of each step, and a separator."""

    def __init__(self, run, X, y, steps, u):
        self.run, self.X, self.y, self.u = run, [fractions(x) for x in X], fractions(y), fractions(u)
        self.steps = [[int(t) for t in one] for one in steps]
        self.counts = [int(one) for one in run.misclassified[: run.iterations]]

    @property
    def margin(self):
        return min(y * dot(self.u, x) for x, y in zip(self.X, self.y, strict=True))

    @property
    def B(self):
        return max(norm2(x) for x in self.X) * norm2(self.u) / self.margin**2

    @property
    def premise(self):
        """Σ y⟨θ,x⟩ ≤ 0 over the rows of every step, θ being the steps before it."""
        theta = [Decimal(0) if self.run.update == "normalised" else ZERO for _ in self.u]
        for chosen in self.steps:
            S = combination([self.y[t] for t in chosen], [self.X[t] for t in chosen], len(self.u))
            if self.run.update == "normalised":
                if sum((a * dec(b) for a, b in zip(theta, S, strict=True)), start=Decimal(0)) > Decimal("1e-80"):
                    return False
                theta = [a + dec(b) / root(norm2(S)) for a, b in zip(theta, S, strict=True)]
            else:
                if dot(theta, S) > 0:
                    return False
                share = len(chosen) if self.run.update == "average" else 1
                theta = [a + b / share for a, b in zip(theta, S, strict=True)]
        return True


@row("batch-iterations")
def batch_iterations(batch):
    return Truth(batch.B, batch.run.iterations, {"radius_over_margin": root(batch.B), "rows": len(batch.X)})


@row("batch-sum")
def batch_sum(batch):
    bound = root(batch.B * sum(one * one for one in batch.counts))
    return Truth(bound, sum(batch.counts), {"steps": batch.run.iterations})


@row("batch-sum-rows")
def batch_sum_rows(batch):
    return Truth(len(batch.X) * batch.B, sum(batch.counts), {"steps": batch.run.iterations})


# -- risk --------------------------------------------------------------------------------------------------------------


def _told(sampled, bound, **values):
    return Truth(bound, None, {"confidence": sampled.confidence, "rounds": sampled.rounds, **values})


def _delta(sampled):
    return dec(1 - Fraction(sampled.confidence))


def _draws(sampled):
    return sampled.errors, sampled.rounds - sampled.round + 1


def _largest(allowed, start):
    """The largest p up to 1 that is allowed, those below it being so too."""
    low, high = dec(start), Decimal(1)
    for _ in range(160):
        middle = (low + high) / 2
        low, high = (middle, high) if allowed(middle) else (low, middle)
    return high


def _chosen(sampled, bound):
    k, n = _draws(sampled)
    return _told(sampled, bound, errors=k, tail=n, candidates=sampled.candidates)


@row("risk-binomial")
def risk_binomial(sampled):
    k, n = _draws(sampled)
    level = _delta(sampled) / sampled.candidates

    def tail(p):
        return sum((math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k + 1)), start=Decimal(0))

    return _chosen(sampled, Decimal(1) if k == n else _largest(lambda p: tail(p) >= level, Fraction(k, n)))


@row("risk-kl")
def risk_kl(sampled):
    k, n = _draws(sampled)
    most = (sampled.candidates / _delta(sampled)).ln()
    q = Fraction(k, n)

    def apart(p):
        near = dec(q) * (dec(q) / p).ln() if k else Decimal(0)
        return n * (near + (dec(1 - q) * (dec(1 - q) / (1 - p)).ln() if k < n else Decimal(0)))

    return _chosen(sampled, Decimal(1) if k == n else _largest(lambda p: p == 0 or (p < 1 and apart(p) <= most), q))


@row("risk-hoeffding")
def risk_hoeffding(sampled):
    k, n = _draws(sampled)
    return _chosen(sampled, dec(Fraction(k, n)) + ((sampled.candidates / _delta(sampled)).ln() / (2 * n)).sqrt())


def _azuma(sampled):
    return (-_delta(sampled).ln() / (2 * sampled.rounds)).sqrt()


@row("risk-printed")
def risk_printed(sampled):
    T = sampled.rounds
    extra = 6 * ((2 * (T + 1) / _delta(sampled)).ln() / T).sqrt()
    return _told(sampled, dec(Fraction(sampled.own, T)) + extra, mistakes=sampled.own)


def _corollary(sampled, bound):
    """A mistake bound at its best comparator, and the rounds with a score of 0 that were no mistake, beside T."""
    data = sampled.data  # of the perceptron's run, with its comparators
    run, T = _mistakes(data), sampled.rounds
    passed = max(sampled.own - run.M, 0)
    found = run.least(lambda v: bound(run, v))
    extra = 6 * ((2 * (T + 1) / _delta(sampled)).ln() / T).sqrt()
    told = {"confidence": sampled.confidence, "rounds": T, "passed": passed, "mistakes_at_most": found.bound + passed}
    at = {name[2:]: one for name, one in found.at.items()}
    return Truth((found.bound + passed) / T + extra, None, told, at, size=1 + found.size)


@row("risk-hinge")
def risk_hinge(sampled):
    return _corollary(sampled, lambda run, v: run.implicit(v, sum(run.hinges(v)), run.reach))


@row("risk-l2")
def risk_l2(sampled):
    def bound(run, v):
        a = root(sum((h * h for h in run.hinges(v)), start=ZERO))
        p = run.implicit(v, 0, run.reach)
        return largest_root(lambda M: a * M.sqrt() + p, run.M)

    return _corollary(sampled, bound)


@row("risk-holdout")
def risk_holdout(sampled):
    k, m, K = sampled.errors, sampled.held, sampled.distinct
    level = _delta(sampled) / K

    def tail(p):
        return sum((math.comb(m, j) * p**j * (1 - p) ** (m - j) for j in range(k + 1)), start=Decimal(0))

    limit = Decimal(1) if k == m else _largest(lambda p: tail(p) >= level, Fraction(k, m))
    return _told(sampled, limit, errors=k, tail=m, candidates=K)


@row("risk-littlestone")
def risk_littlestone(sampled):
    m, K, n = sampled.held, sampled.distinct, sampled.rounds - sampled.held
    third = _delta(sampled) / 3
    parts = [(1 / third).ln() / (2 * n), (1 / third).ln() / (2 * m), (K / third).ln() / (2 * m)]
    bound = dec(Fraction(sampled.own, n)) + sum(part.sqrt() for part in parts)
    return _told(sampled, bound, mistakes=sampled.own, tail=m, candidates=K)


@row("risk-drawn")
def risk_drawn(sampled):
    k, n = _draws(sampled)

    def tail(p):
        return sum((math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k + 1)), start=Decimal(0))

    limit = Decimal(1) if k == n else _largest(lambda p: tail(p) >= _delta(sampled), Fraction(k, n))
    return _told(sampled, limit, errors=k, tail=n)


@row("risk-gibbs")
def risk_gibbs(sampled):
    bound = dec(Fraction(sampled.mistakes, sampled.rounds)) + _azuma(sampled)
    return _told(sampled, bound, mistakes=sampled.mistakes)


@row("risk-gibbs-few")
def risk_gibbs_few(sampled):
    """The least over the sixteen λ of (λM + ln(16/δ))/(T(1 − e^(−λ)))."""
    few = [1 - Fraction(1, 2**k) for k in range(1, 9)] + [Fraction(1, 2**k) for k in range(2, 10)]
    log = (len(few) / _delta(sampled)).ln()
    bounds = [(log - dec(s).ln() * sampled.mistakes) / (sampled.rounds * dec(1 - s)) for s in few]
    return _told(sampled, min(bounds), mistakes=sampled.mistakes)


@row("risk-voted")
def risk_voted(sampled):
    return _told(sampled, 2 * (dec(Fraction(sampled.own, sampled.rounds)) + _azuma(sampled)), errors=sampled.own)


@row("risk-average")
def risk_average(sampled):
    loss = sampled.loss.name, Fraction(sampled.loss.number)
    most, zero = (dec(value(loss, z, ONE)) for z in (-Fraction(sampled.reach), ZERO))
    bound = (dec(sampled.losses.hi) / sampled.rounds + most * _azuma(sampled)) / zero
    return _told(sampled, bound, losses=dec(sampled.losses.hi), reach=dec(sampled.reach))


# -- what they need ----------------------------------------------------------------------------------------------------

INSIDE = "every cost lies in the declared range of width B"
OTHER_NEEDS = {
    INSIDE: lambda run: all(c is None or run.ends[0] <= c <= run.ends[1] for row_ in run.costs for c in row_),
    "the costs of a round do not depend on the expert drawn in it": (
        lambda run: None if run.loss in ("costs", "zero-one") else True
    ),
    "T, the number of rounds, was announced beforehand": (lambda run: run.horizon is not None and run.horizon >= run.T),
    "forecasts and outcomes lie in the declared range, probabilities in [0, 1]": (
        lambda run: all(x is None or run.lo <= x <= run.hi for row_ in run.x for x in row_)
    ),
    "exp(−η·loss) is concave in the forecast": lambda run: run.loss in ("log", "squared", "brier"),
    "the loss is convex in the forecast": lambda run: run.loss in ("squared", "absolute"),
    "the best sequence of at most m switches is known": lambda run: run.m is not None,
    "some hypothesis of the class gives every label": lambda run: run.best == 0,
    "the labels are those of the adversary, down a shattered mistake tree to a leaf": lambda run: run.walked,
    "every prediction is 0 or 1": lambda run: all(p in (0, 1) for _, p, _ in run.rounds),
    "the labels of a round do not depend on the coin tossed in it": lambda run: None,
    "the set of points is shattered": lambda found: True,
    "the mistake tree is shattered": lambda found: True,
    "the labels are fair coins, tossed one by one": lambda games: None,
    "the iteration starts at θ₀ = 0": lambda batch: not any(batch.run.start),
    "a separator is known: y⟨u,x⟩ > 0 on every row": lambda batch: bool(batch.u) and batch.margin > 0,
    "every step was taken at Σ y⟨θ,x⟩ ≤ 0 over its rows, in exact arithmetic": lambda batch: batch.premise,
    "the rows are independent draws from one source (i.i.d.)": lambda sampled: None,
    "every row was played once": lambda sampled: sampled.once,
    "every row weighs 1": lambda sampled: sampled.unit,
    "the number of candidates was fixed beforehand": lambda sampled: True if sampled.usual else None,
    "every round is a candidate": lambda sampled: sampled.candidates == sampled.rounds,
    "the seed of the draw was fixed beforehand": lambda sampled: True if sampled.usual else None,
    "the number of rounds held out, and of candidates, was fixed beforehand": (
        lambda sampled: True if sampled.usual else None
    ),
    "every round before those held out is a candidate": (
        lambda sampled: sampled.candidates == sampled.rounds - sampled.held + 1 > 1
    ),
    "every update was made at y⟨w,x⟩ ≤ 0, in exact arithmetic": lambda sampled: _mistakes(sampled.data).premise,
    "a comparator v is given": lambda sampled: bool(sampled.data.by_prefix("v_")),
    "a convex surrogate of the 0/1 loss, bounded beforehand: unit-norm rows, weights in a ball": (
        lambda sampled: sampled.losses is not None
    ),
}
