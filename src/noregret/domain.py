"""Where the weights may lie: the whole space, a ball ‖w‖ ≤ U, or a box |w_i| ≤ U.

The loop projects in Θ(non-zeros) a round; `project` here is the plain definition, for people and for tests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret._kernel.state import BALL, BOX, WHOLE
from noregret.errors import SettingError

DOMAINS = ("ball", "box")


@dataclass(frozen=True)
class Domain:
    """The set of weights with `radius` U; an infinite radius is the whole space.

    >>> Domain("ball", 1.0).project(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """

    shape: str = "ball"
    radius: float = 10.0

    def __post_init__(self) -> None:
        if self.shape not in DOMAINS:
            raise SettingError(f"domain must be one of {', '.join(DOMAINS)}, got {self.shape!r}")
        if not self.radius > 0.0:
            raise SettingError(f"radius must be positive, got {self.radius}")
        if not (1e-100 <= self.radius <= 1e100 or math.isinf(self.radius)):
            raise SettingError(f"radius must lie between 1e-100 and 1e100, or be inf, got {self.radius}")

    @property
    def code(self) -> int:
        if math.isinf(self.radius):
            return WHOLE
        return BALL if self.shape == "ball" else BOX

    def project(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """The point of the domain nearest to w."""
        if self.code == WHOLE:
            return w.copy()
        if self.code == BOX:
            return np.clip(w, -self.radius, self.radius)
        norm = float(np.linalg.norm(w))
        return w.copy() if norm <= self.radius else w * (self.radius / norm)
