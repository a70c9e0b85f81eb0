"""A block as plain arrays of numbers, to be written to a file and read again; labels that are words are numbered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.stream.block import Block, Sparse
from noregret.stream.given import words

Parts = dict[str, NDArray[Any]]


class Words:
    """Words as 0, 1, 2, … in the order in which they appear; NaN stands for none.

    >>> words = Words()
    >>> words.code(np.array(["ham", "", "spam", "ham"], dtype=object)).tolist(), words.listed
    ([0.0, nan, 1.0, 0.0], ['ham', 'spam'])
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {"": -1}
        self._table = words([""])  # every word at its number, and at −1 none

    @property
    def listed(self) -> list[str]:
        return list(self._codes)[1:]

    def learn(self, more: Sequence[str]) -> None:
        """Number further words."""
        for word in more:
            self._codes.setdefault(word, len(self._codes) - 1)

    def code(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """The numbers of an object array of words, new ones learned."""
        self.learn(labels.tolist())
        found = np.fromiter(map(self._codes.__getitem__, labels.tolist()), np.float64, len(labels))
        return np.where(found < 0.0, np.nan, found)

    def labels(self, codes: NDArray[np.float64]) -> NDArray[Any]:
        """The words of numbers; an IndexError for a number that no word has."""
        if len(self._table) != len(self._codes):
            self._table = words([*self.listed, ""])
        return np.asarray(self._table[np.where(np.isnan(codes), -1.0, codes).astype(np.int64)])


def parts_of(block: Block, known: Words) -> Parts:
    """The arrays of a block: labels as numbers, lines, weights if there are any, and the rows."""
    rows, labels = block.rows, block.labels
    found: Parts = {
        "labels": known.code(labels) if labels.dtype == object else np.asarray(labels, dtype=np.float64),
        "lines": block.lines,
    }
    if block.weights is not None:
        found["weights"] = block.weights
    if isinstance(rows, Sparse):
        found |= {"bounds": rows.indptr, "indices": rows.indices}
    return found | {"values": rows.values}
