"""Every bound once more, from its formula: for each theorem its assumptions and what it comes to on the replayed run.

Written apart from the theorems of this package, whose certificates it checks. A formula gives the bound as an interval,
what it is compared with, from where on it says nothing, and the values that a certificate may name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from noregret import arithmetic
from noregret._native import ADAPTIVE, BALL, CONSTANT, DOUBLING, SQRT
from noregret.interval import Interval, total
from noregret.learner import PERCEPTRONS
from noregret.receipt import (
    bounds_classes,
    bounds_coin,
    bounds_coordinate,
    bounds_corners,
    bounds_kernel,
    bounds_passive,
    bounds_second_order,
)
from noregret.receipt.facts import At, Facts
from noregret.receipt.found import EITHER, Certificate, Condition, Formula, Found
from noregret.receipt.verification import real

UNIT, PREMISE = "every round weighs 1", "every update was made at y⟨w,x⟩ ≤ 0, in exact arithmetic"
ZERO, COMPARED = "the run starts at w₁ = 0", "a comparator v is given"
SEPARATED = "a separator is known: y⟨u,x⟩ ≥ 1 on every round"
ORDER_FREE = "a comparator v for every order is given"
CONVEX, IN_BALL = "the loss is convex in the score", "the weights are projected on a ball of radius U"
INSIDE = "the comparators' ball lies in the learner's domain"
FOLLOWED = "the path was replayed: rounds × features at most 2·10⁹"
TUNED = "G = √2·U/η is at least max‖g_t‖, or line 4 is not above this bound"
INVERSE_ROOT = "the step is η = 1/√T for the T rounds played"
HORIZON, SHORT = "no more rounds were played than the horizon", "no gradient is longer than G"
LIPSCHITZ = "the slope of the loss is bounded by L"

# formulas of other learners, each in a file of its own
FAMILIES = (
    bounds_passive,
    bounds_coordinate,
    bounds_corners,
    bounds_coin,
    bounds_kernel,
    bounds_classes,
    bounds_second_order,
)
GIVEN = (COMPARED, ORDER_FREE, *(need for family in FAMILIES for need in family.GIVEN))
NEEDS: dict[str, Condition] = {
    UNIT: lambda f: f.rounds.weights is None,
    PREMISE: lambda f: f.rounds.weights is None and f.replayed[0],
    ZERO: lambda f: not f.start.any(),
    COMPARED: lambda f: any(name.startswith("v_") for name in f.points),
    SEPARATED: lambda f: f.separates,
    ORDER_FREE: lambda f: "v_root" in f.points,
    CONVEX: lambda f: None if f.core.loss.custom else f.core.loss.convex,
    IN_BALL: lambda f: int(f.setting("domain")) == BALL,
    INSIDE: lambda f: f.core.domain.radius >= f.U,
    FOLLOWED: lambda f: int(f.setting("domain")) == BALL and f.T * len(f.start) <= 2e9,
    TUNED: lambda f: _tuned(f),
    INVERSE_ROOT: lambda f: abs(f.core.rate.eta * math.sqrt(f.T) - 1.0) <= 2.0**-50,
    HORIZON: lambda f: f.core.rate.horizon is not None and f.core.rate.horizon >= f.T,
    SHORT: lambda f: f.core.rate.gradient_bound is not None and f.core.rate.gradient_bound * (1 + 2.0**-40) >= f.G,
    LIPSCHITZ: lambda f: math.isfinite(f.core.loss.lipschitz),
    **{need: ask for family in FAMILIES for need, ask in family.NEEDS.items()},
}


ABOVE = 1.0 + 1e-9  # more than the figures of a run with the user's own code may differ between machines


def _tuned(f: Facts) -> bool | str:
    """G ≥ max‖g‖ for the G that the rate stands for, or line 4 not above line 6."""
    stands_for, needed = Interval.of(2.0).sqrt() * f.U / f.core.rate.eta, f.figures["max_norm"]
    six, four = _line6(f), _line4(f)
    if stands_for.lo >= needed.hi or six.lo >= four.hi:
        return True
    return False if stands_for.hi * ABOVE < needed.lo and six.hi * ABOVE < four.lo else EITHER


def _mistakes(f: Facts, bound: Interval, values: dict[str, float]) -> Found:
    return Found(bound, Interval.of(float(len(f.chosen))), f.T, values)


def _at(make: Callable[[Facts, At], Interval]) -> Formula:
    """A mistake bound at the comparator v that the certificate names."""

    def found(f: Facts, certificate: Certificate) -> Found:
        name, *duals = certificate["points"]
        scale = real(certificate["values"].get("scaled_by", 1.0))
        at = f.at(name, scale)
        values = {"hinge": at.hinge.hi, "norm": at.norm.hi}
        if "scaled_by" in certificate["values"]:
            values["scaled_by"] = scale
        if duals:
            values["no_comparator_below"] = f.no_less(duals[0])
        return _mistakes(f, make(f, at), values)

    return found


def _log(make: Callable[[Facts, At, Interval, Interval], Interval]) -> Formula:
    """A bound from the logistic loss in bits; its slope at 0 is 1/(2 ln 2)."""

    def found(f: Facts, certificate: Certificate) -> Found:
        scale = real(certificate["values"]["scaled_by"])
        loss, slope = f.log2_loss(certificate["points"][0], scale), 0.5 / Interval.of(2.0).log()
        return _at(lambda f, at: make(f, at, loss, slope))(f, certificate)

    return found


def _reach(f: Facts) -> Interval:
    """√(‖w₁‖²/η² + R_I²)."""
    return (f.N.square() + f.R2).sqrt()


def _root(k: Interval, b: Interval, n: Interval) -> Interval:
    """The largest M with M ≤ k + √(n² + b²M)."""
    return k + b.square() / 2.0 + (b.square() * (k + b.square() / 4.0) + n.square()).sqrt()


def _explicit(f: Facts, at: At) -> Interval:
    b = at.norm * f.r
    return at.hinge + b.square() + b * at.hinge.sqrt()


def _l2(f: Facts, at: At) -> Interval:
    a2, p = at.hinge2, (at.norm * _reach(f) - at.along).positive()
    return (a2.sqrt() / 2.0 + (a2 / 4.0 + p).sqrt()).square()


def _squared_radius(f: Facts, at: At) -> Interval:
    b = at.norm * f.r
    return (b + (b.square() + at.hinge2).sqrt()).square()


def _radius_form(f: Facts, at: At) -> Interval:
    return at.hinge + at.norm * (f.N.square() + f.r.square() * float(len(f.chosen))).sqrt() - at.along


def _separable(f: Facts) -> tuple[Interval, Interval, dict[str, float]]:
    """‖u‖, ⟨u, w₁⟩/η and the values."""
    at = f.at("separator")
    return at.norm, at.along, {"separator_norm": at.norm.hi, "margin": (1.0 / at.norm).lo}


def _norm_lemma(f: Facts, certificate: Certificate) -> Found:
    bound = _reach(f)
    return Found(bound, f.replayed[1], math.inf, {"sum_norm": f.S.hi}, slack=bound.hi * 2.0**-45)


def _novikoff(f: Facts, certificate: Certificate) -> Found:
    size, along, values = _separable(f)
    if f.start.any():
        return _mistakes(f, _root(-along, size * f.r, size * f.N), values)
    values["no_separator_below"] = max((f.r.square() * Interval.of(f.shortest).square()).lo, 0.0)
    return _mistakes(f, f.r.square() * size.square(), values)


def _novikoff_mistakes(f: Facts, certificate: Certificate) -> Found:
    size, along, values = _separable(f)
    return _mistakes(f, size * _reach(f) - along, values)


def _novikoff_sum(f: Facts, certificate: Certificate) -> Found:
    size, _, values = _separable(f)
    return _mistakes(f, size * f.S, values)


# -- regret ------------------------------------------------------------------------------------------------------


def _regret(f: Facts, bound: Interval, **values: float) -> Found:
    """A bound on exact steps, allowed a little more for float steps."""
    values = {"max_gradient": f.G, **values}
    return Found(bound, f.regret, f.ceiling, values, slack=abs(bound.hi) * f.allowance)


def _root_T(f: Facts) -> Interval:
    return Interval.of(float(f.T)).sqrt()


def _U2(f: Facts) -> Interval:
    return Interval.of(f.core.domain.radius).square()


def _line4(f: Facts) -> Interval:
    eta, less = f.core.rate.eta, 0.0 if f.start.any() else 1.5
    return _U2(f) / eta * (_root_T(f) * 2.0 - less) + f.figures["sum_norm2_over_sqrt_t"] * (eta / 2.0)


def _line6(f: Facts) -> Interval:
    return _U2(f) * _root_T(f) * 4.0 / f.core.rate.eta


def _any_rate(f: Facts, G: float) -> Interval:
    eta = f.core.rate.eta
    return _U2(f) * 2.0 * _root_T(f) / eta + Interval.of(G).square() * eta * _root_T(f)


def _linearised(f: Facts, certificate: Certificate) -> Found:
    values = {"dot_weights": f.dot.hi, "norm_of_sum": f.sum_norm.hi, "radius": f.U}
    bound = f.dot + f.sum_norm * f.U
    return Found(bound, f.regret, f.ceiling, values, slack=_rounded(f, f.U), loose=_rounded(f, 1.0))


def _rounded(f: Facts, U: float) -> float:
    """What enclosing Σ⟨g,w⟩ + U‖Σg‖ may add: a few units in the last place of every term."""
    sizes = np.abs(f.slopes) * np.sqrt(f.squares[1])
    return 1e-13 * float(math.fsum(np.abs(f.slopes * np.asarray(f.rounds.scores))) + U * math.fsum(sizes))


def _linearised_at(f: Facts, certificate: Certificate) -> Found:
    bound = f.dot - f.along_u
    values = {"dot_weights": f.dot.hi}
    return Found(bound, f.regret_at, f.ceiling, values, slack=_rounded(f, f.U), loose=_rounded(f, 1.0))


def _telescoped(f: Facts, u: Any) -> Interval:
    """‖w₁−u‖²/2η₁ + ½Σc‖w−u‖² − ‖w_{T+1}−u‖²/2η_T + ½Ση‖g‖²."""
    last, drift, squares, _ = f.path
    eta, root = f.core.rate.eta, math.sqrt(f.T)
    point = np.zeros(len(last))
    point[: len(u)] = u[: len(last)]
    size2 = arithmetic.norm2(point)
    start, end = f.start - point, last - point
    middle = squares - 2.0 * arithmetic.inner(point, drift) + size2 * (root - 1.0) / eta
    moved = arithmetic.norm2(start) / (2.0 * eta) + 0.5 * middle - arithmetic.norm2(end) * root / (2.0 * eta)
    return Interval.around(moved, _path_slack(f) / 64.0) + f.figures["sum_norm2_over_sqrt_t"] * (eta / 2.0)


def _path_slack(f: Facts) -> float:
    """The replay's rounding, relative to the largest of the terms."""
    eta = f.core.rate.eta
    return (
        64.0
        * f.allowance
        * (float(np.square(2.0 * f.U + arithmetic.norm(f.start))) * math.sqrt(f.T) / eta + _rounded(f, f.U))
    )


