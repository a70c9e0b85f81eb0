"""The perceptrons: mistakes against a separator, the hinge of any v, or another convex loss. In units of the step η.

h_t(v) = max(0, 1 − y⟨v,x⟩), summed over all rounds; I are the rounds with a mistake, S = Σ_I y·x, R² = Σ_I ‖x‖².
"""

from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from oracle.rows import (
    ONE,
    ZERO,
    Data,
    Truth,
    combination,
    dec,
    dot,
    exact,
    exp,
    fractions,
    largest_root,
    ln,
    missed,
    norm,
    norm2,
    root,
    row,
    value,
)

LOGISTIC = "logistic", ZERO


class Mistakes:
    """The update rounds of a perceptron without a kernel."""

    def __init__(self, data: Data):
        self.data = data
        tie, eta = data.settings.get("tie", "mistake"), Fraction(data.settings.get("rate", 1.0))
        self.I = [t for t in range(data.T) if missed(data.z[t], data.y[t], tie)]
        self.M = len(self.I)
        self.start = [part / eta for part in data.start]
        self.zero = not any(self.start)
        self.squares = [norm2(x) for x in data.X]
        self.r2 = max(self.squares, default=ZERO)
        self.R2 = sum((self.squares[t] for t in self.I), start=ZERO)
        self.N2 = norm2(self.start)
        self.reach = root(self.N2 + self.R2)
        self.more = ZERO

    @cached_property
    def margins(self):
        """y⟨w,x⟩ wherever w moved, and the size of what it is summed from."""
        w, found = list(self.start), []
        for t in self.I:
            x, y = self.data.X[t], self.data.y[t]
            parts = [a * b for a, b in zip(w, x, strict=True)]
            found.append((y * sum(parts, start=ZERO), sum(map(abs, parts), start=ZERO)))
            w = [a + y * b for a, b in zip(w, x, strict=True)]
        return found

    @property
    def premise(self):
        """Whether y⟨w,x⟩ ≤ 0 wherever w moved, and no round weighs more or less than 1."""
        return not self.data.weighted and all(margin <= 0 for margin, _ in self.margins)

    @cached_property
    def S(self):
        return combination([self.data.y[t] for t in self.I], [self.data.X[t] for t in self.I], self.data.d)

    def hinges(self, v):
        margins = [y * dot(v, x) for x, y in zip(self.data.X, self.data.y, strict=True)]
        return [max(ZERO, 1 - m + self.more * (1 + abs(m))) for m in margins]

    def least(self, bound, scaled=None):
        """The least of the bounds at the comparators given, and what each of them loses."""
        points = self.data.by_prefix("v_") if scaled is None else scaled
        at = {name: {"hinge": sum(self.hinges(v)), "norm": norm(v)} for name, v in points.items()}
        found, v = min(((bound(v), v) for v in points.values()), key=lambda pair: pair[0])
        size = self.size(found, v)

        def above(share):
            """With every 1 − y⟨v,x⟩ off by a few units of its parts' last place, of which a root may make more."""
            self.more = Fraction(share) / 1000
            moved = bound(v)
            self.more = ZERO
            return moved + share * size

        return Truth(found, self.M, at=at, size=size, above=above)

    def size(self, bound, v):
        """1 for each round's 1 − y⟨v,x⟩; from another start also what cancels between the lengths and ⟨v,w₁⟩/η."""
        apart = 0 if self.zero else norm(v) * (root(self.N2) + self.reach) + dec(norm2(v) * self.r2)
        return abs(bound) + self.data.T + apart

    def below(self, name):
        """What β proves that no comparator gives less than: Σβ for ‖Σβyx‖ ≤ ρ; for every order min(m, (rm/g)²)."""
        beta = [min(max(b, ZERO), ONE) for b in self.data.points[f"beta_{name}"]]
        m = dec(sum(beta, start=ZERO))
        g = norm(combination([b * y for b, y in zip(beta, self.data.y, strict=True)], self.data.X, self.data.d))
        if g == 0:
            return m
        if name == "root":
            return min(m, (root(self.r2) * m / g) ** 2)
        rho = norm(self.S) if name == "sum" else root(self.R2)
        return m * min(Decimal(1), rho / g)

    def with_lower_end(self, truth, name):
        if f"beta_{name}" in self.data.points:
            truth.values["no_comparator_below"] = self.below(name)
        return truth

    def implicit(self, v, losses, length):
        """Σ losses + ‖v‖·length − ⟨v,w₁⟩/η."""
        return dec(losses) + norm(v) * length - dec(dot(v, self.start))

    def quadratic(self, c, v, factor=1):
        """The largest M with M ≤ c + factor·(‖v‖√(N² + r²M) − ⟨v,w₁⟩/η)."""
        c, size, along, by = dec(c), norm(v), dec(dot(v, self.start)), dec(factor)
        N2, r2 = dec(self.N2), dec(self.r2)
        return largest_root(lambda M: c + by * (size * (N2 + r2 * M).sqrt() - along), self.M)


