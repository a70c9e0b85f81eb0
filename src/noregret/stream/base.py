"""A stream: rows in blocks, one pass at a time, with what is needed to name the place of every row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import chain

from noregret.errors import InputError, MemoryShortError
from noregret.memory import shortage
from noregret.stream.block import Block
from noregret.stream.features import Features
from noregret.stream.missing import Missing


class Stream(ABC):
    """Rows and labels that can be passed over; `blocks()` starts a new pass."""

    def __init__(
        self,
        source: str,
        features: Features,
        missing: Missing | None,
        *,
        length: int | None = None,
        rereadable: bool = True,
        frozen: bool = False,
    ) -> None:
        self.source = source
        self.features = features
        self.missing = missing  # None: the rows were cleaned before
        self.gapped = missing is not None and missing.rule == "mean"  # whether learners fill in what is missing
        self.length = length
        self.rereadable = rereadable
        self.frozen = frozen
        self.decisions: tuple[str, ...] = ()  # a line for each thing that was recognised in the columns
        self.columns: dict[str, str] = {}  # what becomes of each column of a table
        self._begun = False
        self._seen = 0
        self._ahead: Iterator[Block] | None = None  # a pass that `head` has begun

    def __repr__(self) -> str:
        return f"<{type(self).__name__} stream of {self.source}>"

    @abstractmethod
    def _read(self) -> Iterator[Block]:
        """One pass over the blocks as they stand in the source."""

    def blocks(self) -> Iterator[Block]:
        """A new pass: blocks with the missing rule applied, none of them empty."""
        if self._ahead is not None:
            ahead, self._ahead = self._ahead, None
            return ahead
        if self._begun and not self.rereadable:
            raise InputError("can be read only once, and has been", self.source)
        self._begun = True
        return self._within_memory()

    def _within_memory(self) -> Iterator[Block]:
        try:
            yield from self._pass()
        except MemoryShortError:
            raise
        except MemoryError as error:
            raise MemoryShortError(f"{self.source}: {shortage(error)}") from error

    def head(self, rows: int) -> list[Block]:
        """The first blocks, until they hold `rows` rows or the stream ends; the next pass begins with them.

        >>> from noregret.stream import read
        >>> stream = read(([[1.0], [2.0], [3.0]], [1, -1, 1]), block_rows=1)
        >>> len(stream.head(2)), sum(len(block) for block in stream.blocks())
        (2, 3)
        """
        blocks, taken, held = self.blocks(), [], 0
        for block in blocks:
            taken.append(block)
            held += len(block)
            if held >= rows:
                break
        self._ahead = chain(tuple(taken), blocks)
        return taken

    def _pass(self) -> Iterator[Block]:
        self._seen, played = 0, 0
        for block in self._read():
            self._seen += len(block)
            block = self._clean(block)
            played += len(block)
            if len(block):
                yield block
        if not played:
            left = "holds no rows without missing values" if self._seen else "holds no rows"
            raise InputError(left, self.source)

    def _clean(self, block: Block) -> Block:
        if self.missing is None:
            return block
        return self.missing.clean(self.features.admit(block, self.frozen), self.features)

    def fraction(self) -> float | None:
        """How much of the source this pass has consumed, from 0 to 1; None when that cannot be known."""
        return None if not self.length else min(1.0, self._seen / self.length)
