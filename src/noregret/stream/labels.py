"""Two labels as −1 and +1, decided in one pass.

−1/+1, 0/1 and false/true (also written as strings) are fixed codes from the first row on. For any other pair
either `positive` is given, or rows are held until the second label shows, and the label that sorts last is
+1. A stream that ends with a single other label calls that label +1. A third label is an error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError, offers, spelled
from noregret.stream.block import Block
from noregret.stream.cells import number

HELD = 65536
LARGEST = 2.0**53

_FIXED = {"-1": -1.0, "0": -1.0, "false": -1.0, "1": 1.0, "true": 1.0}
_PARTNERS = {"-1": ("1",), "0": ("1",), "1": ("-1", "0"), "false": ("true",), "true": ("false",)}

Label = float | str


class Labels:
    """The map from a stream's two labels to −1 and +1.

    >>> labels = Labels()
    >>> labels.one("spam"), labels.one("ham"), labels.one("spam"), labels.classes
    (None, -1.0, 1.0, ('ham', 'spam'))
    """

    def __init__(self, positive: Label | None = None) -> None:
        self.positive = positive
        self._codes: dict[Label, float] = {}  # every spelling seen
        self._waiting: Label | None = None  # the one label of the rows held so far
        self._held = 0

    @classmethod
    def of(cls, negative: Any, positive: Any) -> Labels:
        """The map of two labels that are known beforehand."""
        labels = cls()
        for label, code in ((negative, -1.0), (positive, 1.0)):
            labels._codes[plain_label(label)] = code
        return labels

    @classmethod
    def pair(cls, label: Any, other: Any) -> Labels:
        """The map of two labels in any order: the one that sorts last is +1.

        >>> Labels.pair(2.0, 1.0).classes, Labels.pair("no", "yes").classes
        ((1.0, 2.0), ('no', 'yes'))
        """
        return cls.of(*sorted((plain_label(label), plain_label(other)), key=_order_beside(label, other)))

    @property
    def settled(self) -> bool:
        """Whether both labels are known: the other of 1 may still be −1 or 0."""
        known = {_spelling(label) for label in self._codes}
        alone = len(set(self._codes.values())) == 1 and self.positive is None
        return len(set(self._codes.values())) == 2 or (alone and any(len(_PARTNERS.get(one, ())) == 1 for one in known))

    @property
    def fixed(self) -> bool:
        """Whether the labels mean what they mean to every fresh map: −1/+1, 0/1, false/true."""
        return self.positive is None and all(_FIXED.get(_spelling(one)) == code for one, code in self._codes.items())

    @property
    def waits(self) -> bool:
        """Whether rows are held until the other label shows."""
        return self._waiting is not None

    @property
    def untouched(self) -> bool:
        """Whether no label was met yet."""
        return not self._codes and self._waiting is None

    def encode(self, block: Block) -> NDArray[np.float64] | None:
        """The codes of a block's labels; None when they are still open and the block has to be held."""
        if block.sides is not None:
            codes = self._codes.get(block.sides.low), self._codes.get(block.sides.high)
            if codes == (-1.0, 1.0):
                return block.sides.of
        found = self._known(block)
        if np.count_nonzero(found) < len(block):
            for row in np.flatnonzero(found == 0).tolist():
                if found[row] == 0:
                    label = plain_label(block.labels[row])
                    if self._introduce_in(block, label, int(block.lines[row])):
                        found = self._known(block)
                    else:
                        self._hold(block.source, int(block.lines[row]))
        return None if self._waiting is not None else found.astype(np.float64)

    def _known(self, block: Block) -> NDArray[np.int8]:
        """The codes of the labels met before, 0 for the others."""
        found = np.zeros(len(block), dtype=np.int8)
        for label, code in self._codes.items():
            here = np.asarray(block.labels == label, dtype=bool).view(np.int8)
            (np.add if code > 0.0 else np.subtract)(found, here, out=found)
        return found

    def one(self, label: Any, source: str | None = None, line: int | None = None) -> float | None:
        """The code of one label; None when it is still open."""
        code = self._codes.get(label)
        if code is None and self._introduce(plain_label(label), source, line):
            code = self._codes[plain_label(label)]
        return code

    def decide(self) -> None:
        """The stream has ended: a single label that is still undecided is +1."""
        if self._waiting is not None:
            self._codes[self._waiting] = 1.0
            self._waiting, self._held = None, 0

    @property
    def classes(self) -> tuple[Label | None, Label | None]:
        """The (negative, positive) labels as they came; None for one that is still open."""
        negative = next((label for label, code in self._codes.items() if code < 0), None)
        positive = next((label for label, code in self._codes.items() if code > 0), self.positive)
        if self.positive is None and negative is None and positive is not None:
            negative = _partner(positive)
        if positive is None and negative is not None:
            positive = _partner(negative)
        return negative, positive

    def index(self, y: NDArray[np.float64]) -> NDArray[np.int64]:
        """Each code as a place in `classes`."""
        return (y > 0.0).astype(np.int64)

    @property
    def needed_again(self) -> list[Label | None] | None:
        """The two labels, which a replay needs; None for those that mean the same to every fresh map."""
        return None if self.fixed else list(self.classes)

    def again(self, told: Sequence[Any]) -> Labels:
        """A map that has met no label yet, told these two; None for one that is not known."""
        negative, positive = told
        if positive is None:
            return Labels()
        return Labels(positive) if negative is None else Labels.of(negative, positive)

    def to_dict(self) -> dict[str, Any]:
        return {
            "positive": self.positive,
            "codes": [[label, code] for label, code in self._codes.items()],
            "waiting": self._waiting,
            "held": self._held,
        }

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Labels:
        """The map that was kept; a ValueError for one that none can be."""
        from noregret.stream.stored import TwoLabels, as_stored

        found = as_stored(stored, TwoLabels, "labels")
        if any(code not in (-1.0, 1.0) for _, code in found.codes):
            raise ValueError("labels: a code must be -1 or 1")
        labels = cls(stored["positive"])
        labels._codes = dict(stored["codes"])
        labels._waiting, labels._held = stored["waiting"], stored["held"]
        return labels

    def _introduce_in(self, block: Block, label: Label, line: int) -> bool:
        """The same for a label of a block; where there are more than two, the sentence speaks of the third."""
        try:
            return self._introduce(label, block.source, line)
        except InputError:
            found, first = np.unique(block.labels, return_index=True)
            if len(found) <= 2 or len(set(self._codes.values())) == 2:
                raise
            one, two, third = (plain_label(block.labels[at]) for at in np.sort(first)[:3])
            raise _third(third, one, two, block.source, int(block.lines[np.sort(first)[2]])) from None

    def _introduce(self, label: Label, source: str | None, line: int | None) -> bool:
        """Give a label that has no code one, if it can have one now."""
        if self.positive is not None:
            self._codes[label] = self._beside_positive(label, source, line)
        elif self._codes:
            self._codes[label] = self._beside_known(label, source, line)
        elif self._waiting is not None and label != self._waiting:
            self._codes = Labels.pair(self._waiting, label)._codes
            self._waiting, self._held = None, 0
        elif self._waiting is None and _spelling(label) in _FIXED:
            self._codes[label] = _FIXED[_spelling(label)]
        else:
            self._waiting = label
            return False
        return True

    def _hold(self, source: str, line: int) -> None:
        self._held += 1
        if self._held > HELD:
            sentence = f"{HELD} rows have the one label {shown_label(self._waiting)}"
            raise InputError(f"{sentence}: {_say_positive()}", source, line)

    def _beside_positive(self, label: Label, source: str | None, line: int | None) -> float:
        assert self.positive is not None
        if same(label, self.positive):
            return 1.0
        negative = next((known for known, code in self._codes.items() if code < 0), None)
        if negative is not None and not same(label, negative):
            if 1.0 not in self._codes.values():
                found = f"{shown_label(negative)} and {shown_label(label)}"
                raise InputError(
                    f"the labels are {found}: neither is the positive {shown_label(self.positive)}", source, line
                )
            raise _third(label, negative, self.positive, source, line)
        return -1.0

    def _beside_known(self, label: Label, source: str | None, line: int | None) -> float:
        for known, code in self._codes.items():
            if same(label, known):
                return code
        if len(set(self._codes.values())) == 2:
            negative, positive = self.classes
            raise _third(label, negative, positive, source, line)
        known, code = next(iter(self._codes.items()))
        partners = _PARTNERS.get(_spelling(known))
        if partners is not None and _spelling(label) not in partners:
            pair = f"{shown_label(known)} and {shown_label(label)}"
            raise InputError(
                f"the labels are {pair}: {_say_positive()}, or, for more than two classes, use {_multiclass()}",
                source,
                line,
            )
        return -code


