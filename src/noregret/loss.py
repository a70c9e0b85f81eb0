"""What a round costs: ℓ(z, y) for a score z and a label y, its slope in z, and the constants its theorems need.

Labels are −1 and +1 for the classification losses, where ℓ(z, y) = φ(y·z) with φ convex; any number for the regression
ones. Built-in values and slopes take (z, y, p), p being the loss's own parameter, and are compiled into the loop.
`conjugate(α, y, p)` is ℓ*(α) = sup_z αz − ℓ(z, y), from which the dual bound on the best comparator is made.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noregret.errors import SettingError, nearest

Array = NDArray[np.float64]
Function = Callable[..., float]
LARGEST_EXPONENT = 709.0  # e to more than this may be no float


@dataclass(frozen=True)
class Loss:
    """A loss of one score: `lipschitz` bounds |slope| for every z and y, and is inf where nothing does.

    >>> hinge = parse("hinge")
    >>> hinge(0.25, 1.0), hinge.gradient(0.25, 1.0), hinge.lipschitz
    (0.75, -1.0, 1.0)
    """

    name: str
    value: Function
    slope: Function
    conjugate_of: Callable[[Array, Array, float], Array] | None = None
    parameter: float | None = None
    lipschitz: float = 1.0
    curvature: float = 0.0  # the strong convexity of ℓ(·, y) in z
    regression: bool = False
    convex: bool = True
    custom: bool = False  # two functions of (z, y), without a parameter

    def __call__(self, z: float, y: float) -> float:
        """ℓ(z, y)."""
        return float(self.value(float(z), float(y), *self._extra()))

    def gradient(self, z: float, y: float) -> float:
        """The slope of ℓ(·, y) at z: a subgradient where there is a kink."""
        return float(self.slope(float(z), float(y), *self._extra()))

    def values(self, z: Array, y: Array) -> Array:
        """ℓ(z, y) for whole arrays."""
        return self._over(self.value, z, y)

    def gradients(self, z: Array, y: Array) -> Array:
        """The slope for whole arrays."""
        return self._over(self.slope, z, y)

    def conjugate(self, alpha: ArrayLike, y: ArrayLike) -> Array:
        """ℓ*(α) for each α and y; +∞ outside the dual domain."""
        if self.conjugate_of is None:
            raise SettingError(f"loss {self.name}: no dual is known for it")
        return self.conjugate_of(np.asarray(alpha, float), np.asarray(y, float), self.number)

    @property
    def number(self) -> float:
        """The parameter as the kernels read it."""
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

    def kernel(self, rounds: Callable[..., Any] | None = None) -> Callable[..., int]:
        """The compiled rounds around this loss: those of linear learners, or of the kind given."""
        from noregret._kernel import linear
        from noregret._kernel.stamp import stamp

        # what a loss of one's own reads may have changed since the last time
        key = stamp(self.value, self.slope) if self.custom else _built_in(self.value, self.slope)
        return _kernel(self.value, self.slope, self.custom, key, rounds or linear.rounds)

    def _over(self, function: Function, z: Array, y: Array) -> Array:
        from noregret._kernel.stamp import stamp

        out = np.empty(len(z))
        fill = _pointwise(function, self.custom, stamp(function))
        fill(np.ascontiguousarray(z, dtype=np.float64), np.ascontiguousarray(y, dtype=np.float64), self.number, out)
        return out

    def _extra(self) -> tuple[float, ...]:
        return () if self.custom else (self.number,)


@cache
def _built_in(value: Function, slope: Function) -> int:
    from noregret._kernel.stamp import stamp

    return stamp(value, slope)


@cache
def _kernel(
    value: Function, slope: Function, custom: bool, key: int, rounds: Callable[..., Callable[..., int]]
) -> Callable[..., int]:
    from numba.extending import register_jitable

    keep = all(function.__module__ in sys.modules for function in (value, slope))
    of, slope_of = register_jitable(value), register_jitable(slope)
    if custom:
        check_compiles(of, slope_of)
        of, slope_of = _with_parameter(of), _with_parameter(slope_of)
    return rounds(register_jitable(of), register_jitable(slope_of), key, keep)


@cache
def _pointwise(function: Function, custom: bool, key: int) -> Callable[..., int]:
    from numba.extending import register_jitable

    from noregret._kernel.pointwise import pointwise

    of = register_jitable(function)
    if custom:
        of = register_jitable(_with_parameter(of))
    return pointwise(of, key, function.__module__ in sys.modules)


def check_compiles(*functions: Function) -> None:
    """A sentence instead of the compiler's pages."""
    from numba.core.errors import NumbaError

    from noregret._kernel import unkept

    for function in functions:
        try:
            unkept(function)(0.25, 1.0)
        except NumbaError as error:
            first = str(error).strip().splitlines()[0]
            raise SettingError(f"loss: {function.__name__} cannot be compiled: {first}") from None
        except ArithmeticError:
            pass  # compiled, and not defined there