def _telescoped_worst(f: Facts, certificate: Certificate) -> Found:
    slack = _path_slack(f) + f.allowance * 2.0 * f.sum_norm.hi * f.U
    return Found(_telescoped(f, f.worst), f.regret, f.ceiling, {"rate": f.core.rate.eta}, slack=slack)


def _telescoped_at(f: Facts, certificate: Certificate) -> Found:
    bound = _telescoped(f, f.points["u"])
    return Found(bound, f.regret_at, f.ceiling, {"rate": f.core.rate.eta}, slack=_path_slack(f))


def _triangle(f: Facts, certificate: Certificate) -> Found:
    _, _, squares, norms = f.path
    eta, size = f.core.rate.eta, f.U if f.worst.any() else 0.0
    moved = float(np.square(arithmetic.norm(f.start) + size)) / (2.0 * eta)
    moved += 0.5 * (squares + 2.0 * size * norms + size * size * (math.sqrt(f.T) - 1.0) / eta)
    bound = Interval.around(moved, _path_slack(f) / 64.0) + f.figures["sum_norm2_over_sqrt_t"] * (eta / 2.0)
    return Found(bound, f.regret, f.ceiling, {"rate": eta}, slack=_path_slack(f))


def _square_loss(f: Facts, certificate: Certificate) -> Found:
    U, X = Interval.of(f.core.domain.radius), f.r
    G = X * (U * X + float(np.abs(f.rounds.y).max(initial=0.0))) * 2.0
    return _regret(f, _any_rate(f, G.hi), a_priori_gradient=G.hi)


