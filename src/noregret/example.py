"""One example, as the row that the loops take: a dict, an array or a pair (indices, values); and its score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import narrowed
from noregret.errors import InputError
from noregret.learner.auto import Auto
from noregret.learner.core import Core, NativeRows
from noregret.stream.block import MAX_INDEX, Dense, Rows, Sparse, rows_of
from noregret.stream.features import Features, bounds
from noregret.stream.formats.dicts import one_dict, refuse_missing

FLOAT64 = np.dtype(np.float64)
FLOATS = (FLOAT64, np.dtype(np.float32))
WHOLE = (np.dtype(np.int32), np.dtype(np.int64))
NOT_FINITE = "an example must hold finite numbers only"


def one_row(core: Core, x: Any, learn: bool, y: float = 0.0) -> tuple[NativeRows, int]:
    """The example as one row, prepared, and its width; while learning, with its label y, new features are taken in."""
    row = raw_row(core, x, learn)
    if not core.plain:
        filled = core.preparation.means is not None and not learn  # one that is learned from must be whole
        if np.isinf(row.values).any() if filled else not np.isfinite(row.values).all():
            raise InputError(NOT_FINITE)
        row = core.preparation.apply(row, learn, core.features, np.array([y]))
    return row.native, row.width


def raw_row(core: Core, x: Any, learn: bool) -> Rows:
    """The example as it came, as one row that the next call may write over; while learning, it may bring features."""
    if type(x) is dict or isinstance(x, Mapping):
        features = Features("names") if core.features is None else core.features
        single = one_dict(features, x, learn)
        core.features = features  # that of the first example only if it was not refused
        return Sparse(*single, reach=features.width)
    if isinstance(x, tuple) and len(x) == 2:
        pair = _pair(*x)
        _admit(core, pair, "index", learn)
        return pair
    if core.features is not None and core.features.kind == "names" and hasattr(x, "to_dict"):
        return raw_row(core, x.to_dict(), learn)  # a row of a frame, by its names
    row = Dense(_array(x)[np.newaxis])
    _admit(core, row, "columns", learn)
    return row


def checked_weight(weight: float) -> float:
    if not (weight >= 0.0 and math.isfinite(weight)):
        raise InputError(f"a weight must be at least 0 and finite, got {weight}")
    return float(weight)


def without(row: NativeRows, width: int) -> NativeRows:
    """A row without the features from `width` on, which were never learned from."""
    return rows_of(row).below(width).native


def foretell(core: Core, row: Rows, waiting: int) -> tuple[Any, NDArray[np.float64] | None]:
    """The score of a row that comes next while `waiting` rounds lack their labels, and what a mixture's members say.

    Of many classes it is a score for each.
    """
    with core.lock:
        if not core.plain:
            row = core.preparation.apply(row, learn=False, features=core.features, ahead=waiting)
        native = without(row.native, core.width) if row.width > core.width else row.native
        return (core.score_one(native), None) if not isinstance(core, Auto) else core.foretell(native, not waiting)


def is_finite(row: NativeRows) -> bool:
    return bool(np.isfinite(row[2] if isinstance(row, tuple) else row).all())


def refuse_strange(x: Any) -> None:
    """Raise for an example that could not be learned from, whatever its label."""
    if isinstance(x, Mapping):
        refuse_missing(x)
    elif not np.isfinite(_pair(*x).values if isinstance(x, tuple) and len(x) == 2 else _array(x)).all():
        raise InputError(NOT_FINITE)


def _admit(core: Core, row: Rows, kind: Any, learn: bool) -> None:
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
