"""Events that were moved from the log to Parquet files, period by period, to keep the log within age and size."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noregret.atomic import whole_file
from noregret.errors import InputError
from noregret.service.log import Reader

FOLDER = "moved"
DAY = 86_400.0


def due(chain: list[dict[str, Any]], reader: Reader, days: float | None, megabytes: float | None) -> int | None:
    """The event up to which the log may be emptied: the end of the first period that is too old, or in the way."""
    first = reader.first
    ended = next((one for one in chain if one["events"] >= first), None)
    if ended is None:
        return None
    old = days is not None and ended["ended"] < time.time() - days * DAY
    large = megabytes is not None and reader.size > megabytes * 1e6
    return int(ended["events"]) if old or large else None


def move(folder: Path, reader: Reader, to: int) -> Path:
    """Write the events up to that one to a file, which appears whole; the log still has them."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema(
        [("number", pa.int64()), ("time", pa.float64()), ("event", pa.binary()), ("decision", pa.binary())]
    )
    (folder / FOLDER).mkdir(exist_ok=True)
    path = folder / FOLDER / f"{reader.first:012}-{to:012}.parquet"
    with whole_file(path) as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for rows in _batches(reader.events(0, to)):
            writer.write_table(pa.table(list(map(list, zip(*rows, strict=True))), schema=schema))
    return path


def _batches(events: Iterator[Any], size: int = 10_000) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for one in events:
        batch.append(one)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def moved(folder: Path, origin: int, first: int) -> Iterator[tuple[int, bytes, bytes | None]] | None:
    """The events in the files, if they are all that came before `first`, which the log begins with."""
    paths, number = sorted((folder / FOLDER).glob("*-*.parquet")), origin
    for path in paths:
        begin, end = (int(part) for part in path.stem.split("-"))
        if begin != number + 1:
            return None
        number = end
    return _read(paths) if number + 1 == first else None


def _read(paths: list[Path]) -> Iterator[tuple[int, bytes, bytes | None]]:
    from pyarrow import ArrowInvalid, parquet

    for path in paths:
        try:
            for batch in parquet.ParquetFile(path).iter_batches(columns=["number", "event", "decision"]):
                yield from zip(*(batch.column(i).to_pylist() for i in range(3)), strict=True)
        except (OSError, ArrowInvalid) as error:
            raise InputError(f"is truncated or corrupt, or not Parquet: {error}", str(path)) from error