def _constant(f: Facts, certificate: Certificate) -> Found:
    eta = f.core.rate.eta
    bound = (f.N + f.U).square() / (2.0 * eta) + f.figures["sum_norm2"] * (eta / 2.0)
    return _regret(f, bound, rate=eta)


def _inverse_root(f: Facts, certificate: Certificate) -> Found:
    return _regret(f, (Interval.of(f.U).square() + Interval.of(f.G).square()) * _root_T(f) / 2.0)


def _gradient_bound(f: Facts) -> float:
    return max(f.core.rate.gradient_bound or 0.0, f.G)


def _horizon(f: Facts, certificate: Certificate) -> Found:
    G = _gradient_bound(f)
    root = Interval.of(float(f.core.rate.horizon or 0)).sqrt()
    return _regret(f, root * f.core.domain.radius * G, gradient_bound=G)


def _adaptive(f: Facts, certificate: Certificate) -> Found:
    return _regret(f, (f.figures["sum_norm2"] * 8.0).sqrt() * f.core.domain.radius)


def _doubling(f: Facts, certificate: Certificate) -> Found:
    G, periods = _gradient_bound(f), [Interval.of(2.0**m).sqrt() for m in range(f.T.bit_length())]
    return _regret(f, sum(periods, Interval.of(0.0)) * f.core.domain.radius * G, gradient_bound=G)


