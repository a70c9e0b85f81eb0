"""The classes that the theory names, by name and size: `family("intervals:12")`.

Points are numbered from 0 unless stated; a point of a Boolean family is the word of its n bits. Unions and intervals
include the empty set, singletons do not.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, gcd
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError, SettingError
from noregret.finite.hypotheses import HypothesisClass, Matrix, binary

ROOM = 2**28  # entries of a matrix, a byte each


@dataclass(frozen=True)
class Family:
    """A family: its parameters' names, its size in rows and columns (an upper limit), and how it is made."""

    parameters: tuple[str, ...]
    rows: Callable[..., int]
    columns: Callable[..., int]
    make: Callable[..., HypothesisClass]


def family(name: str) -> HypothesisClass:
    """Make a named class, such as `thresholds:15`, `unions:2,10` or `halfspaces:4`.

    >>> len(family("intervals:4")), len(family("subsets:2,4"))
    (11, 6)
    """
    kind, _, rest = name.partition(":")
    if kind not in FAMILIES:
        raise SettingError(f"unknown family {kind!r}; the families are {listed()}")
    found = FAMILIES[kind]
    sizes = _sizes(kind, found.parameters, rest)
    rows, columns = found.rows(*sizes), found.columns(*sizes)
    if rows * columns > ROOM:
        raise SettingError(
            f"{name}: {_large(rows)} hypotheses on {_large(columns)} points are too many;"
            f" rows times columns may be {ROOM:,} at most"
        )
    return found.make(*sizes)


def listed() -> str:
    """The families with their parameters, in one line."""
    return ", ".join(f"{kind}:{','.join(one.parameters)}" for kind, one in FAMILIES.items())


def _sizes(kind: str, parameters: tuple[str, ...], rest: str) -> list[int]:
    parts = rest.split(",") if rest else []
    if not parts:
        example = ",".join("8" if one == "n" else "2" for one in parameters)
        raise SettingError(
            f"the family {kind} needs its size: {kind}:{','.join(parameters)} with whole numbers, such as"
            f" {kind}:{example}"
        )
    if len(parts) != len(parameters) or not all(part.strip().isascii() and part.strip().isdigit() for part in parts):
        raise SettingError(f"{kind}: expected {kind}:{','.join(parameters)} with whole numbers, got {kind}:{rest}")
    sizes = [int(part) if len(part) < 10 else 10**9 for part in parts]
    if sizes[-1] < 1:
        raise SettingError(f"{kind}: {parameters[-1]} must be at least 1, got {sizes[-1]}")
    return sizes


def _large(number: int) -> str:
    return f"{number:,}" if number < 10**15 else "more than 10^15"


def _power(base: int) -> Callable[[int], int]:
    return lambda n: int(base ** min(n, 100))


def singletons(n: int) -> HypothesisClass:
    """h_i(x) = 1[x = i], i = 0 … n−1."""
    return HypothesisClass(np.eye(n, dtype=np.uint8))


def thresholds(n: int) -> HypothesisClass:
    """h_a(x) = 1[x < a] on the points 0 … n−1, a = 0 … n."""
    return HypothesisClass(_below(n))


def two_sided_thresholds(n: int) -> HypothesisClass:
    """1[x < a] and 1[x ≥ a]."""
    below = _below(n)
    return HypothesisClass(np.vstack([below, 1 - below]))


def intervals(n: int) -> HypothesisClass:
    """1[a ≤ x < b] on n points, and the empty set."""
    return unions(1, n)


def unions(k: int, n: int) -> HypothesisClass:
    """Unions of at most k intervals on n points: rows that rise at most k times."""
    rows: list[NDArray[np.uint8]] = []
    for pieces in range(k + 1):
        for ends in combinations(range(n + 1), 2 * pieces):
            row = np.zeros(n, dtype=np.uint8)
            for start, stop in zip(ends[::2], ends[1::2], strict=True):
                row[start:stop] = 1
            rows.append(row)
    return HypothesisClass(np.array(rows))


def subsets(k: int, n: int) -> HypothesisClass:
    """The sets of exactly k of n points."""
    return HypothesisClass(_sets(n, [k]))


def at_most(k: int, n: int) -> HypothesisClass:
    """The sets of at most k of n points."""
    return HypothesisClass(_sets(n, range(min(k, n) + 1)))


def cube(n: int) -> HypothesisClass:
    """All 2ⁿ labellings of n points."""
    return HypothesisClass(_corners(n))


def parities(n: int) -> HypothesisClass:
    """x ↦ ⟨a, x⟩ mod 2 for every a in {0,1}ⁿ, on {0,1}ⁿ."""
    x = _corners(n).astype(np.int64)
    return HypothesisClass((x @ x.T) % 2, points=_named(x))


