"""The kernel perceptron (Aizerman et al. 1964): the score of x_t is Σ α_s·K(x_s, x_t) over the mistakes s < t.

On a mistake the row becomes a support with α = y. It is the perceptron in the space of the kernel: same rounds, same
theorems, with K(x, x) for ‖x‖². A block of rows is scored at once, every sum in a fixed order, so that scores and
updates are the same, bit for bit, however a stream is cut and however many threads there are. Many supports of the
polynomial kernel of degree 2 are folded into a matrix (fold.py).

With a budget, an update that would make one support too many first forgets one: the oldest, or one drawn at random
(Cavallanti, Cesa-Bianchi & Gentile 2007).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret._native import OLDEST, RANDOM, play_supports, score_supports
from noregret.domain import Domain
from noregret.errors import SettingError, spelled
from noregret.kernel import Kernel, parse
from noregret.learner import settings
from noregret.learner.core import NO_WEIGHTS, Arrays, Core, NativeRows, Vector
from noregret.learner.fold import Fold, folded, until
from noregret.learner.supports import BLOCK, Columns, Matrix, Panels, Supports, store, whole
from noregret.loss import Loss
from noregret.rate import Rate
from noregret.stream.block import Rows, Sparse

FORGET = {"oldest": OLDEST, "random": RANDOM}
NEVER = -1  # no number of supports


class KernelPerceptron(Core):
    """Update on mistakes only, `tie` saying what a score of 0 counts as; its loss is the number of mistakes."""

    name = "kernel"
    weighs_features = False
    declared = settings.KernelPerceptron
    params: settings.KernelPerceptron

    _grows = "the kernel or the score"
    _remedy = "use a smaller gamma or degree"

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.ordered = self.ordered or self.kernel.precomputed
        self._limit = self.params.budget or 0
        self._forget = FORGET[self.params.forget or "oldest"]
        self._count = 0
        self._order = np.zeros(0, np.int64)  # the slot of each support, the oldest first
        self._alpha = np.zeros(0)
        self._store: Supports = store(self.kernel, self.params.bias, 0, sparse=False)
        self._fold: Fold | None = None

    def _rules(self) -> tuple[Loss, Domain, Rate]:
        params = self.params
        self.kernel = kernel = parse(params.kernel, params.degree, params.coef0, params.gamma)
        params.kernel, params.degree = kernel if kernel.custom else kernel.name, kernel.degree
        params.coef0, params.gamma = kernel.coef0, kernel.gamma
        if params.budget is None and params.forget is not None:
            raise SettingError(f"kernel: {spelled('forget', params.forget)} needs {spelled('budget')}")
        if params.seed is not None and params.forget != "random":
            raise SettingError(f"kernel: {spelled('seed')} needs {spelled('forget', 'random')}")
        if params.budget is not None:
            params.forget = params.forget or "oldest"
            params.seed = params.seed or 0 if params.forget == "random" else None
        _check_rows_as_they_are(kernel, params)
        return super()._rules()

    @property
    def supports(self) -> int:
        """How many rows are kept."""
        return self._count

    @property
    def coefficients(self) -> Vector:
        """α of each support, the oldest first: its label times its weight."""
        return self._alpha[: self._count].copy()

    @property
    def support_rows(self) -> Rows:
        """The supports, the oldest first; of a precomputed kernel their columns."""
        return self._store.rows(self._slots)

    @property
    def _slots(self) -> NDArray[np.int64]:
        return self._order[: self._count].copy()

    @property
    def weights(self) -> Vector:
        """Σ α·x of a linear kernel; of others there are none."""
        if not self.kernel.linear:
            return NO_WEIGHTS
        found, rows = np.zeros(self.width), self.support_rows
        for i, a in enumerate(self.coefficients.tolist()):
            if isinstance(rows, Sparse):
                part = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
                found[rows.indices[part]] += a * rows.values[part]
            else:
                found += a * rows.X[i]
        return found

    @property
    def bias(self) -> float:
        """Σ α of a linear kernel with a bias."""
        own = bool(self.config["bias"][0]) and self.kernel.linear
        return arithmetic.total(self.coefficients) if own else 0.0

    @property
    def weight_norm(self) -> float:
        """√Σ α·α·K over the supports: from the rounds while none was forgotten, else from the supports."""
        if self._count == int(self.state["updates"][0]):
            return math.sqrt(float(self.state["norm2"][0]))
        return math.sqrt(max(arithmetic.inner(self._alpha[: self._count], self._score(self.support_rows)), 0.0))

    def arrays(self) -> Arrays:
        return {"alpha": self._alpha[: self._count], **self._store.arrays(self._slots)}

    def restore(self, arrays: Arrays, width: int, paired: bool) -> None:
        self.width, self.paired = width, paired
        self._store = store(self.kernel, bool(self.config["bias"][0]), width, paired)
        self._alpha = np.array(arrays["alpha"], dtype=np.float64)
        self._count = self._store.restore(arrays)
        if self._count != len(self._alpha) or 0 < self._limit < self._count:
            raise ValueError("the supports do not fit together")
        self._order, self._fold = np.arange(self._count), None

    def grow(self, width: int, sparse: bool) -> None:
        """Make room for features below `width`; a store of dense rows turns sparse when sparse rows go beyond it."""
        if self.kernel.summed and sparse and not self.paired and (width > self.width or not self._count):
            self._turn_sparse(max(width, self.width))
        elif width > self.width:
            self._store.widen(width)
        self.width = max(self.width, width)

    def _turn_sparse(self, width: int) -> None:
        before, slots = self._store, self._slots
        self._store = store(self.kernel, bool(self.config["bias"][0]), width, sparse=True)
        self.paired, self._order, self._fold = True, np.arange(self._count), None
        if self._count:
            self._store.keep(self._store.prepared(before.rows(slots).native), self._order, self._order)

    def _play(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> None:
        if self.kernel.precomputed and weights.shape[0] and not weights.all():
            raise SettingError("kernel precomputed: a row of weight 0 would leave its column without a row")
        for start in range(0, len(y), BLOCK):
            stop = min(start + BLOCK, len(y))
            while start < stop:
                part = slice(start, stop)
                start += self._play_block(_part(rows, part), y[part], weights[part], scores[part])

    def _play_block(self, rows: NativeRows, y: Vector, weights: Vector, scores: Vector) -> int:
        """One block: its kernel values against the supports and among its own rows, then the rounds.

        Returns how many were played: where more supports are to be folded the block ends.
        """
        block = self._store.prepared(rows)
        base, done, G = self._values(block, own=True)
        self._make_room(len(y))
        counts, first = np.array([self._count, 0]), whole(self._count)
        end = until(self._count, self.width) if self._folds else NEVER
        limits = (self._limit, self._forget, self._draws(len(y)))
        supports = (self._order, self._alpha, counts, *limits)
        played = play_supports(base, done, end, G, first, y, weights, *supports, self.record, scores)
        self._count = int(counts[0])
        self._settle(block, first)
        if isinstance(self._store, Columns):
            self._store.seen += played
        if played < len(y) and self._count != end:
            self._diverged()
        return played

    def _values(self, block: Any, own: bool) -> tuple[Vector, int, Matrix]:
        """What the folded supports add to each score, how many they are, and G[row, slot] of the slots after them.

        Where asked for, the values between the block's own rows follow from the next whole panel on.
        """
        base, done = self._folded(block)
        lines, first = len(block), whole(self._count) - done
        G = np.empty((lines, first + (whole(lines) if own else 0)))
        self._store.fill(block, done, self._count, G)
        if own:
            self._store.within(block, G, first)
        return base, done, G

    @property
    def _folds(self) -> bool:
        return self.kernel.quadratic and not self._limit and isinstance(self._store, Panels)

    def _folded(self, block: Any) -> tuple[Vector, int]:
        """What the supports that are folded add to each score, and how many they are."""
        count = folded(self._count, self.width) if self._folds else 0
        if not count or not isinstance(self._store, Panels):
            return np.zeros(len(block)), 0
        if self._fold is None or self._fold.width != self.width or self._fold.count > count:
            self._fold = Fold(self._store)
        self._fold.take(self._store, self._alpha, count)
        return self._fold.scores(block), count

    def _make_room(self, more: int) -> None:
        needed = min(self._count + more, self._limit or self._count + more)
        if needed > len(self._order):
            self._order = np.append(self._order, np.zeros(needed, np.int64))
            self._alpha = np.append(self._alpha, np.zeros(needed))

    def _draws(self, count: int) -> Vector:
        """A draw from [0, 1) for each support that may have to go: those after the draws that were used so far."""
        if not self._limit:
            return NO_WEIGHTS
        if self._forget == OLDEST:
            return np.zeros(count)
        return uniform(self.settings["seed"], int(self.state["updates"][0]) - self._count, count)

    def _settle(self, block: Any, first: int) -> None:
        """The block's own supports take the slots that are free: as many as there are supports are ever in use."""
        order = self._order[: self._count]
        new = np.flatnonzero(order >= first)
        free = np.ones(self._count, bool)
        free[order[order < first]] = False
        slots = np.flatnonzero(free)
        self._store.keep(block, order[new] - first, slots)
        order[new] = slots

    def _score(self, rows: Rows) -> Vector:
        """The scores of prepared rows, without the features that were never learned from."""
        scores, given = np.empty(len(rows)), _within(rows.native, self.width)
        for start in range(0, len(rows), BLOCK):
            part = slice(start, min(start + BLOCK, len(rows)))
            values = self._values(self._store.prepared(_part(given, part)), own=False)
            score_supports(*values, self._order, self._alpha, self._count, scores[part])
        return scores