def _doubling_closed(f: Facts, certificate: Certificate) -> Found:
    G, two = _gradient_bound(f), Interval.of(2.0).sqrt()
    return _regret(f, two / (two - 1.0) * _root_T(f) * f.core.domain.radius * G, gradient_bound=G)


def _strong(f: Facts, bound: Interval, G: float) -> Found:
    """What the float steps lost is measured by G²/σ."""
    size = float(np.square(max(f.G, G))) / f.setting("sigma") * (2.0 + arithmetic.log(float(f.T)))
    return Found(bound, f.regret, f.ceiling, {"max_gradient": G}, slack=16.0 * f.allowance * size)


def _over_sigma(f: Facts, G: float, growth: Interval) -> Found:
    return _strong(f, Interval.of(G).square() / (2.0 * f.setting("sigma")) * growth, G)


def _log_T(f: Facts) -> Interval:
    return Interval.of(float(f.T)).log() + 1.0


def _strong_gradients(f: Facts, certificate: Certificate) -> Found:
    return _strong(f, f.figures["sum_norm2_over_t"] / (2.0 * f.setting("sigma")), f.G)


def _strong_harmonic(f: Facts, certificate: Certificate) -> Found:
    harmonic = np.asarray(1.0 / np.arange(1.0, f.T + 1.0))
    return _over_sigma(f, f.G, total(np.nextafter(harmonic, 0.0), np.nextafter(harmonic, 2.0)))


def _strong_lipschitz(f: Facts, certificate: Certificate) -> Found:
    return _over_sigma(f, (f.r * f.core.loss.lipschitz * 2.0).hi, _log_T(f))


