"""Streams of text lines: pieces of whole lines are parsed by several threads, their rows come in order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError
from noregret.stream.base import Stream
from noregret.stream.block import MAX_INDEX, Block, Ints, Rows
from noregret.stream.features import Features, Hints
from noregret.stream.given import LabelTokens
from noregret.stream.lines import decoded
from noregret.stream.missing import Missing
from noregret.stream.opening import Input, Opened
from noregret.stream.pieces import Piece, pieces
from noregret.stream.pipeline import in_order
from noregret.stream.settings import Settings


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one piece of text."""

    rows: Rows
    labels: NDArray[np.float64]  # NaN where the label is no number
    tokens: Callable[[], list[bytes]] | None  # every label as it is written, where there are labels
    lines: Ints  # the line of each row, counted from 0 at the piece's first
    count: int  # of the lines in the piece
    wrong: InputError | None = None  # what ends the rows; its line is counted from 1 at the piece's first
    weights: NDArray[np.float64] | None = None
    hints: Hints | None = None  # what the recipe is to remember


class TextStream(Stream):
    """Rows that each stand on a line of their own."""

    def __init__(self, file: Input, features: Features, settings: Settings) -> None:
        super().__init__(
            file.name,
            features,
            Missing(settings.missing, settings.labels),
            rereadable=file.rereadable,
            frozen=settings.frozen,
        )
        self._file = file
        self._settings = settings
        self._opened: Opened | None = None

    def fraction(self) -> float | None:
        return None if not (self._opened and self._file.size) else self._opened.position / self._file.size

    @abstractmethod
    def _parse(self, text: Piece) -> Part:
        """The rows of a piece of text; several threads call this at once."""

    def _label_tokens(self) -> LabelTokens:
        return LabelTokens(self.source, self._settings.labels)

    def _pieces(self) -> Generator[Piece]:
        with self._file.open() as self._opened:
            yield from pieces(self._opened)

    def _read(self) -> Iterator[Block]:
        labels, before, self._opened = self._label_tokens(), 0, None
        pieces = self._pieces()
        parts = in_order(pieces, self._parse, self._settings.threads)
        try:
            for part in parts:
                if part.hints is not None:
                    self.features.note(part.hints)
                if len(part.lines):
                    yield from self._block(part, labels, before).pieces(self._settings.block_rows or MAX_INDEX)
                if part.wrong is not None:
                    line = before + (part.wrong.line or 1)
                    raise InputError(part.wrong.sentence, self.source, line) from part.wrong
                before += part.count
        except InputError as error:
            if error.line is not None or self._opened is None:
                raise
            raise InputError(error.sentence, error.source, before + 1) from error
        finally:
            parts.close()
            with suppress(ValueError):  # another thread still waits for bytes of a source that is silent
                pieces.close()

    def _block(self, part: Part, labels: LabelTokens, before: int) -> Block:
        lines = part.lines + (before + 1)

        def tokens() -> list[str]:
            written = zip(part.tokens() if part.tokens else (), lines.tolist(), strict=True)
            return [decoded(token, self.source, line) for token, line in written]

        found = part.labels if part.tokens is None else labels.numbers(part.labels, tokens, lines)
        return Block(part.rows, found, lines, self.source, part.weights)