def _mistakes(data):
    if not hasattr(data, "mistakes"):
        data.mistakes = Mistakes(data)
    return data.mistakes


@row("norm-lemma")
def norm_lemma(data):
    run = _mistakes(data)
    end = [a + b for a, b in zip(run.start, run.S, strict=True)]
    return Truth(run.reach, norm(end), {"sum_norm": norm(run.S)})


def separator(data):
    """u, if y⟨u,x⟩ ≥ 1 on every round."""
    u = data.points.get("separator")
    return u if u and all(y * dot(u, x) >= 1 for x, y in zip(data.X, data.y, strict=True)) else None


def _separated(data, bound, **values):
    run, u = _mistakes(data), separator(data)
    values = {"separator_norm": norm(u), "margin": 1 / norm(u), **values}
    return Truth(bound, run.M, values, size=dec(bound) if run.zero else run.size(dec(bound), u))


@row("novikoff")
def novikoff(data):
    run, u = _mistakes(data), separator(data)
    if not run.zero:
        return _separated(data, run.quadratic(0, u))
    weights = [max(b, ZERO) for b in data.points.get("separator_weights", [ZERO] * data.T)]
    g = norm(combination([b * y for b, y in zip(weights, data.y, strict=True)], data.X, data.d))
    shortest = dec(sum(weights)) / g if g else Decimal(0)  # Σλ·1 ≤ Σλ·y⟨u,x⟩ ≤ ‖u‖·‖Σλyx‖
    return _separated(data, run.r2 * norm2(u), no_separator_below=dec(run.r2) * shortest**2)


@row("novikoff-mistakes")
def novikoff_mistakes(data):
    run, u = _mistakes(data), separator(data)
    return _separated(data, run.implicit(u, 0, run.reach))


@row("novikoff-sum")
def novikoff_sum(data):
    return _separated(data, norm(separator(data)) * norm(_mistakes(data).S))


@row("hinge-sum")
def hinge_sum(data):
    run = _mistakes(data)
    return run.with_lower_end(run.least(lambda v: dec(sum(run.hinges(v))) + norm(v) * norm(run.S)), "sum")


@row("hinge-mistakes")
def hinge_mistakes(data):
    run = _mistakes(data)
    found = run.least(lambda v: run.implicit(v, sum(run.hinges(v)), run.reach))
    return run.with_lower_end(found, "mistakes") if run.zero else found


@row("hinge-radius")
def hinge_radius(data):
    run = _mistakes(data)
    return run.least(lambda v: run.implicit(v, sum(run.hinges(v)), root(run.N2 + run.r2 * run.M)))


@row("hinge-explicit")
def hinge_explicit(data):
    run = _mistakes(data)

    def bound(v):
        c, b = dec(sum(run.hinges(v))), norm(v) * root(run.r2)
        return c + b * b + b * c.sqrt()

    return run.least(bound)


