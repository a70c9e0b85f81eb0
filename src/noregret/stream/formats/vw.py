"""Vowpal Wabbit's text: `label importance 'tag|namespace:scale name:value … |namespace …`, one row a line.

Label, importance, tag, scale and values may be left out; numbers left out are 1. Every namespace^name is hashed to one
of 2^bits slots, and the values of names that share a slot are summed. Plain lines are parsed by compiled code, many at
once; `parse`, which takes one line apart and says what is wrong with it, has the last word on every other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from noregret._native import parse_vw
from noregret.errors import InputError, SettingError
from noregret.stream.block import Ints, Sparse
from noregret.stream.cells import number as number_of
from noregret.stream.features import Features, Hints
from noregret.stream.hashing import hashes
from noregret.stream.opening import Input
from noregret.stream.pieces import Chunk, binary, decoded
from noregret.stream.reading import Settings
from noregret.stream.text import LineRows, ParsedChunk, TextStream

BLANKS = " \t\r"
NAME = re.compile(rb"[^ \t\r\n|:]*")


class Vowpal(TextStream):
    """The rows of a file in Vowpal Wabbit's text format."""

    def __init__(self, file: Input, settings: Settings) -> None:
        super().__init__(file, _recipe(settings, file.name), settings)

    def _parse(self, text: Chunk) -> ParsedChunk:
        return _Rows(text, self.source, self.features).part(not self._settings.frozen)


def _recipe(settings: Settings, source: str) -> Features:
    """Slots alone: the model's own when it was learned from this format too."""
    features = Features("names") if settings.features is None else settings.features
    if features.width and not features.bare:
        raise SettingError(f"the model was learned from another format, and {source} has Vowpal Wabbit's hashed names")
    features.kind = "names"
    features.set_up_hashing(settings.hash_bits)
    return features


@dataclass(frozen=True, slots=True)
class Line:
    """One row as it is written."""

    label: str  # empty where there is none
    weight: float | None
    names: list[str]  # namespace^name
    values: list[float]


def parse(line: bytes, number: int, source: str) -> Line | None:
    """One line taken apart; None for a blank one.

    >>> parse(b"1 2 'first|user:2 age:3 tall | rome", 1, "ads.vw")
    Line(label='1', weight=2.0, names=['user^age', 'user^tall', '^rome'], values=[6.0, 2.0, 1.0])
    """
    if b"\0" in line:
        raise binary(source, number)
    text = decoded(line, source, number)
    if not text.strip(BLANKS):
        return None
    head, bar, rest = text.partition("|")
    if not bar:
        raise InputError(f"expected a | before the features, got {_short(text)}", source, number)
    label, weight = _head(head, source, number)
    found = Line(label, weight, [], [])
    for space in rest.split("|"):
        _add_namespace(found, space, source, number)
    return found


def _head(head: str, source: str, number: int) -> tuple[str, float | None]:
    """The label and the importance before the first bar; what touches the bar or begins with a quote is a tag."""
    fields = _fields(head)
    if fields and (head[-1] not in BLANKS or fields[-1].startswith("'")):
        fields.pop()
    if len(fields) > 2:
        raise InputError("an initial value, the third number before the |, cannot be used here", source, number)
    if fields and ":" in fields[0]:
        raise InputError(f"a label must be a number or a word without a colon, got {_short(fields[0])}", source, number)
    if len(fields) < 2:
        return "".join(fields), None
    weight = number_of(fields[1])
    if weight is None:
        raise InputError(f"the importance must be a number, got {_short(fields[1])}", source, number)
    return fields[0], weight


def _add_namespace(found: Line, space: str, source: str, number: int) -> None:
    """The features of one namespace: its name, if it has one, touches the bar."""
    fields = _fields(space)
    named = bool(fields) and space[0] not in BLANKS
    name, scale = _pair(fields.pop(0), "namespace", source, number) if named else ("", 1.0)
    for field in fields:
        feature, value = _pair(field, "feature", source, number)
        found.names.append(f"{name}^{feature}")
        found.values.append(scale * value)


