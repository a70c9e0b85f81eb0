"""Rows as the loops take them: arrays and frames, and one example, a dict, an array or a pair (indices, values)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import narrowed
from noregret.errors import InputError, SettingError
from noregret.learner.core import Core, NativeRows
from noregret.prepare import Preparation
from noregret.stream import read
from noregret.stream.block import ARRAY_ROWS, BLOCK_VALUES, MAX_INDEX, Dense, Rows, Sparse
from noregret.stream.features import Features, bounds
from noregret.stream.formats.arrays import check_bounds, check_indices, unsigned
from noregret.stream.formats.dicts import one_dict, refuse_missing
from noregret.stream.formats.frames import column_names
from noregret.stream.recipe import USUAL_LABEL

FLOAT64 = np.dtype(np.float64)
FLOATS = (FLOAT64, np.dtype(np.float32))
WHOLE = (np.dtype(np.int32), np.dtype(np.int64))
NOT_FINITE = "an example must hold finite numbers only"


def as_rows(X: Any, guarded: bool = False) -> Rows:
    """A checked array or CSR matrix as rows; where they are `guarded`, indices are looked at by the loop itself."""
    if isinstance(X, np.ndarray):
        return Dense(X)
    check_bounds(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if not guarded or X.indices.dtype != np.int32:  # one that is cut to 32 bits may look like another
        check_indices(X)
    return Sparse(X.indptr.astype(np.int64), unsigned(X.indices), np.ascontiguousarray(X.data), X.shape[1])


def blocks_of(core: Core, frame: Any, frozen: bool = False, recognise: bool = False) -> list[Rows]:
    """The rows of a frame by the learner's recipe, which takes in new columns unless it is `frozen`.

    A column that the learner knows as the label of the tables before is none of its features.
    """
    features = core.features
    label = core.options.get("label") or USUAL_LABEL
    beside = features is not None and not features.knows(label) and label in column_names(frame)
    stream = read(
        (frame, np.zeros(len(frame))),
        features=features,
        frozen=frozen,
        ignore=(label,) if beside else (),
        missing="error" if core.preparation.means is None else "mean",
        recognise=recognise,
    )
    if features is None:
        core.features = stream.features
    core.single = None  # reading may have changed what a column means
    return [block.rows for block in stream.blocks()]


def chunks(order: NDArray[np.int64], values: int) -> Iterator[NDArray[np.int64]]:
    """An order in parts whose rows, with this number of values in all, are copied a block at a time."""
    size = max(1, min(ARRAY_ROWS, BLOCK_VALUES * len(order) // max(values, 1)))
    return (order[start : start + size] for start in range(0, len(order), size))


def orders(rows: int, passes: int, shuffle: int | None) -> Iterator[NDArray[np.int64] | None]:
    """The order of the rows in each pass; None is the order they came in."""
    if not isinstance(passes, int | np.integer) or passes < 1:
        raise SettingError(f"passes must be a whole number of at least 1, got {passes}")
    if shuffle is not None and (not isinstance(shuffle, int | np.integer) or shuffle < 0):
        raise SettingError(f"shuffle: the seed must be a whole number of at least 0, got {shuffle!r}")
    rng = None if shuffle is None else np.random.default_rng(shuffle)
    for _ in range(passes):
        yield None if rng is None else rng.permutation(rows)


@dataclass
class Trial:
    """What `one_row` looks at in a learner."""

    features: Features | None
    preparation: Preparation
    plain: bool = True


def one_row(core: Core | Trial, x: Any, learn: bool, y: float = 0.0) -> tuple[NativeRows, int]:
    """The example as one row, prepared, and its width; while learning, with its label y, new features are taken in."""
    row: Rows
    if type(x) is dict or isinstance(x, Mapping):
        features = Features("names") if core.features is None else core.features
        single = one_dict(features, x, learn)
        core.features = features  # that of the first example only if it was not refused
        if core.plain:
            return single, features.width
        row = Sparse(*single)
    elif isinstance(x, tuple) and len(x) == 2:
        row = _pair(*x)
        _admit(core, row, "index", learn)
    elif core.features is not None and core.features.kind == "names" and hasattr(x, "to_dict"):
        return one_row(core, x.to_dict(), learn, y)  # a row of a frame, by its names
    else:
        row = Dense(_array(x)[np.newaxis])
        _admit(core, row, "columns", learn)
    if not core.plain:
        filled = core.preparation.means is not None and not learn  # one that is learned from must be whole
        if np.isinf(row.values).any() if filled else not np.isfinite(row.values).all():
            raise InputError(NOT_FINITE)
        row = core.preparation.apply(row, learn, core.features, np.array([y]))
    return row.native, row.width


def checked_weight(weight: float) -> float:
    if not (weight >= 0.0 and math.isfinite(weight)):
        raise InputError(f"a weight must be at least 0 and finite, got {weight}")
    return float(weight)


def without(row: NativeRows, width: int) -> NativeRows:
    """A row without the features from `width` on, which were never learned from."""
    if not isinstance(row, tuple):
        return np.ascontiguousarray(row[:, :width])
    kept = row[1] < width
    return bounds(int(kept.sum())), row[1][kept], row[2][kept]


def is_finite(row: NativeRows) -> bool:
    return bool(np.isfinite(row[2] if isinstance(row, tuple) else row).all())


def refuse_strange(x: Any) -> None:
    """Raise for an example that could not be learned from, whatever its label."""
    if isinstance(x, Mapping):
        refuse_missing(x)
    elif not np.isfinite(_pair(*x).values if isinstance(x, tuple) and len(x) == 2 else _array(x)).all():
        raise InputError(NOT_FINITE)


def _admit(core: Core | Trial, row: Rows, kind: Any, learn: bool) -> None:
    """Take in the features of a row, which must go with those known so far; what is not finite is refused before."""
    features, width = core.features, row.width
    if features is None or (learn and features.kind == "index" and width > features.width):
        if not np.isfinite(row.values).all():
            raise InputError(NOT_FINITE)
        if features is None:
            core.features = Features(kind, width)
        else:
            features.reach(width)
    elif features.kind != "index" and (width > features.width or (kind == "columns" and width != features.width)):
        raise InputError(f"expected {features.width} features, got {width}")


def _pair(indices: Any, values: Any) -> Sparse:
    if type(indices) is type(values) is np.ndarray and indices.dtype in WHOLE and values.dtype is FLOAT64:
        count = values.shape[0] if indices.shape == values.shape and values.ndim == 1 else -1
        if count >= 0 and indices.flags.c_contiguous and values.flags.c_contiguous:  # as most come
            out = np.empty(count, np.uint32)
            reach = narrowed(indices, MAX_INDEX, out)
            if reach >= 0:
                return Sparse(bounds(count), out, values, reach=reach)
    try:
        where, what = np.asarray(indices), np.ascontiguousarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("an (indices, values) pair must be two rows of numbers") from None
    if where.size and where.dtype.kind not in "iu":
        raise InputError("the indices of an (indices, values) pair must be whole numbers that fit 64 bits")
    where = where.astype(np.int64)
    if where.shape != what.shape or where.ndim != 1:
        raise InputError("an (indices, values) pair must be two rows of one length")
    if not 0 <= where.min(initial=0) <= where.max(initial=0) <= MAX_INDEX:
        raise InputError(f"the indices of an (indices, values) pair must lie between 0 and {MAX_INDEX}")
    if np.unique(where).size != where.size:
        raise InputError("an (indices, values) pair may name each index only once")
    return Sparse(bounds(where.size), where.astype(np.uint32), what)


def _array(x: Any) -> NDArray[Any]:
    try:
        if isinstance(x, np.ndarray) and x.dtype.kind == "c":
            raise TypeError
        row = x if isinstance(x, np.ndarray) and x.dtype in FLOATS else np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        row = np.zeros((0, 0))
    if row.ndim != 1:
        raise InputError("one example must be a dict, a row of numbers or a pair (indices, values)")
    return np.ascontiguousarray(row)