def uniform(seed: int, first: int, count: int) -> Vector:
    """The draws number first, first + 1, … of a seed from [0, 1): the same however many are asked for at once."""
    raw = np.random.Philox(key=seed, counter=first // 4).random_raw(first % 4 + count)[first % 4 :]
    return np.asarray((raw >> np.uint64(11)) * 2.0**-53)


def _check_rows_as_they_are(kernel: Kernel, params: settings.KernelPerceptron) -> None:
    """A bias and scaled rows must mean something."""
    if not kernel.summed and params.bias:
        raise SettingError(f"kernel {kernel.name}: a bias has no meaning for it; add a constant to the kernel instead")
    if kernel.precomputed and (
        params.unit_norm or params.scale is not None or params.expand is not None or params.lags
    ):
        raise SettingError("kernel precomputed: its rows are kernel values, so they cannot be scaled or expanded")
    if kernel.precomputed and params.budget is not None:
        raise SettingError("kernel precomputed: the number of its rows is known, so a budget has no meaning")


def _part(rows: NativeRows, part: slice) -> NativeRows:
    """Consecutive rows."""
    return (rows[0][part.start : part.stop + 1], *rows[1:]) if isinstance(rows, tuple) else rows[part]


def _within(rows: NativeRows, width: int) -> NativeRows:
    """Rows without the features from `width` on."""
    if not isinstance(rows, tuple):
        return rows[:, :width]
    bounds, indices, values = rows
    kept = indices < width
    if kept.all():
        return rows
    before = np.concatenate([[0], np.cumsum(kept)])
    return before[bounds], indices[kept], values[kept]
