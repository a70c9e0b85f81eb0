"""Platt scaling, learned online: any score becomes the log-odds of a probability, whatever its scale.

z ↦ a·z/mean|z| + b, with (a, b) from (1, 0) by one step of Newton's method a round on the logistic loss. Scores that
are log-odds already, but too small or too large, have a temperature alone: z ↦ a·z.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import PLATT_NUMBERS, apply_platt, apply_temperature, calibrate, calibrate_temperature

Vector = NDArray[np.float64]
Call = Callable[[], Any]
NO_WEIGHTS: Vector = np.zeros(0)


def unfitted(slope: float = 1.0) -> Vector:
    """a, b, the three numbers of the Hessian, Σk and the mean of |z|, before the first round."""
    fresh = np.zeros(PLATT_NUMBERS)
    fresh[[0, 2, 4]] = slope, 1.0, 1.0
    return fresh


class Platt:
    """Makes probabilities of scores that are none, such as margins; its state is one row of numbers.

    >>> scaling = Platt()
    >>> said = scaling.play(np.array([300.0, -200.0, 100.0]), np.array([1.0, -1.0, 1.0]))
    >>> said[0], said[1] < 0.0 < said[2]
    (np.float64(1.0), np.True_)
    """

    def __init__(self) -> None:
        self.state = unfitted()

    def play(self, scores: Vector, y: Vector, weights: Vector | None = None) -> Vector:
        """The log-odds of each score by what was learned before it; each label is then learned from.

        A round of weight 0, or a score that is not finite, is no round and has the log-odds NaN.
        """
        out = np.empty(len(scores))
        self.round_call(scores, y, NO_WEIGHTS if weights is None else weights, out)()
        return out

    def round_call(self, scores: Vector, y: Vector, weights: Vector, out: Vector) -> Call:
        """What does the same to what stands in these arrays, whenever it is called."""
        return partial(calibrate, scores, y, weights, self.state, out)

    def scores(self, scores: Vector) -> Vector:
        """The log-odds of scores, each as if it came next; nothing is learned."""
        out = np.empty(len(scores))
        self.score_call(scores, out)()
        return out

    def score_call(self, scores: Vector, out: Vector) -> Call:
        """What does the same to what stands in these arrays, whenever it is called."""
        return partial(apply_platt, scores, self.state, out)


class Temperature:
    """The same for log-odds: one factor, which begins at 1.

    >>> Temperature().play(np.array([0.5, -2.0]), np.array([1.0, -1.0])).tolist()[0]
    0.5
    """

    def __init__(self) -> None:
        self.state = np.ones(2)  # a and the curvature so far

    def play(self, scores: Vector, y: Vector, weights: Vector | None = None) -> Vector:
        """The log-odds of each score by what was learned before it; each label is then learned from."""
        out = np.empty(len(scores))
        self.round_call(scores, y, NO_WEIGHTS if weights is None else weights, out)()
        return out

    def round_call(self, scores: Vector, y: Vector, weights: Vector, out: Vector) -> Call:
        """What does the same to what stands in these arrays, whenever it is called."""
        return partial(calibrate_temperature, scores, y, weights, self.state, out)

    def scores(self, scores: Vector) -> Vector:
        """The log-odds of scores, each as if it came next; nothing is learned."""
        out = np.empty(len(scores))
        self.score_call(scores, out)()
        return out

    def score_call(self, scores: Vector, out: Vector) -> Call:
        """What does the same to what stands in these arrays, whenever it is called."""
        return partial(apply_temperature, scores, self.state, out)
