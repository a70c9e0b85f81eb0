"""The adversary of linear losses: against it every learner has regret U·G·√T or more, so √T cannot be improved.

It sees w_t and names the loss w ↦ ⟨g_t, w⟩, where ‖g_t‖ = G and g_t is orthogonal to w_t and to Σ_{s<t} g_s: from three
dimensions on there is such a direction. The learner then loses 0 in every round, ‖Σg‖ = G√T by Pythagoras, and the best
u of norm at most U, −U·Σg/‖Σg‖, loses −U·G·√T.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.errors import SettingError
from noregret.interval import Interval
from noregret.learner.core import Core
from noregret.rational import nearest, whole_numbers
from noregret.setting import as_number
from noregret.stream.block import Dense

Vector = NDArray[np.float64]
ENTRIES = 1_000_000  # rounds × features: the game keeps every w_t and g_t
LENGTHS = (1e-100, 1e100)  # between these the square of a norm keeps all its digits
LABEL = np.ones(1)
ZERO = Fraction(0)


class LinearPlayer(Protocol):
    """A learner of linear losses: it names a point, then hears the gradient of the loss."""

    def point(self) -> Vector: ...

    def learn(self, gradient: Vector) -> None: ...


class LinearAdversary:
    """Names gradients of norm `length`, orthogonal to the learner's point and to the sum of the earlier ones.

    >>> adversary = LinearAdversary(3)
    >>> adversary.gradient(np.zeros(3)).tolist(), adversary.gradient(np.array([-0.5, 0.5, 0.0])).tolist()
    ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0])
    """

    def __init__(self, features: int = 3, length: float = 1.0) -> None:
        if not isinstance(features, int | np.integer) or features < 3:
            raise SettingError(
                f"linear game: features must be a whole number of at least 3, got {features}: only then some direction"
                " is orthogonal to two others"
            )
        if not LENGTHS[0] <= as_number(length) <= LENGTHS[1]:
            raise SettingError(f"linear game: length must lie between 1e-100 and 1e100, got {length}")
        self.features, self.length = int(features), float(length)
        self._sum, self._lost = np.zeros(features), np.zeros(features)  # Σg, and what its last digits lost

    def gradient(self, point: Vector) -> Vector:
        """The gradient against a point."""
        basis: list[Vector] = []
        for avoided in (self._sum, point):
            direction = _outside(avoided, basis)
            if direction is not None:
                basis.append(direction)
        first = np.zeros(self.features)
        first[int(np.argmin(sum((one * one for one in basis), start=first)))] = 1.0
        direction = _outside(first, basis)
        assert direction is not None  # of three axes at most two lie in the span of two vectors
        found = direction * self.length
        if sum((Fraction(a) * Fraction(b) for a, b in zip(found.tolist(), point.tolist(), strict=True)), ZERO) < 0:
            found = -found  # what rounding leaves of the scalar product is no gain for the learner
        self._add(found)
        return found

    def _add(self, gradient: Vector) -> None:
        """Σg to twice the precision."""
        before = self._sum
        total = before + gradient
        part = total - before
        self._lost = self._lost + ((before - (total - part)) + (gradient - part))
        self._sum = total + self._lost
        self._lost = self._lost - (self._sum - total)


def _outside(vector: Vector, basis: list[Vector]) -> Vector | None:
    """The direction of what is left of a vector beside an orthonormal basis; None where nothing is.

    Made thrice: where the vector all but lies in the span, the first rest is rounding noise, and not orthogonal yet.
    """
    for _ in range(3):
        largest = float(np.abs(vector).max())
        if largest == 0.0:
            return None
        vector = vector / largest
        vector = vector / arithmetic.norm(vector)
        for one in basis:
            vector = vector - arithmetic.inner(one, vector) * one
    size = arithmetic.norm(vector)
    return vector / size if size > 0.5 else None


@dataclass(frozen=True)
class LinearGame:
    """A finished game: the points w_t and the gradients g_t, a row a round, and the radius U of the comparators.

    What is claimed of it is computed in whole numbers: a float is a multiple of a power of two.
    """

    points: Vector
    gradients: Vector
    radius: float
    length: float
    learner: str

    def __len__(self) -> int:
        return len(self.gradients)

    @cached_property
    def regret(self) -> Interval:
        """Σ⟨g_t, w_t⟩ + U‖Σg_t‖, against the best u of norm at most U."""
        best = nearest(self.sums_norm2[-1]).sqrt() * self.radius
        return nearest(sum(self.own, ZERO)) + best

    @cached_property
    def own(self) -> list[Fraction]:
        """⟨g_t, w_t⟩: what the learner loses in each round."""
        (gradients,), one = whole_numbers(self.gradients)
        (points,), other = whole_numbers(self.points)
        return [total * one * other for total in (gradients * points).sum(axis=1).tolist()]

    @cached_property
    def along(self) -> list[Fraction]:
        """⟨g_t, g_1 + … + g_{t−1}⟩."""
        (gradients,), unit = whole_numbers(self.gradients)
        before = np.cumsum(gradients, axis=0) - gradients
        return [total * unit * unit for total in (gradients * before).sum(axis=1).tolist()]

    @cached_property
    def norms2(self) -> list[Fraction]:
        """‖g_t‖²."""
        (gradients,), unit = whole_numbers(self.gradients)
        return [total * unit * unit for total in (gradients * gradients).sum(axis=1).tolist()]

    @cached_property
    def sums_norm2(self) -> list[Fraction]:
        """‖g_1 + … + g_t‖²."""
        found, total = [], ZERO
        for norm2, along in zip(self.norms2, self.along, strict=True):
            total += norm2 + 2 * along
            found.append(total)
        return found

    @property
    def guaranteed(self) -> float:
        """U·G·√(8T): what gradient descent with the step √2·U/(G√t) is never worse than, rounded up."""
        return (Interval.of(8.0 * len(self)).sqrt() * self.radius * self.length).hi


def linear_game(
    learner: Any, rounds: int, *, features: int = 3, length: float = 1.0, radius: float = 1.0
) -> LinearGame:
    """Play a learner against the adversary of linear losses: regret at least U·G·√T, U = radius and G = length.

    `learner` is a linear learner for two classes, or any object with `point()` and `learn(gradient)`. One of ours hears
    the gradient g as the row −g of label +1, which costs it the hinge loss max(0, 1 + ⟨g, w⟩): its slope at w_t is g.

    >>> from noregret.learner import OnlineGradientDescent
    >>> game = linear_game(OnlineGradientDescent(loss="hinge", radius=1.0), 100)
    >>> round(game.regret.lo, 6), round(game.guaranteed, 6)
    (10.0, 28.284271)
    """
    if not isinstance(rounds, int | np.integer) or rounds < 1:
        raise SettingError(f"linear game: rounds must be a whole number of at least 1, got {rounds}")
    if not LENGTHS[0] <= as_number(radius) <= LENGTHS[1]:
        raise SettingError(f"linear game: radius must lie between 1e-100 and 1e100, got {radius}")
    adversary = LinearAdversary(features, length)
    if rounds * features > ENTRIES:
        raise SettingError(f"linear game: rounds times features may be {ENTRIES:,} at most, got {rounds * features:,}")
    player, name = player_of(learner, adversary.features)
    points, gradients = np.empty((rounds, features)), np.empty((rounds, features))
    for t in range(rounds):
        points[t] = _checked(player.point(), adversary.features, t)
        gradients[t] = adversary.gradient(points[t])
        player.learn(gradients[t].copy())
    return LinearGame(points, gradients, float(radius), adversary.length, name)


def player_of(learner: Any, features: int) -> tuple[LinearPlayer, str]:
    """What plays, and its name."""
    core = getattr(learner, "core", None)
    if isinstance(core, Core):
        return CorePlayer(core, features), core.name
    if not (callable(getattr(learner, "point", None)) and callable(getattr(learner, "learn", None))):
        raise SettingError(
            "linear game: learner must be a linear learner or have the methods point() and learn(gradient), got a"
            f" {type(learner).__name__}"
        )
    return learner, str(getattr(learner, "name", type(learner).__name__))


class CorePlayer:
    """A linear learner of ours: its weights are the point, and a gradient g is the row −g of label +1."""

    def __init__(self, core: Core, features: int) -> None:
        if not core.linear or core.multiclass or core.regression:
            raise SettingError(f"linear game: {core.name} does not predict two classes by weights that it has")
        if not core.plain or core.params.bias:
            raise SettingError("linear game: the gradients are played as they are: omit bias, scale and unit_norm")
        if core.width > features:
            raise SettingError(f"linear game: the learner has weights for {core.width} features, more than {features}")
        self._core, self._features = core, features

    def point(self) -> Vector:
        weights = self._core.weights
        return np.concatenate([weights, np.zeros(self._features - len(weights))])

    def learn(self, gradient: Vector) -> None:
        self._core.play(Dense(-gradient[None, :]), LABEL)


def _checked(point: Any, features: int, before: int) -> Vector:
    """A point as it must be."""
    found = np.asarray(point, dtype=np.float64)
    if found.shape != (features,) or not math.isfinite(float(np.abs(found).max())):
        raise SettingError(f"linear game: the point of round {before + 1} must be {features} finite numbers")
    return found
