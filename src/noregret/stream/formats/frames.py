"""In-memory frames (pandas, polars, Arrow), told apart by their type's module, which is never imported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from noregret.errors import InputError, SettingError, reason
from noregret.stream.formats.arrow import ArrowTable, is_numeric, read_table
from noregret.stream.reading import Settings
from noregret.stream.task import label_array

TABLES = {
    "pandas": ("DataFrame",),
    "polars": ("DataFrame", "LazyFrame"),
    "pyarrow": ("Table", "RecordBatch", "RecordBatchReader"),
}


def is_frame(source: Any) -> bool:
    """Whether `source` is a table of one of the three libraries."""
    return _owner(source) is not None


def column_names(frame: Any) -> list[str]:
    """The names of a table's columns."""
    return [str(name) for name in (frame.column_names if _owner(frame) == "pyarrow" else frame.columns)]


def has_words(frame: Any) -> bool:
    """Whether a table has columns that are not numbers or booleans: only `read` knows what to make of them."""
    if _owner(frame) == "pandas" and all(getattr(kind, "kind", "O") in "biuf" for kind in frame.dtypes):
        return False
    schema = _schema(frame) if _owner(frame) == "pandas" else _as_table(frame).schema
    return not all(is_numeric(kind) for kind in schema.types)


def _owner(source: Any) -> str | None:
    """The library whose table `source` is, perhaps by inheritance."""
    for kind in type(source).__mro__:
        owner = kind.__module__.partition(".")[0]
        if kind.__name__ in TABLES.get(owner, ()):
            return owner
    return None


def read_frame(frame: Any, settings: Settings) -> ArrowTable:
    """A frame with its label among its columns."""
    if _owner(frame) == "pandas":
        return _read_pandas(frame, settings)
    return read_table(_as_table(frame), settings, "the table" if _owner(frame) == "pyarrow" else "the frame")


def read_frame_with(frame: Any, y: Any, settings: Settings) -> ArrowTable:
    """A frame whose labels are given beside it."""
    import pyarrow

    if settings.label is not None:
        raise SettingError("label names a column, but the labels are given beside the frame")
    labels = label_array(y, "the frame")
    table = _as_table(frame)
    if len(labels) != table.num_rows:
        raise InputError(f"there are {table.num_rows} rows but {len(labels)} labels", "the frame")
    name = "label"
    while name in table.column_names:
        name += "_"
    table = table.append_column(name, pyarrow.array(labels.tolist()))
    return read_table(table, replace(settings, label=name), "the frame")


def _as_table(frame: Any) -> Any:
    import pyarrow

    if _owner(frame) == "polars":
        if not hasattr(frame, "to_arrow"):
            raise InputError("is lazy: call collect() on it first", "the frame")
        return frame.to_arrow()
    if _owner(frame) == "pandas":
        try:
            return pyarrow.Table.from_pandas(frame, preserve_index=False)
        except (pyarrow.ArrowException, ValueError, TypeError) as error:
            raise _unclear(error) from error
    return frame


def _read_pandas(frame: Any, settings: Settings) -> ArrowTable:
    """A pandas frame, converted a slice at a time."""
    import pyarrow

    names = [str(name) for name in frame.columns]
    frame = frame.set_axis(names, axis=1)
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(f"two columns are named {twice!r}", "the frame")
    schema = _schema(frame)

    def batches(rows: int, columns: list[str] | None) -> Iterator[Any]:
        for start in range(0, len(frame), rows):
            piece = frame.iloc[start : start + rows]
            yield pyarrow.RecordBatch.from_pandas(piece, schema=schema, preserve_index=False)

    return ArrowTable("the frame", schema, batches, settings, length=len(frame))


def _schema(frame: Any) -> Any:
    """The names and types of a pandas frame's columns."""
    import pyarrow

    try:
        return pyarrow.Schema.from_pandas(frame, preserve_index=False)
    except (pyarrow.ArrowException, ValueError, TypeError) as error:
        raise _unclear(error) from error


def _unclear(error: Exception) -> InputError:
    return InputError(f"a column holds values of several types ({reason(error)})", "the frame")
