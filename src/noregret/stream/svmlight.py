"""svmlight text: `label index:value … # comment`, one row a line.

Blank and comment lines are skipped, `qid:n` is ignored, indices may come in any order but only once a row. A
feature is the number that was written, from 0 to 2³¹ − 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from noregret.errors import InputError
from noregret.stream.base import Stream
from noregret.stream.block import MAX_INDEX, Block, Sparse
from noregret.stream.given import LabelTokens
from noregret.stream.lines import byte_lines, decoded
from noregret.stream.missing import Missing
from noregret.stream.opening import Input, Opened
from noregret.stream.settings import BLOCK_VALUES, TEXT_ROWS, Settings

Pairs = tuple[list[int], list[float]]


class Svmlight(Stream):
    """The rows of an svmlight file."""

    def __init__(self, file: Input, settings: Settings) -> None:
        settings.refuse_columns("an svmlight file")
        super().__init__(
            file.name,
            settings.numbered("index", 0, file.name),
            Missing(settings.missing, settings.labels),
            rereadable=file.rereadable,
            frozen=settings.frozen,
        )
        self._file = file
        self._labels = settings.labels
        self._block_rows = settings.rows_per_block(TEXT_ROWS)
        self._opened: Opened | None = None

    def fraction(self) -> float | None:
        return None if not (self._opened and self._file.size) else self._opened.position / self._file.size

    def _read(self) -> Iterator[Block]:
        labels = LabelTokens(self.source, self._labels)
        with self._file.open() as self._opened:
            rows = _Rows()
            for number, line in enumerate(byte_lines(self._opened), 1):
                row = parse(line, self.source, number, self._labels)
                if row is not None:
                    rows.add(number, *row)
                    if len(rows.lines) >= self._block_rows or len(rows.values) >= BLOCK_VALUES:
                        yield rows.block(labels, self.source)
                        rows = _Rows()
            if rows.lines:
                yield rows.block(labels, self.source)


class _Rows:
    """Parsed rows on their way into a block."""

    def __init__(self) -> None:
        self.lines: list[int] = []
        self.tokens: list[str] = []
        self.lengths: list[int] = [0]
        self.indices: list[int] = []
        self.values: list[float] = []

    def add(self, line: int, label: str, pairs: Pairs) -> None:
        self.lines.append(line)
        self.tokens.append(label)
        self.indices += pairs[0]
        self.values += pairs[1]
        self.lengths.append(len(self.indices))

    def block(self, labels: LabelTokens, source: str) -> Block:
        rows = Sparse(
            np.array(self.lengths, dtype=np.int64),
            np.array(self.indices, dtype=np.uint32),
            np.array(self.values, dtype=np.float64),
        )
        found = labels.array(self.tokens, self.lines)
        return Block(rows, found, np.array(self.lines, dtype=np.int64), source)


def parse(line: bytes, source: str, number: int, labelled: bool = True) -> tuple[str, Pairs] | None:
    """One line as its label's token and its (indices, values); None for a line without a row.

    >>> parse(b"+1 3:0.5 7:2 # first", "spam.svm", 1)
    ('+1', ([3, 7], [0.5, 2.0]))
    """
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
