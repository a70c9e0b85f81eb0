"""Tables held by Arrow: Parquet files, Arrow IPC files and streams, and in-memory frames seen through Arrow.

Numbers, booleans and decimals are numeric; strings and dictionaries are categorical; anything else is refused
with its type. Rows are counted from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError
from noregret.stream.base import Stream
from noregret.stream.block import Block
from noregret.stream.given import none, words
from noregret.stream.hashing import Strings, written
from noregret.stream.missing import Missing
from noregret.stream.opening import Input
from noregret.stream.settings import TABLE_ROWS, Settings
from noregret.stream.table import ColumnKind, plan
from noregret.stream.wording import reason

ARROW_FILE = b"ARROW1"
PARQUET_FILE = b"PAR1"

Batches = Callable[[int], Iterator[Any]]  # record batches of at most so many rows: a new pass each call


class ArrowTable(Stream):
    """The rows of record batches that share one schema."""

    def __init__(
        self,
        source: str,
        schema: Any,
        batches: Batches,
        settings: Settings,
        *,
        length: int | None = None,
        rereadable: bool = True,
    ) -> None:
        names, types = _columns(schema, source)

        def kind_of(place: int) -> ColumnKind:
            return column_kind(types[place], names[place], source)

        self._plan = plan(names, kind_of, settings, source)
        for place in [c.column for c in self._plan.numeric] + [c.column for c in self._plan.hashed]:
            kind_of(place)
        super().__init__(
            source,
            self._plan.features,
            Missing(settings.missing, settings.labels),
            length=length,
            rereadable=rereadable,
            frozen=settings.frozen,
        )
        self._batches = batches
        self._block_rows = settings.rows_per_block(TABLE_ROWS, len(names))

    def _read(self) -> Iterator[Block]:
        done = 0
        for batch in _guarded(self._batches(self._block_rows), self.source):
            for start in range(0, batch.num_rows, self._block_rows):
                piece = batch.slice(start, self._block_rows)
                yield self._block(piece, done)
                done += piece.num_rows

    def _block(self, batch: Any, done: int) -> Block:
        chosen = self._plan
        return chosen.block(
            [self._numbers(batch.column(column.column), column.name) for column in chosen.numeric],
            [strings(batch.column(column.column), column.name, self.source) for column in chosen.hashed],
            none(batch.num_rows) if chosen.label is None else self._labels(batch.column(chosen.label)),
            np.arange(done + 1, done + 1 + batch.num_rows, dtype=np.int64),
            self.source,
        )

    def _numbers(self, column: Any, name: str) -> NDArray[np.float64]:
        import pyarrow

        if column_kind(column.type, name, self.source) == "categorical":
            raise InputError(f"column {name!r} must hold numbers, it holds type {column.type}", self.source)
        try:
            return np.asarray(column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False))
        except pyarrow.ArrowException as error:
            raise InputError(f"column {name!r} cannot be read ({reason(error)})", self.source) from error

    def _labels(self, column: Any) -> NDArray[Any]:
        if column_kind(column.type, "label", self.source) == "numeric":
            return self._numbers(column, "label")
        return words([written(label) for label in cells(column, "label", self.source)])


def _columns(schema: Any, source: str) -> tuple[list[str], list[Any]]:
    """The names and types of a schema's columns."""
    try:
        return [str(name) for name in schema.names], list(schema.types)
    except (UnicodeDecodeError, NotImplementedError) as error:
        raise _damaged(error, source) from error


def column_kind(kind: Any, name: str, source: str) -> ColumnKind:
    """Whether an Arrow type holds numbers or categories; others are refused."""
    from pyarrow import types

    if is_numeric(kind):
        return "numeric"
    if types.is_dictionary(kind):
        return column_kind(kind.value_type, name, source) and "categorical"
    if is_string(kind):
        return "categorical"
    raise InputError(f"column {name!r} must hold numbers, booleans or strings, it holds type {kind}", source)


def is_numeric(kind: Any) -> bool:
    """Whether an Arrow type holds numbers, booleans among them."""
    from pyarrow import types

    numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in numeric)


def is_string(kind: Any) -> bool:
    """Whether an Arrow type holds text."""
    from pyarrow import types

    return any(test(kind) for test in (types.is_string, types.is_large_string, types.is_string_view))


def cells(column: Any, name: str, source: str) -> list[Any]:
    """A column's values as Python objects."""
    from pyarrow import ArrowException, types

    try:
        return list((column.dictionary_decode() if types.is_dictionary(column.type) else column).to_pylist())
    except (ArrowException, ValueError) as error:
        raise InputError(f"column {name!r} cannot be read ({reason(error)})", source) from error


def strings(column: Any, name: str, source: str) -> Strings:
    """A column's values as the text that is hashed."""
    from pyarrow import ArrowException

    try:
        column.validate(full=True)  # text that is no UTF-8, a code that has no value
        return _strings(column)
    except (ArrowException, ValueError) as error:
        raise InputError(f"column {name!r} cannot be read ({reason(error)})", source) from error