def plain_label(label: Any, source: str | None = None, line: int | None = None) -> Label:
    """A label as a float or a str of Python's own, so that it can be stored."""
    if isinstance(label, str):
        return str(label)
    try:
        value = float(label)
    except (TypeError, ValueError):
        raise InputError(f"a label must be a number, a boolean or a string, got {label!r}", source, line) from None
    except OverflowError:
        raise InputError("a label must be finite, got a whole number beyond all floats", source, line) from None
    if not math.isfinite(value):
        raise InputError(f"a label must be finite, got {label!r}", source, line)
    if abs(value) >= LARGEST:
        raise InputError(
            f"a label that is a number must be below 2**53 to differ from its neighbours, got {int(value)}:"
            " if it names a class, put a letter in front of it; if it is a quantity, use a larger unit",
            source,
            line,
        )
    return value


def _spelling(label: Label) -> str:
    """The one spelling under which a fixed code is listed; other labels as they are."""
    if isinstance(label, str):
        return {"true": "true", "false": "false", "+1": "1"}.get(label.lower(), label)
    return str(int(label)) if label in (-1.0, 0.0, 1.0) else repr(label)


def same(label: Label, other: Label) -> bool:
    """Whether two spellings are one label: 1 and "+1", True and "true", 2.0 and the "2" of a command line."""
    if label == other or _spelling(label) == _spelling(other):
        return True
    if isinstance(label, str) is isinstance(other, str):
        return False
    return _value(label) == _value(other) is not None


