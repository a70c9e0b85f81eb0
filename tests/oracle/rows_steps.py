"""Coin betting and the Passive-Aggressive learners."""

from decimal import Decimal
from fractions import Fraction

from oracle.rows import ONE, ZERO, Truth, dec, dot, exp, fractions, ln, norm, norm2, regret, regret_at, root, row, value
from oracle.rows_gradient import gradient_bound, grads

PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651"
)


# -- coin betting ------------------------------------------------------------------------------------------------------


B = [ONE, Fraction(-1, 2)]
for _m in range(2, 61):  # Σ_{j≤m} C(m+1, j)·B_j = 0
    _c, _s = 1, ZERO
    for _j in range(_m):
        _s += _c * B[_j]
        _c = _c * (_m + 1 - _j) // (_j + 1)
    B.append(-_s / (_m + 1))


def log_gamma(z):
    """ln Γ(z) for z > 0: Stirling's series at z + 60."""
    z, shift = dec(z), Decimal(1)
    for _ in range(60):
        shift *= z
        z += 1
    series = (z - Decimal("0.5")) * z.ln() - z + (2 * PI).ln() / 2
    for m in range(1, 31):
        series += dec(B[2 * m]) / (2 * m * (2 * m - 1) * z ** (2 * m - 1))
    return series - shift.ln()


def potential(n, x):
    """2ⁿ·Γ((n+1+x)/2)·Γ((n+1−x)/2)/(π·n!)."""
    if not n:
        return Decimal(1)
    x = min(dec(x), Decimal(n))
    logs = n * dec(2).ln() + log_gamma((n + 1 + x) / 2) + log_gamma((n + 1 - x) / 2) - log_gamma(n + 1)
    return exp(logs) / PI


def _bets(data):
    """n: the learner counts every round with a slope, one with x = 0 too; a coin of 0 changes no wealth."""
    return sum(s != 0 for s in grads(data).slopes)


def _coin(data, size):
    """G·(ε + ‖u‖√(n ln(1 + 24n²‖u‖²/ε²)))."""
    G, wealth, n = dec(data.rule.eta), dec(data.settings["wealth"]), _bets(data)
    return G * (wealth + size * root(n * ln(1 + 24 * n * n * size * size / (wealth * wealth))))


@row("coin-wealth")
def coin_wealth(data):
    found, G, wealth = grads(data), dec(data.rule.eta), dec(data.settings["wealth"])
    n = _bets(data)
    grown = potential(n, norm(found.total) / G)
    values = {"bets": n, "norm_of_sum": norm(found.total), "gradient_bound": G}
    size = dec(found.dot_size) + G * wealth * (1 + grown)
    return Truth(G * wealth * (1 - grown), found.dot_weights, values, size=size, scale=found.dot_size)


@row("coin-ball")
def coin_ball(data):
    seen, scale = regret(data)
    values = {"gradient_bound": dec(data.rule.eta), "max_gradient": grads(data).G}
    return Truth(_coin(data, dec(data.radius)), seen, values, scale=scale)


@row("coin-at-hindsight")
def coin_at_hindsight(data):
    seen, scale = regret_at(data)
    values = {"gradient_bound": dec(data.rule.eta)}
    return Truth(_coin(data, norm(fractions(data.hindsight.u))), seen, values, scale=scale)


def short(data):
    """No gradient longer than G, but for rounding."""
    return dec(data.rule.gradient_bound) * (1 + Decimal("1e-12")) >= grads(data).G and gradient_bound(data) > 0


SHARE = 1e-11  # of the size of its parts a loss of u may be off

# -- Passive-Aggressive ------------------------------------------------------------------------------------------------


