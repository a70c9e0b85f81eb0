"""Facts of an alarm: the losses that it watched, in the order of their predictions, and its e-values over them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noregret import _native
from noregret._native import ALARM_NUMBERS
from noregret.interval import Interval

Vector = NDArray[np.float64]
NOW, LARGEST = 9, 10  # places among the numbers of a test, behind the bets and the rounds
MOST = 2.0**890  # from here on the native loop may have stopped counting


@dataclass(frozen=True)
class AlarmFacts:
    """One test: its losses, the level that they are held against, and the probability that it may spend.

    `told` is whether the level of each round was known before its label: a fixed one is, and so is what a baseline or
    a frozen model says of a row. `left_out` counts rounds that have no label.
    """

    losses: Vector
    level: float
    false_alarm: float
    told: bool = True
    left_out: int = 0
    before: int = 0  # rounds before the first that it watched

    @cached_property
    def within(self) -> bool:
        """Whether every loss lies between 0 and 1."""
        return bool(((self.losses >= 0.0) & (self.losses <= 1.0)).all()) and 0.0 < self.level < 1.0

    @cached_property
    def _test(self) -> Vector:
        found = np.zeros(ALARM_NUMBERS)
        found[[NOW, LARGEST]] = 1.0
        _native.watch(self.losses, self.level, math.inf, found)
        return found

    def _around(self, value: float) -> Interval:
        """An e-value of these rounds: the native loop multiplies by 1 + ε at most 6t + 20 times (native/alarm.hpp)."""
        off = (6.0 * len(self.losses) + 20.0) * 2.0**-52
        high = value * (1.0 + off) if value < MOST else math.inf
        return Interval.outward(value * (1.0 - off), high)

    @property
    def e_value(self) -> Interval:
        """E after the last round."""
        return self._around(float(self._test[NOW]))

    @property
    def largest(self) -> Interval:
        """The largest E, 1 before the first round among them."""
        found = self._around(float(self._test[LARGEST]))
        return Interval(max(found.lo, 1.0), max(found.hi, 1.0))

    @cached_property
    def rang(self) -> int | None:
        """The first round, 1 being the first of all, after which E was surely at least 1/δ; None where it never was."""
        place = _native.watch(
            self.losses, self.level, (1.0 / Interval.of(self.false_alarm)).hi, np.zeros(ALARM_NUMBERS)
        )
        return self.before + place + 1 if place < len(self.losses) else None
