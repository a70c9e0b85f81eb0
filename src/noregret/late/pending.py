"""`Pending`: a learner whose labels come late, by the ids of its rounds. Events and delayed streams play through it.

It takes examples as `learn_one` does and labels as they are spelled: the book has rows and codes.
"""

from __future__ import annotations

import hashlib
import math
import os
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import InputError, NoregretError, SettingError, spelled
from noregret.example import checked_weight, raw_row
from noregret.late import stored
from noregret.late.book import MOST, REMEMBERED, Book, Key, Round, Rules, check_same
from noregret.learner.core import Core
from noregret.learner.sure import Sure, Told, intervals, words
from noregret.live.reader import Position, position_of
from noregret.loss import probability_of, softmax
from noregret.rounds import Keeper
from noregret.stream.block import Dense, Rows, Sparse
from noregret.stream.labels import plain_label, same
from noregret.watch.alarm import Alarm
from noregret.watch.late_windows import LateWindows, late_again
from noregret.watch.windows import Windows


@dataclass(frozen=True)
class Answer:
    """What is said of a row before its label is known."""

    id: Key | None
    score: float  # of many classes that of the class predicted
    prediction: Any  # the label, or the number; None for a score of 0 that counts as a mistake
    probability: float | None  # of the positive label, or of the class predicted; None where scores are none
    version: int  # how many rounds the learner had learned from
    interval: list[float] | None = None  # its two ends; none where it is empty, None before there are intervals
    set: list[Any] | None = None  # the labels that it holds, the most probable first

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        left_out = [name for name in ("id", "probability", "interval", "set") if getattr(self, name) is None]
        return {name: value for name, value in asdict(self).items() if name not in left_out}


