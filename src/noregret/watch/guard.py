"""What watches a run for an alarm: it takes the rounds as they were played, and says after which one it rings.

The test is a function of the plays alone: scores, labels, and what a baseline or a challenger said of the same rows.
"""

from __future__ import annotations

import math
from copy import deepcopy
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from noregret import _native
from noregret._native import ALARM_NUMBERS
from noregret.errors import ModelFileError, SettingError, spelled
from noregret.interval import Interval
from noregret.learner.auto import Auto
from noregret.learner.core import TOOLS, Core
from noregret.model import AlarmSettings
from noregret.stream.base import Stream
from noregret.stream.block import Block
from noregret.stream.labels import Classes
from noregret.watch.alarm import NAME, RESHARE, RESTART, Alarm
from noregret.watch.challenger import Challenger
from noregret.watch.judged import Baseline, loss_of, losses, losses_of_scores
from noregret.watch.order import InOrder

Vector = NDArray[np.float64]
PI = Interval(math.pi, math.nextafter(math.pi, math.inf))
NOW, LARGEST, AT = 9, 10, 11  # places among the numbers of a test, behind the bets and the rounds
WORDS = {
    "level": "given all before it, the mean {loss} of a round is at most {level:g}",
    "baseline": "given all before it, the mean {loss} of a round is at most that of {baseline}",
    "challenger": "given all before it, the mean {loss} of a round is at most that of {model}",
}

MEAN = "the mean of the labels"
LOSSES = {  # in words, and what predicts without any feature
    "zero-one": ("error", "the most frequent label"),
    "brier": ("Brier score", "the frequency of the label"),
}


class Kept(msgspec.Struct):
    """What a model file keeps of an alarm beside its figures."""

    settings: AlarmSettings
    figures: dict[str, Any]
    test: list[float]
    armed: int  # rounds of the learner that plays now which the alarm has seen
    learned: int  # rounds that the learner had learned from then
    first: int  # and when it began
    baseline: dict[str, Any]
    order: dict[str, Any] | None
    seal: str


