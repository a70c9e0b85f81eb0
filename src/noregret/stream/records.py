"""Records of delimited text as Python's own reader takes them apart, and what it says of those that it cannot."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from noregret.errors import InputError
from noregret.stream.lines import binary, decoded
from noregret.stream.pieces import Piece
from noregret.stream.wording import reason

DELIMITERS = ",;\t|"
CELL_LIMIT = 2**24


def delimiter(header: str) -> str:
    r"""The one of , ; tab | that stands most often in the header outside quotes.

    >>> delimiter('"a,b";c;label')
    ';'
    """
    bare = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=bare.count)


class Records:
    """The records of a piece of text, from a given place and line on; both go on with every record."""

    def __init__(self, text: Piece, between: str, source: str, at: int, line: int = 0) -> None:
        # The limit belongs to the whole process, threads and all: it can only be raised, never put back.
        csv.field_size_limit(max(csv.field_size_limit(), CELL_LIMIT))
        self.at = at
        self.line = line  # how many lines of the piece were read
        self.began = line + 1  # where the last record began
        self._text = text
        self._source = source
        self._reader = csv.reader(self._lines(), delimiter=between, strict=True)

    def _lines(self) -> Iterator[str]:
        while self.at < self._text.stop:
            line = self._text.line(self.at)
            self.at += len(line) + 1
            self.line += 1
            if b"\0" in line:
                raise binary(self._source, self.line)
            yield decoded(line, self._source, self.line) + "\n"

    def take(self, width: int = 0) -> list[str] | None:
        """The cells of the next record, as many as `width` says; None at the end of the piece."""
        cells: list[str] | None = []
        while cells == []:  # a blank line
            self.began = self.line + 1
            try:
                cells = next(self._reader, None)
            except csv.Error as error:
                raise InputError(f"is not well-formed CSV ({reason(error)})", self._source, self.line) from error
        if cells is not None and width and len(cells) != width:
            sentence = f"expected {width} cells as in the header, got {len(cells)}"
            raise InputError(sentence, self._source, self.began)
        return cells
