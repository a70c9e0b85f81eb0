"""A temporary binary file of parsed rows: what was read once can be read again, and in any order.

The file has no name in any directory, so that nothing is left behind however the process ends. Raw arrays are
appended while a stream is read and mapped into memory afterwards; memory stays that of one block.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError
from noregret.stream.base import Stream
from noregret.stream.block import BLOCK_VALUES, TEXT_ROWS, Block, Dense, Ints, Rows, Sparse
from noregret.stream.formats.arrays import Arrays
from noregret.stream.task import WordCodes


class Column:
    """One kind of value, appended to a temporary file and then mapped."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        self.array: NDArray[Any] = np.empty(0, self.dtype)

    def append(self, values: NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(values, dtype=self.dtype).data)

    def map(self) -> None:
        """Everything has been appended: the array lives on when the file is closed."""
        self._file.flush()
        empty = self._file.seek(0, 2) == 0
        # Copy-on-write: the arrays look like any other to compiled code, and the file stays as it is.
        mapped = np.empty(0, self.dtype) if empty else np.memmap(self._file, dtype=self.dtype, mode="c")
        self.array = np.asarray(mapped)
        self.close()

    def close(self) -> None:
        self._file.close()


class RowFile(Stream):
    """The rows of `stream`, written in one pass; a stream that can be read again until it is closed."""

    def __init__(self, stream: Stream, block_rows: int | None = None) -> None:
        super().__init__(stream.source, stream.features, None, length=0)
        self.gapped = stream.gapped
        self._asked = block_rows
        self._columns: dict[str, Column] = {}
        self._words: WordCodes | None = None  # where the labels are words
        self._width: int | None = None  # of dense rows
        self._closed = False
        try:
            self._write(stream)
        except OSError as error:
            self.close()
            sentence = f"the temporary row file cannot be written ({error.strerror})"
            raise InputError(sentence, stream.source) from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> RowFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the room back; blocks that were handed out stay valid."""
        self._closed = True
        for column in self._columns.values():
            column.close()
        self._columns = {}

    def _write(self, stream: Stream) -> None:
        end, known = 0, WordCodes()
        for block in stream.blocks():
            if not self.length:
                self._begin(block)
            if block.labels.dtype == object:
                self._words = known
            parts = arrays_of(block, known)
            if "weights" in parts or "weights" in self._columns:
                self._append_weights(block)
            for name in ("labels", "lines", "indices", "values"):
                if name in parts:
                    self._append(name, parts[name])
            if "bounds" in parts:
                self._append("ends", parts["bounds"][1:] + end)
                end += int(parts["bounds"][-1])
            self.length = (self.length or 0) + len(block)
        for column in self._columns.values():
            column.map()

    def _begin(self, block: Block) -> None:
        kinds: dict[str, Any] = {"labels": np.float64, "lines": np.int64, "values": block.rows.values.dtype}
        if isinstance(block.rows, Sparse):
            kinds |= {"indices": np.uint32, "ends": np.int64}
        else:
            self._width = block.rows.width
        self._columns = {name: Column(kind) for name, kind in kinds.items()}
        if self._width is None:
            self._append("ends", np.zeros(1, dtype=np.int64))

    def _append(self, name: str, values: NDArray[Any]) -> None:
        self._columns[name].append(values)

    def _append_weights(self, block: Block) -> None:
        if "weights" not in self._columns:
            self._columns["weights"] = Column(np.float64)
            self._append("weights", np.ones(self.length or 0))
        self._append("weights", np.ones(len(block)) if block.weights is None else block.weights)

    def _array(self, name: str) -> NDArray[Any]:
        if self._closed:
            raise InputError("the temporary row file is closed", self.source)
        return self._columns[name].array

    def _rows(self) -> Rows:
        values = self._array("values")
        if self._width is not None:
            return Dense(values.reshape(self.length or 0, self._width))
        return Sparse(self._array("ends"), self._array("indices"), values)

    @property
    def block_rows(self) -> int:
        if self._asked:
            return self._asked
        mean = len(self._array("values")) // max(self.length or 0, 1)
        return max(1, min(TEXT_ROWS, BLOCK_VALUES // max(mean, 1)))

    def _read(self) -> Iterator[Block]:
        size = self.block_rows
        for start in range(0, self.length or 0, size):
            stop = min(start + size, self.length or 0)
            yield self._block(self._rows().slice(start, stop), slice(start, stop))

    def take(self, rows: Ints) -> Block:
        """The named rows, as a block of their own."""
        return self._block(self._rows().take(rows), rows)

    def _block(self, rows: Rows, chosen: Any) -> Block:
        weights = self._array("weights")[chosen] if "weights" in self._columns else None
        labels = self._array("labels")[chosen]
        labels = labels if self._words is None else self._words.labels(labels)
        return Block(rows, labels, self._array("lines")[chosen], self.source, weights)


BlockArrays = dict[str, NDArray[Any]]


def arrays_of(block: Block, known: WordCodes) -> BlockArrays:
    """The arrays of a block: labels as numbers, lines, weights if there are any, and the rows."""
    rows, labels = block.rows, block.labels
    found: BlockArrays = {
        "labels": known.code(labels) if labels.dtype == object else np.asarray(labels, dtype=np.float64),
        "lines": block.lines,
    }
    if block.weights is not None:
        found["weights"] = block.weights
    if isinstance(rows, Sparse):
        found |= {"bounds": rows.indptr, "indices": rows.indices}
    return found | {"values": rows.values}


class Permuted(Stream):
    """All rows of `rows` in one random order, each exactly once."""

    def __init__(self, rows: Arrays | RowFile, rng: np.random.Generator) -> None:
        super().__init__(rows.source, rows.features, None, length=rows.length)
        self.gapped = rows.gapped
        self._taken_from = rows
        self._order = rng.permutation(rows.length or 0)

    def _read(self) -> Iterator[Block]:
        size = self._taken_from.block_rows
        for start in range(0, len(self._order), size):
            yield self._taken_from.take(self._order[start : start + size])


def shuffled(stream: Stream, rng: np.random.Generator) -> Stream:
    """A full random permutation of the rows: arrays are taken from directly, others go through a row file.

    The order depends on the number of rows and on `rng` alone, so that every source of the same rows agrees.
    """
    return Permuted(reorderable(stream), rng)


def reorderable(stream: Stream) -> Arrays | RowFile:
    """The rows where any of them can be had at once: the arrays themselves, or else a row file."""
    if isinstance(stream, RowFile):
        return stream
    if isinstance(stream, Arrays) and not (stream.missing and stream.missing.rule == "skip"):
        return stream
    return RowFile(stream)


def rereadable(stream: Stream) -> Stream:
    """The stream itself when it can be read again, otherwise its rows in a row file."""
    return stream if stream.rereadable else RowFile(stream)
