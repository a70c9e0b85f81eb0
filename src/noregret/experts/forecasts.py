"""Some columns of a table read for a blend: forecasts or costs of several experts, and what came.

A table is a file, a frame, a mapping of columns, or arrays; an empty cell of an expert says that it sleeps.
"""

from __future__ import annotations

import hashlib
import math
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.atomic import whole_file
from noregret.errors import InputError, ModelFileError, SettingError, listed
from noregret.experts.engine import State, fresh
from noregret.experts.loss import ExpertLoss
from noregret.stream import read
from noregret.stream.base import Stream
from noregret.stream.block import Dense
from noregret.stream.cells import as_text, is_missing
from noregret.stream.features import Features
from noregret.stream.opening import Input

Vector = NDArray[np.float64]
Cube = NDArray[np.float64]
NOBODY = "\0"  # the name of no column
LAST = "last value"  # the expert that says what came the round before


@dataclass(frozen=True)
class ExpertTable:
    """A table read for a blend: values[t, i, k], the outcomes (words as numbers), their names, the lines."""

    values: Cube
    outcomes: Vector
    names: tuple[str, ...]  # of the outcomes, where these are words or several
    lines: NDArray[np.int64]
    source: str

    def at(self, row: int, sentence: str) -> InputError:
        return InputError(sentence, self.source, int(self.lines[row]))


def read_expert_table(table: Any, outcome: str | None, experts: Sequence[str], loss: ExpertLoss) -> ExpertTable:
    """Read what a blend needs of a table: a file, a frame, a mapping of columns, or (forecasts, outcomes) as arrays."""
    if isinstance(table, tuple):
        return _labels_from_arrays(table, experts) if loss.labels else _from_arrays(table, experts)
    if isinstance(table, Mapping):
        import pyarrow

        table = pyarrow.table(dict(table))
    if isinstance(table, str | os.PathLike) and not Input(os.fspath(table)).rereadable:
        raise InputError("a table is read more than once: give a file", str(table))
    _check_columns(table, [*experts, *([] if outcome is None else [outcome])])
    if loss.labels:
        assert outcome is not None
        return _labels(table, outcome, experts)
    wanted = [*experts, *([] if outcome is None else [outcome])]
    if loss.chances and (several := _several(table, outcome, experts)) is not None:
        return several
    matrix, lines, source = _numbers(table, wanted)
    given = matrix[:, : len(experts), None]
    found = ExpertTable(given, matrix[:, -1] if outcome else np.zeros(len(matrix)), (), lines, source)
    _check_there(found, outcome)
    return found


def columns_of(table: Any) -> list[str] | None:
    """The names of a table's columns, numbers first; None for arrays, which have none."""
    if isinstance(table, tuple):
        return None
    if isinstance(table, Mapping):
        return [str(name) for name in table]
    features = read(table, label=NOBODY, labels=False).features
    return [*features.names, *features.categorical, *features.text]


def first_numbers(table: Any) -> tuple[list[str], NDArray[np.float64]]:
    """The numeric columns of a table's first rows: names, and a matrix with NaN where a cell is empty."""
    if isinstance(table, Mapping):
        import pyarrow

        table = pyarrow.table(dict(table))
    names = read(table, label=NOBODY, labels=False).features.names
    if not names:
        return [], np.empty((0, 0))
    block = next(_opened(table, names, NOBODY).blocks())
    assert isinstance(block.rows, Dense)
    return list(names), block.rows.X.astype(np.float64)


def _check_columns(table: Any, wanted: Sequence[str]) -> None:
    """Columns that are not there are named at once: reading would name the first, or take a JSON key for missing."""
    stream = read(table, label=NOBODY, labels=False)
    names = [*stream.columns, *(name for name in stream.features.names if name not in stream.columns)]
    lacking = [name for name in wanted if name not in names and not any(one.startswith(f"{name}:") for one in names)]
    if lacking and (stream.columns or len(lacking) > 1):
        there = "there is no column" if len(lacking) == 1 else "there are no columns"
        said = f"{there} {', '.join(map(repr, lacking))}: the columns are {listed(names)}"
        raise InputError(said, os.fspath(table) if isinstance(table, str | os.PathLike) else "the table")


def with_last_value(data: ExpertTable) -> ExpertTable:
    """One expert more, who says the outcome of the round before and sleeps in the first: it never knows its round."""
    last = np.concatenate([[math.nan], data.outcomes[:-1]])
    return replace(data, values=np.concatenate([data.values, last[:, None, None]], axis=1))


def _from_arrays(table: tuple[Any, ...], experts: Sequence[str]) -> ExpertTable:
    given = np.asarray(table[0], dtype=np.float64)
    given = given[:, :, None] if given.ndim == 2 else given
    outcomes = np.zeros(len(given)) if len(table) == 1 else np.asarray(table[1], dtype=np.float64)
    if given.ndim != 3 or outcomes.shape != given.shape[:1] or given.shape[1] != len(experts) or not len(given):
        raise SettingError("blend: arrays must be forecasts (rounds × experts [× outcomes]) and one outcome a round")
    found = ExpertTable(given, outcomes, (), np.arange(1, len(given) + 1), "the arrays")
    if given.shape[2] > 1:
        names = tuple(str(k) for k in range(given.shape[2]))
        if not np.isin(outcomes, np.arange(len(names))).all():
            raise SettingError(f"blend: outcomes must be whole numbers from 0 to {len(names) - 1}")
        return _summing_to_one(replace(found, names=names), experts, "outcome")
    _check_there(found, "outcome")
    return found


