"""What a loss is: its values and slopes, the constants its theorems need, and what proofs and solvers ask of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noregret import _native
from noregret.errors import SettingError
from noregret.fingerprint import fingerprint
from noregret.loss import EPS, Bend
from noregret.own import NUMBERS, compiled

Array = NDArray[np.float64]
Function = Callable[..., float]
TINY = 1e-300


def within(alpha: Array, low: Any, high: Any, inside: Array) -> Array:
    """`inside` where low ≤ α ≤ high, else +∞."""
    return np.where((alpha >= low) & (alpha <= high), inside, np.inf)


def not_above(exact: Any) -> float:
    """The largest float that is not above a fraction, or an infinity."""
    found = float(exact)
    return found if math.isinf(found) or Fraction(found) <= exact else math.nextafter(found, -math.inf)


@dataclass(frozen=True)
class Loss:
    """A loss of one score: `lipschitz` bounds |slope| for every z and y, and is inf where nothing does.

    >>> from noregret.loss import parse
    >>> hinge = parse("hinge")
    >>> hinge(0.25, 1.0), hinge.gradient(0.25, 1.0), hinge.lipschitz
    (0.75, -1.0, 1.0)
    """

    name: str
    bend: Callable[[Any, Any], Bend] | None = None  # of (y, parameter)
    conjugate_of: Callable[[Array, Array, float], Array] | None = None  # where there is no bend
    parameter: float | None = None
    lipschitz: float = 1.0
    curvature: float = 0.0  # the strong convexity of ℓ(·, y) in z
    regression: bool = False
    convex: bool = True
    probabilistic: bool = False  # its scores are the log-odds of +1: `probability` turns them round
    passive: bool = False  # a Passive-Aggressive step is known for it: one that makes the round's loss 0
    surrogate: bool = False  # φ(z)/φ(0) ≥ 1 wherever z ≤ 0: it bounds the rate of errors
    # how far the float value may lie from the exact one, of (value, z, y, parameter); else 16 units of its last place
    slack_of: Callable[[Array, Array, Array, float], Array] | None = None
    limit: float = math.inf  # a value from here on is given as infinite
    rounded: float = 0.0  # the size of what is rounded in the conjugate beside its value
    second: Callable[[Array, Array], Array] | None = None  # ℓ''(z, y), where there is no bend
    sharpest: float = 1.0  # the largest ℓ'', as far as the solver needs to know it
    dual_epoch: Callable[..., float] | None = None  # the core's coordinate descent on its dual
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
        alpha, y = np.asarray(alpha, float), np.asarray(y, float)
        if self.bend is not None:
            bend = self.bend(y, self.number)
            inside = alpha * bend.kink + bend.flat * np.abs(alpha) + 0.5 * bend.width * alpha * alpha
            return within(alpha, bend.lo, bend.hi, inside)
        if self.conjugate_of is None:
            raise SettingError(f"loss {self.name}: no dual is known for it")
        return self.conjugate_of(alpha, y, self.number)

    @property
    def dual(self) -> bool:
        """Whether its conjugate is known."""
        return self.bend is not None or self.conjugate_of is not None

    @cached_property
    def slope_ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The floats α with ℓ*(α) < ∞, from the first to the second: for y < 0, and for y > 0."""
        if self.bend is None:
            steep = self.lipschitz
            return ((-steep, steep), (-steep, steep)) if self.regression else ((0.0, steep), (-steep, 0.0))
        negative, positive = (self.bend(Fraction(y), Fraction(self.number)) for y in (-1, 1))
        return (-not_above(-negative.lo), not_above(negative.hi)), (-not_above(-positive.lo), not_above(positive.hi))

    @property
    def whole_slopes(self) -> bool:
        """Whether every slope is −1, 0 or 1, without rounding."""
        if self.bend is None:
            return not self.convex
        ends = {end for both in self.slope_ends for end in both}
        return self.bend(1.0, self.number).width == 0.0 and ends <= {-1.0, 0.0, 1.0}

    def slack(self, value: Array, z: Array, y: Array) -> Array:
        """How far ℓ(z, y) may lie from its float `value`."""
        return 16.0 * EPS * np.abs(value) + TINY if self.slack_of is None else self.slack_of(value, z, y, self.number)

    def conjugate_slack(self, value: Array, alpha: Array, y: Array) -> Array:
        """How far ℓ*(α) may lie from its float `value`."""
        if self.bend is None:
            return 16.0 * EPS * (np.abs(value) + np.abs(alpha * y) + self.rounded) + TINY
        bend = self.bend(y, self.number)
        parts = np.abs(alpha * bend.kink) + bend.flat * np.abs(alpha) + 0.5 * bend.width * alpha * alpha
        plain = bend.width == 0.0 and bend.flat == 0.0
        nothing = plain & ((bend.kink == 0.0) | (np.abs(bend.kink) == 1.0))  # it is 0 or ±α
        return np.where(nothing, 0.0, 16.0 * EPS * parts + TINY)

    def exact_value(self, z: Fraction, y: Fraction) -> Fraction:
        """ℓ(z, y) of a loss with a bend, without rounding."""
        assert self.bend is not None
        bend = self.bend(y, Fraction(self.number))
        r = z - bend.kink
        near = max(r - bend.flat, min(r + bend.flat, Fraction(0)))
        width = Fraction(bend.width)
        if not width:
            return Fraction(near * (bend.lo if near < 0 else bend.hi))
        alpha = min(max(near / width, bend.lo), bend.hi)
        return Fraction(alpha * near - width * alpha * alpha / 2)

    def exact_conjugate(self, alpha: Fraction, y: Fraction) -> Fraction:
        """ℓ*(α) of a loss with a bend, for an α in the dual domain."""
        assert self.bend is not None
        bend = self.bend(y, Fraction(self.number))
        return Fraction(alpha * bend.kink + bend.flat * abs(alpha) + Fraction(bend.width) * alpha * alpha / 2)

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