def monotone_conjunctions(n: int) -> HypothesisClass:
    """The conjunctions of variables, the empty one (always 1) included, on {0,1}ⁿ."""
    x = _corners(n).astype(np.int64)
    return HypothesisClass(x @ (1 - x).T == 0, points=_named(x))


def conjunctions(n: int) -> HypothesisClass:
    """The 3ⁿ conjunctions of variables and negated variables, and the constant 0, on {0,1}ⁿ."""
    x = _corners(n)
    rows = [np.zeros(len(x), dtype=bool)]
    for signs in product((0, 1, 2), repeat=n):  # 0: not in it, 1: the variable, 2: its negation
        row = np.ones(len(x), dtype=bool)
        for i, sign in enumerate(signs):
            if sign:
                row &= x[:, i] == (sign == 1)
        rows.append(row)
    return HypothesisClass(np.array(rows), points=_named(x))


def variables(n: int) -> HypothesisClass:
    """x ↦ x_i for i = 0 … n−1, on {0,1}ⁿ."""
    x = _corners(n)
    return HypothesisClass(x.T, points=_named(x))


def halfspaces(k: int) -> HypothesisClass:
    """The affine halfspaces on the k×k grid, both constants included.

    A line that cuts the grid can be moved until it goes through two grid points; back from there, a point on the line
    being turned about, it takes with one side of the line a first or a last part of the points on it.
    """
    grid = [(a, b) for a in range(k) for b in range(k)]
    x, y = np.array(grid).T
    rows = {bytes(k * k), bytes([1]) * (k * k)}
    for dx, dy in _directions(k):
        level, along = dx * y - dy * x, dx * x + dy * y
        for value in np.unique(level):
            on = level == value
            for side in (level > value, level < value):
                for cut in (*np.unique(along[on]), k * k * k * k):
                    rows.add((side | (on & (along < cut))).tobytes())
                    rows.add((side | (on & (along >= cut))).tobytes())
    ordered = [np.frombuffer(row, dtype=np.uint8) for row in sorted(rows)]
    return HypothesisClass(np.array(ordered), points=grid)


def _directions(k: int) -> Iterator[tuple[int, int]]:
    """The primitive directions between points of the grid, one of each opposite pair."""
    for dx in range(k):
        for dy in range(-k + 1, k):
            if gcd(dx, dy) == 1 and (dx > 0 or dy > 0):
                yield dx, dy


def _below(n: int) -> Matrix:
    return np.tri(n + 1, n, -1, dtype=np.uint8)


def _sets(n: int, sizes: range | list[int]) -> Matrix:
    chosen = [one for k in sizes for one in combinations(range(n), k)]
    rows = np.zeros((len(chosen), n), dtype=np.uint8)
    for row, places in zip(rows, chosen, strict=True):
        row[list(places)] = 1
    return rows


def _corners(n: int) -> Matrix:
    """{0,1}ⁿ in counting order."""
    numbers = np.arange(2**n)
    return (numbers[:, None] >> np.arange(n - 1, -1, -1) & 1).astype(np.uint8)


def _named(corners: NDArray[np.integer]) -> list[str]:
    return ["".join(map(str, corner)) for corner in corners.tolist()]


