"""The book of rounds that wait for their labels: predict now, learn when the label comes, and say what the wait cost.

A label that comes is learned as if its round happened now, with the slope at the score that the learner has for it now
(a fresh slope): the learner plays the rounds in the order in which their labels come, and all that is proved of it
holds. What was predicted earlier is judged beside it, and the difference is the staleness cost:
Σφ(z_k) − Σφ(z'_k), with z_k the score that was predicted and z'_k the one at the arrival.

Rounds without a label are in no sum. Time is counted in rounds predicted: nothing here looks at a clock.
"""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Hashable, Iterable, MutableMapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._native import DELAYED, norm2
from noregret.errors import InputError, SettingError
from noregret.example import foretell
from noregret.late.judging import entries, escape_of, kept, missed, paid, paid_fresh, same
from noregret.learner.core import Core
from noregret.learner.sure import Told
from noregret.rounds import Keeper, Keepers
from noregret.stream.block import Rows
from noregret.watch.guard import Guard
from noregret.watch.late_windows import LateWindows

Vector = NDArray[np.float64]
Key = Hashable
MOST = 1_000_000  # rounds that may wait
REMEMBERED = 10_000  # rounds that have ended and are still known by their ids
UNIT = 2**1074  # smallest floats in 1


@dataclass(frozen=True)
class Rules:
    """What happens to labels that do not come: in rounds predicted, and in numbers of rounds."""

    expire: int | None = None  # a round without a label ends when this many others were predicted after it
    default: float | None = None  # the label, as a code, that it is then learned with; None: it is left out
    pending: int = MOST  # more rounds than this do not wait: the oldest ends
    remembered: int = REMEMBERED

    def __post_init__(self) -> None:
        least = {"expire": self.expire, "pending": self.pending, "remembered": self.remembered}
        for name, value in least.items():
            floor = 0 if name == "remembered" else 1
            if (value is not None or name != "expire") and (type(value) is not int or value < floor):
                raise SettingError(f"{name} must be a whole number of at least {floor}, got {value!r}")


@dataclass
class Counts:
    """What came and what did not."""

    predicted: int = 0
    labelled: int = 0  # rounds whose label came, or was taken for them
    expired: int = 0
    defaulted: int = 0  # rounds that were learned with the default label
    after_expiry: int = 0  # labels of rounds that had expired: learned as rounds of their own
    revised: int = 0
    repeated: int = 0  # predictions and labels that came again
    unknown: int = 0  # labels of rounds that nobody knows
    conflicting: int = 0  # another label for a round that has one
    delay: int = 0  # Σ of the updates between a round and its label
    most_waiting: int = 0


@dataclass(frozen=True, slots=True)
class Round:
    """A prediction, and what it was made from."""

    place: int  # the how-manieth prediction it is, from 0
    row: Rows
    weight: float
    said: Vector  # its score; of many classes that of each
    voices: NDArray[np.float64] | None  # what the members of a mixture said
    escape: float  # the probability of a class not seen before, for forecasters of classes
    version: int  # the rounds learned from before it
    size: float  # Λ‖x‖, where the rate asks for it
    told: Told | None = None  # what was said beside the score
    label: float | None = None  # as a code; None while there is none
    ended: str = ""  # how it ended: labelled, defaulted or expired


@dataclass
class Sum:
    """Σ of floats with the error of every addition: two numbers that can be saved."""

    high: float = 0.0
    low: float = 0.0

    def add(self, x: float) -> None:
        total = self.high + x
        lost = (self.high - total) + x if abs(self.high) >= abs(x) else (x - total) + self.high
        self.high, self.low = total, self.low + lost

    @property
    def value(self) -> float:
        return self.high + self.low


@dataclass
class Figures:
    """What the plays lost, what the learner lost on the same rounds as their labels came, and the plays' mistakes."""

    mistakes: int = 0
    plays: Sum = field(default_factory=Sum)
    fresh: Sum = field(default_factory=Sum)

    @property
    def staleness(self) -> float:
        """What the rounds cost more because they were predicted before the labels in between were known."""
        return (self.plays.high - self.fresh.high) + (self.plays.low - self.fresh.low)