def _pair(field: str, what: str, source: str, number: int) -> tuple[str, float]:
    """A name and the number behind its colon, 1 without one."""
    name, colon, written = field.partition(":")
    if not name:
        raise InputError(f"expected the name of a {what} before the colon, got {_short(field)}", source, number)
    value = number_of(written) if colon else 1.0
    if value is None:
        said = "value of feature" if what == "feature" else "scale of namespace"
        raise InputError(f"the {said} {_short(name)} must be a number, got {_short(written)}", source, number)
    return name, value


def _fields(text: str) -> list[str]:
    return [field for field in text.replace("\t", " ").replace("\r", " ").split(" ") if field]


def _short(text: str) -> str:
    return repr(text[:40])


class _Rows(LineRows):
    """The rows of a chunk of text."""

    def __init__(self, text: Chunk, source: str, features: Features) -> None:
        counts = text.counts(b"|")
        pairs = counts.white - counts.lines  # each entry has a blank before it
        super().__init__(text, counts.lines, pairs, text.decodable() if counts.odd else text.stop, more=2)
        self._source, self._features = source, features
        self._weights, self._new = np.empty(counts.lines), np.empty((pairs, 4), dtype=np.int64)
        self._said: list[str] = []  # names from lines that are not plain

    def _plain(self) -> bool:
        return parse_vw(
            self._text.array,
            self._stop,
            self._features.hash_start or 0,
            self._features.slots,
            self._features.noted,
            self._labels,
            self._tokens,
            self._weights,
            self._lines,
            self._bounds,
            self._indices,
            self._values,
            self._new,
            self._room,
            self._done,
        )

    def _take(self, line: bytes, number: int) -> None:
        found = parse(line, number, self._source)
        if found is None:
            return
        row, new, weighted = self._done[[2, 4, 5]].tolist()
        self._weights[row] = 1.0 if found.weight is None else found.weight
        slots = hashes(found.names) & np.uint32(self._features.slots - 1)
        sums: dict[int, float] = {}
        for k, (slot, entry) in enumerate(zip(slots.tolist(), found.values, strict=True)):
            sums[slot] = sums[slot] + entry if slot in sums else entry
            self._new[new + k] = slot, -1, len(self._said) + k, 0
        self._said += found.names
        places = np.fromiter(sums, np.int64, len(sums)) + (self._features.hash_start or 0)
        self._add(found.label, places, list(sums.values()))
        self._done[4:] = new + len(slots), weighted + (found.weight is not None)

    def part(self, learn: bool) -> ParsedChunk:
        """Everything that was found."""
        wrong = self.read()
        _, _, rows, pairs, new, weighted = self._done.tolist()
        hints = Hints(self._new[:new, 0].astype(np.uint32), self._texts) if learn and new else None
        found = Sparse(self._bounds[: rows + 1], self._indices[:pairs], self._values[:pairs])
        return self._part(found, wrong, weights=self._weights[:rows] if weighted else None, hints=hints)

    def _texts(self, places: Ints) -> Iterator[str]:
        """The namespace^name of each new slot."""
        text, last, head = self._text.data, -1, ""
        for _, space, begin, end in self._new[places].tolist():
            if space < 0:
                yield self._said[begin]
                continue
            if space != last:
                last, head = space, _name(text, space) + "^"
            yield head + text[begin:end].decode()


def _name(text: bytearray, begin: int) -> str:
    found = NAME.match(text, begin)
    return found[0].decode() if found else ""


def looks_like(line: bytes) -> bool:
    """Whether a | stands behind numbers alone, a label and an importance, or behind a tag that touches it.

    >>> looks_like(b"-1 0.5 'a7|user age:3"), looks_like(b"label|age|town")
    (True, False)
    """
    head, bar, _ = line.partition(b"|")
    fields = head.split()
    if fields and fields[-1].startswith(b"'"):
        fields.pop()
    elif fields and not head[-1:].isspace():
        return False  # a tag without a quote, or the name of a column
    numbers = [number_of(field.decode("utf-8", "replace")) for field in fields]
    return bool(bar) and len(fields) <= 2 and None not in numbers
