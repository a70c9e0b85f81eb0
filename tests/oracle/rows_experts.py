"""Learners that follow experts: costs and forecasts as fractions, every bound from its statement."""

from decimal import Decimal
from fractions import Fraction
from itertools import combinations

from oracle.rows import HALF, ONE, ZERO, Truth, dec, dot, exp, fractions, ln, root, row


class Experts:
    """A contest: costs[t][i] or None asleep, the blend's own losses, and what was declared."""

    def __init__(self, contest, own, costs=None, forecasts=None, said=None, outcomes=None):
        self.T, self.N, self.loss = contest.rounds, contest.experts, contest.judged_by.name
        self.lo, self.hi = (Fraction(end) for end in contest.range)
        self.rate, self.share = dec(contest.rule.rate), dec(contest.rule.share)
        self.horizon, self.named = contest.horizon, contest.rate_name
        self.m = None if contest.switching is None else contest.switching.switches
        self.inside = contest.inside
        self.own = fractions(own)
        self.x, self.p, self.y = forecasts, said, outcomes
        self.costs = costs if costs is not None else [self._costs(t) for t in range(self.T)]
        wide = self.hi - self.lo
        widths = {"squared": wide * wide, "absolute": wide, "costs": wide, "zero-one": ONE, "brier": Fraction(2)}
        self.B = dec(widths.get(self.loss, ZERO))
        self.ends = (self.lo, self.hi) if self.loss == "costs" else (ZERO, widths.get(self.loss))  # of costs

    def _costs(self, t):
        return [None if one is None else self.lost(one, self.y[t]) for one in self.x[t]]

    def lost(self, x, y):
        if self.loss == "squared":
            return (x - y) ** 2
        if self.loss == "absolute":
            return abs(x - y)
        chance = [1 - x, x]
        return (
            -Fraction(ln(chance[int(y)]))
            if self.loss == "log"
            else sum((c - (k == y)) ** 2 for k, c in enumerate(chance))
        )

    def seen(self, i):
        """The regret against expert i over its waking rounds."""
        return sum(
            (o - row_[i] for o, row_ in zip(self.own, self.costs, strict=True) if row_[i] is not None), start=ZERO
        )

    @property
    def regret(self):
        return ZERO if self.N == 1 else max(self.seen(i) for i in range(self.N))

    @property
    def slopes(self):
        """ℓ'(p_t)·(x − p_t) of every expert; a sleeper says p_t."""
        for t, p in enumerate(self.p):
            d = p - self.y[t]
            steep = 2 * d if self.loss == "squared" else Fraction((d > 0) - (d < 0))
            yield [ZERO if x is None else steep * (x - p) for x in self.x[t]]

    @property
    def log(self):
        return ln(self.N) if self.N > 1 else Decimal(0)


def _experts(run, bound, observed=None, **values):
    seen = run.regret if observed is None else observed
    size = sum((abs(one) for one in run.own), start=ZERO) + abs(run.hi - run.lo) + abs(run.lo) + run.T
    return Truth(bound, seen, values, scale=size, size=abs(dec(bound)) + dec(size))


@row("weighted-majority")
def weighted_majority(run):
    return _experts(run, run.B * root(2 * run.horizon * run.log))


@row("weighted-majority-hoeffding")
def weighted_majority_hoeffding(run):
    eta = run.rate * run.B
    return _experts(run, run.B * (run.log / eta + eta * run.T / 8) if run.N > 1 else ZERO, rate=eta)


@row("hedge-anytime")
def hedge_anytime(run):
    if run.N == 1:
        return _experts(run, ZERO)
    etas = [run.rate * run.B / root(t) for t in range(1, run.T + 1)]
    return _experts(run, run.B * (run.log / etas[-1] + sum(etas) / 8))


@row("hedge-anytime-closed")
def hedge_anytime_closed(run):
    T = Decimal(run.T)
    forms = {
        "one": lambda: Decimal("1.25") * root(T * run.log),
        "two": lambda: root(T * run.log),
        "root-eight": lambda: 2 * root(T * run.log / 2) + root(run.log / 8),
    }
    return _experts(run, run.B * forms[run.named]())


def _periods(T):
    P = 1
    while P <= T:
        yield P
        P *= 2


@row("hedge-doubling")
def hedge_doubling(run):
    return _experts(run, run.B * sum((root(2 * P * run.log) for P in _periods(run.T)), start=Decimal(0)))


@row("hedge-doubling-closed")
def hedge_doubling_closed(run):
    return _experts(run, run.B * root(2) / (root(2) - 1) * root(2 * run.T * run.log))


