"""The features of a stream numbered without gaps: hashed slots in the order in which rows first have them.

A recipe lays 2^bits slots behind the columns, of which a stream uses a few. What keeps something for each feature, or
asks whether rows are wide, wants those alone. Columns below the slots keep their numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noregret.stream.block import Ints, Rows, Sparse
from noregret.stream.features import Features


class Numbering:
    """Which number each slot of a recipe has; without slots, rows stay as they are.

    >>> recipe = Features.named(["price"])
    >>> recipe.set_up_hashing(18)
    >>> numbering, bounds = Numbering(), np.array([0, 2, 3])
    >>> rows = Sparse(bounds, np.array([0, 200_001, 7], np.uint32), np.ones(3))
    >>> numbering.follow(recipe)
    >>> numbering.take(rows).indices.tolist(), numbering.features(3).tolist()
    ([0, 1, 2], [0, 200001, 7])
    """

    hashed = range(0)  # none of our numbers is a slot

    def __init__(self) -> None:
        self.slots = np.zeros(0, np.int64)  # those that some row had, counted from the first slot on
        self._numbers = np.zeros(0, np.int32)  # of each slot: 1, 2, …, and 0 for one that no row had
        self._recipe: Features | None = None

    def follow(self, recipe: Features | None) -> None:
        """The recipe that rows are made by from now on."""
        self._recipe = recipe

    @property
    def start(self) -> int | None:
        """The first slot, as a feature; None where nothing is hashed."""
        return None if self._recipe is None else self._recipe.hash_start

    def take(self, rows: Rows) -> Rows:
        """Rows to learn from, by our numbers; slots that are new get the next ones."""
        if self.start is None or not isinstance(rows, Sparse):
            return rows
        late = self._slots(rows, self.start)
        if late.size and (reach := int(late.max()) + 1) > len(self._numbers):
            self._numbers = np.append(self._numbers, np.zeros(reach - len(self._numbers), np.int32))
        hashed = late[late >= 0]
        fresh, first = np.unique(hashed[self._numbers[hashed] == 0], return_index=True)
        fresh = fresh[np.argsort(first)]
        self._numbers[fresh] = np.arange(len(self.slots) + 1, len(self.slots) + len(fresh) + 1)
        self.slots = np.append(self.slots, fresh)
        return self._numbered(rows, late, self._numbers[hashed])

    def look(self, rows: Rows) -> Rows:
        """Rows to score, by our numbers; a slot that is new has the number that it would get if its row came next."""
        if self.start is None or not isinstance(rows, Sparse):
            return rows
        late = self._slots(rows, self.start)
        numbers = np.zeros(len(late), np.int64)
        known = (late >= 0) & (late < len(self._numbers))
        numbers[known] = self._numbers[late[known]]
        new = (late >= 0) & (numbers == 0)
        before = np.append(0, np.cumsum(new))
        in_row = before[1:] - np.repeat(before[rows.indptr[:-1] - rows.indptr[0]], np.diff(rows.indptr))
        numbers[new] = len(self.slots) + in_row[new]
        return self._numbered(rows, late, numbers[late >= 0])

    def features(self, width: int) -> Ints:
        """The feature of each of our numbers below `width`; fewer where fewer have one."""
        if self.start is None:
            return np.arange(width)
        return np.append(np.arange(min(self.start, width)), self.start + self.slots[: max(width - self.start, 0)])

    def words_from(self, number: int) -> NDArray[np.uint8]:
        """Whether each of our numbers from this one on is a word and no amount: a slot, or a key `column=value`."""
        if self._recipe is None or self.start is None:
            return np.zeros(0, np.uint8)
        named, hashed = self._recipe.words_from(0), self.slots < self._recipe.slots
        later = self.start + np.where(hashed, 0, self.slots - self._recipe.slots)  # keys that came after the slots
        known = np.append(named, np.zeros(max(len(self._recipe.names) - len(named), 0), np.uint8))
        late = np.where(hashed, 1, known[np.minimum(later, len(known) - 1)] if len(known) else 1)
        return np.append(known[: self.start], late).astype(np.uint8)[number:]

    def restore(self, slots: Ints) -> None:
        """Go back to what was kept; a ValueError where it cannot be."""
        if slots.ndim != 1 or (slots < 0).any() or len(np.unique(slots)) != len(slots):
            raise ValueError("its slots do not fit together")
        self.slots = np.array(slots, np.int64)
        self._numbers = np.zeros(int(slots.max()) + 1 if slots.size else 0, np.int32)
        self._numbers[slots] = np.arange(1, len(slots) + 1)

    @staticmethod
    def _slots(rows: Sparse, start: int) -> Ints:
        """Each entry's slot, negative for a column before them."""
        entries = slice(int(rows.indptr[0]), int(rows.indptr[-1]))
        found: Ints = rows.indices[entries].astype(np.int64) - start
        return found

    def _numbered(self, rows: Sparse, late: Ints, numbers: NDArray[np.integer]) -> Sparse:
        """The same rows where the hashed entries, in turn, have these numbers."""
        assert self.start is not None
        low, high = int(rows.indptr[0]), int(rows.indptr[-1])
        indices = rows.indices[low:high].copy()
        indices[late >= 0] = self.start - 1 + numbers
        return Sparse(rows.indptr - low, indices, rows.values[low:high], finite=rows.finite)
