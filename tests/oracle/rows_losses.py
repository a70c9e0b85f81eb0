"""Mistakes of the perceptrons beside other losses and norms: any convex φ, L1 beside L2, forms with a kernel."""

from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from oracle.rows import ONE, ZERO, Truth, dec, dot, exp, largest_root, ln, norm, root, row
from oracle.rows import slope as slope_of
from oracle.rows import value as value_of
from oracle.rows_perceptron import _kernel, _mistakes, _square_sum

# -- any convex loss φ -------------------------------------------------------------------------------------------------


class Beside:
    """φ at u: Σφ with what is below 0 as 0, φ(0), the slope g there, ‖u‖."""

    def __init__(self, data, u):
        self.run, self.u = _mistakes(data), u
        self.margins = [y * dot(self.u, x) for x, y in zip(data.X, data.y, strict=True)]
        self.lost = [max(value_of(data.surrogate, m, ONE), ZERO) for m in self.margins]
        self.total = dec(sum(self.lost, start=ZERO))
        self.zero, self.g = dec(value_of(data.surrogate, ZERO, ONE)), dec(slope_of(data.surrogate, ZERO, ONE))
        self.norm = norm(self.u)

    @property
    def told(self):
        return {"losses": self.total, "norm": self.norm, "loss_at_zero": self.zero, "slope_at_zero": abs(self.g)}

    def size(self, bound):
        parts = zip(self.lost, self.margins, strict=True)
        size = self.run.size(bound, self.u) + dec(sum(((1 + lost) * (1 + abs(m)) for lost, m in parts), start=ZERO))
        return size * (1 + abs(self.g)) / self.zero


def _beside(data, bound):
    """The least of the bounds at the comparators of φ."""
    every = {name: Beside(data, data.points[name]) for name in ("u_surrogate", "u_surrogate_root")}
    found = {name: bound(one) for name, one in every.items()}
    least = min(found.values())
    size = max(one.size(found[name]) for name, one in every.items())
    return Truth(least, _mistakes(data).M, at={name: one.told for name, one in every.items()}, size=size)


@row("surrogate-mistakes")
def surrogate_mistakes(data):
    def bound(one):
        along = dec(dot(one.u, one.run.start))
        return (one.total + abs(one.g) * one.norm * one.run.reach + one.g * along) / one.zero

    return _beside(data, bound)


@row("surrogate-root")
def surrogate_root(data):
    def bound(one):
        steep = abs(one.g) * root(one.run.r2) * one.norm
        return largest_root(lambda M: (one.total + steep * M.sqrt()) / one.zero, one.run.M)

    return _beside(data, bound)


# -- L1 beside L2 ------------------------------------------------------------------------------------------------------


def exact_root(c, b):
    """The larger root of M = c + b√M."""
    return ((b + (b * b + 4 * c).sqrt()) / 2) ** 2


def _norms(at, T, below, size=0):
    """at: of each comparator (Σh, Σh², r‖v‖)."""
    l1 = {name: exact_root(dec(c), b) for name, (c, _, b) in at.items()}
    l2 = {name: (b + root(square)) ** 2 for name, (_, square, b) in at.items()}
    first, second = min(l1.values()), min(l2.values())
    printed = min((b + root(c)) ** 2 for c, _, b in at.values())
    named = {name: {"l1": c, "l2_squared": square} for name, (c, square, _) in at.items()}
    size = first + second + T + size
    return Truth(
        second,
        (min(below, first), first),
        {"l1_printed": printed, "l2_printed": second},
        named,
        size=size,
        scale=size,
        sizes=dict.fromkeys(("l1", "l2_squared", "l1_printed", "l2_printed"), size),
        above=lambda share: max(
            (b + root(square) + root(dec(share) * T)) ** 2 + share * size for _, square, b in at.values()
        ),
    )


@row("l1-l2")
def l1_l2(data):
    run = _mistakes(data)
    vectors, r = data.by_prefix("v_"), root(run.r2)
    at = {name: (sum(run.hinges(v)), _square_sum(run, v), r * norm(v)) for name, v in vectors.items()}
    below = run.below("root") if "beta_root" in data.points else Decimal(0)
    sizes = [(b + root(square)) * max(b, 1) for _, square, b in at.values()]
    return _norms(at, data.T, below, min(sizes))


# -- with a kernel -----------------------------------------------------------------------------------------------------


class Spread:
    """v = Σ c_s·φ(x_s) at every round: ⟨v,φ(x)⟩ and the size of its terms, ‖v‖²; more by a share of these sizes."""

    def __init__(self, run, c):
        self.run, self.c, self.more = run, c, ZERO
        self.which = [s for s, part in enumerate(c) if part]

    @cached_property
    def terms(self):
        K, T = self.run.K, self.run.data.T
        return [[self.c[s] * K(s, t) for s in self.which] for t in range(T)]

    @cached_property
    def margins(self):
        labels = self.run.data.y
        return [
            (y * sum(row_, start=ZERO), sum(map(abs, row_), start=ZERO))
            for y, row_ in zip(labels, self.terms, strict=True)
        ]

    @property
    def hinges(self):
        return [max(ZERO, 1 - m) + self.more * (1 + size) for m, size in self.margins]

    @cached_property
    def squares(self):
        pairs = [(self.c[s] * m * self.run.data.y[s], abs(self.c[s]) * size) for s, (m, size) in self._own]
        return sum((a for a, _ in pairs), start=ZERO), sum((b for _, b in pairs), start=ZERO)

    @property
    def _own(self):
        return [(s, self.margins[s]) for s in self.which]

    @property
    def norm(self):
        square, size = self.squares
        return root(square + self.more * size)

    @property
    def spread(self):
        """What roundings are measured by."""
        return root(self.squares[1]) + dec(sum((size for _, size in self.margins), start=ZERO))