def _with_parameter(function: Function) -> Function:
    return lambda z, y, p: function(z, y)


def _within(alpha: Array, low: float, high: float, inside: Array) -> Array:
    """`inside` where low ≤ α ≤ high, else +∞."""
    return np.where((alpha >= low) & (alpha <= high), inside, np.inf)


def _hinge(z: float, y: float, p: float) -> float:
    return max(1.0 - y * z, 0.0)


def _hinge_slope(z: float, y: float, p: float) -> float:
    return -y if y * z < 1.0 else 0.0


def _hinge_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return _within(-alpha * y, 0.0, 1.0, alpha * y)


def hinge() -> Loss:
    """max(0, 1 − y·z); at the kink y·z = 1 the slope taken is 0."""
    return Loss("hinge", _hinge, _hinge_slope, _hinge_conjugate)


def _margin(z: float, y: float, p: float) -> float:
    return max(1.0 - y * z / p, 0.0)


def _margin_slope(z: float, y: float, p: float) -> float:
    return -y / p if y * z < p else 0.0


def _margin_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return _within(-alpha * y * p, 0.0, 1.0, alpha * y * p)


def margin_hinge(margin: float = 1.0) -> Loss:
    """max(0, 1 − y·z/ρ), the hinge whose margin is ρ; slope 0 at the kink."""
    if not (margin > 0.0 and math.isfinite(margin)):
        raise SettingError(f"loss margin-hinge: the margin must be positive and finite, got {margin}")
    return Loss("margin-hinge", _margin, _margin_slope, _margin_conjugate, margin, 1.0 / margin)


def _squared_hinge(z: float, y: float, p: float) -> float:
    gap = max(1.0 - y * z, 0.0)
    return gap * gap


def _squared_hinge_slope(z: float, y: float, p: float) -> float:
    return -2.0 * y * max(1.0 - y * z, 0.0)


def _squared_hinge_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return _within(-alpha * y, 0.0, np.inf, alpha * alpha / 4.0 + alpha * y)


def squared_hinge() -> Loss:
    """max(0, 1 − y·z)²; its slope grows without bound."""
    return Loss(
        "squared-hinge",
        _squared_hinge,
        _squared_hinge_slope,
        _squared_hinge_conjugate,
        lipschitz=math.inf,
    )


def _perceptron(z: float, y: float, p: float) -> float:
    return max(-y * z, 0.0)


def _perceptron_slope(z: float, y: float, p: float) -> float:
    return -y if y * z <= 0.0 else 0.0


def _perceptron_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return _within(-alpha * y, 0.0, 1.0, np.zeros_like(alpha * y))


def perceptron() -> Loss:
    """max(0, −y·z); at the kink z = 0 the slope taken is −y, so that learning can start from 0."""
    return Loss("perceptron", _perceptron, _perceptron_slope, _perceptron_conjugate)


def _logistic(z: float, y: float, p: float) -> float:
    m = y * z
    e = math.exp(-abs(m))
    u = 1.0 + e
    return max(-m, 0.0) + (math.log(u) + (e - (u - 1.0)) / u)  # log1p(e), which the C library is slow at


def _logistic_slope(z: float, y: float, p: float) -> float:
    m = y * z
    e = math.exp(-abs(m))
    return -y * (e if m > 0.0 else 1.0) / (1.0 + e)


def _logistic_conjugate(alpha: Array, y: Array, p: float) -> Array:
    beta = -alpha * y
    inside = np.clip(beta, 0.0, 1.0)
    entropy = [q * np.log(np.where(q > 0.0, q, 1.0)) for q in (inside, 1.0 - inside)]
    return _within(beta, 0.0, 1.0, entropy[0] + entropy[1])


def logistic() -> Loss:
    """ln(1 + e^(−y·z)), natural logarithm."""
    return Loss("logistic", _logistic, _logistic_slope, _logistic_conjugate)


def _exponential(z: float, y: float, p: float) -> float:
    m = -y * z
    return math.exp(m) if m < LARGEST_EXPONENT else math.inf


def _exponential_slope(z: float, y: float, p: float) -> float:
    m = -y * z
    return -y * (math.exp(m) if m < LARGEST_EXPONENT else math.inf)


def _exponential_conjugate(alpha: Array, y: Array, p: float) -> Array:
    beta = -alpha * y
    inside = np.maximum(beta, 0.0)
    return _within(beta, 0.0, np.inf, inside * np.log(np.where(inside > 0.0, inside, 1.0)) - inside)


def exponential() -> Loss:
    """e^(−y·z); its slope grows without bound, and so fast that a margin of −709 counts as infinite."""
    return Loss("exponential", _exponential, _exponential_slope, _exponential_conjugate, lipschitz=math.inf)


