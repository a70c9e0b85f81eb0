"""The oldest supports of (c + γ⟨x, z⟩)² as one symmetric matrix: a score then costs its entries, however many they are.

How many are folded follows from the number of supports and the width of the rows alone: all but the last, incomplete
group, once they are at least half as many as there are features. So the matrix, of which half is stored, is no larger
than the supports it stands for. They are kept all the same: they are what is saved, and what the matrix is made of
again after loading, or when rows have become wider. Sparse rows are never folded, nor supports that may be forgotten.
"""

from __future__ import annotations

import numpy as np

from noregret._native import PANEL, fold_line, fold_matrix, folded_scores, folded_sums
from noregret.learner.core import Vector, check_memory
from noregret.learner.supports import Matrix, Panels, whole
from noregret.learner.threads import in_chunks

GROUP = 128  # supports that are folded at once; a multiple of a panel's lanes


def folded(count: int, width: int) -> int:
    """How many supports are folded, of a given number."""
    groups = count // GROUP * GROUP
    return groups if 2 * groups >= width > 0 else 0


def until(count: int, width: int) -> int:
    """The number of supports, more than there are, at which more of them are folded."""
    return max(count // GROUP + 1, -(-width // (2 * GROUP))) * GROUP


class Fold:
    """A, b and a of the first `count` supports in a store."""

    def __init__(self, store: Panels) -> None:
        coef0, self.gamma, _ = store.kernel.numbers
        self.c = coef0 + self.gamma * store.bias
        self.width, self.count = store.width, 0
        self.whole = whole(store.width)
        entries = self.whole * (self.whole + PANEL) // 2
        check_memory(entries * 8, store.width)
        self.A, self.b, self.a = np.zeros(entries), np.zeros(self.whole), 0.0

    def take(self, store: Panels, alpha: Vector, count: int) -> None:
        """Fold the supports up to `count`, in the order of their slots."""
        while self.count < count:
            slots = np.arange(self.count, self.count + GROUP)
            self._add(store.arrays(slots)["supports"], alpha[slots])
            self.count += GROUP

    def _add(self, rows: Matrix, alpha: Vector) -> None:
        self.a = fold_line(rows, alpha, self.c, self.b, self.a)
        columns = np.zeros((self.whole, len(rows)))
        columns[: self.width] = rows.T
        weighted = (self.gamma * alpha) * columns
        once = weighted.reshape(-1, PANEL, len(rows)).transpose(0, 2, 1).reshape(-1)
        twice = 2.0 * once

        def some(begin: int, end: int) -> None:
            fold_matrix(once, twice, columns, begin // PANEL, end // PANEL, self.A)

        in_chunks(some, self.whole, len(rows) * self.whole // 2)

    def scores(self, block: Matrix) -> Vector:
        """What the folded supports add to the score of each row, a multiple of four."""
        Y, scores = np.empty((len(block), self.whole)), np.empty(len(block))

        def some(begin: int, end: int) -> None:
            folded_sums(self.A, self.b, block, begin // PANEL, end // PANEL, Y)

        in_chunks(some, self.whole, block.size // 2)
        folded_scores(self.a, self.gamma, block, Y, scores)
        return scores
