"""Tables with named columns: which one is the label, what each of the others becomes, and where its features go.

A plan is made once, from the column names and what was declared or recognised, and matches them with a model's recipe
by name. This is where a column becomes a feature: `column.py` decides what kind of column it is, `plan` gives it its
place among the features of `features.py`, and the format fills that in, row after row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError, SettingError, listed, offers, spelled
from noregret.stream.block import Dense, Floats, Rows
from noregret.stream.cells import Strings, is_missing, number
from noregret.stream.column import (
    CATEGORY,
    LEFT_OUT,
    LOOKED_AT,
    NUMBER,
    TEXT,
    Asked,
    Decision,
    Kind,
    kinds_of,
    label_line,
    still_open,
)
from noregret.stream.features import Features, Hints
from noregret.stream.hashing import Column, HashedValues, by_row, merged
from noregret.stream.interactions import Crossed, Product, add_pairs, interacting
from noregret.stream.reading import DECLARING, Settings
from noregret.stream.written import MARKS, ORDER_WORDS, Mark, amounts, instants

USUAL_LABEL = "label"
USUAL_LABELS = (USUAL_LABEL, "target", "class", "outcome", "y")  # where nobody says, in this order
Look = Callable[[dict[int, Asked]], dict[int, Decision]]  # what columns are, by their places in the table


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
class Converted:
    """A column of text that numbers are made of: written amounts, or dates."""

    column: int
    name: str
    kind: Kind
    features: tuple[int, ...]

    def values(self, cells: Strings) -> tuple[NDArray[np.float64], int | None]:
        """A column for each feature; and the first cell that is not what it must be, if there is one."""
        if self.kind.mark is not None:
            numbers, wrong = amounts(cells, self.kind.mark)
            found = numbers[:, None]
        else:
            assert self.kind.dates is not None
            when, clocks, wrong = instants(cells, self.kind.dates.order)
            found = self.kind.dates.values(when, clocks)
        return found, int(wrong[0]) if len(wrong) else None

    def refusal(self, cell: str) -> str:
        """What is said of a cell that does not fit."""
        if self.kind.mark is not None:
            must = f"numbers with a decimal {self.kind.mark}"
        else:
            assert self.kind.dates is not None
            must = f"dates ({ORDER_WORDS[self.kind.dates.order]})"
        advice = f"(override: {' or '.join(spelled(one, columns=[self.name]) for one in ('categorical', 'ignore'))})"
        return f"column {self.name!r} must hold {must}, got {cell!r} {advice}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of each column; columns that a frozen recipe does not know are in no list."""

    label: int | None
    label_mark: Mark | None  # of labels that are written amounts
    numeric: tuple[Numeric, ...]
    hashed: tuple[Hashed, ...]
    converted: tuple[Converted, ...]
    products: tuple[Product, ...]
    crossed: tuple[Crossed, ...]
    features: Features
    learn: bool
    decisions: tuple[str, ...]
    columns: dict[str, str]  # every column that is not the label, and what becomes of it

    @property
    def texts(self) -> tuple[Hashed | Converted, ...]:
        """The columns whose cells are taken as text."""
        return (*self.hashed, *self.converted)

    @property
    def places(self) -> list[int]:
        """Where each column of `numeric` goes in the matrix that `rows` takes."""
        if self.features.hash_start is None:
            return [column.feature for column in self.numeric]
        return list(range(len(self.numeric)))

    def matrix(self, numbers: Sequence[NDArray[Any]], count: int) -> Floats:
        """The matrix that `rows` takes, from the columns in the order of `numeric`."""
        X = np.zeros((count, self.width))
        for place, values in zip(self.places, numbers, strict=True):
            X[:, place] = values
        return X

    @property
    def width(self) -> int:
        """Of that matrix: dense rows are made in it."""
        return self.features.width if self.features.hash_start is None else len(self.numeric)

    def rows(self, X: Floats, made: Sequence[Floats], cells: Sequence[Strings]) -> tuple[Rows, Hints | None]:
        """The rows of one block, from its plain numbers, what `converted` became, and the cells of `hashed`.

        Several threads may call this at once. Only one may then give the hints to `features.note`, in order.
        """
        if self.features.hash_start is None:
            for column, values in zip(self.converted, made, strict=True):
                X[:, list(column.features)] = values
            for one in self.products:
                X[:, one.feature] = one.of(X, one.left, one.right)
            return Dense(X), None
        places = [column.feature for column in self.numeric]
        places += [feature for column in self.converted for feature in column.features]
        X = np.hstack([X, *made]) if made else X
        at = {feature: place for place, feature in enumerate(places)}
        products = [one.of(X, at[one.left], at[one.right])[:, None] for one in self.products]
        indices = np.array([*places, *(one.feature for one in self.products)], dtype=np.uint32)
        found, amounts = self._hashed(X, at, cells)
        X = np.hstack([X, *products]) if products else X
        at_row, at_column = np.nonzero(X)
        bounds, order = by_row(np.concatenate([at_row, found.rows]), len(X))
        hints = found.hints(order, len(at_row), self.features) if self.learn else None
        slots = np.concatenate([indices[at_column], found.slots + np.uint32(self.features.hash_start)])
        return merged(bounds, order, slots, np.concatenate([X[at_row, at_column], amounts])), hints

    def _hashed(self, X: Floats, at: dict[int, int], cells: Sequence[Strings]) -> tuple[HashedValues, Floats]:
        """What is hashed and the value of each; `at` tells the column of X in which a feature stands."""
        columns = [Column(column.name, column.is_text, held) for column, held in zip(self.hashed, cells, strict=True)]
        by_name = {column.name: column.cells for column in columns}
        found = HashedValues([*columns, *(one.column(by_name) for one in self.crossed)], self.features)
        amounts = np.ones(len(found.rows))
        for place, one in enumerate(self.crossed, len(columns)):
            if one.number is not None:
                some = found.of(place)
                numbers = X[found.rows[some], at[one.number]]
                amounts[some] = np.where(np.isnan(numbers), 0.0, numbers)
        return found, amounts


