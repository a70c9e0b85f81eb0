"""Arrays and frames as rows, in the parts and the order in which they are learned from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError
from noregret.learner.core import Core
from noregret.stream import read
from noregret.stream.block import ARRAY_ROWS, BLOCK_VALUES, Dense, Rows, Sparse
from noregret.stream.formats.arrays import check_bounds, check_indices, unsigned
from noregret.stream.formats.frames import column_names
from noregret.stream.recipe import USUAL_LABEL


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
