"""What a receipt claims of an alarm, on the losses as they came out when the rounds were played again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import SettingError
from noregret.learner.core import Core
from noregret.proof.claims import check_certificates, claimed
from noregret.proof.facts.alarm import AlarmFacts
from noregret.proof.replay import Replayed
from noregret.proof.theorems.alarm import alarm as theorem_of_alarms
from noregret.proof.verification import Verification
from noregret.watch.alarm import NAME, Alarm, of_model
from noregret.watch.guard import Guard

ASKED = ("null", "false_alarm", "after", "loss", "on_alarm")
COUNTED = ("words", "rang", "rounds", "watched", "unlabelled", "unseen")


class Listened:
    """An alarm that goes beside a run from its first round on, and the losses that it watches."""

    def __init__(self, asked: Alarm) -> None:
        self.asked = asked
        self.losses: list[NDArray[np.float64]] = []
        self.last: Guard | None = None

    @property
    def changes(self) -> bool:
        return self.asked.changes

    def guard(self, core: Core) -> Guard:
        """What watches this learner, or goes on to, with its losses kept."""
        self.last = self.asked.guard(core)
        self.last.traced = self.losses
        return self.last


def listening(asked: Alarm, core: Core) -> Listened:
    """The alarm of a learner that has played nothing yet, its losses kept."""
    return Listened(asked)


def asked_of(core: Core) -> dict[str, Any] | None:
    """The alarm of a learner, where it has seen all of its rounds."""
    asked = of_model(core, {})
    if asked is None or asked.changes:
        return None
    kept = (core.watched or {})[NAME]
    whole = kept["first"] == 0 and kept["figures"]["rounds"] == core.rounds and not kept["figures"]["unseen"]
    return asked.to_dict() if whole else None


def asked_again(said: dict[str, Any], core: Core) -> Listened:
    """The alarm that a receipt speaks of, to go beside the rounds once more."""
    found = Alarm(**{name: said[name] for name in ASKED})
    if found.changes:
        raise SettingError("an alarm at which another learner goes on has no receipt")
    return Listened(found)


def alarm_claimed(found: Listened, played: Replayed) -> dict[str, Any]:
    """All that a receipt claims of an alarm: its null, when it rang, and the theorem."""
    return {**_described(found), "certificates": [claimed(theorem_of_alarms, _facts(found))]}


def check_alarm(done: Verification, said: dict[str, Any], found: Listened, played: Replayed) -> None:
    """The same once more."""
    described = _described(found)
    done.true("what is said of the alarm", set(said) == {*described, "certificates"})
    for name, value in described.items():
        done.same(f"alarm: {name.replace('_', ' ')}", said[name], value)
    check_certificates(done, said["certificates"], [theorem_of_alarms], _facts(found))


def _described(found: Listened) -> dict[str, Any]:
    assert found.last is not None
    figures = found.last.figures
    asked = found.asked.to_dict()
    return {
        **{name: asked[name] for name in ASKED},
        **{name: figures[name] for name in COUNTED},
        "seal": found.last.seal,
    }


def _facts(found: Listened) -> AlarmFacts:
    assert found.last is not None
    losses = np.concatenate([np.zeros(0), *found.losses])
    before = found.last.rounds - len(losses)
    asked = found.asked
    return AlarmFacts(losses, asked.level, asked.false_alarm, left_out=found.last.unlabelled, before=before)
