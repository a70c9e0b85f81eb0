"""Tables held by Arrow: Parquet files, Arrow IPC files and streams, and in-memory frames seen through Arrow.

Numbers, booleans and decimals are numeric, dates and time stamps dates, dictionaries categorical; what strings are,
their first thousand rows tell (see `column`). Anything else is refused with its type. Rows are counted from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError, reason
from noregret.stream.base import Stream
from noregret.stream.block import TABLE_ROWS, Block, Ints
from noregret.stream.cells import Strings, as_text
from noregret.stream.column import CATEGORY, LOOKED_AT, NUMBER, Asked, Dates, Decision, dated, decide
from noregret.stream.opening import Input
from noregret.stream.reading import Settings
from noregret.stream.recipe import Converted, plan
from noregret.stream.task import no_labels, words
from noregret.stream.written import DAY, NOT_THERE, amounts

ARROW_FILE = b"ARROW1"

# record batches of at most this many rows, a new pass each call; of these columns, where others can be left unread
Batches = Callable[[int, list[str] | None], Iterator[Any]]
Holds = Literal["numbers", "text", "names", "dates"]  # what a type holds; names are those of a dictionary


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
        self._looked: list[Any] = []  # the batches that were looked at, of what can be read only once
        self._batches = batches
        self._rows_once = None if rereadable else batches(LOOKED_AT, None)
        look = _Look(names, types, source, self._first, settings.recognise)
        self._plan = plan(names, look, settings, source)
        for place in [*(c.column for c in self._plan.numeric), *(c.column for c in self._plan.texts)]:
            holds(types[place], names[place], source)
        super().__init__(source, self._plan.features, settings, length=length, rereadable=rereadable)
        used = [*self._plan.numeric, *self._plan.texts]
        self._label = None if self._plan.label is None else names[self._plan.label]
        self._wanted = [one.name for one in used] + ([] if self._label is None else [self._label]) or None
        self.decisions, self.columns = self._plan.decisions, self._plan.columns
        self._block_rows = settings.rows_per_block(TABLE_ROWS, len(names))
        self.path: str | None = None  # of the Parquet file that it is, not compressed as a whole

    def plain_features(self) -> list[str] | None:
        """The columns that are the features, in their order, where each is a column of plain numbers."""
        plan = self._plan
        made = (plan.hashed, plan.converted, plan.products, plan.crossed, plan.label_mark)
        if any(made) or plan.features.hash_start is not None or len(plan.numeric) != plan.features.count:
            return None
        return [one.name for one in sorted(plan.numeric, key=lambda one: one.feature)]

    def _first(self, source: str) -> list[Any]:
        """The batches of the first thousand rows."""
        found: list[Any] = []
        batches = self._batches(LOOKED_AT, None) if self._rows_once is None else self._rows_once
        for batch in _guarded(batches, source):
            found.append(batch)
            if sum(one.num_rows for one in found) >= LOOKED_AT:
                break
        if self._rows_once is not None:
            self._looked = found
        return found

    def _read(self) -> Iterator[Block]:
        done = 0
        if self._rows_once is None:
            batches = self._batches(self._block_rows, self._wanted)
        else:
            batches = chain(self._looked, self._rows_once)
        for batch in _guarded(batches, self.source):
            for start in range(0, batch.num_rows, self._block_rows):
                piece = batch.slice(start, self._block_rows)
                yield self._block(piece, done)
                done += piece.num_rows

    def _block(self, batch: Any, done: int) -> Block:
        chosen, count = self._plan, batch.num_rows
        rows, hints = chosen.rows(
            chosen.matrix([self._numbers(batch.column(one.name), one.name) for one in chosen.numeric], count),
            [self._made(batch.column(one.name), one, done) for one in chosen.converted],
            [strings(batch.column(one.name), one.name, self.source) for one in chosen.hashed],
        )
        labels = no_labels(count) if self._label is None else self._labels(batch.column(self._label))
        if hints is not None:
            self.features.note(hints)
        return Block(rows, labels, np.arange(done + 1, done + 1 + count, dtype=np.int64), self.source)

    def _numbers(self, column: Any, name: str) -> NDArray[np.float64]:
        return as_numbers(column, name, self.source)

    def _made(self, column: Any, into: Converted, done: int) -> NDArray[np.float64]:
        """The features of amounts or dates."""
        there = holds(column.type, into.name, self.source)
        if there == "numbers" and into.kind.mark is not None:
            return self._numbers(column, into.name)[:, None]
        if there == "dates" and into.kind.dates is not None:
            return into.kind.dates.values(*_instants(column, into.name, self.source))
        if there == "dates":
            raise InputError(f"column {into.name!r} must hold numbers, it holds type {column.type}", self.source)
        text = Strings.of(column.to_pylist()) if there == "numbers" else strings(column, into.name, self.source)
        found, wrong = into.values(text)
        if wrong is not None:
            raise InputError(into.refusal(text.text(wrong)), self.source, done + wrong + 1)
        return found

    def _labels(self, column: Any) -> NDArray[Any]:
        there = holds(column.type, "label", self.source)
        if there == "numbers":
            return self._numbers(column, "label")
        if there == "dates":
            raise InputError(f"the label must be a number or a name, it holds type {column.type}", self.source)
        if self._plan.label_mark is not None:
            return amounts(strings(column, "label", self.source), self._plan.label_mark)[0]
        return words([as_text(label) for label in cells(column, "label", self.source)])


def _columns(schema: Any, source: str) -> tuple[list[str], list[Any]]:
    """The names and types of a schema's columns."""
    with whole_file_of(source):
        return [str(name) for name in schema.names], list(schema.types)


