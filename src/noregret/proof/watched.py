"""The receipt of a run that was watched: the run's own receipt, and beside it what each watcher claims.

A watcher is a function of the plays alone: the verifier plays the run again, with the same watchers beside it, and
evaluates what each claims on the rounds that come out. `WATCHERS` lists them; another one is another line.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from noregret.errors import InputError, NoregretError, ReceiptError, SettingError
from noregret.kernel import Kernel
from noregret.learner.core import Core
from noregret.loss import Loss
from noregret.proof import alarm, windows
from noregret.proof.receipt import Receipt, body_of, decoded, head, receipt_in, write
from noregret.proof.replay import Replayed, replay, segment_of
from noregret.proof.verification import Verification
from noregret.proof.verify import DAMAGE, check_run, given_streams, learner_of, surrogate_of


@dataclass(frozen=True)
class Watcher:
    """One kind of watcher, as receipts know it."""

    kept: Callable[[Any, Core], Any]  # from what a user asks for to what keeps all that is to be claimed
    asked: Callable[[Core], dict[str, Any] | None]  # how a learner was watched from its first round on, if it was
    again: Callable[[dict[str, Any], Core], Any]  # from what a receipt says of it to what `play` is given by its name
    claimed: Callable[[Any, Replayed], dict[str, Any]]  # what it claims of a run that was played with it
    check: Callable[[Verification, dict[str, Any], Any, Replayed], None]


WATCHERS = {
    "windows": Watcher(
        windows.kept, windows.asked_of, windows.asked_again, windows.windows_claimed, windows.check_windows
    ),
    "alarm": Watcher(alarm.listening, alarm.asked_of, alarm.asked_again, alarm.alarm_claimed, alarm.check_alarm),
}


@dataclass(frozen=True, repr=False)
class WatchedReceipt:
    """The receipt of a run, and what its watchers claim, by their names."""

    run: Receipt
    watched: dict[str, dict[str, Any]]
    kind: ClassVar[str] = "watched"

    def __repr__(self) -> str:
        return f"<WatchedReceipt of {self.run.learner['name']}: {', '.join(self.watched)}>"

    @property
    def broken(self) -> list[str]:
        """The theorems that this run breaks: a bug, in noregret or in the theorem."""
        told = [one for said in self.watched.values() for one in said.get("certificates", [])]
        return self.run.broken + [one["theorem"] for one in told if one["verdict"] == "broken"]

    def to_dict(self) -> dict[str, Any]:
        """All but the checksum, as JSON takes it."""
        return {**head("watched"), "run": self.run.to_dict(), "watched": self.watched}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the receipt; the file appears whole or not at all."""
        write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> WatchedReceipt:
        """The receipt of a file; a file that is none, or was damaged, gets one sentence."""
        name = os.fspath(path)
        body = body_of(decoded(path), "watched", name)
        try:
            if set(body) != {*head("watched"), "run", "watched"}:
                raise KeyError(", ".join(sorted(body)))
            if {key: body["run"].get(key) for key in head("run")} != head("run"):
                raise ValueError("the run's own receipt is of another kind")
            if not all(isinstance(said, dict) for said in body["watched"].values()):
                raise TypeError("what watched the run is not said")
            return cls(receipt_in(body["run"], name), body["watched"])
        except (KeyError, TypeError, AttributeError, ValueError, zlib.error) as error:
            raise ReceiptError(f"the receipt is damaged ({error})", name, failed=True) from error


def kept_for_proof(asked: dict[str, Any], core: Core) -> dict[str, Any]:
    """Watchers that were asked for, each keeping what a receipt needs of the rounds; None where there is none."""
    return {name: None if one is None else WATCHERS[name].kept(one, core) for name, one in asked.items()}


def watched_claims(watchers: dict[str, Any], played: Replayed) -> dict[str, dict[str, Any]]:
    """What the watchers of a run claim of it."""
    return {name: WATCHERS[name].claimed(one, played) for name, one in watchers.items()}


def watchers_of(core: Core, again: Core) -> dict[str, Any]:
    """The watchers of a learner, to go beside another that plays the same rounds again."""
    asked = {name: one.asked(core) for name, one in WATCHERS.items()}
    return {name: WATCHERS[name].again(said, again) for name, said in asked.items() if said is not None}


def verify_watched(
    receipt: Any, *streams: Any, loss: Loss | None = None, kernel: Kernel | None = None, watch: Any = None
) -> Verification:
    """Play the run again with its watchers and check every number; the first that does not stand is an error."""
    found = receipt if isinstance(receipt, WatchedReceipt) else WatchedReceipt.load(receipt)
    segments = [segment_of(part, place) for place, part in enumerate(found.run.segments, 1)]
    done, given = Verification(), given_streams(found.run, streams)
    if not found.watched or not set(found.watched) <= set(WATCHERS):
        raise ReceiptError(f"a run can be watched by {', '.join(WATCHERS)}", failed=True)
    try:
        core, surrogate = learner_of(found.run, loss, kernel), surrogate_of(found.run, loss)
        watchers = {name: WATCHERS[name].again(said, core) for name, said in found.watched.items()}
        played = replay(core, segments, given, watch, **watchers)
    except (SettingError, InputError) as error:
        raise ReceiptError(f"the run cannot be replayed: {error}", failed=True) from error
    except DAMAGE as error:
        raise ReceiptError(f"the receipt's settings are damaged ({error})", failed=True) from error
    try:
        check_run(done, found.run, core, played, surrogate)
        for name, said in found.watched.items():
            WATCHERS[name].check(done, said, watchers[name], played)
    except ReceiptError:
        raise
    except (NoregretError, *DAMAGE) as error:
        raise ReceiptError(f"the receipt is damaged ({type(error).__name__}: {error})", failed=True) from error
    return done
