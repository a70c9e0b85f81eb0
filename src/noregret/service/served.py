"""A served model: events in, answers out; its log on disk, from which a restart makes the same learner bit for bit."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from noregret import model
from noregret.atomic import fcntl, sync_folder
from noregret.errors import InputError, ModelFileError, NoregretError
from noregret.late.book import exact
from noregret.late.events import Event, apply, event_of, written
from noregret.late.pending import Answer, Pending
from noregret.learner.core import Core
from noregret.service import chain, moved
from noregret.service.chain import DATABASE
from noregret.service.judging import Shadow, check_decision, figures, loss_of
from noregret.service.log import BEHIND, Group, Log
from noregret.service.shelf import Shelf
from noregret.service.wire import Label, Outcome, Prediction, Question, Refused, RoundState

EVERY = 100  # labelled rounds between two marks
SNAPSHOT = 100_000  # events between two snapshots
SENT = 50_000  # rounds that wait, in a model file that is asked for
CHUNK = 10_000  # events of a replay that are entered at once
Entry = tuple[bytes, Any]  # an event as it is written, and the decision that came with it


def create(folder: Path, core: Core, **rules: Any) -> None:
    """A folder for a new served model, which appears whole or not at all."""
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    late = Pending(core, **rules)
    late.keep_in_model()
    try:
        part.mkdir(parents=True)
        model.save(core, part / f"{late.events}.nr")
        log = Log(part / DATABASE)
        more = msgspec.json.encode(asdict(Shadow()))
        log.enter(Group(snapshots=[(late.events, more)], head=_head(late)))
        log.flush()
        log.close()
        sync_folder(part)
        part.rename(folder)
        sync_folder(folder.parent)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise InputError(f"cannot be written: {error.strerror}", str(folder)) from error


class Served:
    """One of them. Every method is for one thread; the log has another, and calls `told` when events are on the disk.

    `snapshot_every` is how many events lie between two snapshots.
    """

    def __init__(
        self, folder: Path, told: Callable[[], None] = lambda: None, *, snapshot_every: int = SNAPSHOT
    ) -> None:
        self.folder, self.name, self._every = folder, folder.name, snapshot_every
        self._next = 0  # no snapshot before this event
        self._lock = _locked(folder)
        try:
            self.log = Log(folder / DATABASE, told)
        except InputError:
            self._lock.close()
            raise
        self.unknown = 0
        self.trouble: str | None = None  # why the last snapshot could not be written
        self._broken = False  # what is in memory is not what the log says
        try:
            self.chain = chain.receipts(folder)  # what is in the files counts, where the log does not know it yet
            known = len(self.log.receipts())
            missed = [(one["place"], one["events"], bytes.fromhex(one["digest"])) for one in self.chain[known:]]
            if missed:
                self.log.enter(Group(receipts=missed))
                self.log.flush()
            self._open()
        except BaseException:
            self.close(snapshot=False)
            raise

    # -- from the disk -----------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """The learner as it was when the last event was written: the latest snapshot, and the events behind it."""
        found = self.log.snapshots()
        self.origin = found[-1][0] if found else 0
        for number, more in found:
            try:
                core, _ = model.load(self.folder / f"{number}.nr")
            except ModelFileError:
                if (number, more) == found[-1] or self.log.first > found[-1][0] + 1:
                    raise
                continue  # an older one will do, with more events to play
            self._restore(core, number, more)
            self._replay()
            return
        raise InputError("holds no snapshot: this is not the folder of a served model", str(self.folder))

    def _restore(self, core: Core, number: int, more: bytes) -> None:
        self.late = late = Pending(core)
        self.shadow = msgspec.json.decode(more, type=Shadow)
        self.snapshot = number
        before = list(late.book.waiting.items())  # those of a model that was learned elsewhere
        self.log.rewind(number, -1 if before else number)
        self.shelf = Shelf(self.log, number)
        outside = sum(map(exact, self.log.sizes())) if not before else late.book.outside
        for key, one in before:
            self.shelf[key] = one
        late.book.kept_elsewhere(self.shelf, outside)

    def _replay(self) -> None:
        """Play what came behind the snapshot: the same digests must come out."""
        group = Group()
        for number, when, text, decision in self.log.events(self.snapshot):
            said = None if decision is None else msgspec.json.decode(decision)
            group.add(self._applied((text, said), when)[1])
            if number % CHUNK == 0:
                group = self._entered(group)
        self._entered(group)
        self.shelf.replayed = None
        head, mine = self.log.head, self._head
        if head is not None and tuple(head) != mine:
            raise InputError(
                f"the replay of its log gives other bits than the run had, at event {mine[0]} of {head[0]}:"
                " start it with the version of noregret and the build that wrote it",
                str(self.folder),
            )

    def _entered(self, group: Group) -> Group:
        """What a replay changed, without the events, which are there."""
        group.events.clear()
        group.head = None
        self.log.enter(group)
        self.log.flush()
        self.shelf.replayed = self.late.events
        return Group()

    @property
    def _head(self) -> tuple[int, bytes, bytes, bytes]:
        """The last event, and digests of all events, of what was learned from them, and of all answers."""
        return _head(self.late)

    def _rebuild(self) -> None:
        """Undo what was done and not entered, by playing the log again; until that is done nothing is taken."""
        self._broken = True
        self.log.flush()
        self._open()
        self._broken = False

    # -- events ------------------------------------------------------------------------------------------------------

    def _applied(self, entry: Entry, now: float) -> tuple[Answer | None, Group]:
        """Do what an event says, as it is written; the answer, and what is to be written."""
        late, shelf, (text, decision) = self.late, self.shelf, entry
        event = event_of(text)
        shelf.number = late.events + 1
        before = late.book.counts.labelled
        found = apply(late, event)
        late.take_down(text)
        group = shelf.taken()
        kept = None if decision is None else msgspec.json.encode(decision)
        group.events.append((late.events, now, text, kept))
        if decision is not None:
            one = late.round(event.id)
            assert one is not None, "a round that was just labelled is known"
            self.shadow.judge(late, one, event.y, decision)
        if late.book.counts.labelled // EVERY > before // EVERY:
            group.marks.append((late.events, now, msgspec.json.encode(figures(late, self.shadow))))
        group.head = self._head
        return found, group

    def _all(self, entries: Sequence[Entry]) -> list[Answer | None]:
        """All of these events or none, entered into the log."""
        now, group, answers = time.time(), Group(), list[Answer | None]()
        late = self.late
        for entry in entries:
            before = late.book.chain
            try:
                found, more = self._applied(entry, now)
            except BaseException as error:
                label = event_of(entry[0]).x is None
                if answers or label or late.book.chain != before or not isinstance(error, NoregretError):
                    self._rebuild()
                raise
            answers.append(found)
            group.add(more)
        if group:
            self.log.enter(group)
        if late.events - self.snapshot >= self._every and late.events >= self._next:
            self._try_to_save()
        return answers

    def _try_to_save(self) -> None:
        """A snapshot; without it a restart takes longer, and nothing else is lost."""
        try:
            self.save()
            self.trouble = None
        except InputError as error:
            self.trouble, self._next = str(error), self.late.events + self._every // 10

    def ready(self) -> None:
        """Refuse what cannot be written."""
        if self.log.failed:
            raise Refused(503, f"{self.log.failed}: nothing is taken until it can be written again")
        if self._broken:
            self._rebuild()
        if self.log.behind > BEHIND:
            raise Refused(429, f"more than {BEHIND:,} events wait for the disk: try again later")

    # -- predictions -------------------------------------------------------------------------------------------------

    def predict(self, questions: Sequence[Question]) -> list[Prediction]:
        """All of them or none; the answer of before for an id that is known."""
        self.ready()
        _once([one.id for one in questions if one.id is not None])
        asked = [
            one if one.id is not None else msgspec.structs.replace(one, id=secrets.token_hex(12)) for one in questions
        ]
        known = [self._again(one) for one in asked]
        new = [
            (written(Event(id=one.id, x=one.x, w=one.w)), None)
            for one, old in zip(asked, known, strict=True)
            if old is None
        ]
        made = iter(self._all(new))
        return [self._said(old or next(made)) for old in known]

    def _again(self, one: Question) -> Answer | None:
        try:
            x = _array(one.x)
            return self.late.again(one.id, x, 1.0 if one.w is None else one.w)
        except InputError as error:
            if self.late.round(one.id) is None:
                raise
            raise Refused(409, error.sentence) from error

    def _said(self, answer: Answer | None) -> Prediction:
        assert answer is not None, "every question has an answer"
        return Prediction(**answer.to_dict())

    # -- labels ------------------------------------------------------------------------------------------------------

    def label(self, labels: Sequence[Label]) -> list[Outcome]:
        """All of them or none. What is answered holds once `log.written` has come to the last event."""
        self.ready()
        _once([one.id for one in labels])
        asked = [self._asked(one) for one in labels]
        self._all(
            [(written(event), one.decision) for one, (event, _) in zip(labels, asked, strict=True) if event is not None]
        )
        return [self._outcome(one, event, state) for one, (event, state) in zip(labels, asked, strict=True)]

    def _asked(self, one: Label) -> tuple[Event | None, str]:
        """The event that a label is, and what becomes of it; None where it is there already."""
        late = self.late
        if one.expire and (one.y is not None or one.decision is not None or one.revise):
            raise Refused(400, "a label that expires has neither y nor decision, and is not revised")
        if not one.expire and one.y is None:
            raise Refused(400, "a label needs y, or expire: true")
        if one.revise and one.decision is not None:
            raise Refused(400, "a label that is revised has no decision: it came with the first one")
        known = late.round(one.id)
        if known is None:
            self.unknown += 1
            raise Refused(404, f"unknown prediction {one.id!r}: it was never made, or is no longer remembered")
        if one.expire:
            return (Event(id=one.id, expire=True), "expired") if not known.ended else (None, "repeated")
        code = late.code_of(one.y)
        if one.decision is not None:
            check_decision(late, one.decision)
        if not known.ended or known.ended == "expired":
            return Event(id=one.id, y=one.y), "held" if code is None else "learned"
        if known.label == code:
            return None, "repeated"
        if one.revise:
            return Event(id=one.id, y=one.y, revise=True), "revised"
        if known.ended == "defaulted":
            return Event(id=one.id, y=one.y), "revised"
        raise Refused(409, f"the round {one.id!r} has another label: send it with revise to replace it")

    def _outcome(self, one: Label, event: Event | None, state: str) -> Outcome:
        known = self.late.round(one.id)
        loss = None if known is None else loss_of(self.late, known)
        applied = event is not None and state not in ("held", "expired")
        return Outcome(id=one.id, applied=applied, state=state, loss=loss)

    # -- what happened -----------------------------------------------------------------------------------------------

    def round(self, text: str) -> RoundState:
        """A round by its id as it stands in an address: as text, or as a whole number."""
        ids: list[str | int] = [text]
        with suppress(ValueError):
            ids.append(int(text))
        for id in ids:
            one = self.late.round(id)
            if one is not None:
                said, waited = self._said(self.late.answer(id, one)), self.late.core.rounds - one.version
                state = one.ended or "waiting"
                return RoundState(id=id, state=state, prediction=said, loss=loss_of(self.late, one), waited=waited)
        raise Refused(404, f"unknown round {text!r}: it was never predicted, or is no longer remembered")

    @property
    def figures(self) -> dict[str, Any]:
        return figures(self.late, self.shadow)

    @property
    def receipts(self) -> list[dict[str, Any]]:
        """The chain of receipts so far: place, events up to its end, labelled rounds, digest."""
        names = ("place", "events", "labelled", "digest", "ended")
        return [{name: one[name] for name in names} for one in self.chain]

    def receipt(self) -> bool:
        """Write the receipt of what came behind the last one; False where nothing did."""
        number = self.save()
        if number == self._last:
            return False
        self.log.flush()
        body = chain.receipt(self.folder, self.late, self.shadow, self.chain)
        self.chain.append(body)
        self.log.enter(Group(receipts=[(body["place"], number, bytes.fromhex(body["digest"]))]))
        return True

    def retain(self, days: float | None, megabytes: float | None) -> bool:
        """Move the events of one period to a file, if it is too old or the log too large."""
        to = moved.due(self.chain, self.log, days, megabytes)
        if to is None or self.log.failed:
            return False
        moved.move(self.folder, self.log, to)
        self.log.enter(Group(erased=[(to,)]))
        self.log.flush()
        return True

    @property
    def _last(self) -> int:
        """The event behind which the last receipt stands."""
        return int(self.chain[-1]["events"]) if self.chain else self.origin

    def file(self) -> bytes:
        """The learner as a model file, with the rounds that wait."""
        if len(self.late.book.waiting) > SENT:
            raise Refused(413, f"more than {SENT:,} rounds wait: take the snapshot from the folder of the model")
        self.late.keep_in_model()
        with tempfile.TemporaryDirectory() as folder:
            return model.save(self.late.core, Path(folder) / "model.nr").read_bytes()

    # -- to the disk -------------------------------------------------------------------------------------------------

    def save(self) -> int:
        """A snapshot of the learner, from which a restart goes on; the event that it stands behind."""
        late, number = self.late, self.late.events
        if number > self.snapshot:
            late.keep_in_model(waiting=False)
            model.save(late.core, self.folder / f"{number}.nr")
            self.snapshot = number
            self.log.enter(Group(snapshots=[(number, msgspec.json.encode(asdict(self.shadow)))]))
        return number

    def sweep(self) -> None:
        """Take away the files of snapshots that nothing begins with any more."""
        first = self.log.first - 1  # where a replay begins
        used = {number for number, _ in self.log.snapshots()}
        used |= {number for _, number, _ in self.log.receipts() if number >= first}
        for path in self.folder.glob("*.nr") if self.snapshot in used else ():
            if path.stem.isdigit() and int(path.stem) not in used and int(path.stem) < self.snapshot:
                path.unlink(missing_ok=True)

    def close(self, snapshot: bool = True) -> None:
        """Save and leave; what was not written by then is not acknowledged."""
        try:
            if snapshot and not self.log.failed:
                self.save()
                self.log.flush()
                self.sweep()
        finally:
            self.log.close()
            self._lock.close()
        if self.log.failed:
            raise InputError(self.log.failed, str(self.folder))


def _head(late: Pending) -> tuple[int, bytes, bytes, bytes]:
    return late.events, late.log, late.book.chain, late.book.answers


def _array(x: Any) -> Any:
    import numpy as np

    return np.array(x, np.float64) if isinstance(x, list) else x


def _once(ids: Sequence[Any]) -> None:
    seen = set[Any]()
    for id in ids:
        if id in seen:
            raise Refused(409, f"the id {id!r} stands twice in one request")
        seen.add(id)


def _locked(folder: Path) -> Any:
    """A file that one process at a time can hold."""
    try:
        file = (folder / "lock").open("ab")
    except OSError as error:
        raise InputError(f"cannot be served: {error.strerror}", str(folder)) from error
    try:
        if fcntl is not None:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise InputError("is served by another process", str(folder)) from None
    return file
