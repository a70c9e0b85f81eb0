"""How sure a learner is: what it says beside its score. Sets whose coverage is tracked, and calibrated probabilities.

Both are settings of every learner (`cover`, `calibrate`), learn from each label after it was predicted, and change no
score, no label and no weight. A round whose label comes late is judged by what was said of it when it was predicted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret import _native
from noregret._native import BINS
from noregret.errors import SettingError, spelled
from noregret.learner.cover import Cover
from noregret.learner.platt import Platt, Temperature
from noregret.loss import Loss, probability, softmax

if TYPE_CHECKING:
    from noregret.learner.core import Core
    from noregret.learner.settings import Prepared
    from noregret.stream.block import Rows

Vector = NDArray[np.float64]
NO_WEIGHTS: Vector = np.zeros(0)
NOWHERE = (math.inf, -math.inf)  # the interval that holds no number


@dataclass(frozen=True, slots=True)
class Told:
    """What was said of a row beside its score: calibrated log-odds, the threshold of its set, the labels by then.

    NaN where there are none.
    """

    odds: float
    q: float
    since: int


class Calibration:
    """Platt scaling of every score, and what the probabilities are worth before it and after.

    Scores that are log-odds already have a temperature alone, as the members of `auto` do.
    """

    def __init__(self, probabilistic: bool) -> None:
        self.scaling = Temperature() if probabilistic else Platt()
        self.losses = np.zeros((2, 1))  # Σ of the log-loss before and after
        self.bins = np.zeros((2, 2, BINS), np.int64)  # before and after, by label

    def play(self, scores: Vector, y: Vector, weights: Vector) -> Vector:
        """Calibrated log-odds of each score before its label, which is then learned from."""
        odds = self.scaling.play(scores, y, weights)
        self.judge(np.where(np.isnan(odds), np.nan, scores), odds, y)
        return odds

    def judge(self, scores: Vector, odds: Vector, y: Vector) -> None:
        """Count what was said before and after."""
        for place, said in enumerate((scores, odds)):
            _native.judge_odds(said, y, self.losses[place], self.bins[place])

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"sure.scaling": self.scaling.state, "sure.losses": self.losses, "sure.bins": self.bins}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from what was kept; a ValueError where it does not fit."""
        for name, mine in self.arrays().items():
            if arrays[name].shape != mine.shape or arrays[name].dtype != mine.dtype:
                raise ValueError(f"the array {name!r} does not fit")
            mine[:] = arrays[name]
        before, after = (sum(bins.reshape(-1).tolist()) for bins in self.bins)
        if not np.isfinite(self.scaling.state).all() or self.bins.min() < 0 or before != after:
            raise ValueError("its calibration is wrong")

    def figures(self) -> dict[str, Any]:
        """Rounds, and the mean log-loss of what was said before and after."""
        rounds = sum(self.bins[0].reshape(-1).tolist())
        before, after = (float(loss) / rounds if rounds else None for loss in self.losses[:, 0])
        return {"rounds": rounds, "log_loss": {"before": before, "after": after}}