class Pending:
    """A learner that predicts now and gets the label later, by the id of the round.

    `learner` is an estimator or a learner; it learns each round when its label comes, as if the round happened then.
    A round without a label expires when `expire` others were predicted after it (default: never), or is learned with
    `default_label` then. At most `pending` rounds wait: beyond that the oldest ends. `remembered` rounds that have
    ended are still known by their ids, so that a label may come twice, late or be revised. `alarm` (see
    `noregret.Alarm`) watches the predictions in the order in which they were made.

    >>> from noregret.learner import Perceptron
    >>> late = Pending(Perceptron())
    >>> late.predict_one("a", {"price": 1.0}), late.predict_one("b", {"price": -1.0})
    (None, None)
    >>> late.learn_one("b", -1), late.learn_one("a", 1), late.learn_one("a", 1), late.learn_one("c", 1)
    ('learned', 'learned', 'repeated', 'unknown')
    >>> late.predict_one("d", {"price": 2.0})
    1
    """

    def __init__(
        self,
        learner: Any,
        *,
        expire: int | None = None,
        default_label: Any = None,
        pending: int = MOST,
        remembered: int = REMEMBERED,
        keep: Keeper | None = None,
        alarm: Alarm | None = None,
        windows: Windows | None = None,
    ) -> None:
        core = getattr(learner, "core", None)
        if not isinstance(core, Core):
            raise SettingError(f"Pending: the first argument must be a learner, got {type(learner).__name__}")
        if getattr(learner, "holding", False):
            raise SettingError(
                "Pending: the learner has seen only one of the two labels: call learn_one with the other"
            )
        self.learner, self.core = learner, core
        self.default_label = default_label
        self._spelled: dict[float, Any] = {}  # each code as its label was first spelled
        self.events, self.log = 0, bytes(32)  # of a log: how many, and the digest of each behind those before it
        self.position: Position | None = None  # how far the stream of a broker was learned from
        self._held: list[tuple[Key, Any]] = []  # labels of which it is open which is which
        default = None if default_label is None else self._code(default_label)
        if default_label is not None and default is None:
            raise SettingError(f"{spelled('default_label')}: {default_label!r} does not tell which label is positive")
        self.guard = None if alarm is None else alarm.guard(core, late=True)
        windows = late_again(core) if windows is None else windows
        self.windows = None if windows is None else LateWindows(windows, core)
        self.book = Book(
            core, Rules(expire, default, pending, remembered), keep=keep, guard=self.guard, windows=self.windows
        )
        if core.late is not None:
            given = {"expire": expire, "pending": None if pending == MOST else pending, "default_label": default_label}
            self._restore(core.late)
            self._agree(given)
        if self.guard is not None:
            self.guard.go_on(self.book.counts.predicted)

    def _agree(self, asked: dict[str, Any]) -> None:
        """A model that is gone on with keeps its rules."""
        for name, value in asked.items():
            has = self.rules[name]
            if value is not None and (has is None or not same(value, has)):
                raise SettingError(
                    f"{spelled(name, str(value))} conflicts with the model, which has {has}: leave it out"
                )

    # -- rounds ------------------------------------------------------------------------------------------------------

    def predict_one(self, id: Key, x: Any) -> Any:
        """The prediction for x, which then waits for its label; None before any label was seen."""
        answer = self.predict(id, x)
        two = not (self.core.regression or self.core.multiclass)
        return self._label(-1.0) if two and answer.score == 0.0 else answer.prediction

    def predict(self, id: Key, x: Any, w: float = 1.0) -> Answer:
        """The same with its score, its probability and the version of the learner."""
        core, key = self.core, _checked(id)
        features, known = core.features, 0 if core.features is None else core.features.width
        self.core.late = None  # what a file kept is not what waits from now on
        try:
            return self.answer(id, self.book.predict(key, self._row(x), _weight(w)))
        except BaseException:  # what was refused leaves no feature behind
            core.features = features
            if features is not None:
                features.cut(known)
            raise

    def round(self, id: Key) -> Round | None:
        """A round that waits, or has ended and is still known; None for any other id."""
        key = _checked(id)
        return self.book.waiting.get(key) or self.book.known.get(key)

    def again(self, id: Key, x: Any, w: float = 1.0) -> Answer | None:
        """The answer of before, where this id is known; nothing changes. Another row under it is an error."""
        before = self.round(id)
        if before is None:
            return None
        core = self.core
        features, known = core.features, 0 if core.features is None else core.features.width
        try:
            check_same(id, before, self._row(x), _weight(w))
        finally:
            core.features = features
            if features is not None:
                features.cut(known)
        return self.answer(id, before)

    def learn_one(self, id: Key, y: Any) -> str:
        """The label of a round: learned; or repeated, unknown, conflicting (it has another), revised, held.

        A label is held while it is open which of two labels is the positive one.
        """
        key, book = _checked(id), self.book
        self.core.late = None
        if key not in book.waiting and (key not in book.known or book.known[key].label is not None):
            return self._again(key, y)
        code = self._code(y)
        if code is None:
            self._held.append((key, y))
            return "held"
        self._release()
        return book.label(key, code)

    def _again(self, key: Key, y: Any) -> str:
        """A label for a round that nobody knows or that has one: no class is met by it."""
        try:
            code = self.code_of(y)
        except InputError:
            code = None
        return self.book.label(key, math.nan if code is None else code)

    def code_of(self, y: Any) -> float | None:
        """The code that a label would have; an error for one that cannot be learned."""
        before, spelled = self.core.labels, dict(self._spelled)
        self.core.labels = deepcopy(before)
        try:
            return self._code(y)
        finally:
            self.core.labels, self._spelled = before, spelled

    def both(self, x: Any, y: Any, id: Key | None = None, w: float = 1.0) -> Answer:
        """A row whose label is there at once: its prediction, before it is learned. It needs no id."""
        key = _Nameless(f"\0{self.book.counts.predicted}") if id is None else id
        self.code_of(y)  # before anything is done with its row
        answer = self.predict(key, x, w)
        try:
            self.learn_one(key, y)
        except NoregretError:
            self.expire(key)
            raise
        if id is None:
            self.book.known.pop(key, None)
            return replace(answer, id=None)
        return answer

    def revise(self, id: Key, y: Any) -> str:
        """Another label for a round that has one: its loss is replaced, and the row is learned again."""
        key, code = _checked(id), self._code(y)
        self.core.late = None
        if code is None:
            raise InputError(f"cannot revise to {y!r} yet: it is not known which of the two labels is positive")
        self._release()
        return self.book.revise(key, code)

    def expire(self, id: Key) -> str:
        """The label of this round will not come."""
        self.core.late = None
        return self.book.expire(_checked(id))

    def _row(self, x: Any) -> Rows:
        return x if isinstance(x, Dense | Sparse) else raw_row(self.core, x, True)

    def _code(self, y: Any) -> float | None:
        """The code of a label; None while it is open."""
        if self.core.labels is None:
            try:
                value = float(y)
            except (TypeError, ValueError):
                value = math.nan
            if not math.isfinite(value):
                raise InputError(f"the label must be a finite number, got {y!r}")
            return value
        try:
            code = self.core.labels.one(y)
        except TypeError:  # it cannot be looked up
            raise InputError(f"a label must be a number, a boolean or a string, got {y!r}") from None
        if code is not None:
            self._spelled.setdefault(code, y)
        return code

    def _release(self) -> None:
        held, self._held = self._held, []
        for key, y in held:
            code = self._code(y)
            assert code is not None
            self.book.label(key, code)

    def answer(self, id: Key, one: Round) -> Answer:
        """What is said of a round."""
        found = self._answer(id, one)
        sure, told = self.core.sure, one.told
        if sure is None or told is None or math.isnan(told.q):
            return found
        if sure.regression:
            ends = intervals(one.said, np.array([told.q]))[0].tolist()
            return replace(found, interval=[] if ends[0] > ends[1] else ends)
        return replace(found, set=self._set(sure, one.said, told))

    def _set(self, sure: Sure, said: NDArray[np.float64], told: Told) -> list[Any]:
        """The labels of a set as they were spelled, as far as they are known."""
        if sure.multiclass:
            return words(
                sure.all_others(said[np.newaxis])[0].tolist(), told.q, [self._label(k) for k in range(len(said))]
            )
        odds = said if sure.calibration is None else np.array([told.odds])
        found = words(sure.all_others(odds)[0].tolist(), told.q, [self._label(-1.0), self._label(1.0)])
        return [label for label in found if label is not None]

    def _answer(self, id: Key, one: Round) -> Answer:
        core, said = self.core, one.said
        if core.regression:
            return Answer(id, float(said[0]), float(said[0]), None, one.version)
        calibrated = one.told is not None and not math.isnan(one.told.odds)
        probable = core.loss.probabilistic or calibrated
        if core.multiclass:
            if not len(said):
                return Answer(id, 0.0, None, None, one.version)
            place = int(said.argmax())
            p = float(softmax(said[np.newaxis])[0, place]) if probable else None
            return Answer(id, float(said[place]), self._label(float(place)), p, one.version)
        score = float(said[0])
        odds = one.told.odds if calibrated and one.told is not None else score
        p = probability_of(odds) if probable else None
        tied = float(core.config["tie"][0])  # what a score of 0 counts as: none where it is a mistake
        return Answer(id, score, self._label(score or tied) if score or tied else None, p, one.version)

    def _label(self, code: float) -> Any:
        """A class as its label was spelled; None before any label was seen."""
        if not self.core.multiclass:
            code = 1.0 if code > 0.0 else -1.0
        if code in self._spelled:
            return self._spelled[code]
        labels = self.core.labels
        assert labels is not None
        if self.core.multiclass:
            return labels.classes[int(code)]
        found = labels.classes[int(code > 0.0)]
        like = next(iter(self._spelled.values()), None)
        if found is None or like is None or isinstance(found, str):
            return found
        return type(like)(found) if isinstance(like, bool | int | float) else found

    # -- what happened -----------------------------------------------------------------------------------------------

    @property
    def rules(self) -> dict[str, Any]:
        """What happens to labels that do not come, as it was asked for."""
        rules = asdict(self.book.rules)
        del rules["default"]
        return {**rules, "default_label": None if self.default_label is None else _plain(self.default_label)}

    @property
    def waiting(self) -> int:
        """How many rounds wait for their labels."""
        return len(self.book.waiting)

    @property
    def figures(self) -> dict[str, Any]:
        """Counts, the loss of the plays, that of the learner as labels came, and the staleness cost between them."""
        log = {"events": self.events, "log": self.log.hex()} if self.events else {}
        return {**self.book.to_dict(), "held": len(self._held), **log}

    def take_down(self, event: bytes) -> None:
        """An event of the log, as it is written."""
        self.events += 1
        self.log = chained(self.log, event)

    def __repr__(self) -> str:
        counts = self.book.counts
        return f"<Pending {self.core.name}: {counts.labelled} rounds labelled, {self.waiting} waiting>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model with the rounds that wait; `noregret.load` gives a Pending that goes on from there."""
        self.keep_in_model()
        if hasattr(self.learner, "save"):
            self.learner.save(path)
            return
        from noregret import model

        model.save(self.core, path)

    def keep_in_model(self, waiting: bool = True) -> None:
        """From now on a model file of the learner has the rounds that wait now, unless they are kept elsewhere."""
        spelled = [(code, _plain(label)) for code, label in self._spelled.items()]
        held = [(key, _plain(label)) for key, label in self._held]
        self.keep_watchers()
        rounds = self.book.waiting if waiting else {}
        self.core.late = stored.kept(
            self.book, rounds, self.default_label, spelled, held, self.events, self.log, self.position
        )

    def keep_watchers(self) -> None:
        """The same of what watches the rounds."""
        for watcher in (self.guard, self.windows):
            if watcher is not None:
                watcher.keep()

    def _restore(self, kept: dict[str, Any]) -> None:
        """Go on from what a model file kept; its rules hold."""
        found = stored.restore(self.book, kept)
        self.default_label, self.events, self.log = found.default_label, found.events, found.log
        self._spelled, self._held = dict(found.spelled), list(found.held)
        self.position = None if found.position is None else position_of(found.position)


def _plain(label: Any) -> Any:
    """A label as a file can hold it."""
    return label if isinstance(label, str | bool | int | float) else plain_label(label)


class _Nameless(str):
    """The id of a round without one."""


def _checked(id: Key) -> Key:
    """An id that a log and a file can hold."""
    if isinstance(id, _Nameless):
        return str(id)
    if type(id) is int and -(2**63) <= id < 2**63:
        return id
    if type(id) is not str:
        raise InputError(f"an id must be a string or a whole number of 64 bits, got {id!r}")
    if id.startswith("\0") or (not id.isascii() and id != id.encode("utf-8", "replace").decode()):
        raise InputError("an id must be text that UTF-8 can hold and that does not begin with a NUL")
    return id


def _weight(w: float) -> float:
    if checked_weight(w) == 0.0:
        raise InputError("a weight must be positive: leave out the row")
    return float(w)


def chained(log: bytes, event: bytes) -> bytes:
    """The digest of a log with one event more."""
    return hashlib.sha256(log + event).digest()
