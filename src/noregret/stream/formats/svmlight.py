"""svmlight text: `label index:value … # comment`, one row a line.

Blank and comment lines are skipped, `qid:n` is ignored, indices may come in any order but only once a row. A
feature is the number that was written, from 0 to 2³¹ − 1. Plain lines are parsed by compiled code, many at once;
`parse`, which takes one line apart and says what is wrong with it, has the last word on every other.
"""

from __future__ import annotations

import re

from noregret._native import parse_svmlight
from noregret.errors import InputError
from noregret.stream.block import MAX_INDEX, Sparse, reach
from noregret.stream.cells import number as number_of
from noregret.stream.opening import Input
from noregret.stream.pieces import Chunk, binary, decoded
from noregret.stream.reading import Settings
from noregret.stream.text import LineRows, ParsedChunk, TextStream

Pairs = tuple[list[int], list[float]]


class Svmlight(TextStream):
    """The rows of an svmlight file."""

    def __init__(self, file: Input, settings: Settings) -> None:
        super().__init__(file, settings.numbered("index", 0, file.name), settings)

    def _parse(self, text: Chunk) -> ParsedChunk:
        return _Rows(text, self.source, self._settings.labels).part()


class _Rows(LineRows):
    """The rows of a chunk of text."""

    def __init__(self, text: Chunk, source: str, labelled: bool) -> None:
        counts = text.counts(b":")
        stop = text.without_nul() if counts.odd else text.stop
        super().__init__(text, counts.lines, counts.others, stop, more=1)
        self._source, self._labelled = source, labelled
        self._finite = True

    def _plain(self) -> bool:
        return parse_svmlight(
            self._text.array,
            self._stop,
            self._labelled,
            self._labels,
            self._tokens,
            self._lines,
            self._bounds,
            self._indices,
            self._values,
            self._room,
            self._done,
        )

    def _take(self, line: bytes, number: int) -> None:
        found = parse(line, number, self._source, self._labelled)
        if found is not None:
            self._finite = False  # for all that is known here
            self._add(found[0], *found[1])

    def part(self) -> ParsedChunk:
        """Everything that was found."""
        wrong = self.read()
        _, _, rows, pairs, infinite = self._done.tolist()
        bounds, indices, values = self._bounds[: rows + 1], self._indices[:pairs], self._values[:pairs]
        finite = self._finite and not infinite
        return self._part(Sparse(bounds, indices, values, finite=finite, reach=reach(indices)), wrong)


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
