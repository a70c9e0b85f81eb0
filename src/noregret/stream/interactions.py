"""Interactions, features made of two columns: a product of numbers, or a hashed slot for a category.

Two numbers become a column `a:b`, their product. Two categories become the slot of `a=v:b=w`, with value 1; a number a
and a category b the slot of `a:b=w`, with the number as its value. An empty category, or a missing number beside one,
adds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.errors import SettingError, spelled
from noregret.stream.block import Floats, Ints
from noregret.stream.cells import Strings, as_text
from noregret.stream.column import Kind
from noregret.stream.features import Features
from noregret.stream.hashing import Column, filled


def sides(pair: str) -> tuple[str, str]:
    """The two columns of `a:b`.

    >>> sides("price:zip")
    ('price', 'zip')
    """
    left, colon, right = pair.partition(":")
    if not (left and colon and right) or ":" in right:
        raise SettingError(f"{spelled('interactions')} must be pairs of columns such as a:b, got {pair!r}")
    return left, right


def check_pairs(pairs: Sequence[str]) -> None:
    """A sentence unless each is a pair of columns, and none is another one turned round."""
    found = [sides(pair) for pair in pairs]
    for left, right in found:
        if left != right and (right, left) in found:
            both = f"{left}:{right} and {right}:{left}"
            raise SettingError(f"{spelled('interactions')} must name each pair once, got {both}")


def add_pairs(features: Features, pairs: Sequence[str], kinds: Mapping[str, Kind]) -> None:
    """Let the recipe have these interactions too, of columns of these kinds."""
    for pair in pairs:
        if pair in features.interactions:
            continue
        what = [kinds[side].what for side in sides(pair)]
        for side, kind in zip(sides(pair), what, strict=True):
            if kind not in ("number", "category"):
                must = f"{spelled('interactions')} must be pairs of numbers and categories"
                raise SettingError(f"{must}, got {pair!r}, where {side!r} is {kind}")
        if what == ["number", "number"]:
            if pair in kinds or pair in features.index:
                raise SettingError(f"the interaction {pair!r} has the name of a column: rename one")
            features.add(pair)
        features.interactions = (*features.interactions, pair)
    features.memo = None


@dataclass(frozen=True, slots=True)
class Product:
    """The features of two numbers, and that of their product."""

    left: int
    right: int
    feature: int

    def of(self, X: Floats, left: int, right: int) -> Floats:
        """The product of two columns of X."""
        with np.errstate(over="ignore", invalid="ignore"):
            found: Floats = X[:, left] * X[:, right]
        return found


@dataclass(frozen=True, slots=True)
class Crossed:
    """A category, by its name, with another one, or with the number that is a feature."""

    category: str
    other: str | None
    number: int | None
    head: str  # what is hashed before `=` and the cell

    def column(self, cells: dict[str, Strings]) -> Column:
        """What is hashed, from the cells of the categories."""
        if self.other is None:
            return Column(self.head, False, cells[self.category])
        return Column(self.head, False, paired(cells[self.category], f":{self.other}=", cells[self.other]))


def interacting(features: Features, there: Sequence[str]) -> tuple[list[Product], list[Crossed]]:
    """The recipe's interactions of the columns that are there."""
    products, crossed = [], []
    for pair in features.interactions:
        left, right = sides(pair)
        if left not in there or right not in there:
            continue
        if pair in features.index:
            products.append(Product(features.index[left], features.index[right], features.index[pair]))
        elif left in features.categorical and right in features.categorical:
            crossed.append(Crossed(left, right, None, left))
        else:
            number, category = (right, left) if left in features.categorical else (left, right)
            crossed.append(Crossed(category, None, features.index[number], f"{number}:{category}"))
    return products, crossed


def of_one(features: Features, row: Mapping[Any, Any], found: dict[int, float]) -> list[tuple[str | int, float]]:
    """What a single row adds to the numbers that were found in it: features, or strings to hash, with their values."""
    added: list[tuple[str | int, float]] = []
    products, crossed = interacting(features, list(row))
    for one in products:
        if value := found.get(one.left, 0.0) * found.get(one.right, 0.0):
            added.append((one.feature, value))
    for cross in crossed:
        cells = [as_text(row[name]) for name in (cross.category, cross.other) if name is not None]
        if all(cell is not None and cell.strip() for cell in cells):
            value = 1.0 if cross.number is None else found.get(cross.number, 0.0)
            added.append((f"{cross.head}=" + f":{cross.other}=".join(map(str, cells)), value))
    return added


def paired(left: Strings, middle: str, right: Strings) -> Strings:
    """Each cell of `left`, what stands between, and that of `right`; an empty cell where one of them is blank."""
    between = np.frombuffer(middle.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    (starts, lengths), (others, more) = _laid(left), _laid(right)
    there = (lengths > 0) & (more > 0)
    lengths, more = lengths * there, more * there
    ends = np.cumsum(lengths + more + len(between) * there)
    begins = ends - lengths - more - len(between) * there
    data = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    data[_places(begins, lengths)] = left.data[_places(starts, lengths)]
    middles = np.full(int(there.sum()), len(between), dtype=np.int64)
    data[_places((begins + lengths)[there], middles)] = np.tile(between, len(middles))
    data[_places(ends - more, more)] = right.data[_places(others, more)]
    return Strings(data, begins, ends)


def _laid(cells: Strings) -> tuple[Ints, Ints]:
    """Where each cell begins, and its length: 0 of one that is blank."""
    full = np.zeros(len(cells.starts), dtype=bool)
    full[filled(cells)] = True
    starts, lengths = cells.starts, np.where(full, cells.stops - cells.starts, 0)
    if cells.codes is None:
        return starts, lengths
    known = cells.codes >= 0
    codes = np.where(known, cells.codes, 0)
    if not len(starts):
        return np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
    return starts[codes], np.where(known, lengths[codes], 0)


def _places(starts: Ints, lengths: Ints) -> Ints:
    """The places start, start + 1, …, of each of these lengths."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
