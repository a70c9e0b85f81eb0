"""Gradient descent and its kin: g_t = k·s·x_t, s the slope of the loss at the score that the run predicted."""

from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from oracle.rows import (
    ZERO,
    Truth,
    combination,
    dec,
    dot,
    fractions,
    lipschitz,
    ln,
    norm,
    norm2,
    regret,
    regret_at,
    root,
    row,
    slope,
    value,
)


class Gradients:
    """The gradients of a run, and the sums that bounds are made from."""

    def __init__(self, data):
        self.data = data
        self.slopes = [k * slope(data.loss, z, y) for k, z, y in zip(data.k, data.z, data.y, strict=True)]
        self.squares = [s * s * norm2(x) for s, x in zip(self.slopes, data.X, strict=True)]
        self.G = root(max(self.squares, default=ZERO))
        self.dot_weights = sum((s * z for s, z in zip(self.slopes, data.z, strict=True)), start=ZERO)
        self.dot_size = sum((abs(s * z) for s, z in zip(self.slopes, data.z, strict=True)), start=ZERO)
        self.total = combination(self.slopes, data.X, data.d)
        self.n = [
            sum(((s * x[j]) ** 2 for s, x in zip(self.slopes, data.X, strict=True)), start=ZERO) for j in range(data.d)
        ]

    @property
    def sum2(self):
        return sum(self.squares, start=ZERO)

    def over_roots(self):
        """Σ‖g_t‖²/√t."""
        return sum((dec(one) / root(t) for t, one in enumerate(self.squares, 1)), start=Decimal(0))

    @cached_property
    def path(self):
        """w_1 … w_{T+1} of w ← Π(w − (η/√t)g) in the ball of radius U, as decimals."""
        data, U = self.data, dec(self.data.U)
        w = [dec(part) for part in data.start]
        found = [w]
        for t, (s, x) in enumerate(zip(self.slopes, data.X, strict=True), 1):
            step = dec(data.eta) / root(t)
            w = [a - step * dec(s * b) for a, b in zip(w, x, strict=True)]
            size = sum((a * a for a in w), start=Decimal(0)).sqrt()
            w = [a * U / size for a in w] if size > U else w
            found.append(w)
        return found


def grads(data):
    if not hasattr(data, "grads"):
        data.grads = Gradients(data)
    return data.grads


def _regret(data, bound, size=None, **values):
    seen, scale = regret(data)
    return Truth(bound, seen, values, size=size, scale=scale)


def _at_hindsight(data, bound, size=None, **values):
    seen, scale = regret_at(data)
    return Truth(bound, seen, values, size=size, scale=scale)


def _u(data):
    return fractions(data.hindsight.u)


# -- what the pass alone proves ----------------------------------------------------------------------------------------


def _linearised(data, reach, U, **values):
    """Σ⟨g,w⟩ + U·reach: the most that Σ⟨g, w − u⟩ can be over the domain."""
    found = grads(data)
    taken = dec(U) * dec(reach)
    spread = dec(sum((abs(s) * sum(map(abs, x)) for s, x in zip(found.slopes, data.X, strict=True)), start=ZERO))
    size = dec(found.dot_size) + dec(U) * spread
    return _regret(data, dec(found.dot_weights) + taken, size, dot_weights=found.dot_weights, **values)


@row("ogd-linearised")
def ogd_linearised(data):
    reach = norm(grads(data).total)
    return _linearised(data, reach, data.radius, norm_of_sum=reach, radius=data.radius)


row("composition")(ogd_linearised)  # the scores of a mixture are scores as well


@row("ogd-linearised-at-hindsight")
def ogd_linearised_at_hindsight(data):
    found, u = grads(data), _u(data)
    size = found.dot_size + sum((abs(s * dot(u, x)) for s, x in zip(found.slopes, data.X, strict=True)), start=ZERO)
    bound = found.dot_weights - dot(found.total, u)
    return _at_hindsight(data, bound, size, dot_weights=found.dot_weights)


@row("box-linearised")
def box_linearised(data):
    reach = sum((abs(one) for one in grads(data).total), start=ZERO)
    return _linearised(data, reach, data.U, norm1_of_sum=reach)


@row("l1-linearised")
def l1_linearised(data):
    reach = max((abs(one) for one in grads(data).total), default=ZERO)
    return _linearised(data, reach, data.U, largest_of_sum=reach)


@row("simplex-linearised")
def simplex_linearised(data):
    reach = max([ZERO, *(-one for one in grads(data).total)])
    return _linearised(data, reach, data.U, largest_descent_of_sum=reach)


# -- η/√t in a ball, line by line --------------------------------------------------------------------------------------


def _apart2(w, u):
    return sum(((a - b) ** 2 for a, b in zip(w, u, strict=True)), start=Decimal(0))


