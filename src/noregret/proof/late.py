"""The receipt of a run whose labels came late: its predictions, and the learner's own run in the order of the labels.

The log of events, or the rows with the schedule of their labels, is the stream. The verifier plays it again: the same
predictions must come out to the last bit. What they lost is evaluated on facts of its own, and the learner's own run is
checked as any other.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from noregret.errors import InputError, NoregretError, ReceiptError, SettingError
from noregret.interval import Interval
from noregret.kernel import Kernel
from noregret.late.book import Counts
from noregret.late.playing import LateRun, play_late
from noregret.learner.core import Core
from noregret.live import follow
from noregret.live.reader import Unreachable
from noregret.loss import Loss
from noregret.proof.claims import check_certificates
from noregret.proof.facts import own_loss
from noregret.proof.facts.late import LateFacts
from noregret.proof.figures import played_as
from noregret.proof.receipt import Receipt, Vector, body_of, decoded, head, packed, receipt_in, unpacked, write
from noregret.proof.regret import Against
from noregret.proof.replay import Replayed, read_again, weights_of_classes
from noregret.proof.theorem import Theorem, speaking
from noregret.proof.theorems import THEOREMS
from noregret.proof.theorems.late import NAME
from noregret.proof.verification import Verification, real
from noregret.proof.verify import DAMAGE, check_entry, check_run, learner_of
from noregret.rounds import Gathering
from noregret.stream.scheme import is_broker

ONCE = {"passes": 1, "shuffle": None, "class_weight": None}


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda said: type(said) is int and said >= least


def _or_none(right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda said: said is None or right(said)


HOW: dict[str, Callable[[Any], bool]] = {
    "delay": _or_none(_whole(0)),
    "arrival": _or_none(lambda said: isinstance(said, str)),
    "time_column": _or_none(lambda said: isinstance(said, str)),
    "class_weight": weights_of_classes,
    "most": _or_none(_whole(1)),
    "expire": _or_none(_whole(1)),
    "pending": _whole(1),
    "remembered": _whole(0),
    "default_label": _or_none(lambda said: isinstance(said, str | int | float)),
}
SAID = {*head("late"), "how", "digest", "predictions", "figures", "regret", "certificates", "points", "run"}
SOURCE = {"stream", "first", "last"}  # of events that came from a broker: its address, and a range of positions


@dataclass(frozen=True, repr=False)
class LateReceipt:
    """The predictions and what they lost; `run` is the receipt of the learner's own rounds."""

    how: dict[str, Any]  # how labels came, and what happened to those that did not
    digest: str  # of the events
    predictions: str  # a digest of every score that was predicted
    figures: dict[str, Any]
    regret: dict[str, Any] | None  # of the predictions
    certificates: list[dict[str, Any]]
    points: dict[str, Vector]
    run: Receipt
    source: dict[str, str] | None = None  # the entries of a stream of a broker, if the events came from there
    kind: ClassVar[str] = "late"

    def __repr__(self) -> str:
        name, rounds = self.run.learner["name"], self.figures["labelled"]
        return f"<LateReceipt of {name}: {rounds} rounds, {len(self.certificates)} theorems of the predictions>"

    @property
    def curve(self) -> list[dict[str, Any]]:
        """The regret after fewer rounds: that of the learner alone is looked at."""
        return self.run.curve

    @property
    def broken(self) -> list[str]:
        """The theorems that this run breaks: a bug, in noregret or in the theorem."""
        return [one["theorem"] for one in self.certificates if one["verdict"] == "broken"] + self.run.broken

    def to_dict(self) -> dict[str, Any]:
        """All but the checksum, as JSON takes it."""
        points = {name: packed(point) for name, point in self.points.items()}
        mine = {one.name: getattr(self, one.name) for one in fields(self)}
        if self.source is None:
            del mine["source"]
        return {**head("late"), **mine, "points": points, "run": self.run.to_dict()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the receipt; the file appears whole or not at all."""
        write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LateReceipt:
        """The receipt of a file; a file that is none, or was damaged, gets one sentence."""
        name = os.fspath(path)
        body = body_of(decoded(path), "late", name)
        try:
            said = {key: body[key] for key in SAID - set(head("late"))}
            if set(body) - {"source"} != SAID:
                raise KeyError(", ".join(sorted((set(body) - {"source"}) ^ SAID)))
            said["source"] = _source(body["source"]) if "source" in body else None
            said["points"] = {key: unpacked(text) for key, text in said["points"].items()}
            if {key: said["run"].get(key) for key in head("run")} != head("run"):
                raise ValueError("the learner's own receipt is of another kind")
            said["run"] = receipt_in(said["run"], name)
            return cls(**said)
        except (KeyError, TypeError, AttributeError, ValueError, zlib.error) as error:
            raise ReceiptError(f"the receipt is damaged ({error})", name, failed=True) from error


def _source(said: Any) -> dict[str, str]:
    """Where the events came from, as a file that anybody may have written must say it."""
    if not isinstance(said, dict) or set(said) != SOURCE or not all(isinstance(one, str) for one in said.values()):
        raise ValueError(f"source must be texts: {', '.join(sorted(SOURCE))}")
    if not is_broker(said["stream"]):
        raise ValueError("the stream of source is no address")
    return dict(said)


def theorems_of(facts: LateFacts) -> list[Theorem[LateFacts]]:
    """Those that speak of predictions whose labels came late."""
    return speaking(THEOREMS.values(), NAME, facts) if len(facts.plays.rounds) else []


def predictions_of(late: LateRun) -> str:
    """SHA-256 over the scores of all rounds, each behind the digest of those before it."""
    return late.book.answers.hex()


def late_figures(late: LateRun, facts: LateFacts) -> dict[str, Any]:
    """What came and what did not, and the losses as intervals."""
    counts = {one.name: getattr(late.book.counts, one.name) for one in fields(Counts)}
    book = late.book.figures
    core, plays = late.run.learner, facts.plays
    found = {"loss": played_as(book.plays.value), "fresh_loss": played_as(book.fresh.value)}
    if facts.linear:
        found = {"loss": own_loss(plays.run, plays.rounds), "fresh_loss": own_loss(late.run, facts.arrived)}
        found["staleness"] = facts.staleness
    mistakes = None if core.regression else book.mistakes
    log = {"log": late.figures["log"]} if "log" in late.figures else {}
    return {**counts, "waiting": len(late.book.waiting), "mistakes": mistakes, **found, **log}


def verify_late(
    receipt: LateReceipt, stream: Any, loss: Loss | None = None, kernel: Kernel | None = None
) -> Verification:
    """Play it again and check every number; the first that does not stand is an error."""
    done = Verification()
    try:
        core = learner_of(receipt.run, loss, kernel)
        _check_how(receipt.how)
        late, facts = _played(receipt, core, source_of(stream, receipt.how, receipt.run.reading, receipt.source))
    except (ReceiptError, Unreachable):
        raise
    except (SettingError, InputError) as error:
        raise ReceiptError(f"the run cannot be replayed: {error}", failed=True) from error
    except DAMAGE as error:
        raise ReceiptError(f"the receipt's settings are damaged ({error})", failed=True) from error
    try:
        _check(done, receipt, late, facts)
    except ReceiptError:
        raise
    except (NoregretError, *DAMAGE) as error:
        raise ReceiptError(f"the receipt is damaged ({type(error).__name__}: {error})", failed=True) from error
    return done


def _check_how(how: dict[str, Any]) -> None:
    """What a replay is asked for: a field of another kind is an error."""
    if not isinstance(how, dict) or set(how) != set(HOW):
        raise ReceiptError(f"how labels came must be {', '.join(HOW)}", failed=True)
    for name, right in HOW.items():
        if not right(how[name]):
            raise ReceiptError(f"{name.replace('_', ' ')} cannot be {how[name]!r}", failed=True)
    if how["delay"] is None and how["arrival"] is None and (how["time_column"], how["class_weight"]) != (None, None):
        raise ReceiptError("events have neither a column with times nor weights of classes", failed=True)


def _played(receipt: LateReceipt, core: Core, stream: Any) -> tuple[LateRun, LateFacts]:
    with Gathering(bool(core.config["bias"][0])) as gathering:
        late = play_late(core, stream, keep=gathering, **receipt.how)
        arrived = gathering.done()
    return late, LateFacts(late.book, late.run, arrived, points=receipt.points)


def _check(done: Verification, receipt: LateReceipt, late: LateRun, facts: LateFacts) -> None:
    if receipt.digest != late.book.digest:
        raise ReceiptError("the digest of the events: these are not the events that the receipt is about", failed=True)
    done.same("the digest of the events", receipt.digest, late.book.digest)
    done.same("how labels came", receipt.how, late.how)
    if late.position is not None and receipt.source is not None:
        done.same("the first position in the stream", receipt.source["first"], late.position.first)
        done.same("the last position in the stream", receipt.source["last"], late.position.at)
    done.same("the digest of the predictions", receipt.predictions, predictions_of(late))
    found = late_figures(late, facts)
    done.true("the figures are those that are recomputed", set(receipt.figures) == set(found))
    for name, value in found.items():
        what = name.replace("_", " ")
        if isinstance(value, Interval):
            done.contains(what, receipt.figures[name], value)
        else:
            done.same(what, receipt.figures[name], value)
    facts = _check_regret(done, receipt, late.run.learner, facts)
    check_certificates(done, receipt.certificates, theorems_of(facts), facts)
    ended = receipt.how["most"] is None
    segment = {"rows": late.run.rounds, **ONCE, "ended": ended, "digest": late.book.digest}
    done.true("the learner's own rounds are those of the events", receipt.run.segments == [segment])
    check_run(done, receipt.run, late.run.learner, Replayed(late.run, facts.arrived, (late.book.digest,), (ended,)))


def _check_regret(done: Verification, receipt: LateReceipt, core: Core, facts: LateFacts) -> LateFacts:
    """The regret of the predictions: of all of them, against the learner's own ball."""
    plays, regret = Replayed(facts.plays.run, facts.plays.rounds, (), ()), receipt.regret
    against = Against.of(core, None, len(plays.rounds)) if facts.linear else None
    done.same("whether the predictions have a regret", regret is not None, against is not None)
    if regret is None or against is None:
        return facts
    _check_points(receipt, len(plays.rounds), plays.rounds.width)
    done.same("the rounds of the regret of the predictions", regret["rounds"], len(plays.rounds))
    done.same("the radius of the regret of the predictions", real(regret["domain"]["radius"]), against.radius)
    return replace(facts, hindsight=check_entry(done, regret, plays, receipt.points))


def _check_points(receipt: LateReceipt, rounds: int, width: int) -> None:
    for name, vector in receipt.points.items():
        wanted = width if name == "u" else rounds
        if len(vector) != wanted or not np.isfinite(vector).all():
            raise ReceiptError(f"{name} must hold {wanted} finite numbers, got {len(vector)}", failed=True)


def source_of(stream: Any, how: Mapping[str, Any], reading: Mapping[str, Any], source: Mapping[str, str] | None) -> Any:
    """A log of events as it is, of a broker the entries in question; rows as they were read when they were learned."""
    events = how["delay"] is None and how["arrival"] is None
    if not (events and isinstance(stream, str) and is_broker(stream)):
        return stream if events else read_again(stream, reading)
    if source is None:
        raise ReceiptError("the events came from a file, not from a broker: give that file")
    return follow(stream).between(source["first"], source["last"])


def source_in(late: LateRun) -> dict[str, str] | None:
    """The range of positions that a run on the stream of a broker is about."""
    found = late.position
    return None if found is None else {"stream": found.stream, "first": found.first, "last": found.at}


def load_late(receipt: Any) -> LateReceipt:
    """A receipt, or that of a file."""
    return receipt if isinstance(receipt, LateReceipt) else LateReceipt.load(receipt)
