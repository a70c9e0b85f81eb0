"""What a round costs: ℓ(z, y) for a score z and a label y, its slope in z, and the constants its theorems need.

Labels are −1 and +1 for the classification losses, where ℓ(z, y) = φ(y·z) with φ convex; any number for the regression
ones. Values and slopes are the core's (native/loss.hpp), or two functions of the user's own.
`conjugate(α, y, p)` is ℓ*(α) = sup_z αz − ℓ(z, y), from which the dual bound on the best comparator is made.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noregret import _native, arithmetic
from noregret.errors import SettingError, nearest
from noregret.fingerprint import fingerprint
from noregret.own import NUMBERS, compiled

Array = NDArray[np.float64]
Function = Callable[..., float]


@dataclass(frozen=True)
class Loss:
    """A loss of one score: `lipschitz` bounds |slope| for every z and y, and is inf where nothing does.

    >>> hinge = parse("hinge")
    >>> hinge(0.25, 1.0), hinge.gradient(0.25, 1.0), hinge.lipschitz
    (0.75, -1.0, 1.0)
    """

    name: str
    conjugate_of: Callable[[Array, Array, float], Array] | None = None
    parameter: float | None = None
    lipschitz: float = 1.0
    curvature: float = 0.0  # the strong convexity of ℓ(·, y) in z
    regression: bool = False
    convex: bool = True
    probabilistic: bool = False  # its scores are the log-odds of +1: `probability` turns them round
    passive: bool = False  # a Passive-Aggressive step is known for it: one that makes the round's loss 0
    own: tuple[Function, Function] | None = None  # value and slope of (z, y), where they are the user's

    @property
    def custom(self) -> bool:
        """Whether it is the user's own."""
        return self.own is not None

    @property
    def fingerprint(self) -> int:
        """What a model or receipt says of a loss of the user's own: it changes with the two functions."""
        return fingerprint(*self.own) if self.own is not None else 0

    @property
    def native(self) -> _native.Loss:
        """The loss as the loops take it; what your own loss reads may have changed since the last time."""
        return _built_in(self.name, self.number) if self.own is None else _of_functions(*self.own, self.fingerprint)

    def __call__(self, z: float, y: float) -> float:
        """ℓ(z, y)."""
        if self.own is not None:
            return float(self.own[0](float(z), float(y)))
        return self.native.both(float(z), float(y))[0]

    def gradient(self, z: float, y: float) -> float:
        """The slope of ℓ(·, y) at z: a subgradient where there is a kink."""
        if self.own is not None:
            return float(self.own[1](float(z), float(y)))
        return self.native.both(float(z), float(y))[1]

    def values(self, z: Array, y: Array) -> Array:
        """ℓ(z, y) for whole arrays."""
        return self._over(_native.loss_values, z, y)

    def gradients(self, z: Array, y: Array) -> Array:
        """The slope for whole arrays."""
        return self._over(_native.loss_slopes, z, y)

    def conjugate(self, alpha: ArrayLike, y: ArrayLike) -> Array:
        """ℓ*(α) for each α and y; +∞ outside the dual domain."""
        if self.conjugate_of is None:
            raise SettingError(f"loss {self.name}: no dual is known for it")
        return self.conjugate_of(np.asarray(alpha, float), np.asarray(y, float), self.number)

    @property
    def number(self) -> float:
        """The parameter as the loops read it."""
        return 0.0 if self.parameter is None else self.parameter

    @property
    def spec(self) -> str:
        """The text that `parse` reads back."""
        return self.name if self.parameter is None or not self.convex else f"{self.name}:{self.parameter!r}"

    @property
    def at_zero(self) -> float:
        """φ(0), by which mistake bounds are divided (classification)."""
        return self(0.0, 1.0)

    @property
    def slope_at_zero(self) -> float:
        """A subgradient of φ at 0: all that a mistake bound needs of a convex loss."""
        return self.gradient(0.0, 1.0)

    def _over(self, fill: Callable[..., None], z: Array, y: Array) -> Array:
        out = np.empty(len(z))
        z, y = (np.ascontiguousarray(given, dtype=np.float64) for given in (z, y))
        fill(self.native, z, y, out)
        return out


@cache
def _built_in(name: str, parameter: float) -> _native.Loss:
    return _native.Loss(name, parameter)


@cache
def _of_functions(value: Function, slope: Function, key: int) -> _native.Loss:
    """Two functions of the user's own, rebuilt when their fingerprint `key` changes."""
    addresses = [compiled(function, NUMBERS, "loss") for function in (value, slope)]
    return _native.Loss(*((value, slope) if None in addresses else addresses))