class _Look:
    """Tells what columns are: from their types, and from the first rows of those that are text or dates."""

    def __init__(
        self,
        names: list[str],
        types: list[Any],
        source: str,
        first: Callable[[str], list[Any]],
        closely: bool,
    ) -> None:
        self._names, self._types, self._source = names, types, source
        self._first, self._closely = first, closely

    def __call__(self, asked: dict[int, Asked]) -> dict[int, Decision]:
        there = {
            place: holds(self._types[place], self._names[place], self._source)
            for place, said in asked.items()
            if said != "label" or is_string(self._types[place])
        }
        for place, said in asked.items():
            if said == "numeric" and there[place] == "dates":
                what = f"column {self._names[place]!r} must hold numbers, it holds type {self._types[place]}"
                raise InputError(what, self._source)
        looked = self._first(self._source) if any(self._open(there[p], asked[p]) for p in there) else []
        found = {place: self._typed(place, there[place], looked) for place in there}
        text = {place: asked[place] for place in there if self._as_text(there[place], asked[place])}
        cells = {self._names[place]: self._cells(place, looked) for place in text}
        named = {self._names[place]: one for place, one in text.items()}
        decided = decide(cells, named, typed=True, closely=self._closely)
        return found | {place: decided[self._names[place]] for place in text}

    def _as_text(self, there: Holds, asked: Asked) -> bool:
        """Whether a column's cells are looked at as text: strings, and what was said to be otherwise than its type."""
        return (
            there == "text"
            or (there == "names" and asked in ("numeric", "date"))
            or (there == "numbers" and asked == "date")
        )

    def _open(self, there: Holds, asked: Asked) -> bool:
        return there == "dates" or self._as_text(there, asked)

    def _cells(self, place: int, looked: list[Any]) -> list[str]:
        """The first cells of a column, as they are written."""
        name = self._names[place]
        found = [one for batch in looked for one in cells(batch.column(place), name, self._source)]
        return [as_text(one) or "" for one in found[:LOOKED_AT]]

    def _typed(self, place: int, there: Holds, looked: list[Any]) -> Decision:
        """What the type of a column alone says."""
        from pyarrow import types

        if there != "dates":
            return Decision(NUMBER if there == "numbers" else CATEGORY)
        parts = [_instants(batch.column(place), self._names[place], self._source) for batch in looked]
        none = np.empty(0, dtype=np.int64)
        found, clocks = (np.concatenate(one)[:LOOKED_AT] for one in zip((none, none), *parts, strict=True))
        known = found != NOT_THERE
        whole_days = self._closely or types.is_date(self._types[place])
        hours = bool((clocks[known] % DAY != 0).any()) or not whole_days
        return dated(self._names[place], Dates("ymd", int(found[known][0]) if known.any() else 0, hours))


