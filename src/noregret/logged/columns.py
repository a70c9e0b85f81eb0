"""Ledgers of a Parquet log of plain numbers, column by column: a row group at a time, several groups at once.

A group's scores and labels are read first and become slopes, then its features by a few columns each, so that no
more than those are in memory. Every group has sums of its own, added in the order of the groups: what comes out does
not depend on the threads.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from noregret._native import enter_columns, enter_norms
from noregret.logged.reading import log_odds, missed
from noregret.stream.formats.arrow import ArrowTable, as_numbers, is_numeric
from noregret.stream.formats.parquet import opened_parquet
from noregret.stream.labels import Labels
from noregret.watch.ledger import Ledger, Tally

if TYPE_CHECKING:
    from noregret.logged.opening import Log
    from noregret.logged.reading import Watch

Vector = NDArray[np.float64]
TOGETHER = 4  # columns that are read side by side
BATCH = 32768
LARGEST = 2**23  # rows of a group whose slopes are held: beyond, rows are read one after another
AT_ONCE = 2**21  # rows of a group, for several groups at once


class Otherwise(Exception):
    """The log has to be read row by row: a value is missing, or something is no plain number."""


@dataclass
class Group:
    """A row group on its way: the parts of the log that it meets, each with its tally and its mistakes."""

    place: int
    cuts: list[int]  # where its parts begin, the end last
    parts: list[int]
    tallies: list[Tally]
    taken: Vector
    squares: Vector
    mistakes: list[int]
    lowest: float = np.inf  # score
    highest: float = -np.inf
    negatives: frozenset[float] = frozenset()  # what stood for the negative label

    def pieces(self, start: int, stop: int) -> Iterator[tuple[int, slice, slice]]:
        """Of the rows start..stop those of each part: in the group, and among those rows."""
        for place, (a, b) in enumerate(pairwise(self.cuts)):
            low, high = max(a, start), min(b, stop)
            if low < high:
                yield place, slice(low, high), slice(low - start, high - start)


@dataclass(frozen=True)
class Columns:
    """Which columns of a file are what."""

    log: Log
    path: str
    features: Sequence[str]
    label: str
    bounds: Sequence[int]  # where the parts of the log begin, the end last
    starts: Sequence[int]  # where the row groups do

    def read(self, place: int) -> Group:
        """The sums of a row group."""
        group = self._group(place)
        with open(self.path, "rb") as handle:
            file, done = opened_parquet(handle), 0
            for batch in batches(file, place, [self.log.said, self.label]):
                self._score(group, batch, done)
                done += batch.num_rows
            for start in range(0, len(self.features), TOGETHER):
                names, done = self.features[start : start + TOGETHER], 0
                for batch in batches(file, place, names):
                    self._enter(group, batch, start, done)
                    done += batch.num_rows
        for tally, (a, b) in zip(group.tallies, pairwise(group.cuts), strict=True):
            if not enter_norms(group.taken[a:b], group.squares[a:b], tally.sums):
                raise Otherwise
        return group

    def _group(self, place: int) -> Group:
        first, size = self.starts[place], self.starts[place + 1] - self.starts[place]
        inner = self.bounds[1:-1]
        cuts = [0, *(bound - first for bound in inner if first < bound < first + size), size]
        parts = [bisect_right(inner, first + cut) for cut in cuts[:-1]]
        tallies = [Tally(self.log.loss, self.log.bias) for _ in parts]
        for tally in tallies:
            tally.widen(len(self.features))
        squares = np.full(size, float(self.log.bias))
        return Group(place, cuts, parts, tallies, np.empty(size), squares, [0] * len(parts))

    def _score(self, group: Group, batch: Any, done: int) -> None:
        """The slopes of some rows."""
        scores, y = self._scores(self._values(batch, 0)), self._labels(group, self._values(batch, 1))
        group.lowest = min(group.lowest, float(scores.min()))
        group.highest = max(group.highest, float(scores.max()))
        for part, rows, here in group.pieces(done, done + len(y)):
            group.taken[rows] = group.tallies[part].enter(y[here], None, scores[here])
            if not self.log.loss.regression:
                group.mistakes[part] += missed(y[here], scores[here])

    def _enter(self, group: Group, batch: Any, start: int, done: int) -> None:
        """Some rows of a few columns, the first of which is feature `start`."""
        values = [self._values(batch, place) for place in range(batch.num_columns)]
        for part, rows, here in group.pieces(done, done + batch.num_rows):
            G = group.tallies[part].G[start : start + len(values)]
            enter_columns([one[here] for one in values], group.taken[rows], group.squares[rows], G)

    def _values(self, batch: Any, place: int) -> Vector:
        column = batch.column(place)
        if column.null_count:
            raise Otherwise
        return as_numbers(column, batch.schema.names[place], self.path)

    def _scores(self, said: Vector) -> Vector:
        """The scores; a value that has no place here is said in words where rows are read one by one."""
        if self.log.kind == "probability":
            return log_odds(said) if bool(((said >= 0.0) & (said <= 1.0)).all()) else _otherwise()
        return said if bool(np.isfinite(said).all()) else _otherwise()

    def _labels(self, group: Group, y: Vector) -> Vector:
        """Labels as −1 and +1, from −1 or 0 and 1; others are looked at row by row."""
        if self.log.loss.regression:
            return y if bool(np.isfinite(y).all()) else _otherwise()
        counts = {code: int(np.count_nonzero(y == code)) for code in (-1.0, 0.0)}
        group.negatives |= {code for code, count in counts.items() if count}
        above = y == 1.0
        if int(np.count_nonzero(above)) + sum(counts.values()) != len(y):
            return _otherwise()
        return np.where(above, 1.0, -1.0)


def _otherwise() -> Vector:
    raise Otherwise


def batches(file: Any, group: int, names: Sequence[str]) -> Iterator[Any]:
    """The columns of a row group side by side, in the order of the names."""
    found = file.iter_batches(batch_size=BATCH, row_groups=[group], columns=list(names), use_threads=False)
    return (batch.select(list(names)) for batch in found)


def by_column(
    log: Log, bounds: Sequence[int], threads: int, watch: Watch | None
) -> tuple[list[tuple[Ledger, int]], bool] | None:
    """The ledger and the mistakes of each part, and whether scores lie in [0, 1]; None for a log of another kind."""
    known = _columns(log, bounds)
    if known is None:
        return None
    sizes = [stop - start for start, stop in pairwise(known.starts)]
    at_once = threads if max(sizes) <= AT_ONCE else 1
    groups: list[Group] = []
    try:
        with ThreadPoolExecutor(at_once) as pool:
            try:
                for group in pool.map(known.read, range(len(sizes))):
                    group.taken = group.squares = np.zeros(0)
                    groups.append(group)
                    if watch is not None:
                        done = known.starts[group.place + 1]
                        watch(f"reading {done:,} rows", done / known.starts[-1])
            finally:
                pool.shutdown(cancel_futures=True)
    except (Otherwise, OSError, pyarrow_error(), ValueError, LookupError):
        return None
    if len(frozenset().union(*(group.negatives for group in groups))) > 1:
        return None
    found: dict[int, tuple[Ledger, int]] = {}
    for group in groups:
        for part, tally, wrong in zip(group.parts, group.tallies, group.mistakes, strict=True):
            ledger = tally.ledger()
            found[part] = (found[part][0] + ledger, found[part][1] + wrong) if part in found else (ledger, wrong)
    alike = min(group.lowest for group in groups) >= 0.0 and max(group.highest for group in groups) <= 1.0
    return [found[part] for part in sorted(found)], alike


def pyarrow_error() -> type[Exception]:
    """What Arrow raises."""
    from pyarrow import ArrowException

    return cast(type[Exception], ArrowException)


def _columns(log: Log, bounds: Sequence[int]) -> Columns | None:
    """What is where, if the log is a Parquet file of plain numbers with labels that need nobody's word."""
    stream, labels = log.stream, log.core.labels
    told = isinstance(labels, Labels) and labels.positive is not None
    if not isinstance(stream, ArrowTable) or stream.path is None or log.kind == "prediction" or log.segment or told:
        return None
    features, label = stream.plain_features(), stream.features.label
    if features is None or label is None:
        return None
    with open(stream.path, "rb") as handle:
        file = opened_parquet(handle)
        schema, metadata = file.schema_arrow, file.metadata
    if not all(is_numeric(schema.field(name).type) for name in (log.said, label)):
        return None
    starts = [0]
    for place in range(metadata.num_row_groups):
        starts.append(starts[-1] + metadata.row_group(place).num_rows)
    sizes = [stop - start for start, stop in pairwise(starts)]
    if not sizes or not min(sizes) or max(sizes) > LARGEST:
        return None
    return Columns(log, stream.path, features, label, bounds, starts)
