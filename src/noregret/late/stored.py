"""The rounds that wait for their labels, as a model file keeps them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, fields
from typing import Any

import msgspec
import numpy as np

from noregret.errors import ModelFileError
from noregret.late.book import Book, Counts, Figures, Key, Round, Rules, Sum
from noregret.learner.auto import Auto
from noregret.learner.sure import Sure, Told
from noregret.live.reader import Position, position_of
from noregret.stream.block import Dense, Rows, Sparse

ENDS = ("labelled", "defaulted", "expired")
SAME = ("place", "weight", "escape", "version", "size", "label", "ended")  # kept as they are


class Kept(msgspec.Struct):
    """A round as a model file keeps it."""

    place: int
    indices: bytes | None
    values: bytes
    weight: float
    said: list[float]
    voices: bytes | None
    shape: list[int]
    escape: float
    version: int
    size: float
    label: float | None
    ended: str
    told: tuple[float, float, int] | None = None


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
    answers: bytes
    position: dict[str, str] | None = None  # in the stream of a broker


def kept(
    book: Book,
    waiting: Mapping[Key, Round],
    default_label: Any,
    spelled: Sequence[Any],
    held: Sequence[Any],
    events: int,
    log: bytes,
    position: Position | None,
) -> dict[str, Any]:
    """The rounds of a book, with labels as they were spelled and those that are still held."""
    plays, fresh = book.figures.plays, book.figures.fresh
    found = Late(
        asdict(book.rules),
        default_label,
        [(key, round_stored(one)) for key, one in waiting.items()],  # type: ignore[misc]
        [(key, round_stored(one)) for key, one in book.known.items()],  # type: ignore[misc]
        asdict(book.counts),
        [float(book.figures.mistakes), plays.high, plays.low, fresh.high, fresh.low],
        book.chain,
        list(spelled),
        list(held),
        events,
        log,
        book.answers,
        None if position is None else position._asdict(),
    )
    made: dict[str, Any] = msgspec.to_builtins(found, builtin_types=(bytes,))
    return made


def round_stored(one: Round) -> Kept:
    """A round as a file can hold it."""
    indices = one.row.indices.astype("<u4").tobytes() if isinstance(one.row, Sparse) else None
    values = one.row.values.astype("<f8").tobytes()
    voices = None if one.voices is None else one.voices.astype("<f8").tobytes()
    shape = [] if one.voices is None else list(one.voices.shape)
    same = {name: getattr(one, name) for name in SAME}
    told = None if one.told is None else astuple(one.told)
    return Kept(indices=indices, values=values, said=one.said.tolist(), voices=voices, shape=shape, told=told, **same)


def round_of(kept: Kept) -> Round:
    """The round that was kept so."""
    values = np.frombuffer(kept.values, "<f8").astype(np.float64)
    row: Rows = Dense(values[np.newaxis])
    if kept.indices is not None:
        indices = np.frombuffer(kept.indices, "<u4").astype(np.uint32)
        if len(indices) != len(values):
            raise ValueError("a waiting row does not fit together")
        row = Sparse(np.array([0, len(values)], np.int64), indices, values)
    voices = None if kept.voices is None else np.frombuffer(kept.voices, "<f8").astype(np.float64)
    if voices is not None:
        voices = voices.reshape(kept.shape)
    same = {name: getattr(kept, name) for name in SAME}
    told = None if kept.told is None else Told(*kept.told)
    return Round(row=row, said=np.array(kept.said, np.float64), voices=voices, told=told, **same)


def restore(book: Book, stored: Mapping[str, Any]) -> Late:
    """The book as it was kept, and all that was kept beside it."""
    try:
        found = msgspec.convert(stored, Late)
        rules: dict[str, Any] = found.rules
        book.rules = Rules(**rules)
        waiting, known = ([(key, round_of(one)) for key, one in rounds] for rounds in (found.rounds, found.known))
        book.counts = Counts(**{one.name: found.counts[one.name] for one in fields(Counts)})
        mistakes, *sums = found.figures
        if len(sums) != 4 or not all(map(math.isfinite, found.figures)) or mistakes != int(mistakes):
            raise ValueError("its figures are wrong")
        book.figures = Figures(int(mistakes), Sum(*sums[:2]), Sum(*sums[2:]))
        book.chain, book.answers = found.chain, found.answers
        _check(book, found, dict(waiting), dict(known))
        book.restored(waiting, known)
        return found
    except (msgspec.ValidationError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(f"the model file is damaged: its waiting rounds cannot be read ({error})") from error


def _check(book: Book, found: Late, waiting: dict[Any, Round], known: dict[Any, Round]) -> None:
    """A ValueError for what no book can hold."""
    counts = [getattr(book.counts, one.name) for one in fields(Counts)]
    if min(*counts, found.events) < 0 or any(len(one) != 32 for one in (found.chain, found.log, found.answers)):
        raise ValueError("its counts are wrong")
    if found.position is not None:
        position_of(found.position)
    if len(waiting) != len(found.rounds) or len(known) != len(found.known) or waiting.keys() & known.keys():
        raise ValueError("an id stands twice")
    if any(one.label is not None or one.ended for one in waiting.values()):
        raise ValueError("a round that waits has a label")
    for one in known.values():
        if one.ended not in ENDS or (one.label is None) != (one.ended == "expired"):
            raise ValueError("a round has not ended")
    for one in (*waiting.values(), *known.values()):
        _check_round(book, one)


def _check_round(book: Book, one: Round) -> None:
    core = book.core
    numbers = [one.weight, one.escape, one.size, *one.said.tolist(), *one.row.values.tolist()]
    if not all(map(math.isfinite, numbers)) or one.weight <= 0.0 or one.size < 0.0 or not 0.0 <= one.escape <= 1.0:
        raise ValueError("a number of a round is wrong")
    if not (0 <= one.place < book.counts.predicted and 0 <= one.version <= core.rounds):
        raise ValueError("the clock of a round is wrong")
    if core.features is not None and one.row.width > core.features.width:
        raise ValueError("a row has more features than there are")
    if len(one.said) != 1 and not core.multiclass:
        raise ValueError("a score is wrong")
    if (one.told is None) is not (core.sure is None):
        raise ValueError("what was said beside a score does not fit")
    if one.told is not None and core.sure is not None:
        _check_told(core.sure, one.told)
    heard = core.hears(one.voices) if isinstance(core, Auto) and one.voices is not None else not isinstance(core, Auto)
    if not heard or (one.voices is not None) is not isinstance(core, Auto):
        raise ValueError("what the members said does not fit")


def _check_told(sure: Sure, told: Told) -> None:
    """A ValueError for what cannot have been said beside a score."""
    since = 0 if sure.cover is None else sure.cover.rounds
    if math.isfinite(told.odds) is not (sure.calibration is not None) or math.isinf(told.q):
        raise ValueError("what was said beside a score is wrong")
    if not 0 <= told.since <= since or (since == 0 and math.isfinite(told.q) and math.isnan(sure.q)):
        raise ValueError("the clock of what was said beside a score is wrong")