def mixability_gap(costs):
    """Δ_T of AdaHedge on full rows of costs: η = ln N/Δ, and even on the leaders while Δ = 0."""
    n = len(costs[0])
    sums, gap = [ZERO] * n, Decimal(0)
    for costs_now in costs:
        after = [a + b for a, b in zip(sums, costs_now, strict=True)]
        if gap == 0:
            leaders = [i for i in range(n) if sums[i] == min(sums)]
            mean = dec(sum((costs_now[i] for i in leaders), start=ZERO) / len(leaders))
            mixed = dec(min(after) - min(sums))
        else:
            eta = ln(n) / gap
            raw = [exp(-eta * dec(a - min(sums))) for a in sums]
            q = [one / sum(raw) for one in raw]
            mean = sum(a * dec(b) for a, b in zip(q, costs_now, strict=True))
            least = dec(min(costs_now))
            raised = sum(a * exp(-eta * (dec(b) - least)) for a, b in zip(q, costs_now, strict=True))
            mixed = least - raised.ln() / eta
        gap += max(mean - mixed, Decimal(0))
        sums = after
    return gap


@row("adahedge")
def adahedge(run):
    full = [[o if c is None else c for c in row_] for o, row_ in zip(run.own, run.costs, strict=True)]
    gap = mixability_gap(full) if run.N > 1 else Decimal(0)
    return _experts(run, 2 * gap, mixability_gap=gap)


def _sharing(run, m):
    eta = run.rate * run.B
    stays = max(run.T - m - 1, 0)
    cost = (m + 1) * run.log - m * run.share.ln() - stays * (1 - run.share).ln()
    return run.B * (cost / eta + eta * run.T / 8)


def least_with_switches(costs, m):
    """The least loss of a sequence of experts that changes at most m times."""
    n = len(costs[0])
    table = [[ZERO] * n for _ in range(m + 1)]
    for costs_now in costs:
        best = [min(line) for line in table]
        table = [
            [min(table[k][i], best[k - 1] if k else table[k][i]) + costs_now[i] for i in range(n)] for k in range(m + 1)
        ]
    return min(min(line) for line in table)


@row("fixed-share")
def fixed_share(run):
    m = min(run.m, run.T - 1)
    if run.N == 1:
        return _experts(run, ZERO, ZERO, switches=m)
    full = [[o if c is None else c for c in row_] for o, row_ in zip(run.own, run.costs, strict=True)]
    seen = sum(run.own, start=ZERO) - least_with_switches(full, m)
    return _experts(run, _sharing(run, m), seen, switches=m)


@row("fixed-share-expert")
def fixed_share_expert(run):
    return _experts(run, _sharing(run, 0) if run.N > 1 else ZERO)


@row("blend-mixture")
def blend_mixture(run):
    wide = run.hi - run.lo
    eta = {"log": ONE, "brier": Fraction(1, 4), "squared": 1 / (2 * wide * wide)}[run.loss]
    assert abs(run.rate / dec(eta) - 1) < Decimal("1e-15")
    return _experts(run, run.log / run.rate, rate=Fraction(run.rate))


def _mean(run, bound, **values):
    """Against fixed means: those that are looked at here are not above what is observed, nor is it above the bound."""
    seen, looked = [], [[ONE if i == j else ZERO for i in range(run.N)] for j in range(run.N)]
    looked += [[HALF if i in pair else ZERO for i in range(run.N)] for pair in combinations(range(run.N), 2)]
    looked.append([Fraction(1, run.N)] * run.N)
    for weights in looked:
        lost = ZERO
        for t, said in enumerate(run.x):
            filled = [run.p[t] if x is None else x for x in said]
            lost += run.lost(dot(weights, filled), run.y[t])
        seen.append(sum(run.own, start=ZERO) - lost)
    found = _experts(run, bound, max(seen), **values)
    found.observed = max(seen), "or more"
    return found


@row("linearised-mean")
def linearised_mean(run):
    return _mean(run, max(-sum(column) for column in zip(*run.slopes, strict=True)))


@row("adahedge-mean")
def adahedge_mean(run):
    gap = mixability_gap(list(run.slopes)) if run.N > 1 else Decimal(0)
    return _mean(run, 2 * gap, mixability_gap=gap)


@row("adahedge-mean-spread")
def adahedge_mean_spread(run):
    spreads = [max(one) - min(one) for one in run.slopes]
    return _mean(run, root(run.log * dec(sum(s * s for s in spreads))) + 2 * dec(max(spreads)))