class Passive:
    """The steps τ that were taken and the caps C, floats as they are; ℓ at the weights that they lead to, exactly."""

    def __init__(self, data, tau, cap):
        self.data, self.tau, self.cap = data, fractions(tau), fractions(cap)
        self.row2 = [norm2(x) for x in data.X]
        self.own = [value(data.loss, z, y) for z, y in zip(data.z, data.y, strict=True)]
        w, self.reached = [ZERO] * data.d, []
        for t, (x, y) in enumerate(zip(data.X, data.y, strict=True)):
            towards = self._towards(data.z[t], y)
            score = dot(w, x)
            beyond = data.loss[1] if data.loss[0] == "epsilon-insensitive" else ZERO
            self.reached.append(1 - y * score if data.loss[0] == "hinge" else towards * (y - score) - beyond)
            w = [a + self.tau[t] * towards * b for a, b in zip(w, x, strict=True)]
        self._check()

    def _towards(self, z, y):
        """s: the label, or where the number lies."""
        if self.data.loss[0] == "hinge":
            return y if y * z < 1 else ZERO
        if self.data.loss[0] == "epsilon-insensitive" and abs(z - y) <= self.data.loss[1]:
            return ZERO
        return Fraction((y > z) - (y < z))

    def _check(self):
        """τ = ℓ/‖x‖², capped by C, or ℓ/(‖x‖² + 1/2C); C as given or 1/max‖x‖² so far; to a few units of the last."""
        given, longest = self.data.settings.get("aggressiveness"), ZERO
        last = max(self.row2, default=ZERO)
        for t, (lost, x2) in enumerate(zip(self.own, self.row2, strict=True)):
            longest = max(longest, x2)
            C = Fraction(given) if given else 1 / (longest or last or ONE)
            wanted = (
                {
                    "pa": lambda lost=lost, x2=x2: lost / x2,
                    "pa1": lambda lost=lost, x2=x2, C=C: min(C, lost / x2),
                    "pa2": lambda lost=lost, x2=x2, C=C: lost / (x2 + 1 / (2 * C)),
                }[self.data.name]()
                if x2
                else ZERO
            )
            z, y, p = abs(self.data.z[t]), abs(self.data.y[t]), self.data.loss[1] or ZERO
            lost = (z + y + p) / x2 / 2**50 if self.data.loss[0] == "epsilon-insensitive" and x2 else ZERO
            assert abs(self.tau[t] - wanted) <= wanted / 2**49 + lost  # a loss near its kink is a difference
            assert self.data.name == "pa" or abs(self.cap[t] - C) <= C / 2**49

    def gains(self, extra=None):
        """τ(2ℓ − τ(‖x‖² + extra))."""
        more = [ZERO] * len(self.tau) if extra is None else extra
        return [
            t * (2 * lost - t * (x2 + e))
            for t, lost, x2, e in zip(self.tau, self.reached, self.row2, more, strict=True)
        ]

    def shortfall(self, floors, extra=None):
        """N: what the gains lack of what the theorem has them be."""
        return sum((max(f - g, ZERO) for f, g in zip(floors, self.gains(extra), strict=True)), start=ZERO)

    def against(self, more=ZERO):
        """u's losses, each off by a share of what it is the difference of."""
        u, found = self.data.points["v_passive"], []
        for x, y in zip(self.data.X, self.data.y, strict=True):
            z = dot(u, x)
            if self.data.loss[0] == "hinge":
                found.append(max(ZERO, 1 - y * z + more * (1 + abs(z))))
            else:
                beyond = self.data.loss[1] if self.data.loss[0] == "epsilon-insensitive" else ZERO
                found.append(max(ZERO, abs(z - y) - beyond) + more * (abs(z) + abs(y) + beyond))
        return found


def _passive(data):
    if not hasattr(data, "passive"):
        data.passive = Passive(data, data.tau, data.cap)
    return data.passive


def _truth(data, weights, power, bound, observed, floors, N=None):
    """Σ weights·ℓ(u)^power is what u lost; N, what rounding took, is measured by what the steps gained."""
    run, u = _passive(data), data.points["v_passive"]
    moved = zip(run.tau, run.reached, run.row2, strict=True)
    gained = sum((2 * t * abs(one) + t * t * x2 for t, one, x2 in moved), start=sum(floors, start=ZERO))
    N = run.shortfall(floors) if N is None else N

    def lost(more=ZERO):
        return sum((k * one**power for k, one in zip(weights, run.against(more), strict=True)), start=ZERO)

    def above(share):
        """With losses, and gains, off by a few units of the last place, of which a root may make more."""
        more = Fraction(share)
        return dec(bound(norm2(u), lost(more), N + more * gained)) * (1 + share)

    values = {"norm": norm(u), "losses": lost(), "rounding": N}
    sizes = {"rounding": gained, "losses": (lost(Fraction(SHARE)) - lost()) / Fraction(SHARE) + lost()}
    return Truth(bound(norm2(u), lost(), N), observed, values, sizes=sizes, above=above)


@row("pa-lemma")
def pa_lemma(data):
    run = _passive(data)
    seen = sum(run.gains(), start=ZERO)
    found = _truth(data, run.tau, 1, lambda u2, lost, N: u2 + 2 * lost, seen, [], ZERO)
    found.scale = found.sizes["rounding"]
    return found


@row("pa-losses")
def pa_losses(data):
    run = _passive(data)
    own = [one * one / x2 if x2 else ZERO for one, x2 in zip(run.own, run.row2, strict=True)]
    weights = [1 / x2 if x2 else ZERO for x2 in run.row2]
    return _truth(data, weights, 2, lambda u2, lost, N: (root(u2 + N) + 2 * root(lost)) ** 2, sum(own, start=ZERO), own)


@row("pa1-mistakes")
def pa1_mistakes(data):
    run = _passive(data)
    wrong = [y * z <= 0 for y, z in zip(data.y, data.z, strict=True)]
    parts = zip(wrong, run.cap, run.row2, strict=True)
    floors = [min(C, 1 / x2) if bad and x2 else ZERO for bad, C, x2 in parts]  # every mistake gains as much
    factor = max(max(run.row2), 1 / min(run.cap))
    return _truth(data, run.cap, 1, lambda u2, lost, N: factor * (u2 + 2 * lost + N), sum(wrong), floors)


@row("pa2-losses")
def pa2_losses(data):
    run = _passive(data)
    factor = max(run.row2) + 1 / (2 * min(run.cap))
    own = [one * one if x2 else ZERO for one, x2 in zip(run.own, run.row2, strict=True)]
    floors = [one / factor for one in own]
    N = run.shortfall(floors, [1 / (2 * C) for C in run.cap])
    weights = [C if x2 else ZERO for C, x2 in zip(run.cap, run.row2, strict=True)]
    seen = sum(own, start=ZERO)
    return _truth(data, weights, 2, lambda u2, lost, N: factor * (u2 + 2 * lost + N), seen, floors, N)