class Sure:
    """What one learner says beside its scores, and what it has learned of them."""

    cover: Cover | None = None
    calibration: Calibration | None = None
    thresholds: Vector = NO_WEIGHTS  # of the rows that were played last, and their log-odds or 1 − p of each class
    odds: Vector = NO_WEIGHTS
    others: list[Vector]

    def __init__(self, params: Prepared, loss: Loss, multiclass: bool) -> None:
        self.regression, self.multiclass = loss.regression, multiclass
        if params.cover is not None:
            self.cover = Cover(params.cover)
        if params.calibrate:
            self.calibration = Calibration(loss.probabilistic)
        self.others = []

    @classmethod
    def of(cls, name: str, params: Prepared, loss: Loss, multiclass: bool) -> Sure | None:
        """What was asked for; None where nothing was."""
        if params.calibrate and (loss.regression or multiclass):
            what = "numbers" if loss.regression else "many classes"
            asked = spelled("calibrate", python="calibrate=True")
            raise SettingError(f"{name}: {asked} makes probabilities of two classes, and labels here are {what}")
        asked_for = params.cover is not None or params.calibrate
        return cls(params, loss, multiclass) if asked_for else None

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in vars(self).items() if name not in ("thresholds", "odds")} | {"others": []}

    # -- rounds ------------------------------------------------------------------------------------------------------

    @property
    def row_by_row(self) -> bool:
        """Whether rows are asked for every class before they are played."""
        return self.multiclass and self.cover is not None

    def follow(self, scores: Vector, y: Vector, weights: Vector | None) -> None:
        """Rounds as they were played, with the labels that came at once."""
        k = NO_WEIGHTS if weights is None else weights
        self.odds = scores if self.calibration is None else self.calibration.play(scores, y, k)
        if self.cover is not None:
            play = self.cover.play_numbers if self.regression else self.cover.play_two
            self.thresholds = play(self.odds, y, k)

    def play_classes(self, core: Core, rows: Rows, y: Vector, weights: Vector | None, keep: Any) -> Vector:
        """Rounds of many classes: each row is scored for all of them, then played."""
        assert self.cover is not None
        scores, self.thresholds, self.others = core.blank(len(rows)), np.full(len(rows), math.nan), []
        for t in range(len(rows)):
            if weights is not None and weights[t] == 0.0:
                self.others.append(NO_WEIGHTS)
                continue
            one = slice(t, t + 1)
            row = rows.slice(t, t + 1)
            said = core.score_next(row)
            scores[one] = core.play_rows(row, y[one], None if weights is None else weights[one], keep)
            self.thresholds[t] = self.cover.q
            self.others.append(self.all_others(said[np.newaxis])[0])
            self.cover.classes(self.others[-1], y[t], self.cover.q, self.cover.rounds)
        return scores

    def told(self, said: Vector) -> Told:
        """What is said of a row that is predicted now and learned later."""
        odds = math.nan if self.calibration is None else float(self.calibration.scaling.scores(said)[0])
        return Told(odds, math.nan, 0) if self.cover is None else Told(odds, self.cover.q, self.cover.rounds)

    def label(self, told: Told, said: Vector, y: float, weight: float, early: bool = False) -> None:
        """The label of such a row; one that is `early` was predicted before any label was learned, and this is not one.

        No threshold is made from early ones: what a learner misses by that knows nothing is no measure of others.
        """
        odds = float(said[0]) if self.calibration is None and not self.multiclass else told.odds
        if self.calibration is not None:
            self.calibration.scaling.play(said, np.array([y]), np.array([weight]))
            self.calibration.judge(said, np.array([odds]), np.array([y]))
        if self.cover is None:
            return
        if early and math.isnan(told.q):
            self.cover.leave_out()
        elif self.multiclass:
            self.cover.classes(self.all_others(said[np.newaxis])[0], y, told.q, told.since)
        else:
            (self.cover.number if self.regression else self.cover.two)(odds, y, told.q, told.since)

    # -- what is said ------------------------------------------------------------------------------------------------

    @property
    def q(self) -> float:
        """The threshold of sets that are asked for now; NaN before there are any."""
        return math.nan if self.cover is None else self.cover.q

    def chances(self, scores: Vector) -> Vector:
        """Calibrated log-odds of scores; themselves where they are not calibrated."""
        return scores if self.calibration is None else self.calibration.scaling.scores(scores)

    def all_others(self, scores: Vector) -> Vector:
        """1 − p of each class, a row a row: of scores of many classes, or of log-odds of the second of two."""
        if scores.ndim == 1:
            return np.column_stack([probability(scores), probability(-scores)])
        return 1.0 - softmax(scores) if scores.shape[1] else scores

    # -- the model file ----------------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a model file keeps."""
        parts = (self.cover, self.calibration)
        return {name: array for part in parts if part is not None for name, array in part.arrays().items()}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from what was kept; a KeyError or a ValueError where it does not fit."""
        for part in (self.cover, self.calibration):
            if part is not None:
                part.restore(arrays)

    def of_run(self) -> dict[str, Any]:
        """What a run says of it."""
        found: dict[str, Any] = {}
        if self.cover is not None:
            found["coverage"] = self.cover.figures(self.regression)
        if self.calibration is not None:
            found["calibration"] = self.calibration.figures()
            found["reliability"] = self.calibration.bins.copy()
        return found


def words(others: Sequence[float], q: float, names: Sequence[Any]) -> list[Any]:
    """The labels of a set by their names, the most probable first.

    >>> words([0.75, 0.25, 1.0], 0.75, ["no", "yes", "perhaps"])
    ['yes', 'no']
    """
    within = [place for place, other in enumerate(others) if other <= q]
    return [names[place] for place in sorted(within, key=others.__getitem__)]


def intervals(said: Vector, q: Vector) -> Vector:
    """The interval round each number: NaN without a threshold, from ∞ to −∞ where it is empty.

    >>> intervals(np.array([1.0, 1.0, 1.0]), np.array([2.0, -1.0, np.nan])).tolist()
    [[-1.0, 3.0], [inf, -inf], [nan, nan]]
    """
    found = np.column_stack([said - q, said + q])
    found[q < 0.0] = NOWHERE
    return found