class Guard:
    """An alarm on its way through the rounds of one learner."""

    def __init__(self, alarm: Alarm, core: Core, *, late: bool = False) -> None:
        self.alarm, self.core = alarm, core
        self.loss = loss_of(core, alarm.loss)
        self.order = InOrder() if late else None
        self._check(late)
        self._test = np.zeros(ALARM_NUMBERS)
        self._armed = self.first = core.rounds
        self._baseline = Baseline(core, self.loss, alarm.clip) if alarm.kind == "baseline" else None
        self._challenger = Challenger(alarm.model, core) if alarm.kind == "challenger" else None
        self.traced: list[Vector] | None = None  # the losses of the test, where somebody keeps them
        self.rang: list[int] = []  # rounds, 1 being the first of all
        self.rounds, self.watched, self.unlabelled, self.unseen = 0 if late else core.rounds, 0, 0, 0
        self.earlier: list[dict[str, Any]] = []  # what learners before this one did
        kept = (core.watched or {}).get(NAME)
        if kept is not None:
            self._restore(kept)

    def _check(self, late: bool) -> None:
        alarm, core = self.alarm, self.core
        option = f"{spelled('on_alarm', alarm.on_alarm)}"
        if alarm.on_alarm == RESHARE and not (isinstance(core, Auto) and core.reshares):
            raise SettingError(f"{option} needs a mixture such as auto, of classes, and this is none: use restart")
        if late and alarm.changes:
            raise SettingError(f"{option} cannot be used with late labels: leave it out")
        if late and alarm.kind == "challenger":
            raise SettingError(
                f"{spelled('alarm', 'challenger:MODEL')} cannot be used with late labels: use a level or baseline"
            )

    # -- rounds ------------------------------------------------------------------------------------------------------

    def go_beside(self, stream: Stream, *, shuffled: bool = False) -> None:
        """The stream whose rows come now."""
        if self._challenger is not None:
            self._challenger.go_beside(stream, shuffled=shuffled)

    def beside(self, block: Block, y: Vector, weights: Vector | None) -> Vector:
        """What the losses of these rows are held against: nothing, or the loss of the baseline or the challenger."""
        found = np.zeros(len(block))
        some = np.arange(len(block)) if weights is None else np.flatnonzero(weights)
        if self._baseline is not None:
            found[some] = self._baseline.losses(y[some])
        if self._challenger is not None and len(some):
            block = block if weights is None else block.take(some)
            scores, codes = self._challenger.scores(block), self._challenger.labels(block)
            found[some] = losses_of_scores(self._challenger.core, self.loss, self.alarm.clip, scores, codes)
        return found

    def take(self, y: Vector, scores: Vector, beside: Vector) -> int | None:
        """Rows that were played: how many until the learner changes, that one included; None where it goes on."""
        there = np.flatnonzero(~np.isnan(scores if scores.ndim == 1 else scores[:, 0]))
        found = losses(self.core, self.loss, self.alarm.clip, scores[there], y[there])
        place = self._watch(self._against(found, beside[there]))
        return int(there[place]) + 1 if place is not None and self.alarm.changes else None

    def _against(self, found: Vector, beside: Vector) -> Vector:
        return found if self.alarm.kind == "level" else (1.0 + (found - beside)) * 0.5

    def _watch(self, found: Vector) -> int | None:
        """The place of the loss at which it rings; where the learner then goes on, all of them are taken."""
        first, rung = max(self.alarm.after - self._armed, 0), None
        start, numbers = min(first, len(found)), np.ascontiguousarray(found)
        began = start
        while start < len(found):
            limit = math.inf if self.rang and not self.alarm.changes else self.threshold
            start += _native.watch(numbers[start:], self.alarm.level, limit, self._test)
            if start < len(found):
                rung = start
                self.rang.append(self.rounds + rung + 1)
                start += 1
                if self.alarm.changes:
                    break
        if self.traced is not None:
            self.traced.append(numbers[began:start])
        self.rounds, self._armed, self.watched = (
            self.rounds + start,
            self._armed + start,
            self.watched + max(start - first, 0),
        )
        return rung

    @property
    def tests(self) -> int:
        """The how-manieth test this is: each change of the learner begins another."""
        return 1 + len(self.earlier)

    @property
    def threshold(self) -> float:
        """1/δ, rounded up; of the k-th of several tests δ_k = 6δ/(π²k²)."""
        delta = Interval.of(self.alarm.false_alarm)
        if not self.alarm.changes:
            return (1.0 / delta).hi
        return (PI.square() * float(self.tests**2) / (6.0 * delta)).hi

    # -- rounds whose labels come late -------------------------------------------------------------------------------

    def go_on(self, predicted: int) -> None:
        """The book of late rounds has made this many predictions."""
        assert self.order is not None
        self.order.go_on(predicted)
        self._catch_up()

    def began(self, place: int) -> None:
        """There is a prediction at this place."""
        assert self.order is not None
        if self.order.next is None:
            self.rounds = place
        self.order.began(place)

    def outcome(self, place: int, said: Vector, y: float) -> None:
        """The label of the prediction at this place has come; earlier ones are waited for."""
        assert self.order is not None
        scores = said[np.newaxis] if self.core.multiclass else said
        found = losses_of_scores(self.core, self.loss, self.alarm.clip, scores, np.array([y]))
        self.order.outcome(place, float(found[0]), y)
        self._catch_up()

    def nothing(self, place: int) -> None:
        """No label will come, or none that counts."""
        assert self.order is not None
        self.order.nothing(place)
        self._catch_up()

    def _catch_up(self) -> None:
        assert self.order is not None
        for found, y in self.order.ready():
            if math.isnan(found):
                self.unlabelled += 1
                self.rounds += 1
                continue
            beside = np.zeros(1) if self._baseline is None else self._baseline.losses(np.array([y]))
            self._watch(self._against(np.array([found]), beside))

    # -- another learner goes on -------------------------------------------------------------------------------------

    def remember(self) -> dict[str, Any] | None:
        """The learner as it is now, where it may have to be set back to a round at which it rings."""
        if not self.alarm.changes:
            return None
        core = self.core
        shared = {id(part): part for part in (core.features, core.labels, core.segments)}
        with core.lock:
            return deepcopy({name: part for name, part in vars(core).items() if name not in TOOLS}, dict(shared))

    def set_back(self, before: dict[str, Any]) -> None:
        """The learner as it was remembered; the stream goes on counting its features."""
        core = self.core
        features, segments = core.features, core.segments
        core.__setstate__(before)
        core.features, core.segments = features, segments

    def change(self) -> None:
        """It has rung: what is asked for then happens to the learner, and the next test begins."""
        core = self.core
        self.earlier.append({"rounds": self._armed, **_figures(core, restarted=self.alarm.on_alarm == RESTART)})
        if self.alarm.on_alarm == RESTART:
            _start_again(core)
        elif isinstance(core, Auto):
            core.reshare()
        self._test = np.zeros(ALARM_NUMBERS)
        self._armed = 0
        self.keep()

    # -- what happened -----------------------------------------------------------------------------------------------

    @property
    def figures(self) -> dict[str, Any]:
        """What it watches and what it has seen, as plain values."""
        alarm, test = self.alarm, self._test
        return {
            **alarm.to_dict(),
            "loss": self.loss,
            "words": self._words(),
            "threshold": self.threshold,
            "tests": self.tests,
            "e_value": float(test[NOW]) if test[8] else 1.0,
            "largest": {"e_value": float(test[LARGEST]) if test[8] else 1.0, "after": int(test[AT])},
            "rang": list(self.rang),
            "rounds": self.rounds,
            "watched": self.watched,
            "unlabelled": self.unlabelled,
            "unseen": self.unseen,
            "waiting": 0 if self.order is None else self.order.waiting,
            "earlier": deepcopy(self.earlier),
        }

    @property
    def seal(self) -> str:
        """The checksum of the challenger's file; empty where there is none."""
        return "" if self._challenger is None else self._challenger.seal

    def _words(self) -> str:
        alarm = self.alarm
        loss, baseline = LOSSES.get(self.loss, (f"min(|error|, {alarm.clip:g})/{alarm.clip:g}", MEAN))
        return WORDS[alarm.kind].format(loss=loss, level=alarm.level, baseline=baseline, model=alarm.model)

    def keep(self) -> None:
        """From now on a model file of the learner has the alarm as it is now."""
        kept = Kept(
            AlarmSettings(**self.alarm.to_dict()),
            self.figures,
            self._test.tolist(),
            self._armed,
            self.core.rounds,
            self.first,
            {} if self._baseline is None else self._baseline.stored(),
            None if self.order is None else self.order.stored(),
            self.seal,
        )
        self.core.watched = {**(self.core.watched or {}), NAME: msgspec.to_builtins(kept)}

    def _restore(self, stored: dict[str, Any]) -> None:
        try:
            kept = msgspec.convert(stored, Kept)
            has = Alarm(**msgspec.to_builtins(kept.settings))
            if has != self.alarm:
                raise SettingError(f"Alarm: the model has another alarm, {has!r}: give the same one")
            figures = kept.figures
            self._test, self._armed = np.array(kept.test, np.float64), kept.armed
            self.first = kept.first
            if self._test.shape != (ALARM_NUMBERS,) or not (self._test >= 0.0).all():
                raise ValueError("its numbers are wrong")
            self.rang, self.earlier = list(figures["rang"]), list(figures["earlier"])
            counts = ("rounds", "watched", "unlabelled", "unseen")
            self.rounds, self.watched, self.unlabelled, self.unseen = (int(figures[name]) for name in counts)
            if self._baseline is not None:
                self._baseline.restore(kept.baseline)
            if (self.order is None) != (kept.order is None):
                came = "in time" if kept.order is None else "late"
                raise SettingError(f"the alarm of the model began with labels that came {came}: go on with such labels")
            if self.order is not None and kept.order is not None:
                self.order.restore(kept.order)
        except SettingError:
            raise
        except (msgspec.ValidationError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ModelFileError(f"the model file is damaged: its alarm cannot be read ({error})") from error
        if self._challenger is not None and self._challenger.seal != kept.seal:
            raise SettingError(f"{self.alarm.model}: the challenger must be the model that the alarm began with")
        if self.order is None and self.core.rounds > kept.learned:
            missed = self.core.rounds - kept.learned
            self.unseen, self.rounds, self._armed = self.unseen + missed, self.rounds + missed, self._armed + missed


def _figures(core: Core, restarted: bool) -> dict[str, Any]:
    """What a learner that is given up had done; nothing of one that goes on."""
    if not restarted:
        return {}
    state = core.state
    return {"loss": float(state["loss"][0]), "mistakes": None if core.regression else int(state["mistakes"][0])}


def _start_again(core: Core) -> None:
    """A new learner in its place: its features, labels and the way its streams are read stay."""
    features, labels, options, segments = core.features, core.labels, core.options, core.segments
    means, watched = core.preparation.means is not None, core.watched
    core.reset()
    core.features, core.options, core.watched = features, options, watched
    core.labels = labels.again(labels.classes) if isinstance(labels, Classes) else labels
    for member in core.cores if isinstance(core, Auto) and core.multiclass else []:
        member.labels = core.labels
    for segment in segments:
        segment |= {"begin": 0, "end": 0, "changed": True}  # it has learned from none of these rows
    core.segments = segments
    if means:
        core.fill_missing()