def _within(alpha: Array, low: float, high: float, inside: Array) -> Array:
    """`inside` where low ≤ α ≤ high, else +∞."""
    return np.where((alpha >= low) & (alpha <= high), inside, np.inf)


def _hinge_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return _within(-alpha * y, 0.0, 1.0, alpha * y)


def hinge() -> Loss:
    """max(0, 1 − y·z); at the kink y·z = 1 the slope taken is 0."""
    return Loss("hinge", _hinge_conjugate, passive=True)


def _margin_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return _within(-alpha * y * p, 0.0, 1.0, alpha * y * p)


def margin_hinge(margin: float = 1.0) -> Loss:
    """max(0, 1 − y·z/ρ), the hinge whose margin is ρ; slope 0 at the kink."""
    if not (margin > 0.0 and math.isfinite(margin)):
        raise SettingError(f"loss margin-hinge: the margin must be positive and finite, got {margin}")
    return Loss("margin-hinge", _margin_conjugate, margin, 1.0 / margin)


def _squared_hinge_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return _within(-alpha * y, 0.0, np.inf, alpha * alpha / 4.0 + alpha * y)


def squared_hinge() -> Loss:
    """max(0, 1 − y·z)²; its slope grows without bound."""
    return Loss("squared-hinge", _squared_hinge_conjugate, lipschitz=math.inf)


def _perceptron_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return _within(-alpha * y, 0.0, 1.0, np.zeros_like(alpha * y))


def perceptron() -> Loss:
    """max(0, −y·z); at the kink z = 0 the slope taken is −y, so that learning can start from 0."""
    return Loss("perceptron", _perceptron_conjugate)


def _logistic_conjugate(alpha: Array, y: Array, p: float) -> Array:
    beta = -alpha * y
    inside = np.clip(beta, 0.0, 1.0)
    entropy = [q * arithmetic.log(np.where(q > 0.0, q, 1.0)) for q in (inside, 1.0 - inside)]
    return _within(beta, 0.0, 1.0, entropy[0] + entropy[1])


def logistic() -> Loss:
    """ln(1 + e^(−y·z)), natural logarithm."""
    return Loss("logistic", _logistic_conjugate, probabilistic=True)


def _exponential_conjugate(alpha: Array, y: Array, p: float) -> Array:
    beta = -alpha * y
    inside = np.maximum(beta, 0.0)
    return _within(beta, 0.0, np.inf, inside * arithmetic.log(np.where(inside > 0.0, inside, 1.0)) - inside)


def exponential() -> Loss:
    """e^(−y·z); its slope grows without bound, and so fast that a margin of −709 counts as infinite."""
    return Loss("exponential", _exponential_conjugate, lipschitz=math.inf)


def probability(scores: Array) -> Array:
    """What the logistic loss takes the probability of +1 to be: 1/(1 + e^(−z)), without overflow.

    >>> probability(np.array([0.0, -1000.0])).tolist()
    [0.5, 0.0]
    """
    e = arithmetic.exp(-np.abs(scores))
    return np.where(scores >= 0.0, 1.0, e) / (1.0 + e)


def _squared_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return alpha * y + alpha * alpha / 4.0


def squared() -> Loss:
    """(z − y)²; its slope grows without bound."""
    return Loss("squared", _squared_conjugate, None, math.inf, curvature=2.0, regression=True)


def _absolute_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return _within(alpha, -1.0, 1.0, alpha * y)


def absolute() -> Loss:
    """|z − y|; at the kink z = y the slope taken is 0."""
    return Loss("absolute", _absolute_conjugate, regression=True, passive=True)


def _huber_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return _within(alpha, -p, p, alpha * y + alpha * alpha / 2.0)


def huber(delta: float = 1.0) -> Loss:
    """r²/2 where |r| ≤ δ, else δ|r| − δ²/2, with r = z − y."""
    if not (delta > 0.0 and math.isfinite(delta)):
        raise SettingError(f"loss huber: delta must be positive and finite, got {delta}")
    return Loss("huber", _huber_conjugate, delta, delta, regression=True)


def _pinball_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return _within(alpha, -p, 1.0 - p, alpha * y)


