"""The best comparator from its definition: sums in fractions, a conic solver, and all corners in one dimension."""

import math
import warnings
from fractions import Fraction

import cvxpy
import numpy as np

from oracle.losses import loss_of


def exact(values):
    return [Fraction(float(value)) for value in values]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def combination(X, a):
    """Σ a·x, exactly."""
    total = [Fraction(0)] * X.shape[1]
    for row, factor in zip(X, exact(a), strict=True):
        total = [t + factor * x for t, x in zip(total, exact(row), strict=True)]
    return total


def norm_at_most(v, bound):
    """‖v‖ ≤ bound, without a root."""
    return bound >= 0 and dot(v, v) <= bound * bound


def hinge_total(X, y, u):
    """Σ max(0, 1 − y⟨u, x⟩), exactly."""
    u = exact(u)
    return sum((max(Fraction(0), 1 - Fraction(label) * dot(exact(row), u)) for row, label in zip(X, y, strict=True)))


def hinge_dual_is_at_least(X, y, alpha, radius, bound):
    """−Σ αy − U‖Σ αx‖ ≥ bound, exactly; every α must lie between 0 and −y."""
    alpha = exact(alpha)
    assert all(0 <= -a * Fraction(label) <= 1 for a, label in zip(alpha, y, strict=True))
    room = -dot(alpha, exact(y)) - Fraction(bound)
    g = combination(X, alpha)
    return norm_at_most([Fraction(radius) * x for x in g], room)


def in_one_dimension(x, y, spec, radius):
    """min over |u| ≤ U of Σ ℓ(u·x, y) for a piecewise linear loss: at a corner, or at an end of the interval."""
    value, _ = loss_of(spec)
    name, _, text = spec.partition(":")
    kinks = {"perceptron": 0.0 * y, "margin-hinge": float(text or 1.0) * y}.get(name, y)
    corners = [k / a for k, a in zip(kinks, x, strict=True) if a and abs(k / a) <= radius]
    return min(math.fsum(value(u * a, b) for a, b in zip(x, y, strict=True)) for u in [-radius, 0.0, radius, *corners])


def conic_losses(spec, z, y):
    """ℓ(z, y) for each round as an expression."""
    name, _, text = spec.partition(":")
    m = cvxpy.multiply(y, z)
    p = float(text) if text else 1.0
    return {
        "hinge": lambda: cvxpy.pos(1 - m),
        "margin-hinge": lambda: cvxpy.pos(1 - m / p),
        "perceptron": lambda: cvxpy.pos(-m),
        "squared-hinge": lambda: cvxpy.square(cvxpy.pos(1 - m)),
        "logistic": lambda: cvxpy.logistic(-m),
        "squared": lambda: cvxpy.square(z - y),
        "absolute": lambda: cvxpy.abs(z - y),
        "huber": lambda: cvxpy.huber(z - y, p) / 2,
        "pinball": lambda: cvxpy.maximum(p * (y - z), (1 - p) * (z - y)),
    }[name]()


def conic(X, y, spec, radius, sigma=0.0, weights=None):
    """(min over ‖u‖ ≤ U of Σ k·ℓ(⟨u, x⟩, y) + (σT/2)‖u‖², how far it may be off) by an interior-point solver."""
    u = cvxpy.Variable(X.shape[1])
    k = np.ones(len(y)) if weights is None else weights
    objective = cvxpy.sum(cvxpy.multiply(k, conic_losses(spec, X @ u, y)))
    if sigma:
        objective += 0.5 * sigma * len(y) * cvxpy.sum_squares(u)
    inside = [] if math.isinf(radius) else [cvxpy.norm(u) <= radius]
    task = cvxpy.Problem(cvxpy.Minimize(objective), inside)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "may be inaccurate", which the second number says
        found = float(task.solve(solver=cvxpy.CLARABEL))
    return found, (1e-6 if task.status == cvxpy.OPTIMAL else 1e-3) * max(found, 1.0)