def _value(label: Label) -> float | None:
    return number(label) if isinstance(label, str) else label


def _order_beside(label: Label, other: Label) -> Any:
    """Two numbers sort as numbers, anything else as text."""
    numeric = _value(label) is not None and _value(other) is not None
    return _value if numeric else str


def _partner(label: Label) -> Label | None:
    """What is missing beside a fixed code, spelled the same way; −1 beside 1 until a 0 shows."""
    partners = _PARTNERS.get(_spelling(label))
    if partners is None:
        return None
    if not isinstance(label, str):
        return float(partners[0])
    return partners[0].title() if label.istitle() else partners[0].upper() if label.isupper() else partners[0]


def shown_label(label: Label | None) -> str:
    """A label as a sentence shows it."""
    return f"{label:g}" if isinstance(label, float) else repr(label)


def _say_positive() -> str:
    return f"say which is positive with {spelled('positive', 'LABEL', python='positive= or classes=')}"


def _multiclass() -> str:
    return spelled("task", "multiclass", python="MulticlassPerceptron")


def _third(
    label: Label, negative: Label | None, positive: Label | None, source: str | None, line: int | None
) -> InputError:
    pair = f"{shown_label(negative)} and {shown_label(positive)}"
    advice = f": for more than two classes use {_multiclass()}"
    if not (isinstance(label, str) or label in (-1.0, 0.0, 1.0)):
        advice += f"; for numbers use {spelled('task', 'regression', python='AutoRegressor')}"
    if not offers("task"):
        advice = ", and there can be two"
    return InputError(f"a third label, {shown_label(label)}, after {pair}{advice}", source, line)


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
    def needed_again(self) -> list[Label] | None:
        """The classes that were declared, which a replay needs; None where there were none."""
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
        from noregret.stream.stored import ManyLabels, as_stored

        as_stored(stored, ManyLabels, "labels")
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