def pinball(tau: float = 0.5) -> Loss:
    """τ·(y − z) where z < y, else (1 − τ)·(z − y): its best constant is the τ-quantile; slope 0 at z = y."""
    if not 0.0 < tau < 1.0:
        raise SettingError(f"loss pinball: tau must lie between 0 and 1, got {tau}")
    return Loss("pinball", _pinball_conjugate, tau, max(tau, 1.0 - tau), regression=True)


TIES = {"mistake": 0.0, "+1": 1.0, "-1": -1.0}


def tie_code(tie: str) -> float:
    """What a score of exactly 0 counts as: +1, −1, or 0 for "a mistake either way"."""
    if not isinstance(tie, str) or tie not in TIES:
        raise SettingError(f"tie must be one of {', '.join(TIES)}, got {tie!r}")
    return TIES[tie]


def zero_one(tie: str = "mistake") -> Loss:
    """1 where sgn(z) ≠ y; its "slope" −y on a mistake is the perceptron's update. Not convex: it only scores."""
    return Loss("zero-one", None, tie_code(tie), math.inf, convex=False)


def custom(
    value: Function,
    slope: Function,
    *,
    name: str = "custom",
    lipschitz: float = math.inf,
    regression: bool = False,
) -> Loss:
    """Make your own loss from two plain Python functions of (z, y), convex in z.

    If Numba is installed (the extra `own`), it compiles them. `lipschitz` is your guarantee that |slope| never exceeds
    it; omit it if the slope is unbounded.

    >>> import noregret as nr
    >>> cubic = nr.custom_loss(lambda z, y: abs(z - y) ** 3 / 3, lambda z, y: (z - y) * abs(z - y), regression=True)
    >>> cubic(4.0, 1.0), cubic.gradient(4.0, 1.0)
    (9.0, 9.0)
    """
    for role, function in (("value", value), ("slope", slope)):
        if not inspect.isfunction(function) or len(inspect.signature(function).parameters) != 2:
            raise SettingError(f"loss {name}: {role} must be a plain Python function of (z, y), got {function!r}")
    if not lipschitz > 0.0:
        raise SettingError(f"loss {name}: lipschitz must be positive, got {lipschitz}")
    _check_convex(name, value, slope, (-1.0, 0.5, 2.0) if regression else (-1.0, 1.0))
    return Loss(name, lipschitz=float(lipschitz), regression=regression, own=(value, slope))


def _check_convex(name: str, value: Function, slope: Function, labels: tuple[float, ...]) -> None:
    """A few points tell a wrong sign or a concave loss: no tangent may lie above the loss."""
    points = (-3.0, -1.25, -0.4, 0.3, 0.9, 2.75)
    for y in labels:
        try:
            found = [(z, float(value(z, y)), float(slope(z, y))) for z in points]
        except (ArithmeticError, ValueError):  # a loss that is not defined everywhere
            continue
        for z, here, tilt in found:
            for other, there, _ in found:
                if there < here + tilt * (other - z) - 1e-9 * (1.0 + abs(here) + abs(there)):
                    raise SettingError(
                        f"loss {name}: slope must be a subgradient of a convex value; with y = {y:g} the tangent at"
                        f" z = {z:g} lies above the loss at z = {other:g}"
                    )


LOSSES: dict[str, Callable[..., Loss]] = {
    "hinge": hinge,
    "margin-hinge": margin_hinge,
    "squared-hinge": squared_hinge,
    "perceptron": perceptron,
    "logistic": logistic,
    "exponential": exponential,
    "squared": squared,
    "absolute": absolute,
    "huber": huber,
    "pinball": pinball,
}
PARAMETER = {"margin-hinge": "margin", "huber": "delta", "pinball": "tau"}


def parse(spec: str | Loss | Any) -> Loss:
    """A loss from its name, with its parameter after a colon: "hinge", "huber:0.5", "pinball:0.9".

    >>> parse("huber:0.5").lipschitz
    0.5
    """
    if isinstance(spec, Loss):
        return spec
    if not isinstance(spec, str):
        raise SettingError(f"loss must be a name or noregret.custom_loss(value, slope), got {spec!r}")
    name, colon, text = spec.partition(":")
    if name not in LOSSES:
        raise SettingError(f"loss must be one of {', '.join(LOSSES)}, got {name!r}{nearest(name, LOSSES)}")
    if not colon:
        return LOSSES[name]()
    if name not in PARAMETER:
        raise SettingError(f"loss {name} takes no parameter, got {text!r}")
    try:
        number = float(text)
    except ValueError:
        raise SettingError(f"loss {name}: {PARAMETER[name]} must be a number, got {text!r}") from None
    return LOSSES[name](number)