def _labels_from_arrays(table: tuple[Any, ...], experts: Sequence[str]) -> ExpertTable:
    """Labels in arrays; where they are numbers in their order, so that 0, 1, … stand for themselves."""
    given = np.asarray(table[0])
    truth = np.asarray(table[-1])
    if len(table) != 2 or given.ndim != 2 or truth.shape != given.shape[:1] or given.shape[1] != len(experts):
        raise SettingError("blend: arrays must be labels (rounds × experts) and one outcome a round")
    lines, source = np.arange(1, len(given) + 1), "the arrays"
    words = _spelled(truth)
    for line, word in enumerate(words, 1):
        if word is None:
            raise InputError("the outcome, column 'outcome', is missing", source, line)
    numbers = (
        np.concatenate([given.ravel(), truth]) if given.dtype.kind in "biuf" and truth.dtype.kind in "biuf" else ()
    )
    first = [word for word in _spelled(np.unique(numbers)) if word is not None] if len(numbers) else []
    said = [_spelled(given[:, i]) for i in np.arange(given.shape[1])]
    return _coded([word for word in words if word is not None], said, first, lines, source, "outcome")


def _spelled(labels: NDArray[Any]) -> list[str | None]:
    """Labels as words, None for one that is missing."""
    words = [as_text(label) for label in labels.tolist()]
    return [None if word is None or is_missing(word) else word for word in words]


def _check_there(found: ExpertTable, outcome: str | None) -> None:
    if np.isnan(found.outcomes).any():
        raise found.at(int(np.isnan(found.outcomes).argmax()), f"the outcome, column {outcome!r}, is missing")
    if np.isinf(found.outcomes).any():
        raise found.at(int(np.isinf(found.outcomes).argmax()), f"the outcome, column {outcome!r}, must be finite")
    silent = np.asarray(np.isnan(found.values[:, :, 0])).all(axis=1)
    if silent.any():
        raise found.at(int(silent.argmax()), "every forecast in this row is missing")


def _opened(table: Any, columns: Sequence[str], label: str) -> Stream:
    """A stream of some columns alone, missing numbers and all."""
    try:
        stream = read(table, label=label, labels=label != NOBODY, features=Features.named(list(columns)), frozen=True)
    except InputError as error:
        said = error.sentence.replace("the model needs a column", "there is no column")
        raise InputError(said, error.source, error.line) from error
    stream.missing = None
    return stream


def _numbers(table: Any, columns: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64], str]:
    stream = _opened(table, columns, NOBODY)
    parts, lines = [], []
    try:
        for block in stream.blocks():
            assert isinstance(block.rows, Dense)
            parts.append(block.rows.X.astype(np.float64))
            lines.append(block.lines)
    except InputError as error:
        raise InputError(error.sentence.partition(" (if its values")[0], error.source, error.line) from error
    return np.concatenate(parts), np.concatenate(lines), stream.source


def _words(table: Any, column: str) -> tuple[list[str | None], NDArray[np.int64], str]:
    stream = _opened(table, (), column)
    cells: list[Any] = []
    lines = []
    for block in stream.blocks():
        cells += block.labels.tolist()
        lines.append(block.lines)
    found = [as_text(cell.strip() if isinstance(cell, str) else cell) for cell in cells]
    return [None if word is None or is_missing(word) else word for word in found], np.concatenate(lines), stream.source


def _outcome_words(table: Any, outcome: str) -> tuple[list[str], NDArray[np.int64], str]:
    found, lines, source = _words(table, outcome)
    for word, line in zip(found, lines.tolist(), strict=True):
        if word is None:
            raise InputError(f"the outcome, column {outcome!r}, is missing", source, line)
    return [word for word in found if word is not None], lines, source


def _labels(table: Any, outcome: str, experts: Sequence[str]) -> ExpertTable:
    """Outcomes and forecasts that are labels, as numbers in the order of their first appearance."""
    truth, lines, source = _outcome_words(table, outcome)
    said = [_words(table, expert)[0] for expert in experts]
    return _coded(truth, said, [], lines, source, outcome)


def _coded(
    truth: list[str],
    said: list[list[str | None]],
    first: list[str],
    lines: NDArray[np.int64],
    source: str,
    outcome: str,
) -> ExpertTable:
    """Words as numbers: those of `first` in their order, then the others in the order of their first appearance."""
    names = list(dict.fromkeys([*first, *truth, *(word for column in said for word in column if word is not None)]))
    code = {name: float(place) for place, name in enumerate(names)}
    given = np.array([[math.nan if word is None else code[word] for word in column] for column in said]).T
    found = ExpertTable(given[:, :, None], np.array([code[word] for word in truth]), tuple(names), lines, source)
    _check_there(found, outcome)
    return found


