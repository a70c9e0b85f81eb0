"""Parquet files, a batch at a time: nothing is read ahead, and only the columns that matter."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from noregret.stream.column import LOOKED_AT
from noregret.stream.formats.arrow import ArrowTable, whole_file_of
from noregret.stream.opening import Input
from noregret.stream.reading import Settings

PAGES = 2**18  # bytes that are read at a time of a column
FEW = 8  # columns whose pages are in memory at once while the beginning of a file is looked at


def read_parquet(file: Input, settings: Settings) -> ArrowTable:
    """A Parquet file, a batch at a time."""

    def batches(rows: int, columns: list[str] | None) -> Iterator[Any]:
        with file.seekable() as handle:
            opened = opened_parquet(handle)
            head = _head(opened, rows, columns or opened.schema_arrow.names) if rows <= LOOKED_AT else None
            if head is not None:
                yield head
            yield from islice(opened.iter_batches(batch_size=rows, columns=columns), 0 if head is None else 1, None)

    with whole_file_of(file.name), file.seekable() as handle:
        opened = opened_parquet(handle)
        schema, length = opened.schema_arrow, opened.metadata.num_rows
        itself = getattr(handle, "name", None) == file.path
    table = ArrowTable(file.name, schema, batches, settings, length=length)
    table.path = file.path if itself else None
    return table


def opened_parquet(handle: Any) -> Any:
    """A Parquet file of which nothing is read ahead: Arrow's own choice keeps all of the file in memory."""
    from pyarrow import parquet

    return parquet.ParquetFile(handle, pre_buffer=False, buffer_size=PAGES)


def _head(opened: Any, rows: int, names: list[str]) -> Any:
    """The first batch, read by a few columns at a time: side by side the pages of all of them are in memory."""
    import pyarrow

    if len(set(names)) < len(names) or len(names) <= FEW:
        return None
    found: list[Any] = []
    for start in range(0, len(names), FEW):
        some = names[start : start + FEW]
        batch = next(opened.iter_batches(batch_size=rows, columns=some, use_threads=False), None)
        if batch is None or set(batch.schema.names) != set(some):
            return None
        found += [batch.column(name) for name in some]
    return pyarrow.record_batch(found, names=names)