def holds(kind: Any, name: str, source: str) -> Holds:
    """What an Arrow type holds; others are refused."""
    from pyarrow import types

    if is_numeric(kind):
        return "numbers"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "dates"
    if types.is_dictionary(kind):
        inside = holds(kind.value_type, name, source)
        return inside if inside == "dates" else "names"
    if is_string(kind):
        return "text"
    raise InputError(f"column {name!r} must hold numbers, booleans, dates or strings, it holds type {kind}", source)


def as_numbers(column: Any, name: str, source: str) -> NDArray[np.float64]:
    """A column as float64, NaN where there is none; one that is float64 and whole is not copied."""
    import pyarrow

    if holds(column.type, name, source) != "numbers":
        raise InputError(f"column {name!r} must hold numbers, it holds type {column.type}", source)
    with _readable(name, source):
        found = column.cast(pyarrow.float64(), safe=False)
        if len(found) and not found.null_count:  # to_numpy would import pandas, if it is there, and look at it
            return np.frombuffer(found.buffers()[1], np.float64, len(found), 8 * found.offset)
        return np.asarray(found.to_numpy(zero_copy_only=False))


def _instants(column: Any, name: str, source: str) -> tuple[Ints, Ints]:
    """The instants of a column of dates or time stamps, and what their clocks show."""
    import pyarrow
    from pyarrow import compute, types

    with _readable(name, source):
        if types.is_dictionary(column.type):
            column = column.dictionary_decode()
        zone = column.type.tz if types.is_timestamp(column.type) else None
        exact = column.cast(pyarrow.timestamp("us", zone), safe=False)
        wall = exact if zone is None else compute.local_timestamp(exact)
    found, clocks = (np.asarray(one.cast(pyarrow.int64()).fill_null(0)) for one in (exact, wall))
    return np.where(np.asarray(column.is_valid()), found, NOT_THERE), clocks


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
    from pyarrow import types

    with _readable(name, source):
        column.validate(full=True)  # text that is not UTF-8
        return list((column.dictionary_decode() if types.is_dictionary(column.type) else column).to_pylist())


def strings(column: Any, name: str, source: str) -> Strings:
    """A column's values as the text that is hashed."""
    with _readable(name, source):
        column.validate(full=True)  # text that is not UTF-8, a code that has no value
        return _strings(column)


@contextmanager
def _readable(name: str, source: str) -> Iterator[None]:
    """What Arrow finds wrong with a column, as one sentence."""
    from pyarrow import ArrowException

    try:
        yield
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
    while True:
        with whole_file_of(source):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


@contextmanager
def whole_file_of(source: str) -> Iterator[None]:
    """What Arrow finds wrong with a file, as one sentence."""
    from pyarrow import ArrowException

    try:
        yield
    except InputError:
        raise
    except (ArrowException, OSError, ValueError, KeyError, IndexError, MemoryError, NotImplementedError) as error:
        raise InputError(f"is truncated or corrupt ({reason(error)})", source) from error


def read_ipc(file: Input, settings: Settings) -> ArrowTable:
    """An Arrow IPC file or stream, told apart by the first bytes."""

    def batches(_: int, columns: list[str] | None) -> Iterator[Any]:
        with file.seekable() as handle:
            for batch in _ipc_batches(handle)[1]:
                batch.validate(full=True)  # a damaged offset would otherwise be followed out of memory
                yield batch

    with whole_file_of(file.name), file.seekable() as handle:
        schema = _ipc_batches(handle)[0]
    return ArrowTable(file.name, schema, batches, settings)


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
        return ArrowTable(source, table.schema, lambda *_: iter(table), settings, rereadable=False)
    whole = pyarrow.Table.from_batches([table]) if isinstance(table, pyarrow.RecordBatch) else table

    def batches(rows: int, columns: list[str] | None) -> Iterator[Any]:
        return iter(whole.to_batches(max_chunksize=rows))

    return ArrowTable(source, whole.schema, batches, settings, length=whole.num_rows)