def probability(scores: Array) -> Array:
    """What the logistic loss takes the probability of +1 to be: 1/(1 + e^(−z)), without overflow.

    >>> probability(np.array([0.0, -1000.0])).tolist()
    [0.5, 0.0]
    """
    e = np.exp(-np.abs(scores))
    return np.where(scores >= 0.0, 1.0, e) / (1.0 + e)


def _squared(z: float, y: float, p: float) -> float:
    return (z - y) * (z - y)


def _squared_slope(z: float, y: float, p: float) -> float:
    return 2.0 * (z - y)


def _squared_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return alpha * y + alpha * alpha / 4.0


def squared() -> Loss:
    """(z − y)²; its slope grows without bound."""
    return Loss("squared", _squared, _squared_slope, _squared_conjugate, None, math.inf, curvature=2.0, regression=True)


def _absolute(z: float, y: float, p: float) -> float:
    return abs(z - y)


def _absolute_slope(z: float, y: float, p: float) -> float:
    return 1.0 if z > y else (-1.0 if z < y else 0.0)


def _absolute_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return _within(alpha, -1.0, 1.0, alpha * y)


def absolute() -> Loss:
    """|z − y|; at the kink z = y the slope taken is 0."""
    return Loss("absolute", _absolute, _absolute_slope, _absolute_conjugate, regression=True)


def _huber(z: float, y: float, p: float) -> float:
    r = abs(z - y)
    return 0.5 * r * r if r <= p else p * r - 0.5 * p * p


def _huber_slope(z: float, y: float, p: float) -> float:
    return min(max(z - y, -p), p)


def _huber_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return _within(alpha, -p, p, alpha * y + alpha * alpha / 2.0)


def huber(delta: float = 1.0) -> Loss:
    """r²/2 where |r| ≤ δ, else δ|r| − δ²/2, with r = z − y."""
    if not (delta > 0.0 and math.isfinite(delta)):
        raise SettingError(f"loss huber: delta must be positive and finite, got {delta}")
    return Loss("huber", _huber, _huber_slope, _huber_conjugate, delta, delta, regression=True)


def _pinball(z: float, y: float, p: float) -> float:
    return max(p * (y - z), (1.0 - p) * (z - y))


def _pinball_slope(z: float, y: float, p: float) -> float:
    return 1.0 - p if z > y else (-p if z < y else 0.0)


def _pinball_conjugate(alpha: Array, y: Array, p: float) -> Array:
    return _within(alpha, -p, 1.0 - p, alpha * y)


def pinball(tau: float = 0.5) -> Loss:
    """τ·(y − z) where z < y, else (1 − τ)·(z − y): its best constant is the τ-quantile; slope 0 at z = y."""
    if not 0.0 < tau < 1.0:
        raise SettingError(f"loss pinball: tau must lie between 0 and 1, got {tau}")
    return Loss("pinball", _pinball, _pinball_slope, _pinball_conjugate, tau, max(tau, 1.0 - tau), regression=True)


TIES = {"mistake": 0.0, "+1": 1.0, "-1": -1.0}


def tie_code(tie: str) -> float:
    """What a score of exactly 0 counts as: +1, −1, or 0 for "a mistake either way"."""
    if not isinstance(tie, str) or tie not in TIES:
        raise SettingError(f"tie must be one of {', '.join(TIES)}, got {tie!r}")
    return TIES[tie]


# The margin's sign comes first and alone: one branch of the compiled loop then tells loss, slope and mistake.
def _zero_one(z: float, y: float, p: float) -> float:
    m = z * y
    if m > 0.0:
        return 0.0
    if m < 0.0 or (m == 0.0 and p * y <= 0.0):
        return 1.0
    return 0.0


def _zero_one_slope(z: float, y: float, p: float) -> float:
    m = z * y
    if m > 0.0:
        return 0.0
    if m < 0.0 or (m == 0.0 and p * y <= 0.0):
        return -y
    return 0.0


def zero_one(tie: str = "mistake") -> Loss:
    """1 where sgn(z) ≠ y; its "slope" −y on a mistake is the perceptron's update. Not convex: it only scores."""
    return Loss("zero-one", _zero_one, _zero_one_slope, None, tie_code(tie), math.inf, convex=False)


def custom(
    value: Function,
    slope: Function,
    *,
    name: str = "custom",
    lipschitz: float = math.inf,
    regression: bool = False,
) -> Loss:
    """A loss of one's own: two plain Python functions of (z, y), convex in z, compiled into the loop.

    `lipschitz` is your promise that |slope| never exceeds it; leave it out if nothing bounds the slope.

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
    return Loss(name, value, slope, None, None, float(lipschitz), regression=regression, custom=True)


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