def plain_number(cell: str, name: str, source: str, line: int) -> float:
    """The number in a cell of a column of plain numbers."""
    value = math.nan if is_missing(cell) else number(cell)
    if value is None:
        amount = any(not len(amounts(Strings.of([cell]), mark)[1]) for mark in MARKS)
        option, what = ("numeric", "numbers are written so") if amount else ("categorical", "values are names")
        advice = f" (if its {what}, declare it with {spelled(option, columns=[name])})" if offers(option) else ""
        raise InputError(f"column {name!r} must hold numbers, got {cell!r}{advice}", source, line)
    return value


def plan(names: Sequence[str], look: Look, settings: Settings, source: str) -> Plan:
    """Decide every column's part; `look` tells what columns are where nobody says."""
    _check_names(names, source)
    features = _recipe(settings, source)
    label = label_place(names, settings)
    if label is None and settings.labels:
        raise _no_label(names, settings, source)
    known, first = features.columns, not settings.frozen and features.label is None
    _check_declared(names, label, settings, known, source)
    found = _decided(names, label, look, settings, known)
    if not settings.frozen:
        _extend(features, label, names, found, settings, source)
    kinds = {place: known.get(names[place]) or found[place].kind for place in _used(names, label, settings, known)}
    lines = [decision.line for _, decision in sorted(found.items()) if decision.line]
    if first and label is not None and not settings.label and names[label] != USUAL_LABEL:
        lines.insert(0, label_line(names[label]))
    products, crossed = interacting(features, [names[place] for place in kinds])
    amount = label is not None and names[label] == features.label and features.special.get(names[label])
    return Plan(
        label,
        amount.mark if amount else None,
        tuple(Numeric(p, names[p], features.index[names[p]]) for p, kind in kinds.items() if kind.plain),
        tuple(Hashed(p, names[p], kind == TEXT) for p, kind in kinds.items() if kind.hashed),
        tuple(
            Converted(p, names[p], kind, tuple(features.index[name] for name in kind.names(names[p])))
            for p, kind in kinds.items()
            if kind.converted
        ),
        tuple(products),
        tuple(crossed),
        features,
        not settings.frozen,
        tuple(lines),
        {names[place]: str(kind) for place, kind in kinds.items()},
    )