def _telescoped(data, u):
    """‖w₁−u‖²/2η₁ + ½Σ‖w_{t+1}−u‖²(1/η_{t+1} − 1/η_t) − ‖w_{T+1}−u‖²/2η_T + ½Ση_t‖g_t‖², and the size of its parts."""
    found, eta, T = grads(data), dec(data.eta), data.T
    first = _apart2(found.path[0], u) / (2 * eta)
    middle = sum(
        (_apart2(found.path[t], u) * (root(t + 1) - root(t)) / (2 * eta) for t in range(1, T)), start=Decimal(0)
    )
    last = _apart2(found.path[T], u) * root(T) / (2 * eta)
    stepped = eta * found.over_roots() / 2
    return first + middle - last + stepped, first + middle + last + stepped + dec(norm2_of(u)) * root(T) / eta


def norm2_of(u):
    return sum((a * a for a in u), start=Decimal(0))


def _worst(data):
    """The u of the ball for which Σ⟨g, w − u⟩ is largest; 0 where Σg is."""
    total = grads(data).total
    size = norm(total)
    return [-dec(data.radius) * dec(one) / size for one in total] if size else [Decimal(0)] * data.d


@row("ogd-telescoped")
def ogd_telescoped(data):
    bound, size = _telescoped(data, _worst(data))
    return _regret(data, bound, size + norm(grads(data).total) * dec(data.radius), rate=data.eta)


@row("ogd-telescoped-at-hindsight")
def ogd_telescoped_at_hindsight(data):
    bound, size = _telescoped(data, [dec(one) for one in _u(data)])
    return _at_hindsight(data, bound, size, rate=data.eta)


@row("ogd-triangle")
def ogd_triangle(data):
    found, eta, T = grads(data), dec(data.eta), data.T
    U = dec(data.radius) if any(found.total) else Decimal(0)
    far = [(norm2_of(w).sqrt() + U) ** 2 for w in found.path]
    middle = sum((far[t] * (root(t + 1) - root(t)) / (2 * eta) for t in range(1, T)), start=Decimal(0))
    return _regret(data, far[0] / (2 * eta) + middle + eta * found.over_roots() / 2, rate=data.eta)


def _line_4(data):
    U, eta = dec(data.U), dec(data.eta)
    moved = 2 * root(data.T) - (Decimal(0) if any(data.start) else Decimal("1.5"))
    return U * U / eta * moved + eta / 2 * grads(data).over_roots()


def _line_5(data, G):
    U, eta, T = dec(data.U), dec(data.eta), root(data.T)
    return 2 * U * U * T / eta + G * G * eta * T


def _line_6(data):
    """U·G√(8T) with G = √2·U/η."""
    G = root(2) * dec(data.U) / dec(data.eta)
    return dec(data.U) * G * root(8 * data.T)


@row("ogd-ball")
def ogd_ball(data):
    return _regret(data, _line_4(data), rate=data.eta, max_gradient=grads(data).G)


@row("ogd-any-rate")
def ogd_any_rate(data):
    return _regret(data, _line_5(data, grads(data).G), rate=data.eta, max_gradient=grads(data).G)


@row("ogd-tuned")
def ogd_tuned(data):
    return _regret(data, _line_6(data), rate=data.eta, max_gradient=grads(data).G)


def parameter_is_enough(data):
    return root(2) * dec(data.U) / dec(data.eta) >= grads(data).G or _line_4(data) <= _line_6(data)


@row("ogd-square-loss")
def ogd_square_loss(data):
    X, Y = root(max(norm2(x) for x in data.X)), dec(max(abs(y) for y in data.y))
    G = 2 * X * (dec(data.U) * X + Y)
    return _regret(data, _line_5(data, G), a_priori_gradient=G, max_gradient=grads(data).G)


# -- constant steps, and those that need only the radius ---------------------------------------------------------------


@row("ogd-constant")
def ogd_constant(data):
    eta, far = dec(data.eta), norm(data.start) + dec(data.radius)
    return _regret(
        data, far * far / (2 * eta) + eta / 2 * dec(grads(data).sum2), rate=data.eta, max_gradient=grads(data).G
    )


@row("ogd-inverse-root")
def ogd_inverse_root(data):
    U, G = dec(data.radius), grads(data).G
    return _regret(data, (U * U + G * G) / 2 * root(data.T), max_gradient=G)


def gradient_bound(data):
    """G of the rate; a longest gradient above it by rounding alone counts."""
    return max(dec(data.rule.gradient_bound), grads(data).G)


def _with_bound(data, factor):
    G = gradient_bound(data)
    return _regret(data, dec(data.U) * G * factor, gradient_bound=G, max_gradient=grads(data).G)


@row("ogd-horizon")
def ogd_horizon(data):
    return _with_bound(data, root(int(data.settings["rate"].split(":")[1])))


