"""Outcomes in the order of the predictions: each waits for those before it, so that no label chooses its own turn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

NONE = (math.nan, 0.0)


class InOrder:
    """Outcomes by the place of their prediction, handed on in the order of the places."""

    def __init__(self) -> None:
        self.next: int | None = None  # the place whose outcome is handed on next; None before the first prediction
        self.predicted = 0
        self._there: dict[int, tuple[float, float]] = {}
        self._before = 0  # predictions of books before the present one, which counts its places from 0

    def go_on(self, predicted: int) -> None:
        """The book has made this many predictions: a new one knows nothing of those that wait in another."""
        if self.next is not None and self._before + predicted < self.predicted:
            self._before = self.predicted - predicted
            for place in range(self.next, self.predicted):
                self._there.setdefault(place, NONE)

    def began(self, place: int) -> None:
        """There is a prediction at this place; the first one that is seen is the first that counts."""
        place += self._before
        if self.next is None:
            self.next = place
        for missed in range(max(self.predicted, self.next), place):  # it was not there to see these
            self._there[missed] = NONE
        self.predicted = place + 1

    def outcome(self, place: int, loss: float, y: float) -> None:
        """What the prediction at this place lost."""
        self._enter(place, (loss, y))

    def nothing(self, place: int) -> None:
        """The prediction at this place has no outcome that counts."""
        self._enter(place, NONE)

    def _enter(self, place: int, found: tuple[float, float]) -> None:
        place += self._before
        if self.next is not None and place >= self.next:
            self._there.setdefault(place, found)

    def ready(self) -> Iterator[tuple[float, float]]:
        """Loss and label of each place whose turn it is; NaN for one without."""
        while self.next is not None and self.next in self._there:
            found = self._there.pop(self.next)
            self.next += 1
            yield found

    @property
    def waiting(self) -> int:
        """Predictions whose outcome has not been handed on: their own label is missing, or an earlier one."""
        return 0 if self.next is None else self.predicted - self.next

    def stored(self) -> dict[str, Any]:
        there = [[place, None if math.isnan(loss) else loss, y] for place, (loss, y) in self._there.items()]
        return {"next": self.next, "predicted": self.predicted, "there": there, "before": self._before}

    def restore(self, stored: dict[str, Any]) -> None:
        """Go on from what was stored; a ValueError, KeyError or TypeError where it is not that."""
        following, self.predicted = stored["next"], int(stored["predicted"])
        self.next, self._before = None if following is None else int(following), int(stored["before"])
        self._there = {int(p): (math.nan if loss is None else float(loss), float(y)) for p, loss, y in stored["there"]}
