"""What the bounds of a perceptron of many classes are recomputed from: its replayed rounds, moves and vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noregret._native import exact_class_updates
from noregret.enclose import margins, norm, norm_between, row_norms2
from noregret.errors import ReceiptError
from noregret.interval import Interval, ends, total
from noregret.receipt.form import Vector
from noregret.receipt.replay import Replayed
from noregret.rounds import Rounds


@dataclass(frozen=True)
class ManyFacts:
    """The run as it was replayed, class by class."""

    played: Replayed
    points: dict[str, Vector]

    @property
    def rounds(self) -> Rounds:
        return self.played.rounds

    @property
    def moves(self) -> NDArray[np.int64]:
        if self.rounds.moves is None and not len(self.rounds):
            return np.zeros((0, 3), np.int64)
        if self.rounds.moves is None:
            raise ReceiptError("the run is not one of many classes", failed=True)
        return self.rounds.moves

    @property
    def alone(self) -> bool:
        """Whether each class has a perceptron of its own."""
        return bool(self.played.run.learner.settings["update"] == "one-vs-rest")

    @property
    def classes(self) -> int:
        assert self.played.run.tally is not None
        return len(self.played.run.tally["labels"])

    @cached_property
    def declared(self) -> int:
        return int(getattr(self.played.run.learner.labels, "declared", 0))

    @cached_property
    def updated(self) -> NDArray[np.int64]:
        """The rounds in which some weights moved."""
        return np.unique(self.moves[:, 0])

    @cached_property
    def first(self) -> list[int]:
        """The round in which each class was met or overtaken by a later one; 0 for those declared."""
        found, known = [0] * self.declared, self.declared
        for t, y in enumerate(self.rounds.y.astype(int).tolist()):
            if y >= known:
                found += [t] * (y + 1 - known)
                known = y + 1
        return found

    @cached_property
    def wrong(self) -> NDArray[np.bool_]:
        """Mistakes: a class not behind the right one, or a label in the round in which it was first met."""
        scores = self.rounds.scores
        assert scores is not None
        met = np.array([self.first[y] for y in self.rounds.y.astype(int).tolist()], dtype=np.int64)
        undeclared = self.rounds.y >= self.declared
        lead = scores[:, 0] if scores.ndim == 2 else scores  # without a round there are no columns
        return np.asarray((lead <= 0.0) | (undeclared & (met == np.arange(len(self.rounds)))))

    @property
    def mistakes(self) -> int:
        return int(self.wrong.sum())

    @property
    def unforeseen(self) -> float:
        """Mistakes that moved no weights."""
        return 0.0 if self.alone else float(self.mistakes - int(self.wrong[self.updated].sum()))

    @cached_property
    def squares(self) -> tuple[Vector, Vector]:
        return row_norms2(self.rounds)

    @property
    def r2(self) -> Interval:
        lo, hi = self.squares
        return Interval(float(lo.max(initial=0.0)), float(hi.max(initial=0.0)))

    def R2(self, chosen: NDArray[np.int64]) -> Interval:
        """Σ‖x‖² over these rounds."""
        return total(self.squares[0][chosen], self.squares[1][chosen])

    @cached_property
    def replayed(self) -> tuple[bool, Interval]:
        """Whether each update was made where the right side was not ahead, exactly; and ‖S‖ at the end."""
        step = 1 if self.alone else 2
        moves = np.ascontiguousarray(self.moves)
        paired = moves.reshape(-1, step, 3)
        sums, scores = np.zeros((self.classes * self.rounds.width, 3)), np.empty((len(paired), 3))
        exact_class_updates(self.rounds.given, moves, step, self.classes, sums, scores)
        right = bool((ends(scores)[1] <= 0.0).all()) and self.rounds.weights is None
        return right and self._meant(paired), norm_between(*ends(sums))

    def _meant(self, paired: NDArray[np.int64]) -> bool:
        """Whether x was added to the right class and taken from one other, or added as the class's own label says."""
        right = paired[:, :, 1] == self.rounds.y[paired[:, :, 0]]
        signs = bool((np.where(right, 1, -1) == paired[:, :, 2]).all())
        together = bool((paired[:, 0, 0] == paired[:, -1, 0]).all())
        return signs and together and (self.alone or bool((right.sum(axis=1) == 1).all()))

    def V(self, name: str) -> Vector:
        return self.points[name].reshape(self.classes, -1)

    def size(self, name: str) -> Interval:
        """‖V‖ over all entries."""
        return norm(self.points[name])

    def loss(self, name: str) -> Interval:
        """Σ max(0, 1 − min ⟨v_y − v_r, x⟩) over all rounds."""
        low, high = self.margins(name)
        below = np.maximum(np.nextafter(1.0 - high, -np.inf), 0.0)
        above = np.where(low >= 1.0, 0.0, np.nextafter(1.0 - low, np.inf))
        return total(below, np.maximum(above, 0.0))

    def margins(self, name: str) -> tuple[Vector, Vector]:
        """Both ends of min ⟨v_y − v_r, x⟩ over the wrong classes, class after class."""
        rows, y = replace(self.rounds, moves=None), self.rounds.y
        mine, best = (np.zeros(len(rows)), np.zeros(len(rows))), (np.full(len(rows), -np.inf),) * 2
        for k, v in enumerate(self.V(name)):
            lo, hi = margins(rows, v)
            own = y == k
            mine = np.where(own, lo, mine[0]), np.where(own, hi, mine[1])
            best = np.where(own, best[0], np.maximum(best[0], lo)), np.where(own, best[1], np.maximum(best[1], hi))
        return np.nextafter(mine[0] - best[1], -np.inf), np.nextafter(mine[1] - best[0], np.inf)

    @cached_property
    def separates(self) -> bool:
        return "V_apart" in self.points and bool((self.margins("V_apart")[0] >= 1.0).all())

    def one(self, k: int) -> tuple[Interval, int]:
        """Σ h(v_k) + ‖v_k‖·R_k over the rounds since class k was met, and M_k."""
        v, start = self.V("V_each")[k], self.first[k]
        part = replace(self.rounds, moves=None).part(start, len(self.rounds))
        lo, hi = margins(part, v)
        own = part.y == k
        low, high = np.where(own, lo, -hi), np.where(own, hi, -lo)
        below = np.maximum(np.nextafter(1.0 - high, -np.inf), 0.0)
        above = np.where(low >= 1.0, 0.0, np.nextafter(1.0 - low, np.inf))
        chosen = self.moves[self.moves[:, 1] == k, 0]
        return total(below, above) + norm(v) * self.R2(chosen).sqrt(), len(chosen)
