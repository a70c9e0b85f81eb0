"""Tables with named columns: which one is the label, which are numbers, which are hashed, where each goes.

A plan is made once, from the column names and their kinds, and matches them with a model's recipe by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError, SettingError
from noregret.stream.block import Block, Dense, Ints, Rows
from noregret.stream.features import Features, Hints
from noregret.stream.hashing import Column, HashedValues, Strings, by_row, merged
from noregret.stream.settings import Settings
from noregret.stream.wording import listed

ColumnKind = Literal["numeric", "categorical"]
USUAL_LABEL = "label"


@dataclass(frozen=True, slots=True)
class Numeric:
    """A column of numbers: where it stands in the table, and which feature it is."""

    column: int
    name: str
    feature: int


@dataclass(frozen=True, slots=True)
class Hashed:
    """A column whose values are hashed."""

    column: int
    name: str
    is_text: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of each column; columns that a frozen recipe does not know are in neither list."""

    label: int | None
    numeric: tuple[Numeric, ...]
    hashed: tuple[Hashed, ...]
    features: Features
    learn: bool

    def rows(self, numbers: Sequence[NDArray[Any]], cells: Sequence[Strings], count: int) -> tuple[Rows, Hints | None]:
        """The rows of one block, from the columns in the order of `numeric` and of `hashed`; what to remember of it.

        Several threads may call this at once. Only one may then give the hints to `features.note`, in order.
        """
        if self.features.hash_start is None:
            X = np.zeros((count, self.features.width))
            for column, values in zip(self.numeric, numbers, strict=True):
                X[:, column.feature] = values
            return Dense(X), None
        indices = np.array([column.feature for column in self.numeric], dtype=np.uint32)
        X = np.column_stack(numbers) if numbers else np.empty((count, 0))
        at_row, at_column = np.nonzero(X)
        columns = [Column(column.name, column.is_text, held) for column, held in zip(self.hashed, cells, strict=True)]
        found = HashedValues(columns, self.features)
        bounds, order = by_row(np.concatenate([at_row, found.rows]), count)
        hints = found.hints(order, len(at_row), self.features) if self.learn else None
        places = np.concatenate([indices[at_column], found.slots + np.uint32(self.features.hash_start)])
        return merged(bounds, order, places, np.concatenate([X[at_row, at_column], np.ones(len(found.rows))])), hints

    def block(
        self,
        numbers: Sequence[NDArray[Any]],
        cells: Sequence[Strings],
        labels: NDArray[Any],
        lines: Ints,
        source: str,
    ) -> Block:
        rows, hints = self.rows(numbers, cells, len(lines))
        if hints is not None:
            self.features.note(hints)
        return Block(rows, labels, lines, source)


def plan(names: Sequence[str], kind_of: Callable[[int], ColumnKind], settings: Settings, source: str) -> Plan:
    """Decide every column's part; `kind_of` tells a column's own kind where nobody else says."""
    _check_names(names, source)
    label = _label(names, settings, source)
    features = _recipe(settings, source)
    _check_declared(names, settings, features, source)
    if not settings.frozen:
        features.declare(settings.categorical, settings.text)
    known = dict.fromkeys(features.index, "numeric")
    known |= dict.fromkeys(features.categorical, "categorical") | dict.fromkeys(features.text, "text")
    kinds = {
        place: kind
        for place, name in enumerate(names)
        if place != label
        and name not in settings.ignore
        and (kind := known.get(name) or (None if settings.frozen else kind_of(place))) is not None
    }
    if not settings.frozen:
        _extend(features, {names[place]: kind for place, kind in kinds.items()}, settings)
    numeric = [Numeric(p, names[p], features.index[names[p]]) for p, kind in kinds.items() if kind == "numeric"]
    hashed = [Hashed(p, names[p], kind == "text") for p, kind in kinds.items() if kind != "numeric"]
    return Plan(label, tuple(numeric), tuple(hashed), features, not settings.frozen)


def _check_names(names: Sequence[str], source: str) -> None:
    seen: set[str] = set()
    for place, name in enumerate(names):
        if not name:
            raise InputError(f"column {place + 1} has no name", source, 1)
        if name in seen:
            raise InputError(f"two columns are named {name!r}", source, 1)
        seen.add(name)


def _label(names: Sequence[str], settings: Settings, source: str) -> int | None:
    wanted = settings.label or USUAL_LABEL
    if wanted in names:
        return names.index(wanted)
    if not settings.labels:
        return None
    advice = "" if settings.label else " (say which one is the label: --label, or label= in Python)"
    raise InputError(f"there is no column {wanted!r}{advice}: the columns are {listed(names)}", source)


def _recipe(settings: Settings, source: str) -> Features:
    features = Features("names") if settings.features is None else settings.features
    if features.kind != "names":
        if features.width:
            raise SettingError(f"the model's features have no names, the columns of {source} have")
        features.kind = "names"
    if features.bare:
        raise SettingError(f"the model's features are Vowpal Wabbit's hashed names, {source} has columns")
    return features


def _check_declared(names: Sequence[str], settings: Settings, features: Features, source: str) -> None:
    known = set(names)
    for option in ("categorical", "text", "ignore"):
        for name in getattr(settings, option):
            if name == (settings.label or USUAL_LABEL):
                raise InputError(f"column {name!r} is the label: it cannot be --{option} too", source)
            if name not in known:
                raise InputError(
                    f"there is no column {name!r} to be --{option}: the columns are {listed(names)}", source
                )
    for name in (*features.names, *features.categorical, *features.text):
        if name not in known:
            raise InputError(f"the model needs a column {name!r}: the columns are {listed(names)}", source)


def _extend(features: Features, kinds: dict[str, Any], settings: Settings) -> None:
    """Add the columns that the recipe does not have: first the numeric ones, then the slots behind them."""
    for name, kind in kinds.items():
        if kind == "numeric":
            features.add(name)
    if "categorical" in kinds.values() or "text" in kinds.values():
        features.set_up_hashing(settings.hash_bits)
        features.declare(tuple(name for name, kind in kinds.items() if kind == "categorical"))
