"""Any number of labels as 0, 1, 2, …, numbered in the order in which they appear.

The twin of `Labels` for many classes: nothing is ever held back, and a new label is a new class. A number and the text
of the same number (2.0 and "2") are one class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from noregret.stream.block import Block
from noregret.stream.labels import Label, plain_label
from noregret.stream.numbers import number


class _Stored(msgspec.Struct):
    """What `to_dict` makes, as a file that anybody may have written must hold it."""

    labels: list[float | bool | str]
    codes: list[tuple[float | bool | str, int]]
    declared: int


class Classes:
    """The map from a stream's labels to whole numbers.

    >>> classes = Classes()
    >>> classes.one("cat"), classes.one("dog"), classes.one("cat"), classes.classes
    (0.0, 1.0, 0.0, ('cat', 'dog'))
    """

    settled = True  # nothing about a label is ever told by another

    def __init__(self, declared: Sequence[Any] = ()) -> None:
        self._codes: dict[Label, int] = {}  # every spelling seen
        self._values: dict[tuple[bool, float], int] = {}  # numbers, and texts that are numbers
        self._labels: list[Label] = []
        for label in declared:
            self._introduce(plain_label(label))
        self.declared = len(self._labels)  # known before the first round

    @property
    def classes(self) -> tuple[Label, ...]:
        """The labels in the order of their numbers, as they were first spelled."""
        return tuple(self._labels)

    @property
    def told(self) -> list[Label] | None:
        """The classes that were declared, which a replay has to be told; None where there were none."""
        return self._labels[: self.declared] or None

    def again(self, told: Sequence[Any]) -> Classes:
        """A map that has met no label yet, told these classes."""
        return Classes(told)

    @property
    def untouched(self) -> bool:
        """Whether no label was met or declared yet."""
        return not self._labels

    def encode(self, block: Block) -> NDArray[np.float64]:
        """The numbers of a block's labels."""
        found, first, places = np.unique(block.labels, return_index=True, return_inverse=True)
        codes = np.zeros(len(found))
        for i in np.argsort(first).tolist():
            codes[i] = self.one(found[i], block.source, int(block.lines[first[i]]))
        return np.asarray(codes[places.reshape(-1)])

    def one(self, label: Any, source: str | None = None, line: int | None = None) -> float:
        """The number of one label, a new one if it is new."""
        code = self._codes.get(label)
        return float(self._introduce(plain_label(label, source, line)) if code is None else code)

    def knows(self, label: Any) -> bool:
        """Whether a label was met before."""
        return self._find(plain_label(label)) is not None

    def index(self, y: NDArray[np.float64]) -> NDArray[np.int64]:
        """Each number as a place in `classes`."""
        return y.astype(np.int64)

    def decide(self) -> None:
        """The stream has ended: nothing was left open."""

    def to_dict(self) -> dict[str, Any]:
        codes = [[label, code] for label, code in self._codes.items()]
        return {"labels": self._labels, "codes": codes, "declared": self.declared}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Classes:
        try:
            msgspec.convert(stored, _Stored)
        except msgspec.ValidationError as error:
            raise ValueError(f"labels: {error}") from error
        classes = cls(stored["labels"])
        if len(classes._labels) != len(stored["labels"]) or not 0 <= stored["declared"] <= len(classes._labels):
            raise ValueError("its classes do not fit together")
        for label, code in stored["codes"]:
            if classes._introduce(label) != code:
                raise ValueError("its classes do not fit together")
        classes.declared = stored["declared"]
        return classes

    def _find(self, label: Label) -> int | None:
        code = self._codes.get(label)
        value = number(label) if isinstance(label, str) else label
        if code is None and value is not None:
            code = self._values.get((not isinstance(label, str), value))  # the other way of writing it
        return code

    def _introduce(self, label: Label) -> int:
        code = self._find(label)
        if code is None:
            code = len(self._labels)
            self._labels.append(label)
        self._codes[label] = code
        value = number(label) if isinstance(label, str) else label
        if value is not None:
            self._values.setdefault((isinstance(label, str), value), code)
        return code