def _several(table: Any, outcome: str | None, experts: Sequence[str]) -> ExpertTable | None:
    """Probabilities of several outcomes: the columns EXPERT:OUTCOME; None where the first expert has one column."""
    assert outcome is not None
    try:
        looked = read(table, label=outcome)
    except InputError:
        return None
    there = [name for name in looked.features.names if name.startswith(f"{experts[0]}:")]
    if not there or experts[0] in looked.features.index:
        return None
    names = [name.removeprefix(f"{experts[0]}:") for name in there]
    matrix, lines, source = _numbers(table, [f"{expert}:{name}" for expert in experts for name in names])
    truth, _, _ = _outcome_words(table, outcome)
    for word, line in zip(truth, lines.tolist(), strict=True):
        if word not in names:
            raise InputError(f"the outcome {word!r} has no column {experts[0]}:{word}", source, line)
    given = matrix.reshape(len(matrix), len(experts), len(names))
    found = ExpertTable(given, np.array([float(names.index(word)) for word in truth]), tuple(names), lines, source)
    return _summing_to_one(found, experts, outcome)


def _summing_to_one(found: ExpertTable, experts: Sequence[str], outcome: str) -> ExpertTable:
    """Probabilities that sum to 1 but for their last figures are divided by their sum; others are refused."""
    sums = arithmetic.row_totals(found.values)
    wrong = np.abs(sums - 1.0) > 1e-6
    if wrong.any():
        row, i = np.argwhere(wrong)[0].tolist()
        raise found.at(row, f"the probabilities of {experts[i]} must sum to 1, they sum to {sums[row, i]:.6g}")
    found = replace(found, values=found.values / sums[:, :, None])
    _check_there(found, outcome)
    return found


def digest_of(data: ExpertTable, reading: dict[str, Any]) -> str:
    """SHA-256 of how the table was read and of every number that was taken from it."""
    found = hashlib.sha256(msgspec.json.encode(reading, order="deterministic"))
    found.update(msgspec.json.encode(list(data.names)))
    for part in (data.values, data.outcomes):
        found.update(np.ascontiguousarray(np.where(np.isnan(part), np.nan, part), dtype="<f8").tobytes())
    return found.hexdigest()


MAGIC = b"NREXPERT"
VERSION = 1
_FRONT = struct.Struct("<8sI")


class Stored(msgspec.Struct):
    """What the file holds: the kind of object, its settings, its arrays."""

    kind: str
    settings: dict[str, Any]
    arrays: dict[str, tuple[str, list[int], bytes]]


def save(path: str | os.PathLike[str], kind: str, settings: dict[str, Any], state: State) -> None:
    """Write the file; it appears whole or an older one stays as it was."""
    arrays = {name: (part.dtype.str, list(part.shape), part.tobytes()) for name, part in state.items()}
    body = _FRONT.pack(MAGIC, VERSION) + msgspec.msgpack.encode(Stored(kind, settings, arrays))
    with whole_file(path) as file:
        file.write(body + hashlib.sha256(body).digest())


def load(path: str | os.PathLike[str]) -> Stored:
    """What a file holds; a file that is none, or is damaged, gets one sentence."""
    name = os.fspath(path)
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror}", name) from error
    if not data.startswith(MAGIC):
        raise ModelFileError("is not an experts file", name)
    if len(data) < _FRONT.size + 32 or hashlib.sha256(data[:-32]).digest() != data[-32:]:
        raise ModelFileError("the experts file is damaged or truncated: its checksum does not match", name)
    _, version = _FRONT.unpack_from(data)
    if version != VERSION:
        raise ModelFileError(f"is an experts file of version {version}; this noregret reads version {VERSION}", name)
    try:
        return msgspec.msgpack.decode(data[_FRONT.size : -32], type=Stored)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise ModelFileError(f"the experts file is damaged ({error})", name) from error


def state_of(stored: Stored, experts: int, name: str) -> State:
    """The arrays of a file, each of the shape and type that this number of experts needs."""
    found: State = {}
    for key, like in fresh(experts).items():
        if key not in stored.arrays:
            raise ModelFileError(f"the experts file is damaged (there is no array {key!r})", name)
        found[key] = _array(key, stored.arrays[key], like, name)
    clock = found["clock"]
    if clock[0] < 0 or clock[1] < 1:
        raise ModelFileError("the experts file is damaged (its clock is wrong)", name)
    return found


def _array(key: str, part: tuple[str, list[int], bytes], like: NDArray[Any], name: str) -> NDArray[Any]:
    dtype, shape, data = part
    if dtype != like.dtype.str or tuple(shape) != like.shape or len(data) != like.nbytes:
        raise ModelFileError(f"the experts file is damaged (its array {key!r} has the wrong shape)", name)
    return np.frombuffer(data, like.dtype).reshape(like.shape).copy()
