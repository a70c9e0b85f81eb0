"""Receipts of periods: each names the digest of the one before. A chain is checked by playing the events again.

A receipt says behind which event its period ended, and what the learner, its answers and all figures had come to by
then. The events are in the log of the served model, or in the files that they were moved to. Where neither has them any
more, the chain still shows that nobody has changed a receipt, and later periods are replayed from the saved learner.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from noregret import model
from noregret.errors import InputError, NoregretError, ReceiptError
from noregret.late.events import apply, event_of
from noregret.late.pending import Pending
from noregret.proof.figures import played_as
from noregret.proof.receipt import body_of, checksum, decoded, head, write
from noregret.proof.regret import ends
from noregret.proof.verification import Verification
from noregret.service.judging import Shadow, figures
from noregret.service.log import Reader
from noregret.service.moved import moved

DATABASE = "events.sqlite"
FOLDER = "receipts"
SUMS = ("loss", "fresh_loss", "staleness")  # of floats: claimed as intervals
SAID = {"model", "place", "previous", "events", "began", "ended", "labelled", "learner", "state", "figures", "log"} | {
    "answers",
    *head("period"),
}


def receipt(folder: Path, late: Pending, shadow: Shadow, before: list[dict[str, Any]]) -> dict[str, Any]:
    """Write the receipt of the period that ends now, with its snapshot already there; its content, with its digest."""
    number = late.events
    now = time.time()
    body = {
        **head("period"),
        "model": folder.name,
        "place": len(before) + 1,
        "previous": before[-1]["digest"] if before else None,
        "events": number,
        "began": before[-1]["ended"] if before else None,
        "ended": now,
        "labelled": late.book.counts.labelled,
        "learner": late.core.name,
        "state": digest(folder / f"{number}.nr"),
        **_claims(late, shadow),
    }
    (folder / FOLDER).mkdir(exist_ok=True)
    write(folder / FOLDER / f"{body['place']:06}.json", body)
    return {**body, "digest": checksum(body)}


def _claims(late: Pending, shadow: Shadow) -> dict[str, Any]:
    """What a replay must come to."""
    found = figures(late, shadow)
    sums = {name: ends(played_as(found[name])) for name in SUMS}
    said = msgspec.json.decode(msgspec.json.encode({**found, **sums}))
    return {"figures": said, "log": late.log.hex(), "answers": late.book.answers.hex()}


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from error


def receipts(folder: Path) -> list[dict[str, Any]]:
    """The chain, in its order, each with its digest; a break in it is an error."""
    found: list[dict[str, Any]] = []
    for place, path in enumerate(sorted((folder / FOLDER).glob("*.json")), 1):
        body = body_of(decoded(path), "period", str(path))
        if set(body) != SAID:
            raise ReceiptError("the receipt is damaged: it has other parts", str(path), failed=True)
        if body["place"] != place:
            told = f"the chain is broken: receipt {place} is missing, {body['place']!r} stands in its place"
            raise ReceiptError(told, str(path), failed=True)
        previous = found[-1] if found else None
        if body["previous"] != (previous["digest"] if previous else None):
            raise ReceiptError("the chain is broken: it names another receipt before it", str(path), failed=True)
        if type(body["events"]) is not int or (previous and body["events"] <= previous["events"]):
            raise ReceiptError("the chain is broken: its period ends before it begins", str(path), failed=True)
        found.append({**body, "digest": checksum(body)})
    return found


# -- verification ------------------------------------------------------------------------------------------------------


def verify_chain(folder: Path) -> tuple[Verification, list[str]]:
    """Check the links, and play every event that is there again; what was checked, and what could not be.

    At the end of every period the learner must be the one that was saved, to the last bit, and so must all answers and
    figures be.
    """
    if not (folder / DATABASE).is_file():
        raise InputError("is not the folder of a served model: it has no log", str(folder))
    reader = Reader(folder / DATABASE)
    try:
        return _verified(folder, reader)
    finally:
        reader.close()


def _verified(folder: Path, reader: Reader) -> tuple[Verification, list[str]]:
    done, told = Verification(), list[str]()
    chain = receipts(folder)
    for one in chain:
        done.true(f"receipt {one['place']} names the one before it", True)
    known = [value.hex() for _, _, value in reader.receipts()]
    done.same("the digests that the log has", known, [one["digest"] for one in chain[: len(known)]])
    origin = reader.snapshots()[-1][0]
    files = moved(folder, origin, reader.first)
    first = origin if files is not None else reader.first - 1
    for one in chain:
        if one["events"] <= first and first > origin:
            told.append(f"receipt {one['place']}: rows erased, its links hold")
    late, shadow = _begun(folder, reader, chain, first, origin, done)
    ahead = [one for one in chain if one["events"] > first]
    try:
        for number, text, decision in _events(reader, files, first):
            _play(late, shadow, text, decision)
            if late.events != number:
                raise ReceiptError(f"event {late.events} is missing from the log", failed=True)
            while ahead and ahead[0]["events"] == number:
                _check(done, ahead.pop(0), late, shadow)
    except ReceiptError:
        raise
    except NoregretError as error:
        raise ReceiptError(f"the log cannot be replayed at event {late.events + 1}: {error}", failed=True) from error
    if ahead:
        told_ = f"the log ends at event {late.events}, receipt {ahead[0]['place']} is about {ahead[0]['events']}"
        raise ReceiptError(told_, failed=True)
    number, *digests = reader.head or (0, b"", b"", b"")
    done.same("the last event of the log", number, late.events)
    mine = late.log, late.book.chain, late.book.answers
    for what, said, found in zip(("the log", "what was learned", "all answers"), digests, mine, strict=True):
        done.same(f"the digest of {what} at its end", said.hex(), found.hex())
    return done, told


def _begun(
    folder: Path, reader: Reader, chain: list[dict[str, Any]], first: int, origin: int, done: Verification
) -> tuple[Pending, Shadow]:
    """The learner that the replay begins with: the first, or the one saved behind the last row that was erased."""
    path = folder / f"{first}.nr"
    core, _ = model.load(path)
    late, shadow = Pending(core), Shadow()
    if first > origin:
        named = next((one for one in chain if one["events"] == first), None)
        if named is None:
            raise ReceiptError("events are missing, and no receipt is about them", failed=True)
        done.same(f"the learner saved with receipt {named['place']}", named["state"], digest(path))
        for key, one in reader.waiting_at(first):
            late.book.waiting[key] = one
        late.book.restored(late.book.waiting.items(), late.book.known.items())
        shadow = msgspec.convert(named["figures"].get("decisions", {}), Shadow)
    return late, shadow


def _events(reader: Reader, files: Any, first: int) -> Iterator[tuple[int, bytes, bytes | None]]:
    """The events behind one, those in files before those in the log."""
    yield from files or ()
    for number, _, text, decision in reader.events(max(first, reader.first - 1)):
        yield number, text, decision


def _play(late: Pending, shadow: Shadow, text: bytes, decision: bytes | None) -> None:
    event = event_of(text)
    apply(late, event)
    late.take_down(text)
    if decision is not None:
        one = late.round(event.id)
        assert one is not None, "a round that was just labelled is known"
        shadow.judge(late, one, event.y, msgspec.json.decode(decision))


def _check(done: Verification, one: dict[str, Any], late: Pending, shadow: Shadow) -> None:
    """A receipt, at the event that it stands behind."""
    place, found = one["place"], _claims(late, shadow)
    done.same(f"receipt {place}: the digest of the log", one["log"], found["log"])
    done.same(f"receipt {place}: the digest of all answers", one["answers"], found["answers"])
    done.same(f"receipt {place}: its figures", sorted(one["figures"]), sorted(found["figures"]))
    for name, value in found["figures"].items():
        done.same(f"receipt {place}: {name.replace('_', ' ')}", one["figures"][name], value)
    done.same(f"receipt {place}: rounds labelled", one["labelled"], late.book.counts.labelled)
    late.keep_in_model(waiting=False)
    with tempfile.TemporaryDirectory() as folder:
        done.same(
            f"receipt {place}: the learner", one["state"], digest(model.save(late.core, Path(folder) / "replayed.nr"))
        )