RATES = {
    "ogd-telescoped": SQRT,
    "ogd-telescoped-at-hindsight": SQRT,
    "ogd-triangle": SQRT,
    "ogd-ball": SQRT,
    "ogd-any-rate": SQRT,
    "ogd-tuned": SQRT,
    "ogd-square-loss": SQRT,
    "ogd-constant": CONSTANT,
    "ogd-inverse-root": CONSTANT,
    "ogd-horizon": CONSTANT,
    "ogd-adaptive": ADAPTIVE,
    "ogd-doubling": DOUBLING,
    "ogd-doubling-closed": DOUBLING,
}
LINEARISED = ("ogd-linearised", "ogd-linearised-at-hindsight")
# learners other than gradient descent that these two speak of
ANY_STEPS = ("pa", "pa1", "pa2", "adagrad", "ftrl", "coin")
DUALS = {"hinge-sum": "beta_sum", "hinge-mistakes": "beta_mistakes", "order-free": "beta_root"}
PROMISES = {"ogd-linearised", *RATES} - {"ogd-telescoped", "ogd-telescoped-at-hindsight", "ogd-triangle"}
PROMISES |= {name for family in FAMILIES for name in family.PROMISES}


def speaks_of(name: str, f: Facts) -> bool:
    """Whether a theorem is about this learner, its rate and its loss at all."""
    for family in FAMILIES:
        if name in family.BOUNDS:
            return bool(family.speaks_of(name, f))
    if name in LINEARISED and f.core.name in ANY_STEPS:
        return f.entry is not None
    if name.startswith("strong-"):
        return f.core.name == "ogd-strong" and f.entry is not None
    if not name.startswith("ogd-"):
        return f.core.name in PERCEPTRONS and (name != "voted-test-error" or f.core.name == "voted")
    if f.core.name != "ogd" or f.entry is None or f.core.rate.code != RATES.get(name, f.core.rate.code):
        return False
    if name in RATES and (f.setting("l1") or f.setting("l2")):  # with a penalty the steps are others
        return False
    if name in ("ogd-inverse-root", "ogd-horizon"):
        return (f.core.rate.horizon is None) == (name == "ogd-inverse-root")
    return name != "ogd-square-loss" or f.core.loss.name == "squared"


def promises_of(name: str, f: Facts) -> bool:
    """Whether a theorem promises something of the first rounds of this learner, at any time."""
    return name in PROMISES and speaks_of(name, f) and all(NEEDS[need](f) in (True, None) for need in BOUNDS[name][0])


def promised(name: str, f: Facts) -> Found:
    """What it promises."""
    return BOUNDS[name][1](f, {"points": [], "values": {}})


def vectors_of(name: str, f: Facts, named: list[str]) -> bool:
    """Whether a certificate names the vectors that its theorem may be evaluated at."""
    for family in FAMILIES:
        if name in family.BOUNDS:
            return bool(family.vectors_of(name, f, named))
    if name == "norm-lemma" or not all(one in f.points for one in named):
        return not named
    if name.startswith("novikoff"):
        return named == ["separator", "separator_weights"]
    if name.startswith(("ogd-", "strong-")):
        return set(named) <= {"u", "alpha"} and ("at-hindsight" not in name or "u" in named)
    comparator, *duals = named or [""]
    if comparator not in (("v_root",) if name == "order-free" else ("v_sum", "v_mistakes", "v_root")):
        return False
    return duals in ([], [DUALS.get(name, "")]) and not (duals == ["beta_mistakes"] and f.start.any())


