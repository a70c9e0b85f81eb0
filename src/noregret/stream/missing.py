"""The one rule for values that are not there, applied to every block of every reader.

NaN is a missing value: an error, a 0, the mean of its feature so far, or a reason to leave out the row, as the user
chose. The mean is the learner's to fill in, for it keeps the means: here the value stays NaN. An infinity is always
an error; so is a missing label, unless rows with missing values are left out. The user's own arrays are never
changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError
from noregret.stream.block import Block, Dense, all_finite
from noregret.stream.features import Features

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Missing:
    """The rule (`error`, `zero`, `mean` or `skip`) and whether a label is needed."""

    rule: str = "error"
    labels: bool = True

    def clean(self, block: Block, features: Features) -> Block:
        """The block with the rule applied; the same object when there is nothing to do."""
        _check_weights(block)
        values = block.rows.values
        finite = block.rows.finite or all_finite(values)
        bad = _missing_labels(block) if self.labels else None
        if finite and bad is None:
            return block
        if bad is None:
            bad = np.zeros(len(block), dtype=bool)
        infinite = None if finite else _first(np.isinf(values))
        if self.rule == "skip":
            self._refuse_infinity(block, features, infinite)
            return block.take(np.flatnonzero(~(bad | _rows_with_nan(block))).astype(np.int64))
        self._refuse_first(block, features, bad, infinite)
        return block if self.rule == "mean" else _zeroed(block)

    def _refuse_infinity(self, block: Block, features: Features, position: int | None) -> None:
        if position is not None:
            row, index = block.rows.row_of(position)
            value = block.rows.values[position]
            raise _at(block, row, f"{features.quoted(index)} must be finite, got {value}")

    def _refuse_first(self, block: Block, features: Features, bad: Mask, infinite: int | None) -> None:
        """Raise for the earliest row that the rule cannot accept, if there is one."""
        position = infinite if self.rule in ("zero", "mean") else _first(~np.isfinite(block.rows.values))
        row = len(block) if position is None else block.rows.row_of(position)[0]
        label = _first(bad)
        if label is not None and label <= row:
            raise _at(block, label, "the label is missing (use --missing skip to leave out such rows)")
        if position is not None and np.isnan(block.rows.values[position]):
            name = features.quoted(block.rows.row_of(position)[1])
            raise _at(block, row, f"{name} is missing (NaN): use --missing mean, zero or skip")
        self._refuse_infinity(block, features, position)


def _at(block: Block, row: int, sentence: str) -> InputError:
    return InputError(sentence, block.source, int(block.lines[row]))


def _first(mask: Mask) -> int | None:
    where = int(mask.argmax()) if mask.size else 0
    return where if mask.size and mask[where] else None


def _missing_labels(block: Block) -> Mask | None:
    """Which labels are not there, None if all are; an infinite one is an error."""
    labels = block.labels
    if block.sides is not None:
        return None
    if labels.dtype == object:
        empty = np.asarray(labels == "", dtype=bool)
        return empty if empty.any() else None
    if all_finite(labels):
        return None
    infinite = _first(np.isinf(labels))
    if infinite is not None:
        raise _at(block, infinite, f"the label must be finite, got {labels[infinite]}")
    return np.asarray(np.isnan(labels), dtype=bool)


def _check_weights(block: Block) -> None:
    if block.weights is not None:
        wrong = _first(~((block.weights >= 0) & (block.weights < np.inf)))
        if wrong is not None:
            got = block.weights[wrong]
            raise _at(block, wrong, f"the weight must be at least 0 and finite, got {got}")


def _rows_with_nan(block: Block) -> Mask:
    rows = block.rows
    if isinstance(rows, Dense):
        return np.asarray(np.isnan(rows.X).any(axis=1), dtype=bool)
    missing = np.concatenate([[0], np.cumsum(np.isnan(rows.values))])
    return np.asarray(np.diff(missing[rows.indptr]) > 0, dtype=bool)


def _zeroed(block: Block) -> Block:
    values = block.rows.values
    filled = block.rows.with_values(np.where(np.isnan(values), values.dtype.type(0), values))
    return Block(filled, block.labels, block.lines, block.source, block.weights)
