"""A stream: rows in blocks, one pass at a time, with what is needed to name the place of every row.

NaN is a missing value: an error, a 0, the mean of its feature so far, or a reason to leave out the row, as the user
chose; one rule for every block of every reader. The mean is the learner's to fill in, for it keeps the means: here the
value stays NaN. An infinity is always an error; so is a missing label, unless rows with missing values are left out.
The user's own arrays are never changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.errors import EmptyError, InputError, MemoryShortError, spelled
from noregret.memory import shortage
from noregret.stream.block import Block, Dense, all_finite
from noregret.stream.features import Features

if TYPE_CHECKING:
    from noregret.stream.reading import Settings


class Stream(ABC):
    """Rows and labels that can be passed over; `blocks()` starts a new pass."""

    def __init__(
        self,
        source: str,
        features: Features,
        settings: Settings | None,
        *,
        length: int | None = None,
        rereadable: bool = True,
    ) -> None:
        self.source = source
        self.features = features
        # Without settings the rows were cleaned before.
        self.missing = None if settings is None else Missing(settings.missing, settings.labels)
        self.gapped = settings is not None and settings.missing == "mean"  # whether learners fill in what is missing
        self.frozen = settings is not None and settings.frozen
        self.length = length
        self.rereadable = rereadable
        self.decisions: tuple[str, ...] = ()  # a line for each thing that was recognised in the columns
        self.columns: dict[str, str] = {}  # what becomes of each column of a table
        self._begun = False
        self._seen = 0
        self._ahead: Iterator[Block] | None = None  # a pass that `head` has begun

    def __repr__(self) -> str:
        return f"<{type(self).__name__} stream of {self.source}>"

    @property
    def live(self) -> bool:
        """Whether its rows come as they are written, and may have to be waited for."""
        return False

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
            raise EmptyError(left, self.source)

    def _clean(self, block: Block) -> Block:
        if self.missing is None:
            return block
        return self.missing.clean(self.features.admit(block, self.frozen), self.features)

    def fraction(self) -> float | None:
        """How much of the source this pass has consumed, from 0 to 1; None when that cannot be known."""
        return None if not self.length else min(1.0, self._seen / self.length)


class Watched(Stream):
    """The rows of `stream`, every pass handed over through `watch`, which may end it early."""

    def __init__(self, stream: Stream, watch: Callable[[Iterator[Block]], Iterator[Block]]) -> None:
        super().__init__(stream.source, stream.features, None, length=stream.length, rereadable=stream.rereadable)
        self.gapped, self.frozen = stream.gapped, stream.frozen
        self.decisions, self.columns = stream.decisions, stream.columns
        self._stream, self._watch = stream, watch

    def _read(self) -> Iterator[Block]:
        return self._watch(self._stream.blocks())

    def _pass(self) -> Iterator[Block]:
        return self._read()  # a pass may end before its first row

    @property
    def live(self) -> bool:
        return self._stream.live

    def fraction(self) -> float | None:
        return self._stream.fraction()


Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Missing:
    """The rule (`error`, `zero`, `mean` or `skip`) and whether a label is needed."""

    rule: str = "error"
    labels: bool = True

    def clean(self, block: Block, features: Features) -> Block:
        """The block with the rule applied; the same object when there is nothing to do."""
        _check_weights(block)
        values = block.rows.values
        finite = block.rows.finite or all_finite(values)
        bad = _missing_labels(block) if self.labels else None
        if finite and bad is None:
            return block
        if bad is None:
            bad = np.zeros(len(block), dtype=bool)
        infinite = None if finite else _first(np.isinf(values))
        if self.rule == "skip":
            self._refuse_infinity(block, features, infinite)
            return block.take(np.flatnonzero(~(bad | _rows_with_nan(block))).astype(np.int64))
        self._refuse_first(block, features, bad, infinite)
        return block if self.rule == "mean" else _zeroed(block)

    def _refuse_infinity(self, block: Block, features: Features, position: int | None) -> None:
        if position is not None:
            row, index = block.rows.row_of(position)
            value = block.rows.values[position]
            raise _at(block, row, f"{features.quoted(index)} must be finite, got {value}")

    def _refuse_first(self, block: Block, features: Features, bad: Mask, infinite: int | None) -> None:
        """Raise for the earliest row that the rule cannot accept, if there is one."""
        position = infinite if self.rule in ("zero", "mean") else _first(~np.isfinite(block.rows.values))
        row = len(block) if position is None else block.rows.row_of(position)[0]
        label = _first(bad)
        if label is not None and label <= row:
            raise _at(block, label, f"the label is missing (use {spelled('missing', 'skip')} to leave out such rows)")
        if position is not None and np.isnan(block.rows.values[position]):
            name, rules = features.quoted(block.rows.row_of(position)[1]), spelled("missing", "mean", "zero", "skip")
            raise _at(block, row, f"{name} is missing (NaN): use {rules}")
        self._refuse_infinity(block, features, position)


def _at(block: Block, row: int, sentence: str) -> InputError:
    return InputError(sentence, block.source, int(block.lines[row]))


def _first(mask: Mask) -> int | None:
    where = int(mask.argmax()) if mask.size else 0
    return where if mask.size and mask[where] else None


def _missing_labels(block: Block) -> Mask | None:
    """Which labels are not there, None if all are; an infinite one is an error."""
    labels = block.labels
    if block.sides is not None:
        return None
    if labels.dtype == object:
        empty = np.asarray(labels == "", dtype=bool)
        return empty if empty.any() else None
    if all_finite(labels):
        return None
    infinite = _first(np.isinf(labels))
    if infinite is not None:
        raise _at(block, infinite, f"the label must be finite, got {labels[infinite]}")
    return np.asarray(np.isnan(labels), dtype=bool)


def _check_weights(block: Block) -> None:
    if block.weights is not None:
        wrong = _first(~((block.weights >= 0) & (block.weights < np.inf)))
        if wrong is not None:
            got = block.weights[wrong]
            raise _at(block, wrong, f"the weight must be at least 0 and finite, got {got}")


def _rows_with_nan(block: Block) -> Mask:
    rows = block.rows
    if isinstance(rows, Dense):
        return np.asarray(np.isnan(rows.X).any(axis=1), dtype=bool)
    missing = np.concatenate([[0], np.cumsum(np.isnan(rows.values))])
    return np.asarray(np.diff(missing[rows.indptr]) > 0, dtype=bool)


def _zeroed(block: Block) -> Block:
    values = block.rows.values
    filled = block.rows.with_values(np.where(np.isnan(values), values.dtype.type(0), values))
    return Block(filled, block.labels, block.lines, block.source, block.weights)