STEPS = (CONVEX, IN_BALL, INSIDE)
BOUNDS: dict[str, tuple[tuple[str, ...], Formula]] = {
    **bounds_classes.voted_needs(PREMISE, ZERO, COMPARED),
    "norm-lemma": ((UNIT, PREMISE), _norm_lemma),
    "novikoff": ((UNIT, PREMISE, SEPARATED), _novikoff),
    "novikoff-mistakes": ((UNIT, PREMISE, SEPARATED), _novikoff_mistakes),
    "novikoff-sum": ((UNIT, SEPARATED), _novikoff_sum),
    "hinge-sum": ((UNIT, COMPARED), _at(lambda f, at: at.hinge + at.norm * f.S)),
    "hinge-mistakes": ((UNIT, PREMISE, COMPARED), _at(lambda f, at: at.hinge + at.norm * _reach(f) - at.along)),
    "hinge-radius": ((UNIT, PREMISE, COMPARED), _at(_radius_form)),
    "hinge-explicit": ((UNIT, PREMISE, ZERO, COMPARED), _at(_explicit)),
    "hinge-root": (
        (UNIT, PREMISE, COMPARED),
        _at(lambda f, at: _root(at.hinge - at.along, at.norm * f.r, at.norm * f.N)),
    ),
    "hinge-squared-sum": (
        (UNIT, PREMISE, ZERO, COMPARED),
        _at(lambda f, at: (at.norm * f.r + at.hinge.sqrt()).square()),
    ),
    "order-free": (
        (UNIT, PREMISE, ZERO, ORDER_FREE),
        _at(lambda f, at: _root(at.hinge, at.norm * f.r, Interval.of(0.0))),
    ),
    "l2-mistakes": ((UNIT, PREMISE, COMPARED), _at(_l2)),
    "l2-radius": (
        (UNIT, PREMISE, ZERO, COMPARED),
        _at(lambda f, at: (at.norm * f.r + at.hinge2.sqrt()).square()),
    ),
    "logistic-mistakes": (
        (UNIT, PREMISE, COMPARED),
        _log(lambda f, at, loss, slope: loss + slope * (at.norm * _reach(f) - at.along)),
    ),
    "logistic-root": (
        (UNIT, PREMISE, ZERO, COMPARED),
        _log(lambda f, at, loss, slope: _root(loss, slope * at.norm * f.r, Interval.of(0.0))),
    ),
    "squared-hinge-mistakes": (
        (UNIT, PREMISE, COMPARED),
        _at(lambda f, at: at.hinge2 + (at.norm * _reach(f) - at.along) * 2.0),
    ),
    "squared-hinge-radius": ((UNIT, PREMISE, ZERO, COMPARED), _at(_squared_radius)),
    "ogd-linearised": ((CONVEX,), _linearised),
    "ogd-linearised-at-hindsight": ((CONVEX,), _linearised_at),
    "ogd-telescoped": ((*STEPS, FOLLOWED), _telescoped_worst),
    "ogd-telescoped-at-hindsight": ((*STEPS, FOLLOWED), _telescoped_at),
    "ogd-triangle": ((*STEPS, FOLLOWED), _triangle),
    "ogd-ball": (STEPS, lambda f, c: _regret(f, _line4(f), rate=f.core.rate.eta)),
    "ogd-any-rate": (STEPS, lambda f, c: _regret(f, _any_rate(f, f.G), rate=f.core.rate.eta)),
    "ogd-tuned": ((*STEPS, TUNED), lambda f, c: _regret(f, _line6(f), rate=f.core.rate.eta)),
    "ogd-square-loss": ((UNIT, *STEPS), _square_loss),
    "ogd-constant": ((CONVEX, INSIDE), _constant),
    "ogd-inverse-root": ((CONVEX, INSIDE, ZERO, INVERSE_ROOT), _inverse_root),
    "ogd-horizon": ((*STEPS, ZERO, HORIZON, SHORT), _horizon),
    "ogd-adaptive": (STEPS, _adaptive),
    "ogd-doubling": ((*STEPS, SHORT), _doubling),
    "ogd-doubling-closed": ((*STEPS, SHORT), _doubling_closed),
    "strong-gradients": ((CONVEX, INSIDE), _strong_gradients),
    "strong-harmonic": ((CONVEX, INSIDE), _strong_harmonic),
    "strong-log": ((CONVEX, INSIDE), lambda f, c: _over_sigma(f, f.G, _log_T(f))),
    "strong-lipschitz": ((UNIT, CONVEX, INSIDE, LIPSCHITZ), _strong_lipschitz),
    **{name: bound for family in FAMILIES for name, bound in family.BOUNDS.items()},
}
