"""svmlight text: `label index:value … # comment`, one row a line.

Blank and comment lines are skipped, `qid:n` is ignored, indices may come in any order but only once a row. A
feature is the number that was written, from 0 to 2³¹ − 1. Plain lines are parsed by compiled code, many at once;
`parse`, which takes one line apart and says what is wrong with it, has the last word on every other.
"""

from __future__ import annotations

import math
import re

import numpy as np

from noregret._native import parse_svmlight
from noregret.errors import InputError
from noregret.stream.block import MAX_INDEX, Sparse, reach
from noregret.stream.cells import number as number_of
from noregret.stream.opening import Input
from noregret.stream.reading import Settings
from noregret.stream.text import Part, Piece, TextStream, binary, decoded

Pairs = tuple[list[int], list[float]]


class Svmlight(TextStream):
    """The rows of an svmlight file."""

    def __init__(self, file: Input, settings: Settings) -> None:
        super().__init__(file, settings.numbered("index", 0, file.name), settings)

    def _parse(self, text: Piece) -> Part:
        rows, wrong = _Rows(text), None
        try:
            while not rows.plain(self._settings.labels):
                rows.add(parse(*rows.line(), self.source, self._settings.labels))
        except InputError as error:
            wrong = error
        return rows.part(wrong)


class _Rows:
    """The rows of a piece of text while they are found: plain ones by compiled code, others one by one."""

    def __init__(self, text: Piece) -> None:
        self._text = text
        counts = text.counts(b":")
        rows, pairs = counts.lines, counts.others
        self._labels, self._tokens = np.empty(rows), np.empty((rows, 2), dtype=np.int64)
        self._lines, self._bounds = np.empty(rows, dtype=np.int64), np.empty(rows + 1, dtype=np.int64)
        self._indices, self._values = text.buffers.array(pairs, np.uint32), text.buffers.array(pairs)
        self._room = np.empty(4 * pairs + 2, dtype=np.int64)
        self._bounds[0] = 0
        self._done = np.array([text.start, 0, 0, 0, 0], dtype=np.int64)
        self._stop = text.without_nul() if counts.odd else text.stop
        self._finite = True

    def plain(self, labelled: bool) -> bool:
        """Go on through plain lines; whether the end of the text was reached."""
        found = parse_svmlight(
            self._text.array,
            self._stop,
            labelled,
            self._labels,
            self._tokens,
            self._lines,
            self._bounds,
            self._indices,
            self._values,
            self._room,
            self._done,
        )
        return found and self._stop == self._text.stop

    def line(self) -> tuple[bytes, int]:
        """The line that was reached, and its number, from 1."""
        return self._text.line(int(self._done[0])), int(self._done[1]) + 1

    def add(self, found: tuple[str, Pairs] | None) -> None:
        """The row of the line that was reached, if it has one; go behind it."""
        at, line, row, pair, _ = self._done.tolist()
        text = self._text.data
        self._done[:2] = text.index(b"\n", at) + 1, line + 1
        if found is None:
            return
        token, (indices, values) = found
        self._finite = False  # for all that is known here
        end = pair + len(indices)
        value = number_of(token)
        self._labels[row] = math.nan if value is None else value
        begin = text.index(token.encode(), at) if token else at
        self._tokens[row] = begin, begin + len(token.encode())
        self._lines[row], self._bounds[row + 1] = line, end
        self._indices[pair:end], self._values[pair:end] = indices, values
        self._done[2:4] = row + 1, end

    def part(self, wrong: InputError | None) -> Part:
        """Everything that was found."""
        _, count, rows, pairs, infinite = self._done.tolist()
        bounds, indices, values = self._bounds[: rows + 1], self._indices[:pairs], self._values[:pairs]
        return Part(
            Sparse(bounds, indices, values, finite=self._finite and not infinite, reach=reach(indices)),
            self._labels[:rows],
            lambda: [bytes(self._text.data[begin:end]) for begin, end in self._tokens[:rows].tolist()],
            self._lines[:rows],
            count,
            wrong,
        )


def parse(line: bytes, number: int, source: str, labelled: bool = True) -> tuple[str, Pairs] | None:
    """One line as its label's token and its (indices, values); None for a line without a row.

    >>> parse(b"+1 3:0.5 7:2 # first", 1, "spam.svm")
    ('+1', ([3, 7], [0.5, 2.0]))
    """
    if b"\0" in line:
        raise binary(source, number)
    tokens = line.partition(b"#")[0].split()
    if not tokens:
        return None
    label = ""
    if b":" not in tokens[0]:
        label = decoded(tokens.pop(0), source, number)
    elif labelled:
        got = decoded(tokens[0], source, number)
        raise InputError(f"expected a label before the features, got {got!r}", source, number)
    if b"qid:" in line:
        tokens = [token for token in tokens if not token.startswith(b"qid:")]
    try:
        return label, _pairs(tokens)
    except ValueError:
        raise _complaint(tokens, source, number) from None


def _pairs(tokens: list[bytes]) -> Pairs:
    """The indices and values of a well-formed row; a ValueError for any other."""
    pairs = [token.split(b":") for token in tokens]
    names = [index for index, _ in pairs]
    values = [float(value) for _, value in pairs]
    if not all(map(bytes.isdigit, names)) or b"_" in b"".join(tokens):
        raise ValueError
    indices = list(map(int, names))
    if indices and (max(indices) > MAX_INDEX or len(set(indices)) < len(indices)):
        raise ValueError
    return indices, values


def _complaint(tokens: list[bytes], source: str, number: int) -> InputError:
    """What is wrong with the first token that is wrong."""
    seen: set[int] = set()
    for token in tokens:
        index, colon, value = (decoded(part, source, number) for part in token.partition(b":"))
        if not colon or ":" in value:
            return InputError(f"expected INDEX:VALUE, got {index + colon + value!r}", source, number)
        digits = index.isascii() and index.isdigit() and len(index) <= 1000
        if not digits or int(index) > MAX_INDEX:
            sentence = f"an index must be a whole number from 0 to {MAX_INDEX}, got {index[:40]!r}"
            return InputError(sentence, source, number)
        try:
            _pairs([token])
        except ValueError:
            return InputError(f"the value of feature {index} must be a number, got {value!r}", source, number)
        if int(index) in seen:
            return InputError(f"feature {int(index)} appears twice in the row", source, number)
        seen.add(int(index))
    raise AssertionError("a row was refused, but every token of it is well formed")


def looks_like(line: bytes) -> bool:
    """Whether a line is a label and INDEX:VALUE pairs, or a lone number.

    >>> looks_like(b"+1 3:0.5"), looks_like(b"age;time 10:30;label")
    (True, False)
    """
    tokens = line.partition(b"#")[0].split()
    rest = tokens[1:] if tokens and b":" not in tokens[0] else tokens
    pairs = all(re.fullmatch(rb"(?:\d+|qid):[^\s,;|]+", token) for token in rest)
    lone = not rest and len(tokens) == 1 and number_of(tokens[0].decode("utf-8", "replace")) is not None
    return lone or (bool(rest) and pairs)