@row("ogd-adaptive")
def ogd_adaptive(data):
    return _regret(data, 2 * root(2) * dec(data.U) * root(grads(data).sum2), max_gradient=grads(data).G)


@row("ogd-doubling")
def ogd_doubling(data):
    begun, first = Decimal(0), 1
    while first <= data.T:  # the period of P rounds begins in round P
        begun += root(first)
        first *= 2
    return _with_bound(data, begun)


@row("ogd-doubling-closed")
def ogd_doubling_closed(data):
    return _with_bound(data, root(2) / (root(2) - 1) * root(data.T))


# -- a step for every coordinate ---------------------------------------------------------------------------------------


def _coordinates(data, each, at=None):
    """Σ_i each(√n_i, u_i) over the coordinates, u_i = U or the comparator's."""
    found = grads(data)
    us = [dec(data.U)] * data.d if at is None else [abs(dec(one)) for one in at]
    bound = sum((each(root(n), u) for n, u in zip(found.n, us, strict=True)), start=Decimal(0))
    values = {"rate": data.eta, "sum_of_roots": sum((root(n) for n in found.n), start=Decimal(0))}
    return _regret(data, bound, **values) if at is None else _at_hindsight(data, bound, **values)


def _adagrad(data):
    U, eta = dec(data.U), dec(data.eta)
    return lambda length, u: ((U + u) ** 2 / (2 * eta) + eta) * length  # |w_i − u_i| ≤ U + |u_i|


def _ftrl(data):
    flat, steps = dec(data.l2) + dec(data.beta) / dec(data.eta), _adagrad(data)
    return lambda length, u: dec(data.l1) * u + flat * u * u / 2 + steps(length, u) if length else Decimal(0)


row("adagrad-box")(lambda data: _coordinates(data, _adagrad(data)))
row("adagrad-at-hindsight")(lambda data: _coordinates(data, _adagrad(data), _u(data)))
row("ftrl-box")(lambda data: _coordinates(data, _ftrl(data)))
row("ftrl-at-hindsight")(lambda data: _coordinates(data, _ftrl(data), _u(data)))


# -- strong convexity --------------------------------------------------------------------------------------------------


class Strong:
    """Steps 1/(σt) on ℓ + (σ/2)‖w‖², as decimals: g_t = k·s·x + σw_t, and the loss with its regulariser."""

    def __init__(self, data):
        self.sigma = dec(data.settings["sigma"])
        U = None if float("inf") == data.U else dec(data.U)
        w, self.squares, self.own = [Decimal(0)] * data.d, [], Decimal(0)
        slopes = [k * slope(data.loss, z, y) for k, z, y in zip(data.k, data.z, data.y, strict=True)]
        for t in range(data.T):
            g = [dec(slopes[t] * x) + self.sigma * a for x, a in zip(data.X[t], w, strict=True)]
            self.squares.append(norm2_of(g))
            self.own += dec(data.k[t] * value(data.loss, data.z[t], data.y[t])) + self.sigma / 2 * norm2_of(w)
            w = [a - b / (self.sigma * (t + 1)) for a, b in zip(w, g, strict=True)]
            size = norm2_of(w).sqrt()
            w = [a * U / size for a in w] if U is not None and size > U else w
        self.G = max(self.squares).sqrt()
        self.steep = root(max(s * s * norm2(x) for s, x in zip(slopes, data.X, strict=True)))


def strong(data):
    if not hasattr(data, "strong"):
        data.strong = Strong(data)
    return data.strong


def _strong(data, bound, G):
    seen, scale = regret(data, strong(data).own)
    size = bound + (strong(data).steep ** 2 + strong(data).G ** 2) * (1 + ln(data.T + 1)) / strong(data).sigma
    if scale is not None:
        scale += size
    return Truth(bound, seen, {"max_gradient": G}, size=size, scale=scale)


def _logarithmic(data, G, growth):
    return _strong(data, G * G / (2 * strong(data).sigma) * growth, G)


@row("strong-gradients")
def strong_gradients(data):
    run = strong(data)
    terms = (one / (2 * run.sigma * t) for t, one in enumerate(run.squares, 1))
    return _strong(data, sum(terms, start=Decimal(0)), run.G)


@row("strong-harmonic")
def strong_harmonic(data):
    return _logarithmic(data, strong(data).G, dec(sum((Fraction(1, t) for t in range(1, data.T + 1)), start=ZERO)))


@row("strong-log")
def strong_log(data):
    return _logarithmic(data, strong(data).G, 1 + ln(data.T))


@row("strong-lipschitz")
def strong_lipschitz(data):
    G = 2 * dec(lipschitz(data.loss)) * root(max(norm2(x) for x in data.X))
    return _logarithmic(data, G, 1 + ln(data.T))
