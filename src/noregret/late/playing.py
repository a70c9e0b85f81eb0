"""`play_late`: a whole stream with late labels, from a log of events or from rows with a schedule for their labels."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from noregret.errors import InputError, SettingError, spelled
from noregret.late.book import MOST, REMEMBERED, Book
from noregret.late.events import apply, event_of, lines_of, placed, written
from noregret.late.pending import Answer, Pending, chained
from noregret.late.schedule import Delay, Schedule, arrival, due
from noregret.live import follow
from noregret.live.reader import Position, Reader, seal_of
from noregret.protocol import agree, as_before, core_of, encoded, refuse_waiting, row_weights
from noregret.rounds import Keeper
from noregret.run import Run
from noregret.stream import read
from noregret.stream.base import Stream
from noregret.stream.cells import as_text
from noregret.stream.opening import Input
from noregret.stream.scheme import is_broker
from noregret.watch.alarm import Alarm
from noregret.watch.windows import Windows

Answering = Callable[[Answer], None]


@dataclass(frozen=True, repr=False)
class LateRun:
    """The learner's own run, in the order in which labels came, and what its predictions lost beside it."""

    run: Run
    figures: dict[str, Any]
    book: Book
    how: dict[str, Any]  # what a replay is asked for
    position: Position | None = None  # the first and the last entry, where the events came from a broker

    def __repr__(self) -> str:
        found = self.figures
        rounds = f"{found['labelled']} of {found['predicted']} rounds labelled, staleness {found['staleness']:.6g}"
        return f"<LateRun of {self.run.learner.name}: {rounds}>"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers: what `--json` prints; mistakes and losses are those of the predictions."""
        own, found = self.run.to_dict(), self.figures
        n = found["labelled"]
        own["mistakes"] = found["mistakes"]
        own["loss"] = {**own["loss"], "total": found["loss"], "mean": found["loss"] / n if n else None}
        told = {"error": found["mistakes"], "log_loss": found["loss"]}
        own["metrics"] = {name: told[name] / n for name in own["metrics"] if name in told}
        return {**own, "late": found}


def play_late(
    learner: Any,
    stream: Any,
    *,
    delay: int | None = None,
    arrival: str | Schedule | None = None,
    time_column: str | None = None,
    expire: int | None = None,
    default_label: Any = None,
    pending: int = MOST,
    remembered: int = REMEMBERED,
    skip_seen: bool = False,
    class_weight: dict[Any, float] | None = None,
    most: int | None = None,
    keep: Keeper | None = None,
    answer: Answering | None = None,
    stop: Callable[[], bool] = lambda: False,
    cut: Callable[[], bool] = lambda: False,
    alarm: Alarm | None = None,
    windows: Windows | None = None,
) -> LateRun:
    """Play events, or, with `delay` or `arrival`, a stream as if its labels came late.

    Without a schedule `stream` is a log of events: JSON Lines in a file, any iterable of dicts, or a stream of Redis or
    a topic of Kafka as `follow` takes it, which is gone on with from the learner's position in it. `delay` is how many
    further rows are predicted before a label is there, `arrival` the column of a table that says behind which row it
    is, or, with `time_column`, at what time. For the rest see `Pending`. `skip_seen` passes over the events that the
    learner was given before, after checking that they are the same. `most` ends the play after this number of events,
    or of rows and labels. `answer` is called with every answer,
    `stop` after every event, row or label; `cut` says at the end whether the stream was cut short. `alarm` watches the
    predictions in their order.

    >>> from noregret.learner import Perceptron
    >>> rows = ([[1.0], [-1.0], [2.0]], [1, -1, 1])
    >>> late = play_late(Perceptron(), rows, delay=1)
    >>> late.figures["labelled"], late.figures["mistakes"], late.figures["fresh_loss"], late.figures["staleness"]
    (3, 2, 1.0, 1.0)
    """
    if delay is not None and arrival is not None:
        raise SettingError(f"{spelled('delay')} and {spelled('arrival')} both say when labels come: give one")
    core = core_of(learner.learner if isinstance(learner, Pending) else learner)
    rules = {"expire": expire, "default_label": default_label, "pending": pending, "remembered": remembered}
    began, before = time.perf_counter(), core.state.copy()
    late = (
        learner if isinstance(learner, Pending) else Pending(learner, keep=keep, alarm=alarm, windows=windows, **rules)
    )
    steps: Iterator[Answer | None]
    if delay is None and arrival is None:
        steps = _logged(late, stream, skip_seen, stop)
    else:
        refuse_waiting(core)
        source = read(stream, features=core.features, **as_before(core, stream))
        agree(core, source)
        when = Delay(delay) if delay is not None else _schedule(arrival, time_column, stream)
        steps = _rows(late, source, when, class_weight)
    stopped, done, asked = False, 0, most
    for done, found in enumerate(steps, 1):
        if found is not None and answer is not None:
            answer(found)
        if done == asked:
            break
        if stop():
            stopped = True
            break
    stopped = stopped or cut()
    most = done if stopped or done == asked else None
    if class_weight is not None:
        class_weight = {as_text(key): weight for key, weight in class_weight.items()}
    how = {"delay": delay, "arrival": arrival, "time_column": time_column, "class_weight": class_weight, "most": most}
    return _told(late, before, time.perf_counter() - began, stopped, {**how, **late.rules})


def _schedule(arrival_: str | Schedule | None, time_column: str | None, stream: Any) -> Schedule:
    if not isinstance(arrival_, str):
        assert arrival_ is not None
        return arrival_
    path = stream.source if isinstance(stream, Stream) else stream
    if not isinstance(path, str | os.PathLike) or path in ("-", "standard input"):
        raise SettingError(f"{spelled('arrival')} reads the table twice: give a file")
    return arrival(os.fspath(path), arrival_, time_column)


def _told(late: Pending, before: Any, seconds: float, stopped: bool, how: dict[str, Any]) -> LateRun:
    core, began = late.core, int(before["rounds"][0])
    if core.rounds > began:
        core.segments.append(
            {
                "rows": core.rounds - began,
                "skipped": 0,
                "digest": late.book.digest,
                "begin": began,
                "end": core.rounds,
                "passes": 1,
                "ended": not stopped,
                "shuffle": None,
                "class_weight": None,
                "late": True,
            }
        )
    if late.events:
        late.keep_in_model()
    else:
        late.keep_watchers()
    told = None if late.windows is None else late.windows.figures
    run = Run.of(core, before, seconds, stopped=stopped, digest=late.book.digest, windows=told)
    return LateRun(run, late.figures, late.book, how, late.position)


# -- events ------------------------------------------------------------------------------------------------------------


def _logged(late: Pending, stream: Any, skip_seen: bool, stop: Callable[[], bool]) -> Iterator[Answer | None]:
    """Every event that is done; the stream of a broker is asked to stop while nothing comes too."""
    log = follow(stream) if isinstance(stream, str) and is_broker(stream) else stream
    if isinstance(log, Reader) and log.waits is None:
        log.waits = stop
    try:
        yield from _events(late, log, skip_seen)
    finally:
        if log is not stream:  # nobody else has it
            log.close()


def _events(late: Pending, stream: Any, skip_seen: bool) -> Iterator[Answer | None]:
    """Every event that is done, with its answer."""
    seen = late.events if skip_seen else 0
    if seen and late.position is not None and isinstance(stream, Reader):
        given = spelled("skip", "seen", python="skip_seen")
        raise SettingError(f"the model goes on from its own position in the stream: leave out {given}")
    number, log = 0, bytes(32)
    for source, line, said, entry in _said(stream, late.position):
        with placed(source, line):
            event = event_of(said)
            text = written(event)
            number += 1
            if number <= seen:
                log = chained(log, text)
                if number == seen and log != late.log:
                    sentence = f"its first {seen:,} events must be the same"
                    raise InputError(f"the log differs from the one that the model has seen: {sentence}")
                continue
            found = apply(late, event)
            late.take_down(text)
            late.position = entry or late.position
        yield found
    if number < seen:
        raise InputError(f"holds only {number} events, the model has seen {seen}", _name(stream))


def _said(stream: Any, position: Position | None) -> Iterator[tuple[str, int | None, Any, Position | None]]:
    """Each event as it is written, with its source, its number, and where it stands in the stream of a broker."""
    if isinstance(stream, Reader):
        for message in stream.messages(position):
            seal = seal_of(message.body)
            position = Position(stream.name, position.first if position else message.at, message.at, seal)
            yield stream.spot(message), None, message.body, position
        return
    if isinstance(stream, str | os.PathLike):
        stream = Input(os.fspath(stream))
    if isinstance(stream, Input):
        with stream.open() as opened:
            for first, lines in lines_of(iter(opened.read, b""), stream.name, lambda: not opened.finished):
                yield from (
                    (stream.name, number, line, None) for number, line in enumerate(lines, first) if line.strip()
                )
        return
    if not isinstance(stream, Iterable):
        raise SettingError(f"events must be a file or an iterable of dicts, got {type(stream).__name__}")
    yield from ((_name(stream), number, said, None) for number, said in enumerate(stream, 1))


def _name(stream: Any) -> str:
    if isinstance(stream, Input | Reader):
        return stream.name
    return os.fspath(stream) if isinstance(stream, str | os.PathLike) else "the events"


# -- rows with a schedule ----------------------------------------------------------------------------------------------


def _rows(
    late: Pending, source: Stream, when: Schedule, class_weight: dict[Any, float] | None
) -> Iterator[Answer | None]:
    """Every prediction, and None for every label, as it is done."""
    core, book = late.core, late.book
    rounds = ((block, y, row_weights(core, block, y, class_weight)) for block, y in encoded(core, source))
    for one in due(rounds, when):
        if one.block is None:
            book.label(one.place, one.y)
            book.known.pop(one.place, None)
            yield None
            continue
        line = int(one.block.lines[one.row])
        with placed(one.block.source, line):
            made = book.predict(one.place, one.block.rows.slice(one.row, one.row + 1), one.weight)
        yield late.answer(line, made)