def _check_names(names: Sequence[str], source: str) -> None:
    seen: set[str] = set()
    for place, name in enumerate(names):
        if not name:
            raise InputError(f"column {place + 1} has no name", source, 1)
        if name in seen:
            raise InputError(f"two columns are named {name!r}", source, 1)
        seen.add(name)


def label_place(names: Sequence[str], settings: Settings) -> int | None:
    """Where the label stands: the column that was named, or that a model's rows had, or one with a usual name."""
    features = settings.features
    wanted = settings.label or (None if features is None else features.label)
    if wanted is not None:
        return names.index(wanted) if wanted in names else None
    taken = {*settings.ignore, *(() if features is None else features.columns)}
    for usual in USUAL_LABELS:
        if usual in names and usual not in taken:
            return names.index(usual)
        alike = [place for place, name in enumerate(names) if name.lower() == usual and name not in taken]
        if len(alike) == 1:
            return alike[0]
    return None


def _no_label(names: Sequence[str], settings: Settings, source: str) -> InputError:
    wanted = settings.label or (None if settings.features is None else settings.features.label)
    if wanted is not None:
        return InputError(f"there is no column {wanted!r}: the columns are {listed(names)}", source)
    ignored = [name for name in names if name in settings.ignore and name.lower() in USUAL_LABELS]
    if ignored:
        said = f"column {ignored[0]!r} is in {spelled('ignore')}"
        advice = f"leave it out there, or say which column is the label: {spelled('label', 'COLUMN')}"
        return InputError(f"{said}, and no other column has the usual name of a label: {advice}", source)
    *usual, last = USUAL_LABELS
    none = f"no column is named {', '.join(usual)} or {last}"
    advice = f"say which one is the label: {spelled('label', 'COLUMN')}"
    return InputError(f"{none} ({advice}): the columns are {listed(names)}", source)


def _recipe(settings: Settings, source: str) -> Features:
    features = Features("names") if settings.features is None else settings.features
    if features.kind != "names":
        if features.width:
            raise SettingError(f"the model was learned from rows without column names, and {source} has columns")
        features.kind = "names"
    if features.bare:
        raise SettingError(f"the model was learned from Vowpal Wabbit's hashed names, and {source} has columns")
    return features


def _check_declared(
    names: Sequence[str], label: int | None, settings: Settings, known: dict[str, Kind], source: str
) -> None:
    there = set(names)
    for option in (*DECLARING, "keep", "ignore", "interactions"):
        for name in settings.named(option):
            if label is not None and name == names[label]:
                raise InputError(f"column {name!r} is the label: it cannot be in {spelled(option)} too", source)
            if name not in there:
                said = f"there is no column {name!r} for {spelled(option)}: the columns are {listed(names)}"
                raise InputError(said, source)
    for name, kind in known.items():
        if name not in there and kind != LEFT_OUT:
            raise InputError(f"the model needs a column {name!r}: the columns are {listed(names)}", source)
    for option, what in (("numeric", "number"), ("date", "date")):
        for name in getattr(settings, option):
            if name in known and known[name].what != what:
                raise SettingError(f"column {name!r} is {known[name].what} in the model: it cannot be {option} now")