FAMILIES: dict[str, Family] = {
    "singletons": Family(("n",), lambda n: n, lambda n: n, singletons),
    "thresholds": Family(("n",), lambda n: n + 1, lambda n: n, thresholds),
    "two-sided-thresholds": Family(("n",), lambda n: 2 * n, lambda n: n, two_sided_thresholds),
    "intervals": Family(("n",), lambda n: n * (n + 1) // 2 + 1, lambda n: n, intervals),
    "unions": Family(
        ("k", "n"), lambda k, n: sum(comb(n + 1, 2 * i) for i in range(min(k, n) + 1)), lambda k, n: n, unions
    ),
    "subsets": Family(("k", "n"), lambda k, n: comb(n, k), lambda k, n: n, subsets),
    "at-most": Family(("k", "n"), lambda k, n: sum(comb(n, i) for i in range(min(k, n) + 1)), lambda k, n: n, at_most),
    "cube": Family(("n",), _power(2), lambda n: n, cube),
    "parities": Family(("n",), _power(2), _power(2), parities),
    "conjunctions": Family(("n",), lambda n: _power(3)(n) + 1, _power(2), conjunctions),
    "monotone-conjunctions": Family(("n",), _power(2), _power(2), monotone_conjunctions),
    "halfspaces": Family(("k",), lambda k: k**4 + 2, lambda k: k * k, halfspaces),
    "variables": Family(("n",), lambda n: n, _power(2), variables),
}


ENTRIES = {"0": 0, "1": 1, "false": 0, "true": 1}
NAMING = ("hypothesis", "name", "")
PARQUET = (".parquet", ".pq")


def load_class(source: str | os.PathLike[str]) -> HypothesisClass:
    """Read a class from a file, or make it from a family's name such as `intervals:12`."""
    text = os.fspath(source)
    if Path(text).exists():
        return read_class(text)
    kind, colon, _ = text.partition(":")
    if kind in FAMILIES or (colon and "/" not in kind and "." not in kind):
        return family(text)
    raise SettingError(f"{text}: there is no such file or family; the families are {listed()}")


def read_class(path: str | os.PathLike[str]) -> HypothesisClass:
    """The class in a file, by the ending of its name; anything else than .npy and .parquet is read as CSV."""
    source = Path(path)
    if source.is_dir():
        raise InputError("is a folder, a file was expected", str(path))
    try:
        if source.suffix == ".npy":
            return _from_npy(source)
        return _from_parquet(source) if source.suffix in PARQUET else _from_csv(source)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", str(path)) from error


def _from_npy(path: Path) -> HypothesisClass:
    try:
        matrix = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputError(f"is not an .npy file with a matrix: {error}", str(path)) from error
    return _made(path, matrix, None, None)


def _from_parquet(path: Path) -> HypothesisClass:
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except pyarrow.ArrowException as error:
        raise InputError(f"is not a Parquet file: {error}", str(path)) from error
    names = None
    for name in NAMING[:2]:
        if name in table.column_names and not _numeric(table.schema.field(name).type):
            names = [str(one) for one in table.column(name).to_pylist()]
            table = table.drop_columns([name])
    rows = [[_entry_of(value) for value in column.to_pylist()] for column in table.columns]
    for j, column in enumerate(rows):
        for i, value in enumerate(column):
            if value is None:
                shown = table.column(j)[i].as_py()
                raise InputError(
                    f"row {i + 1}, column {table.column_names[j]!r}: expected 0, 1, false or true, got {shown!r}",
                    str(path),
                )
    return _made(path, np.array(rows, dtype=np.uint8).reshape(len(rows), -1).T, names, table.column_names)


def _numeric(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _entry_of(value: Any) -> int | None:
    """An entry as Parquet gives it: a number, a boolean or a word; None of what is neither 0 nor 1."""
    if isinstance(value, str):
        return ENTRIES.get(value.strip().lower())
    return int(value) if value in (0, 1) else None


def _from_csv(path: Path) -> HypothesisClass:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("is not text: it is not valid UTF-8", str(path)) from error
    first = text.partition("\n")[0]
    delimiter = next((mark for mark in "\t;" if mark in first), ",")
    reader = csv.reader(text.splitlines(), delimiter=delimiter)
    lines = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if row]
    if not lines:
        raise InputError("is empty: expected a row of 0 and 1", str(path))
    head = lines.pop(0)[1] if _names_points(lines[0][1]) else None
    if not lines:
        raise InputError("names points but contains no hypothesis", str(path))
    named = head is not None and head[0].lower() in NAMING
    points = None if head is None else head[named:]
    width = len(lines[0][1] if head is None else head)
    rows = [_row(path, line, cells, width, named, points) for line, cells in lines]
    names = [cells[0] for _, cells in lines] if named else None
    return _made(path, np.array(rows, dtype=np.uint8).reshape(len(rows), width - named), names, points)


def _names_points(cells: list[str]) -> bool:
    """Whether a first line is a header: it starts as one, or holds no number, true or false that could be an entry."""
    if cells[0].lower() in NAMING[:2]:
        return True
    rest = cells[1:] if cells[0] == "" else cells
    if cells[0] == "" and all(map(_is_number, rest)):  # numbered points below an empty corner, unless all are entries
        return not all(cell in ENTRIES for cell in rest)
    return not any(cell.lower() in ENTRIES or _is_number(cell) for cell in rest)


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def _row(path: Path, line: int, cells: list[str], width: int, named: bool, points: list[str] | None) -> list[int]:
    if len(cells) != width:
        raise InputError(f"expected {width} entries, got {len(cells)}", str(path), line)
    entries = [ENTRIES.get(cell.lower(), -1) for cell in cells[named:]]
    if -1 in entries:
        j = entries.index(-1)
        where = f"column {j + 1 + named}" + (f" ({points[j]})" if points else "")
        more = "" if points or line > 1 else " (a header that names the points has no number in it)"
        raise InputError(f"{where}: expected 0, 1, false or true, got {cells[j + named]!r}{more}", str(path), line)
    return entries


def _made(path: Path, matrix: Any, names: list[str] | None, points: list[str] | None) -> HypothesisClass:
    try:
        return HypothesisClass(binary(matrix), names=names, points=points)
    except (InputError, SettingError) as error:
        raise InputError(str(error).removeprefix("HypothesisClass: "), str(path)) from error