def _strings(column: Any) -> Strings:
    import pyarrow
    from pyarrow import types

    if is_string(column.type):
        return _text(column.cast(pyarrow.large_string()) if types.is_string_view(column.type) else column)
    if not types.is_dictionary(column.type):
        try:
            column = column.dictionary_encode()
        except pyarrow.ArrowNotImplementedError:
            return Strings.of(column.to_pylist())
    if len(column.dictionary) > len(column):
        return _strings(column.dictionary_decode())
    codes = column.indices.cast(pyarrow.int64()).fill_null(-1).to_numpy()
    values = column.dictionary
    distinct = _strings(values) if is_string(values.type) else Strings.of(values.to_pylist())
    return Strings(distinct.data, distinct.starts, distinct.stops, codes)


def _text(column: Any) -> Strings:
    """The memory of an Arrow array of strings, seen without a copy."""
    from pyarrow import types

    _, bounds, data = column.buffers()
    if not len(column) or data is None:
        return Strings.of([None] * len(column))
    width = np.int64 if types.is_large_string(column.type) else np.int32
    whole = np.frombuffer(bounds, dtype=width, count=column.offset + len(column) + 1)
    offsets = whole[column.offset :].astype(np.int64)
    starts, stops = offsets[:-1], offsets[1:]
    if column.null_count:
        stops = np.where(column.is_valid().to_numpy(zero_copy_only=False), stops, starts)
    return Strings(np.frombuffer(data, dtype=np.uint8), starts, stops)


def _guarded(batches: Iterator[Any], source: str) -> Iterator[Any]:
    """The batches, with whatever Arrow finds wrong as one sentence."""
    from pyarrow import ArrowException

    while True:
        try:
            batch = next(batches, None)
        except (ArrowException, OSError, ValueError, KeyError, IndexError, MemoryError) as error:
            if isinstance(error, InputError):
                raise
            raise _damaged(error, source) from error
        if batch is None:
            return
        yield batch


def _damaged(error: Exception, source: str) -> InputError:
    return InputError(f"is damaged, cut short or not what it seems ({reason(error)})", source)


def read_parquet(file: Input, settings: Settings) -> ArrowTable:
    """A Parquet file, a batch at a time."""
    import pyarrow
    from pyarrow import parquet

    def batches(rows: int) -> Iterator[Any]:
        with file.seekable() as handle:
            yield from parquet.ParquetFile(handle).iter_batches(batch_size=rows)

    try:
        with file.seekable() as handle:
            opened = parquet.ParquetFile(handle)
            schema, length = opened.schema_arrow, opened.metadata.num_rows
    except (pyarrow.ArrowException, OSError, ValueError, MemoryError) as error:
        raise _refused(error, file.name) from error
    return ArrowTable(file.name, schema, batches, settings, length=length)


def read_ipc(file: Input, settings: Settings) -> ArrowTable:
    """An Arrow IPC file or stream, told apart by the first bytes."""
    import pyarrow

    def batches(_: int) -> Iterator[Any]:
        with file.seekable() as handle:
            for batch in _ipc_batches(handle)[1]:
                batch.validate(full=True)  # a damaged offset would otherwise be followed out of memory
                yield batch

    try:
        with file.seekable() as handle:
            schema = _ipc_batches(handle)[0]
    except (pyarrow.ArrowException, OSError, ValueError, MemoryError) as error:
        raise _refused(error, file.name) from error
    return ArrowTable(file.name, schema, batches, settings)


def _refused(error: Exception, source: str) -> InputError:
    return error if isinstance(error, InputError) else _damaged(error, source)


def _ipc_batches(handle: Any) -> tuple[Any, Iterator[Any]]:
    from pyarrow import ipc

    magic = handle.read(len(ARROW_FILE))
    handle.seek(0)
    if magic != ARROW_FILE:
        stream = ipc.open_stream(handle)
        return stream.schema, iter(stream)
    opened = ipc.open_file(handle)
    return opened.schema, (opened.get_batch(number) for number in range(opened.num_record_batches))


def read_table(table: Any, settings: Settings, source: str = "the table") -> ArrowTable:
    """A pyarrow Table or RecordBatch, or a RecordBatchReader, which can be read once."""
    import pyarrow

    if isinstance(table, pyarrow.RecordBatchReader):
        return ArrowTable(source, table.schema, lambda _: iter(table), settings, rereadable=False)
    whole = pyarrow.Table.from_batches([table]) if isinstance(table, pyarrow.RecordBatch) else table

    def batches(rows: int) -> Iterator[Any]:
        return iter(whole.to_batches(max_chunksize=rows))

    return ArrowTable(source, whole.schema, batches, settings, length=whole.num_rows)