@dataclass
class Trace:
    """Every labelled round in the order of the labels, kept for a receipt."""

    said: list[float] = field(
        default_factory=list
    )  # the scores of the plays, of many classes minus what they paid; NaN for a revision
    labels: list[float] = field(default_factory=list)  # as they are by now
    sizes: list[float] = field(default_factory=list)  # Λ·Σ‖x‖ over the rounds that waited
    places: dict[int, int] = field(default_factory=dict)  # where a prediction stands among them

    def add(self, place: int, said: float, y: float, size: float) -> None:
        self.places[place] = len(self.said)
        self.said.append(said)
        self.labels.append(y)
        self.sizes.append(size)

    def revise(self, place: int, y: float) -> None:
        """Another label for a round, and a round of the learner that is none of the plays."""
        if place in self.places:
            self.labels[self.places[place]] = y
        self.said.append(math.nan)
        self.labels.append(y)
        self.sizes.append(0.0)


def check_same(key: Key, before: Round, row: Rows, weight: float) -> None:
    """Refuse another row under the id of one that is known."""
    if before.weight != weight or not same(before.row, row):
        raise InputError(f"the id {key!r} already belongs to another row: give each row its own id")


def exact(size: float) -> int:
    """A float as a whole number of the smallest one."""
    top, bottom = size.as_integer_ratio()
    return top * (UNIT // bottom)


class Book:
    """The rounds of a learner whose labels come late."""

    def __init__(
        self,
        core: Core,
        rules: Rules | None = None,
        *,
        keep: Keeper | None = None,
        guard: Guard | None = None,
        windows: LateWindows | None = None,
    ) -> None:
        if not core.learns:
            raise SettingError("a model saved with --select no longer learns, so it cannot take late labels")
        self.core = core
        self.rules = Rules() if rules is None else rules
        self.waiting: MutableMapping[Key, Round] = OrderedDict()  # in the order of their predictions
        self.known: OrderedDict[Key, Round] = OrderedDict()  # those that have ended, the oldest first
        self._outside = 0  # Σ of the sizes of those that wait, in units of the smallest float
        self.counts, self.figures = Counts(), Figures()
        self.chain = bytes(32)  # a digest of every event so far
        self.answers = bytes(32)  # and of every score that was predicted
        self.trace = Trace() if keep is not None else None
        self._keep, self._guard, self._windows = keep, guard, windows
        if windows is not None:
            self._keep = windows if keep is None else Keepers(keep, windows)

    # -- predictions -------------------------------------------------------------------------------------------------

    def predict(self, key: Key, row: Rows, weight: float = 1.0) -> Round:
        """Score the row, and let it wait for its label under this key."""
        before = self.waiting.get(key) or self.known.get(key)
        if before is not None:
            return self._repeated(key, before, row, weight)
        if not np.isfinite(row.values).all():
            raise InputError("an example must hold finite numbers only")
        self._time_out()
        said, voices = self._foretold(row)
        core, place = self.core, self.counts.predicted
        escape = escape_of(core)
        size, told = self._size(row, weight), self._told(said)
        made = Round(place, kept(row), weight, said, voices, escape, core.rounds, size, told)
        self.waiting[key] = made
        self._outside += exact(made.size)
        self.counts.predicted += 1
        if self._guard is not None:
            self._guard.began(place)
        if self._windows is not None:
            self._windows.began(place, made.row, len(self.waiting) - 1)
        self._chained(b"predict", place, made.row, weight)
        self.answers = hashlib.sha256(self.answers + said.astype("<f8").tobytes()).digest()
        if len(self.waiting) > self.rules.pending:
            self._end(next(iter(self.waiting)))
        self.counts.most_waiting = max(self.counts.most_waiting, len(self.waiting))
        return made

    def _repeated(self, key: Key, before: Round, row: Rows, weight: float) -> Round:
        """The answer of before, for the same row: asking twice is asking once."""
        check_same(key, before, row, weight)
        self.counts.repeated += 1
        return before

    def _size(self, row: Rows, weight: float) -> float:
        """k·Λ‖x‖ of the row as it is played, as far as that is known beforehand."""
        core = self.core
        if int(core.config["rate"][0]) != DELAYED:
            return 0.0
        if not core.plain:
            row = core.preparation.apply(row, learn=False, features=core.features, ahead=len(self.waiting))
        squares = norm2(row.values.astype(np.float64)) + float(core.config["bias"][0])
        return weight * core.loss.lipschitz * math.sqrt(squares)

    # -- labels ------------------------------------------------------------------------------------------------------

    def label(self, key: Key, y: float) -> str:
        """The label of a round has come: learn it, if it is news. What became of it, in a word."""
        known = self.known.get(key)
        if key in self.waiting:
            self._learn_waiting(key, y, "labelled")
            return "learned"
        if known is None:
            self.counts.unknown += 1
            return "unknown"
        if known.ended == "expired":
            return self._late(key, known, y)
        if known.label == y:
            self.counts.repeated += 1
            return "repeated"
        if known.ended == "defaulted":
            return self.revise(key, y)
        self.counts.conflicting += 1
        return "conflicting"

    def _late(self, key: Key, known: Round, y: float) -> str:
        """A label after its time: a round of its own, predicted and learned now."""
        self.counts.after_expiry += 1
        said, voices = self._foretold(known.row)
        core = self.core
        now = replace(
            known, said=said, voices=voices, escape=escape_of(core), version=core.rounds, told=self._told(said)
        )
        self._learn(now, key, y, "labelled")
        return "learned"

    def _learn_waiting(self, key: Key, y: float, ended: str) -> None:
        """Learn a round that waits; one that is refused goes on waiting."""
        one = self.waiting[key]
        self._outside -= exact(one.size)
        try:
            self._learn(one, key, y, ended)
        except BaseException:
            self._outside += exact(one.size)
            raise
        del self.waiting[key]

    def _taken(self, key: Key) -> Round:
        """A round that no longer waits."""
        one = self.waiting.pop(key)
        self._outside -= exact(one.size)
        return one

    def _learn(self, one: Round, key: Key, y: float, ended: str) -> None:
        core, labels = self.core, np.array([y])
        outstanding = self._outstanding()
        core.state["outstanding"] = outstanding
        weights = None if one.weight == 1.0 else np.array([one.weight])
        try:
            fresh = self._play(one, labels, weights)
        finally:
            core.state["outstanding"] = 0.0
        if core.sure is not None and one.told is not None:
            core.sure.label(one.told, one.said, y, one.weight, early=not one.version and core.rounds > 1)
        self.counts.labelled += 1
        self.counts.delay += core.rounds - 1 - one.version
        self.figures.mistakes += missed(core, one.said, y)
        self.figures.plays.add(one.weight * paid(core, one.said, one.escape, y))
        self.figures.fresh.add(one.weight * paid_fresh(core, fresh, y))
        if self.trace is not None:
            said = -paid(core, one.said, one.escape, y) if core.multiclass else float(one.said[0])
            self.trace.add(one.place, said, y, outstanding)
        if self._guard is not None and ended == "labelled":
            self._guard.outcome(one.place, one.said, y)  # one that had expired has no outcome any more
        elif self._guard is not None:
            self._guard.nothing(one.place)
        self._tell(one, y, ended)
        self._chained(b"label", one.place, None, y)
        self._remember(key, replace(one, label=y, ended=ended))

    def _tell(self, one: Round, y: float, ended: str) -> None:
        """The windows of a round that was learned: one that was given up before is in none."""
        if self._windows is None:
            return
        if ended == "labelled":
            said, lost = missed(self.core, one.said, y), paid(self.core, one.said, one.escape, y)
            self._windows.outcome(one.place, one.said, y, one.weight, said, lost)
        else:
            self._windows.nothing(one.place)

    def _foretold(self, row: Rows) -> tuple[Vector, NDArray[np.float64] | None]:
        """The score of a row that comes now, and what the members of a mixture say of it."""
        score, voices = foretell(self.core, row, len(self.waiting))
        said = np.array(score, np.float64, ndmin=1)
        if not np.isfinite(said).all():
            raise InputError("the score of the row would overflow: scale the rows")
        self.core.waited += bool(self.waiting)
        return said, voices

    def _play(self, one: Round, y: Vector, weights: Vector | None) -> Vector:
        """The learner's own round; the members of a mixture are judged by what they said when the row came."""
        self.core.foretold, self.core.aside = one.voices, True
        try:
            return self.core.play(one.row, y, weights, self._keep)
        finally:
            self.core.foretold, self.core.aside = None, False

    def _told(self, said: Vector) -> Told | None:
        """What is said now beside such a score."""
        return None if self.core.sure is None else self.core.sure.told(said)

    def _outstanding(self) -> float:
        if int(self.core.config["rate"][0]) != DELAYED:
            return 0.0
        return self._outside / UNIT  # exact, and then rounded once: it does not matter in which order they came

    def revise(self, key: Key, y: float) -> str:
        """Another label for a round that has one: its term is replaced, and the row is learned again with it."""
        known = self.known.get(key)
        if key in self.waiting or known is None or known.label is None:
            return self.label(key, y)
        if known.label == y:
            self.counts.repeated += 1
            return "repeated"
        core, was = self.core, known.label
        weights = None if known.weight == 1.0 else np.array([known.weight])
        self._play(known, np.array([y]), weights)
        if self.trace is not None:
            self.trace.revise(known.place, y)
        for label, sign in ((was, -1), (y, 1)):
            self.figures.mistakes += sign * missed(core, known.said, label)
            self.figures.plays.add(sign * known.weight * paid(core, known.said, known.escape, label))
        self.counts.revised += 1
        if self._windows is not None:
            wrong, lost = missed(core, known.said, y), paid(core, known.said, known.escape, y)
            self._windows.revised(known.place, y, wrong, lost)
        self._chained(b"revise", known.place, None, y)
        self.known[key] = replace(known, label=y, ended="labelled")
        return "revised"

    # -- rounds that end without a label -----------------------------------------------------------------------------

    def expire(self, key: Key) -> str:
        """Nobody waits for this label any more."""
        if key not in self.waiting:
            self.counts.unknown += key not in self.known
            self.counts.repeated += key in self.known
            return "unknown" if key not in self.known else "repeated"
        self._end(key)
        return "expired"

    def _time_out(self) -> None:
        limit = self.rules.expire
        while limit is not None and self.waiting:
            key = next(iter(self.waiting))
            if self.counts.predicted - self.waiting[key].place <= limit:
                return
            self._end(key)

    def _end(self, key: Key) -> None:
        if self.rules.default is not None:
            self._learn_waiting(key, self.rules.default, "defaulted")
            self.counts.defaulted += 1
            return
        one = self._taken(key)
        self.counts.expired += 1
        for watcher in (self._guard, self._windows):
            if watcher is not None:
                watcher.nothing(one.place)
        self._chained(b"expire", one.place)
        self._remember(key, replace(one, ended="expired"))

    def _remember(self, key: Key, one: Round) -> None:
        self.known.pop(key, None)
        self.known[key] = one
        while len(self.known) > self.rules.remembered:
            del self.known[next(iter(self.known))]

    # -- what happened -----------------------------------------------------------------------------------------------

    def _chained(self, what: bytes, place: int, row: Rows | None = None, y: float = 0.0) -> None:
        """The digest of all events, and of this one behind them."""
        found = hashlib.sha256(self.chain)
        found.update(what + np.array([place], "<i8").tobytes() + np.array([y], "<f8").tobytes())
        if row is not None:
            indices, values = entries(row)
            found.update(np.array([len(values)], "<i8").tobytes())
            found.update(indices.astype("<u4").tobytes() + values.astype("<f8").tobytes())
        self.chain = found.digest()

    @property
    def outside(self) -> int:
        """Σ of the sizes of the rounds that wait, exactly: in units of the smallest float."""
        return self._outside

    def kept_elsewhere(self, waiting: MutableMapping[Key, Round], outside: int) -> None:
        """The rounds that wait are in this mapping from now on, which says the oldest first; `outside` is of them."""
        self.waiting, self._outside = waiting, outside

    @property
    def digest(self) -> str:
        """SHA-256 over the events, each behind the digest of those before it."""
        return self.chain.hex()

    def restored(self, waiting: Iterable[tuple[Key, Round]], known: Iterable[tuple[Key, Round]]) -> None:
        """Go on with these rounds."""
        self.waiting, self.known = OrderedDict(waiting), OrderedDict(known)
        self._outside = sum(exact(one.size) for one in self.waiting.values())

    def to_dict(self) -> dict[str, Any]:
        """What happened, as plain numbers."""
        figures, counts = self.figures, {one.name: getattr(self.counts, one.name) for one in fields(self.counts)}
        return {
            **counts,
            "waiting": len(self.waiting),
            "mistakes": None if self.core.regression else figures.mistakes,
            "loss": figures.plays.value,
            "fresh_loss": figures.fresh.value,
            "staleness": figures.staleness,
            "digest": self.digest,
        }