@row("hinge-root")
def hinge_root(data):
    run = _mistakes(data)
    return run.least(lambda v: run.quadratic(sum(run.hinges(v)), v))


@row("hinge-squared-sum")
def hinge_squared_sum(data):
    run = _mistakes(data)
    return run.least(lambda v: (root(run.r2) * norm(v) + root(sum(run.hinges(v)))) ** 2)


@row("order-free")
def order_free(data):
    run = _mistakes(data)
    alone = {"v_root": data.points["v_root"]}
    return run.with_lower_end(run.least(lambda v: run.quadratic(sum(run.hinges(v)), v), alone), "root")


def _square_sum(run, v):
    return sum((h * h for h in run.hinges(v)), start=ZERO)


@row("l2-mistakes")
def l2_mistakes(data):
    run = _mistakes(data)

    def bound(v):
        a, p = root(_square_sum(run, v)), run.implicit(v, 0, run.reach)
        return largest_root(lambda M: a * M.sqrt() + p, run.M)

    return run.least(bound)


def _l2_radius(run, v):
    return (root(run.r2) * norm(v) + root(_square_sum(run, v))) ** 2


@row("l2-radius")
def l2_radius(data):
    run = _mistakes(data)
    return run.least(lambda v: _l2_radius(run, v))


@row("voted-test-error")
def voted_test_error(data):
    run = _mistakes(data)
    found = run.least(lambda v: _l2_radius(run, v))
    above = found.above
    return Truth(found.bound * 2 / data.T, None, at=found.at, size=found.size, above=lambda s: above(s) * 2 / data.T)


# -- other convex losses: φ(0) = 1, slope g at 0; at u = v/|g| ---------------------------------------------------------


def _scaled(data, by):
    """The comparators as floats, times a float."""
    return {name: fractions(v * by) for name, v in data.floats.items() if name.startswith("v_")}


def _convex(data, steep, losses, bound):
    """Any u gives a bound; which multiple of v was taken the certificate tells, and it must be v/|g|."""
    run, by = _mistakes(data), float(data.told["scaled_by"])
    assert abs(dec(by) * steep() - 1) < Decimal("1e-14")
    found = run.least(lambda u: bound(run, u, losses(run, u)), _scaled(data, by))
    return Truth(found.bound, run.M, {"scaled_by": by}, found.at, size=found.size, above=found.above)


def _log2(run, u):
    terms = (value(LOGISTIC, dot(u, x), y) for x, y in zip(run.data.X, run.data.y, strict=True))
    return dec(sum(terms, start=ZERO)) / ln(2)


def _by_tangent(steep):
    return lambda run, u, lost: dec(lost) + steep() * run.implicit(u, 0, run.reach)


def _by_root(steep):
    return lambda run, u, lost: run.quadratic(lost, u, steep())


def _steep_logistic():
    return 1 / (2 * ln(2))  # |d/dm log₂(1 + e^(−m))| at 0


def _steep_squared_hinge():
    return Decimal(2)


row("logistic-mistakes")(lambda data: _convex(data, _steep_logistic, _log2, _by_tangent(_steep_logistic)))
row("logistic-root")(lambda data: _convex(data, _steep_logistic, _log2, _by_root(_steep_logistic)))
TWO = _steep_squared_hinge
row("squared-hinge-mistakes")(lambda data: _convex(data, TWO, _square_sum, _by_tangent(TWO)))
row("squared-hinge-radius")(lambda data: _convex(data, TWO, _square_sum, _by_root(TWO)))


# -- with a kernel -----------------------------------------------------------------------------------------------------