def _spreads(data):
    if not hasattr(data, "spreads"):
        data.spreads = {name: Spread(_kernel(data), c) for name, c in data.by_prefix("c_").items()}
    return data.spreads


def _least(data, bound, told=lambda one: {"hinge": sum(one.hinges), "norm": one.norm}):
    """The least of the bounds, and the most that a share of roundings can make of it."""
    spreads = _spreads(data)
    found = {name: bound(one) for name, one in spreads.items()}
    best = min(found, key=found.get)

    def above(share):
        one = spreads[best]
        one.more = Fraction(share)
        moved = bound(one)
        one.more = ZERO
        return moved * (1 + share) + share * data.T

    at = {name: told(one) for name, one in spreads.items()}
    size = found[best] + data.T + max(one.spread for one in spreads.values())
    return Truth(found[best], _kernel(data).M, at=at, size=size, above=above)


def _l2(one):
    return root(sum((h * h for h in one.hinges), start=ZERO))


@row("kernel-l2-mistakes")
def kernel_l2_mistakes(data):
    R = root(_kernel(data).R2)
    return _least(data, lambda one: largest_root(lambda M: _l2(one) * M.sqrt() + one.norm * R, _kernel(data).M))


@row("kernel-l2-radius")
def kernel_l2_radius(data):
    r = root(_kernel(data).r2)
    return _least(data, lambda one: (r * one.norm + _l2(one)) ** 2)


@row("kernel-l1-l2")
def kernel_l1_l2(data):
    r, spreads = root(_kernel(data).r2), _spreads(data)
    at = {
        name: (sum(one.hinges), sum((h * h for h in one.hinges), start=ZERO), r * one.norm)
        for name, one in spreads.items()
    }
    rough = max((1 + r * r) * (1 + one.spread) ** 2 for one in spreads.values())
    return _norms(at, data.T, Decimal(0), rough)


def _steep():
    return 1 / (2 * ln(2))  # |d/dm log₂(1 + e^(−m))| at 0


def _logistic(data, bound):
    """At u = v/|g|, by the float that the certificate names."""
    by = Fraction(data.told["scaled_by"])
    assert abs(dec(by) * _steep() - 1) < Decimal("1e-14")

    def lost(one):
        parts = [(by * m, by * size) for m, size in one.margins]
        terms = (dec(max(-m, ZERO)) + ln(1 + exp(-abs(m))) + dec(one.more * (1 + size)) for m, size in parts)
        return sum(terms, start=Decimal(0)) / ln(2)

    def told(one):
        return {"losses": lost(one), "norm": dec(by) * one.norm, "scaled_by": by}

    return _least(data, lambda one: bound(lost(one), dec(by) * one.norm * _steep()), told)


@row("kernel-logistic-mistakes")
def kernel_logistic_mistakes(data):
    R = root(_kernel(data).R2)
    return _logistic(data, lambda lost, b: lost + b * R)


@row("kernel-logistic-root")
def kernel_logistic_root(data):
    r = root(_kernel(data).r2)
    return _logistic(data, lambda lost, b: exact_root(lost, b * r))


def separators(data):
    """The comparators with y⟨v,φ(x)⟩ ≥ 1 on every round."""
    return [one for one in _spreads(data).values() if all(m >= 1 for m, _ in one.margins)]


def doubtful_separators(data):
    """Whether one that separates does so by less than rounding can tell."""
    return any(m - 1 <= size / 2**30 for one in separators(data) for m, size in one.margins)


def _separated(data, length, below=False):
    run, u = _kernel(data), min(separators(data), key=lambda one: one.norm)
    values = {"separator_norm": u.norm, "margin": 1 / u.norm}
    rough = 1 + root(u.squares[1]) / u.norm
    sizes = {"margin": rough / u.norm, "separator_norm": rough * u.norm}
    if below and "separator_weights" in data.points:
        weights = [max(b, ZERO) for b in data.points["separator_weights"]]
        signed = [b * y for b, y in zip(weights, data.y, strict=True)]
        which = [s for s, part in enumerate(signed) if part]
        terms = [signed[s] * signed[t] * run.K(s, t) for s in which for t in which]
        g2 = sum(terms, start=ZERO)
        least = dec(sum(weights, start=ZERO)) ** 2 * dec(run.r2) / dec(g2) if g2 > 0 else Decimal(0)
        values["no_separator_below"] = least
        sizes["no_separator_below"] = least * (1 + dec(sum(map(abs, terms), start=ZERO)) / dec(g2)) if g2 > 0 else 1
    bound = length(run, u)
    return Truth(bound, run.M, values, size=bound * rough * rough, sizes=sizes)


row("kernel-novikoff")(lambda data: _separated(data, lambda run, u: dec(run.r2) * u.norm**2, below=True))
row("kernel-novikoff-mistakes")(lambda data: _separated(data, lambda run, u: u.norm * root(run.R2)))


@row("kernel-novikoff-sum")
def kernel_novikoff_sum(data):
    found = _separated(data, lambda run, u: u.norm * root(run.S2))
    run = _kernel(data)
    terms = dec(sum((abs(run.K(s, t)) for s in run.I for t in run.I), start=ZERO))
    S = root(run.S2)
    found.size = found.size * (1 + (terms / (S * S) if S else 0)) + root(terms)
    return found
