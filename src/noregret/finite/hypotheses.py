"""A finite hypothesis class: the distinct rows of a 0/1 matrix, a row a hypothesis, a column a point.

Sets of hypotheses are whole numbers used as bitsets: bit i stands for hypothesis i.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noregret import arithmetic
from noregret.errors import InputError, SettingError

Matrix = NDArray[np.uint8]


class HypothesisClass:
    """The distinct rows of a 0/1 matrix, in order of first appearance.

    >>> small = HypothesisClass([[0, 0], [0, 1], [0, 1]], points=["a", "b"])
    >>> len(small), small.points, small.label(1, "b")
    (2, ('a', 'b'), 1)
    """

    def __init__(
        self, matrix: ArrayLike, *, names: Sequence[str] | None = None, points: Sequence[Hashable] | None = None
    ) -> None:
        rows = binary(np.asarray(matrix))
        self.repeated = len(rows)
        first = _first_of_each(rows)
        self.matrix: Matrix = rows[first]
        self.matrix.setflags(write=False)
        self.repeated -= len(first)
        self.names = (
            None if names is None else tuple(str(name) for name in _as_long(names, rows.shape[0], "names")[first])
        )
        self.points: tuple[Hashable, ...] = tuple(range(rows.shape[1]) if points is None else points)
        if len(self.points) != rows.shape[1]:
            raise SettingError(f"HypothesisClass: {rows.shape[1]} columns need as many points, got {len(self.points)}")
        self._places = {point: j for j, point in enumerate(self.points)}
        if len(self._places) != len(self.points):
            raise SettingError("HypothesisClass: the points must differ from each other")

    @classmethod
    def from_predicates(
        cls,
        predicates: Iterable[Callable[[Any], object]] | Mapping[str, Callable[[Any], object]],
        points: Iterable[Hashable],
    ) -> Self:
        """Every predicate on every point; names are the mapping's keys.

        >>> len(HypothesisClass.from_predicates([lambda x: x > 1, lambda x: x > 2], [1, 2, 3]))
        2
        """
        names = tuple(predicates) if isinstance(predicates, Mapping) else None
        rules = tuple(predicates.values() if isinstance(predicates, Mapping) else predicates)
        seen = tuple(points)
        rows = [[bool(rule(point)) for point in seen] for rule in rules]
        return cls(np.array(rows, dtype=np.uint8).reshape(len(rules), len(seen)), names=names, points=seen)

    @classmethod
    def from_classifiers(
        cls, classifiers: Iterable[Any], X: Any, *, positive: Any = None, points: Sequence[Hashable] | None = None
    ) -> Self:
        """What fitted classifiers with two labels between them predict on the rows of X.

        `positive` is the label that counts as 1; without it the one that sorts last.
        """
        said = [np.asarray(one.predict(X)) for one in classifiers]
        labels = sorted({label for row in said for label in row.tolist()})
        if len(labels) > 2:
            raise SettingError(
                f"HypothesisClass: the classifiers must know two labels, got {len(labels)}: {labels[:5]}"
            )
        one = labels[-1] if positive is None and labels else positive
        count = said[0].shape[0] if said else 0
        return cls(np.array([row == one for row in said], dtype=np.uint8).reshape(len(said), count), points=points)

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __repr__(self) -> str:
        return f"HypothesisClass({len(self)} hypotheses on {len(self.points)} points)"

    @property
    def log2_size(self) -> float:
        """log2 |H|; −∞ of the empty class."""
        return arithmetic.log2_of_whole(len(self)) if len(self) else float("-inf")

    @property
    def everything(self) -> int:
        """All hypotheses as a bitset."""
        return (1 << len(self)) - 1

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        """words[j] holds bit i where hypothesis i says 1 at point j."""
        return packed(self.matrix.T)

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """For each point the bitset of the hypotheses that say 1 there."""
        return tuple(int.from_bytes(column.astype("<u8").tobytes(), "little") for column in self.words)

    def place(self, point: Hashable) -> int:
        """The column of a point."""
        try:
            return self._places[point]
        except (KeyError, TypeError):
            raise InputError(f"{point!r} is not a point of the class") from None

    def name(self, hypothesis: int) -> str:
        """A hypothesis as it is called, or its number."""
        return self.names[hypothesis] if self.names is not None else f"h{hypothesis}"

    def label(self, hypothesis: int, point: Hashable) -> int:
        """What a hypothesis says at a point."""
        return int(self.matrix[hypothesis, self.place(point)])

    def agreeing(self, hypotheses: int, point: Hashable, label: int) -> int:
        """Those of a bitset of hypotheses that give a point a label."""
        column = self.columns[self.place(point)]
        return hypotheses & (column if label else ~column)


def binary(rows: NDArray[Any]) -> Matrix:
    """A matrix of numbers or booleans as zeros and ones; anything else is named by its place."""
    if rows.ndim != 2:
        raise InputError(f"a hypothesis class needs a matrix, rows hypotheses and columns points, got {rows.ndim} axes")
    if rows.dtype.kind not in "biufO":
        raise InputError(f"a hypothesis class needs numbers 0 and 1 or booleans, got an array of {rows.dtype}")
    if rows.dtype == bool or rows.size == 0:
        return rows.astype(np.uint8)
    with np.errstate(invalid="ignore"):
        wrong = ~((rows == 0) | (rows == 1))
    if np.any(wrong):
        i, j = np.argwhere(wrong)[0]
        raise InputError(f"row {i + 1}, column {j + 1}: expected 0 or 1, got {rows[i, j]!s}")
    return rows.astype(np.uint8)


def packed(bits: Matrix) -> NDArray[np.uint64]:
    """Each row of 0 and 1 as a bitset of 64-bit words, at least one."""
    found = np.packbits(bits, axis=1, bitorder="little")
    room = np.zeros((bits.shape[0], 8 * max(-(-bits.shape[1] // 64), 1)), dtype=np.uint8)
    room[:, : found.shape[1]] = found
    return room.view("<u8").astype(np.uint64, copy=False)


def _first_of_each(rows: Matrix) -> NDArray[np.intp]:
    """The places where each distinct row comes first, ascending."""
    if not rows.shape[1]:
        return np.arange(min(len(rows), 1))
    words = np.ascontiguousarray(np.packbits(rows, axis=1))
    _, first = np.unique(words.view([("", f"V{words.shape[1]}")]).ravel(), return_index=True)
    return np.sort(first)


def _as_long(names: Sequence[str], length: int, what: str) -> NDArray[Any]:
    if len(names) != length:
        raise SettingError(f"HypothesisClass: {length} rows need as many {what}, got {len(names)}")
    return np.array(list(names), dtype=object)