class KernelMistakes:
    """The update rounds through the kernel's values."""

    def __init__(self, data):
        self.data = data
        self.I = [t for t in range(data.T) if missed(data.z[t], data.y[t], data.settings["tie"])]
        self.M = len(self.I)
        self.R2 = sum((self.K(t, t) for t in self.I), start=ZERO)
        self.r2 = max((self.K(t, t) for t in range(data.T)), default=ZERO)
        self.more = ZERO

    @property
    def S2(self):
        """‖S‖²; more by a share of what it is the sum of, where that is asked for."""
        terms = [self.data.y[s] * self.data.y[t] * self.K(s, t) for s in self.I for t in self.I]
        return sum(terms, start=ZERO) + self.more * sum(map(abs, terms), start=ZERO)

    def K(self, s, t):
        x, z, given = self.data.X[s], self.data.X[t], self.data.settings
        gamma = Fraction(given.get("gamma") or 1.0)
        if given["kernel"] == "linear":
            return dot(x, z)
        if given["kernel"] == "poly":
            return (Fraction(given["coef0"]) + gamma * dot(x, z)) ** int(given["degree"])
        apart = [a - b for a, b in zip(x, z, strict=True)]
        far = norm2(apart) if given["kernel"] == "rbf" else sum((abs(one) for one in apart), start=ZERO)
        return exact(exp(-gamma * far))

    @cached_property
    def margins(self):
        y, before = self.data.y, {t: [s for s in self.I if s < t] for t in self.I}
        parts = [[y[t] * y[s] * self.K(s, t) for s in before[t]] for t in self.I]
        return [(sum(one, start=ZERO), sum(map(abs, one), start=ZERO)) for one in parts]

    @property
    def premise(self):
        return not self.data.weighted and all(margin <= 0 for margin, _ in self.margins)

    def least(self, bound):
        """The least of the bounds, and the most that a share of roundings can make of it: norms are roots of sums."""
        at = {name: self._at(c) for name, c in self.data.by_prefix("c_").items()}
        found = {name: bound(dec(lost), root(square)) for name, (lost, square, _) in at.items()}
        best = min(found, key=found.get)

        def above(share):
            lost, square, size = at[best]
            self.more = Fraction(share)
            moved = bound(dec(lost) + share * self.data.T, root(square + self.more * size))
            self.more = ZERO
            return moved * (1 + share)

        told = {name: {"hinge": lost, "norm": root(square)} for name, (lost, square, _) in at.items()}
        size = found[best] + self.data.T + max(root(size) for _, _, size in at.values())
        return Truth(found[best], self.M, at=told, size=size, above=above)

    def _at(self, c):
        """Σh(v), ‖v‖² and the size of its terms."""
        which = [s for s, part in enumerate(c) if part]
        scores = [sum((c[s] * self.K(s, t) for s in which), start=ZERO) for t in range(self.data.T)]
        lost = sum((max(ZERO, 1 - y * z) for y, z in zip(self.data.y, scores, strict=True)), start=ZERO)
        sizes = sum((abs(c[s] * c[t] * self.K(s, t)) for s in which for t in which), start=ZERO)
        return lost, sum((c[s] * scores[s] for s in which), start=ZERO), sizes


def _kernel(data):
    if not hasattr(data, "kernel_mistakes"):
        data.kernel_mistakes = KernelMistakes(data)
    return data.kernel_mistakes


@row("kernel-norm-lemma")
def kernel_norm_lemma(data):
    run, found = _kernel(data), root(_kernel(data).S2)
    terms = dec(sum((abs(run.K(s, t)) for s in run.I for t in run.I), start=ZERO))
    return Truth(root(run.R2), found, scale=found + (terms / found if found else terms))


@row("kernel-hinge-sum")
def kernel_hinge_sum(data):
    run = _kernel(data)
    return run.least(lambda c, size: c + size * root(run.S2))


@row("kernel-hinge-mistakes")
def kernel_hinge_mistakes(data):
    run = _kernel(data)
    return run.least(lambda c, size: c + size * root(run.R2))


@row("kernel-hinge-root")
def kernel_hinge_root(data):
    run = _kernel(data)
    return run.least(lambda c, size: largest_root(lambda M: c + size * (dec(run.r2) * M).sqrt(), run.M))
