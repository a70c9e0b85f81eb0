"""`learn --alarm`: its options, checked before the stream is opened, and the alarm that they ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.cli.options import flag
from noregret.errors import SettingError

if TYPE_CHECKING:
    from noregret.cli.learn import Asked, Watch
    from noregret.learner import Core
    from noregret.watch.alarm import Alarm

ALARM = 3  # the exit code of a run in which it rang, if that is asked for


def check_alarm(watch: Watch, asked: Asked) -> None:
    """Say at once what cannot be; of a resumed model the alarm is known later."""
    if watch.alarm is None:
        other = next((name for name in watch.options() if getattr(watch, name) not in (None, False)), None)
        if other is not None and asked.resume is None:
            raise SettingError(f"{flag(other)} needs --alarm")
        return
    from noregret.watch.alarm import Alarm

    if Alarm(**{name: value for name, value in watch.said.items() if value is not None}).changes:
        check_one_learner(str(watch.on_alarm), asked)
    if asked.passes > 1:
        raise SettingError(f"--alarm watches the predictions of new rows: leave out --passes, got {asked.passes}")


def check_one_learner(on_alarm: str, asked: Asked) -> None:
    """What needs one learner from the first round to the last."""
    needs = {"receipt": asked.receipt, "certify": asked.certify, "select": asked.select}
    for name, given in needs.items():
        if given:
            raise SettingError(
                f"{flag(name)} needs one learner from the first round to the last, which --on-alarm {on_alarm} does not"
                " leave: give one of the two"
            )


def alarm_of(watch: Watch, core: Core) -> Alarm | None:
    """The alarm that was asked for; a resumed model keeps its own."""
    if watch.alarm is None and (core.watched or {}).get("alarm") is None:
        other = next((name for name in watch.options() if getattr(watch, name) not in (None, False)), None)
        if other is not None:
            raise SettingError(f"{flag(other)} needs --alarm")
        return None
    from noregret.watch.alarm import of_model

    return of_model(core, watch.said)


def check_kind(alarm: Alarm | None, kind: str | None) -> None:
    """A sentence where a picture is drawn among all rounds and several learners play them."""
    if alarm is not None and alarm.changes:
        raise SettingError(
            f"--picture {kind} needs one learner from the first round to the last: use --on-alarm continue"
        )


def rings(core: Core) -> int:
    """How often the alarm of a model has rung."""
    kept = (core.watched or {}).get("alarm")
    return 0 if kept is None else len(kept["figures"]["rang"])
