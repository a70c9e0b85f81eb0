"""A class from a file: rows hypotheses, columns points, entries 0/1 or false/true.

CSV (a first line without any number, or one that starts with `hypothesis` or `name`, names the points; a first column
headed `hypothesis`, `name` or nothing names the hypotheses), `.npy`, or Parquet (columns named as the points, a text
column `hypothesis` or `name` for the names).
"""

from __future__ import annotations

import csv
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from noregret.errors import InputError, SettingError
from noregret.finite.families import FAMILIES, family, listed
from noregret.finite.hypotheses import HypothesisClass, binary

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
