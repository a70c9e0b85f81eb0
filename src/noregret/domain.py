"""Where the weights may lie: the whole space, a ball ‖w‖ ≤ U, a box |w_i| ≤ U, ‖w‖₁ ≤ U, or a simplex.

The simplex is the solid one, w ≥ 0 and Σw ≤ U: it holds 0, where runs start and where new features begin. On a ball
and in a box the loop projects in Θ(non-zeros) a round; for the other two it looks at every feature in those rounds
whose step leaves the domain by its sum. `project` here is the plain definition, for people and for tests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import BALL, BOX, CROSS, SIMPLEX, WHOLE
from noregret.errors import SettingError
from noregret.interval import Interval
from noregret.setting import as_number

CODES = {"ball": BALL, "box": BOX, "l1": CROSS, "simplex": SIMPLEX}
DOMAINS = tuple(CODES)
CORNERS = ("l1", "simplex")  # domains that no ball of their radius fits in


@dataclass(frozen=True)
class Domain:
    """The set of weights with `radius` U; an infinite radius is the whole space.

    >>> Domain("ball", 1.0).project(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    >>> Domain("simplex", 1.0).project(np.array([1.5, 1.0, -2.0]))
    array([0.75, 0.25, 0.  ])
    """

    shape: str = "ball"
    radius: float = 10.0

    def __post_init__(self) -> None:
        if self.shape not in DOMAINS:
            raise SettingError(f"domain must be one of {', '.join(DOMAINS)}, got {self.shape!r}")
        if not as_number(self.radius) > 0.0:
            raise SettingError(f"radius must be positive, got {self.radius!r}")
        object.__setattr__(self, "radius", float(self.radius))
        if not (1e-100 <= self.radius <= 1e100 or math.isinf(self.radius)):
            raise SettingError(f"radius must lie between 1e-100 and 1e100, or be inf, got {self.radius!r}")
        if self.shape == "simplex" and math.isinf(self.radius):
            raise SettingError("domain simplex needs a finite radius: the maximum sum of the weights")

    @property
    def code(self) -> int:
        """The domain as compiled code knows it."""
        if math.isinf(self.radius):
            return WHOLE
        return CODES[self.shape]

    @property
    def fits_ball(self) -> bool:
        """Whether the ball of the same radius lies in it, so that its comparators are the domain's own."""
        return self.shape not in CORNERS or self.code == WHOLE

    def holds(self, w: NDArray[np.float64]) -> bool:
        """Whether w lies in it."""
        match self.shape:
            case "ball":
                size = arithmetic.norm(w)
            case "box":
                size = float(np.abs(w).max(initial=0.0))
            case _:
                size = math.fsum(np.abs(w))
        return size <= self.radius and (self.shape != "simplex" or bool((w >= 0.0).all()))

    def project(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """The point of the domain nearest to w."""
        if self.code == WHOLE:
            return w.copy()
        if self.code == BOX:
            return np.clip(w, -self.radius, self.radius)
        if self.code in (CROSS, SIMPLEX):
            return self._threshold(w if self.code == CROSS else np.maximum(w, 0.0))
        norm = arithmetic.norm(w)
        return w.copy() if norm <= self.radius else w * (self.radius / norm)

    def _threshold(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """sgn(w)·max(|w| − θ, 0), θ from the sizes in falling order: the largest mean excess over U of the first k."""
        sizes = np.sort(np.abs(w))[::-1]
        if arithmetic.total(sizes) <= self.radius:
            return w.copy()
        theta = float(((np.cumsum(sizes) - self.radius) / np.arange(1, len(sizes) + 1)).max())
        return np.asarray(np.sign(w) * np.maximum(np.abs(w) - theta, 0.0))


def support(a: Interval, radius: float, ridge: float = 0.0) -> Interval:
    """max of a‖u‖ − (ridge/2)‖u‖² over ‖u‖ ≤ radius."""
    if ridge == 0.0:
        return a * radius if a.hi > 0.0 or math.isfinite(radius) else Interval.of(0.0)
    inside = a.square() / (Interval.of(ridge) * 2.0)
    if math.isinf(radius):
        return inside
    outside = a * radius - Interval.of(ridge) * Interval.of(radius).square() * 0.5
    limit = Interval.of(ridge) * radius
    if a.hi <= limit.lo:
        return inside
    # where a may lie on either side of the limit both forms are tangent there: the larger is never too small
    return outside if a.lo >= limit.hi else Interval(min(inside.lo, outside.lo), max(inside.hi, outside.hi))
