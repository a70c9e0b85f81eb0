"""The rounds that wait for their labels, as a model file keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import msgspec
import numpy as np

from noregret.errors import ModelFileError
from noregret.late.book import Book, Counts, Figures, Round, Rules, Sum
from noregret.stream.block import Dense, Rows, Sparse

SAME = ("place", "weight", "escape", "version", "size", "label", "ended")  # kept as they are


class Kept(msgspec.Struct):
    """A round as a model file keeps it."""

    place: int
    indices: bytes | None
    values: bytes
    weight: float
    said: list[float]
    voices: bytes | None
    members: int
    escape: float
    version: int
    size: float
    label: float | None
    ended: str


class Late(msgspec.Struct):
    """All that a model file keeps of late labels."""

    rules: dict[str, int | float | None]
    default_label: str | int | float | bool | None
    rounds: list[tuple[str | int, Kept]]
    known: list[tuple[str | int, Kept]]
    counts: dict[str, int]
    figures: list[float]
    chain: bytes
    spelled: list[tuple[float, str | int | float | bool]]
    held: list[tuple[str | int, str | int | float | bool]]
    events: int
    log: bytes


def kept(
    book: Book, default_label: Any, spelled: Sequence[Any], held: Sequence[Any], events: int, log: bytes
) -> dict[str, Any]:
    """The rounds of a book, with labels as they were spelled and those that are still held."""
    plays, fresh = book.figures.plays, book.figures.fresh
    found = Late(
        asdict(book.rules),
        default_label,
        [(key, _row_stored(one)) for key, one in book.waiting.items()],  # type: ignore[misc]
        [(key, _row_stored(one)) for key, one in book.known.items()],  # type: ignore[misc]
        asdict(book.counts),
        [float(book.figures.mistakes), plays.high, plays.low, fresh.high, fresh.low],
        book.chain,
        list(spelled),
        list(held),
        events,
        log,
    )
    made: dict[str, Any] = msgspec.to_builtins(found, builtin_types=(bytes,))
    return made


def _row_stored(one: Round) -> Kept:
    indices = one.row.indices.astype("<u4").tobytes() if isinstance(one.row, Sparse) else None
    values = one.row.values.astype("<f8").tobytes()
    voices = None if one.voices is None else one.voices.astype("<f8").tobytes()
    members = 0 if one.voices is None else len(one.voices)
    same = {name: getattr(one, name) for name in SAME}
    return Kept(indices=indices, values=values, said=one.said.tolist(), voices=voices, members=members, **same)


def _round_of(kept: Kept) -> Round:
    values = np.frombuffer(kept.values, "<f8").astype(np.float64)
    row: Rows = Dense(values[np.newaxis])
    if kept.indices is not None:
        indices = np.frombuffer(kept.indices, "<u4").astype(np.uint32)
        if len(indices) != len(values):
            raise ValueError("a waiting row does not fit together")
        row = Sparse(np.array([0, len(values)], np.int64), indices, values)
    voices = None if kept.voices is None else np.frombuffer(kept.voices, "<f8").astype(np.float64)
    if voices is not None and len(voices) != kept.members:  # of classes, a row a member
        voices = voices.reshape(kept.members, -1)
    same = {name: getattr(kept, name) for name in SAME}
    return Round(row=row, said=np.array(kept.said, np.float64), voices=voices, **same)


def restore(book: Book, stored: Mapping[str, Any]) -> Late:
    """The book as it was kept, and all that was kept beside it."""
    try:
        found = msgspec.convert(stored, Late)
        rules: dict[str, Any] = found.rules
        book.rules = Rules(**rules)
        book.waiting = {key: _round_of(one) for key, one in found.rounds}
        book.known = {key: _round_of(one) for key, one in found.known}
        book.counts = Counts(**{one.name: found.counts[one.name] for one in fields(Counts)})
        mistakes, *sums = found.figures
        book.figures = Figures(int(mistakes), Sum(*sums[:2]), Sum(*sums[2:]))
        book.chain = found.chain
        return found
    except (msgspec.ValidationError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(f"the model file is damaged: its waiting rounds cannot be read ({error})") from error