def _used(names: Sequence[str], label: int | None, settings: Settings, known: dict[str, Kind]) -> list[int]:
    """The places of the columns that are neither the label nor ignored, nor unknown to a frozen recipe."""
    ignored = set(settings.ignore)
    return [
        place
        for place, name in enumerate(names)
        if place != label and name not in ignored and (name in known or not settings.frozen)
    ]


def _decided(
    names: Sequence[str], label: int | None, look: Look, settings: Settings, known: dict[str, Kind]
) -> dict[int, Decision]:
    """What becomes of the columns that the recipe does not know, and of the label."""
    if settings.frozen:
        return {}
    new = [place for place in _used(names, label, settings, known) if names[place] not in known]
    if settings.columns is not None:
        told = kinds_of(settings.columns)
        if label is not None and names[label] in told:
            new.append(label)
        return {place: Decision(told.get(names[place], NUMBER)) for place in new}
    said: dict[str, Decision] = dict.fromkeys(settings.categorical, Decision(CATEGORY))
    said |= dict.fromkeys(settings.text, Decision(TEXT))
    options: tuple[tuple[Asked, tuple[str, ...]], ...] = (
        ("keep", settings.keep),
        ("numeric", settings.numeric),
        ("date", settings.date),
    )
    asked = {name: option for option, columns in options for name in columns}
    wanted: dict[int, Asked] = {place: asked.get(names[place], "") for place in new if names[place] not in said}
    if label is not None and settings.labels and (settings.features is None or settings.features.label is None):
        wanted[label] = "label"
    return {place: said[names[place]] for place in new if names[place] in said} | look(wanted)


def undecided(names: Sequence[str], cells: Sequence[str], settings: Settings, semicolons: bool) -> list[str]:
    """The columns of which the first row does not tell what they are; none if later rows can only be refused."""
    known = {} if settings.features is None else settings.features.columns
    label = label_place(names, settings)
    if settings.frozen or settings.columns is not None or (label is None and settings.labels):
        return []
    said = {*settings.categorical, *settings.text}
    places = [place for place in _used(names, label, settings, known) if names[place] not in {*known, *said}]
    if label is not None and settings.labels and (settings.features is None or settings.features.label is None):
        places.append(label)

    def asked(place: int) -> Asked:
        if place == label:
            return "label"
        return "numeric" if names[place] in settings.numeric else "date" if names[place] in settings.date else ""

    return still_open({names[place]: (cells[place], asked(place)) for place in places}, semicolons)


def recognising(columns: Sequence[str]) -> str:
    """Why the first rows wait for others: columns of which nobody said what they are."""
    first = f"recognised from the first {LOOKED_AT:,} rows"
    if not columns:
        return f"the columns are {first}"
    are = "column {} is" if len(columns) == 1 else "columns {} are"
    *options, last = (spelled(option) for option in ("numeric", "categorical", "text", "ignore"))
    return f"{are.format(listed(columns))} {first}: say what each is with {', '.join(options)} or {last}"


def _extend(
    features: Features,
    label: int | None,
    names: Sequence[str],
    found: dict[int, Decision],
    settings: Settings,
    source: str,
) -> None:
    """Add the columns that the recipe does not have: first those with names, then the slots behind them."""
    features.declare(settings.categorical, settings.text)  # a refusal where the recipe has them otherwise
    features.table = True
    columns = {names[place]: decision.kind for place, decision in sorted(found.items()) if place != label}
    try:
        for name, kind in columns.items():
            if not kind.hashed:
                features.set_up(name, kind)
    except InputError as error:
        raise InputError(error.sentence, source) from error
    add_pairs(features, settings.interactions, features.columns | columns)
    if any(kind.hashed for kind in columns.values()):
        features.set_up_hashing(settings.hash_bits)
        features.declare(
            tuple(name for name, kind in columns.items() if kind == CATEGORY),
            tuple(name for name, kind in columns.items() if kind == TEXT),
        )
    if label is not None and features.label is None:
        features.label = names[label]
        if label in found and found[label].kind.mark is not None:
            features.special[names[label]] = found[label].kind
