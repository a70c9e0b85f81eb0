"""The window of the last rows, which learners look for neighbours in.

Every row is compared with all of the window: Θ(window·d) a round, so d must be small, and features should be of one
scale. Of two rows that are as near, the one in the earlier place of the window counts first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import TILE
from noregret.errors import SettingError
from noregret.learner.core import Arrays, Vector, fit

COLUMNS = 100  # more features than this are refused


class Window:
    """The rows, sixteen side by side, and `lines`: numbers that are kept of each of them."""

    def __init__(self, who: str, size: int, neighbours: int, *lines: str) -> None:
        self.who, self.size, self.neighbours = who, size, neighbours
        self.lines = {name: np.zeros(size) for name in lines}
        self.learned = np.zeros(1, np.int64)
        self.tiles = self._places(0)

    def _places(self, width: int) -> NDArray[np.float64]:
        return np.zeros((-(-self.size // TILE), width, TILE))

    @property
    def native(self) -> Any:
        """What the loops take, with room to work in."""
        row, near = np.zeros(self.tiles.shape[1]), np.zeros(2 * self.neighbours)
        return self.tiles.reshape(-1), *self.lines.values(), self.learned, row, near, self.neighbours

    @property
    def rows(self) -> int:
        """How many rows are kept."""
        return min(int(self.learned[0]), self.size)

    @property
    def _used(self) -> int:
        return -(-self.rows // TILE)

    def grow(self, width: int) -> None:
        """Make room for features below `width`; a sentence where they are too many."""
        if width > COLUMNS:
            raise SettingError(f"{self.who}: rows may have at most {COLUMNS} features, got {width}")
        if width > self.tiles.shape[1]:
            before, self.tiles = self.tiles, self._places(width)
            self.tiles[:, : before.shape[1]] = before

    def arrays(self) -> Arrays:
        return {"tiles": self.tiles[: self._used], **self.lines, "learned": self.learned}

    def check(self, arrays: Arrays, width: int) -> None:
        """A ValueError unless `restore` can take these arrays, once there is room for `width` features."""
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(self.lines, (self.size,))
        fit(arrays, shapes | {"learned": (1,)})
        kept = -(-min(int(arrays["learned"][0]), self.size) // TILE)
        fit(arrays, {"tiles": (kept, width, TILE)})
        if arrays["learned"][0] < 0 or not all(np.isfinite(arrays[name]).all() for name in ("tiles", *self.lines)):
            raise ValueError("the window of rows is damaged")

    def restore(self, arrays: Arrays) -> None:
        self.learned[:] = arrays["learned"]
        self.tiles[: self._used] = arrays["tiles"]
        for name, line in self.lines.items():
            line[:] = arrays[name]

    def line(self, name: str) -> Vector:
        """What is kept under this name of the rows that are there."""
        return self.lines[name][: self.rows]
