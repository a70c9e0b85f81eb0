"""Windows of a run: for each what was lost in it, what no fixed model can have done better by, and frozen models.

A window is a function of the plays: rounds are counted, or days are those of a column. Each has three figures:
(i) by theorem, what the best model of that window on that window can have done better by, C = P + U‖G‖, and that no
model of the comparators lost less than L − C; (ii) measured, what challengers lost that no longer learned all the time;
(iii) measured, what the model lost as it stood when the window began.

>>> import noregret as nr
>>> X = [[1.0], [-1.0]] * 40
>>> run = nr.play(nr.OnlineGradientDescent(radius=1.0), (X, [1, -1] * 40), windows=nr.Windows("every:20"))
>>> [(part["first"], part["last"]) for part in run.windows["parts"]]
[(1, 20), (21, 40), (41, 60), (61, 80)]
>>> run.windows["parts"][3]["bound"] < run.windows["parts"][0]["bound"]
True
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from noregret.domain import Domain
from noregret.errors import ModelFileError, SettingError, spelled
from noregret.learner.core import Core
from noregret.loss import Loss
from noregret.stream.base import Stream
from noregret.stream.block import Block, Rows
from noregret.watch.calendar import PERIODS, Calendar, zone_of
from noregret.watch.challenger import Challenger
from noregret.watch.frozen import frozen, restored, stored
from noregret.watch.part import Counter, Part, part_of, part_stored
from noregret.watch.retention import keeps
from noregret.watch.told import told

Vector = NDArray[np.float64]
RADIUS = 10.0
NAME = "windows"
Pieces = Iterator[tuple[Block, Vector, Vector | None]]


@dataclass(frozen=True)
class Windows:
    """Which windows: of 1000 rounds ("1000", older ones joined; "every:1000", all kept), or each "day" or "week".

    `time` names the column with the date of each row, `time_zone` the clock whose days are meant. `radius` is that of
    the comparators where the learner has none of its own. `challengers` are files of models that learn nothing beside.
    """

    length: str
    time: str | None = None
    time_zone: str | None = None
    radius: float | None = None
    challengers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", str(self.length))
        object.__setattr__(self, "challengers", tuple(self.challengers))
        if self.period is None:
            if not self.every:
                raise SettingError(
                    f"{spelled('windows')} must be a number of rounds such as 1000, every:1000, day or week;"
                    f" got {self.length!r}"
                )
            for name in ("time", "time_zone"):
                if getattr(self, name) is not None:
                    raise SettingError(f"{spelled(name)} goes with {spelled('windows', 'day', 'week')}")
        elif self.time is None:
            column = spelled("time", "COLUMN", python="time=")
            raise SettingError(f"{spelled('windows', self.length)} needs the column with the dates: {column}")
        if self.time_zone is not None:
            zone_of(self.time_zone)
        if self.radius is not None and not 0.0 < self.radius < math.inf:
            raise SettingError(f"{spelled('radius')} must be positive and finite, got {self.radius!r}")

    @property
    def period(self) -> str | None:
        """day or week; None where windows are of a number of rounds."""
        return self.length if self.length in PERIODS else None

    @property
    def every(self) -> int:
        """Rounds in a window; 0 where days decide, and for other words."""
        said = self.length.removeprefix("every:")
        return int(said) if said.isascii() and said.isdigit() and len(said) < 16 else 0

    @property
    def joins(self) -> bool:
        """Whether older windows are joined."""
        return self.period is None and not self.length.startswith("every:")

    def over(self, core: Core) -> Watching:
        """What keeps these windows of a learner."""
        return Watching(self, core)


class Open:
    """The window that rounds go to now."""

    def __init__(self, unit: int, begin: int, watching: Watching) -> None:
        core, loss = watching.core, watching.loss
        counts = not core.regression
        self.unit, self.begin, self.end = unit, begin, begin
        self.own = float(core.state["loss"][0])
        self.run = Counter(loss, watching.bias, counts)
        self.others = [Counter(loss, False, counts) for _ in (core, *watching.asked.challengers)]
        self.model = frozen(core)

    def part(self, own: float, more: bool = False) -> Part:
        """It as it is so far, the learner having lost that much since its beginning; more may come."""
        measured = self.run.measured, tuple(one.measured for one in self.others), own - self.own
        return Part((self.unit, self.unit + 1), (self.begin, self.end), *measured, open=more)


class Kept(msgspec.Struct):
    """What a model file keeps of windows."""

    asked: dict[str, str | float | list[str] | None]
    seals: list[str]  # of the challengers
    parts: list[dict[str, Any]]
    keys: list[int]  # the day or week of each, and that of the open one
    rounds: int
    learned: int  # rounds that the learner had learned from then
    open: dict[str, Any] | None


class Watching:
    """The windows of one learner, as its rounds come; a `rounds.Keeper`."""

    def __init__(self, asked: Windows, core: Core) -> None:
        self.asked, self.core = asked, core
        self.loss, self.bounded = judged(core)
        self.domain = compared(core, asked.radius) if self.bounded else None
        self.bias = bool(core.config["bias"][0])
        self._seals: list[str] = []  # of the challengers that the windows began with
        self.parts: list[Part] = []
        self.keys: list[int] = []
        self.rounds = 0
        self.open: Open | None = None
        self.traced: list[Vector] | None = (
            None  # what the model that no longer learned said of every round, for a proof
        )
        self._calendar: Calendar | None = None
        if again(core) is not None:
            self._restore((core.watched or {})[NAME])

    def over(self, core: Core) -> Watching:
        """Itself, for it is this learner's."""
        if core is not self.core:
            raise SettingError("windows: they are of another learner")
        return self

    @cached_property
    def challengers(self) -> list[Challenger]:
        """Models that learn nothing beside, read when they are needed."""
        found = [Challenger(path, self.core) for path in self.asked.challengers]
        for one, seal in zip(found, self._seals, strict=False):
            if one.seal != seal:
                raise SettingError(f"{one.path}: is another model than the challenger that the windows began with")
        return found

    # -- rounds ------------------------------------------------------------------------------------------------------

    def go_beside(self, stream: Stream, *, shuffled: bool = False) -> None:
        """The stream whose rows come now."""
        asked = self.asked
        for one in self.challengers:
            one.go_beside(stream, shuffled=shuffled)
        if asked.period is None:
            return
        if shuffled:
            raise SettingError(f"{spelled('windows', asked.length)} needs rows in the order of time: no shuffle")
        assert asked.time is not None
        self._calendar = Calendar(stream.source, asked.time, asked.period, asked.time_zone)

    def cut(self, block: Block, y: Vector, weights: Vector | None) -> Pieces:
        """The block in pieces that each lie in one window; the window of each is open when it is handed out."""
        start = 0
        for stop, key in self._stops(block, weights):
            if key is not None and self.keys and self.open is not None and key != self.keys[-1]:
                self._close()
            if self.open is None:
                self._begin(key)
            if start == 0 and stop == len(block):
                yield block, y, weights
            else:
                yield block.slice(start, stop), y[start:stop], None if weights is None else weights[start:stop]
            if self.open is not None and self.open.end - self.open.begin == self.asked.every:
                self._close()
            start = stop

    def _stops(self, block: Block, weights: Vector | None) -> Iterator[tuple[int, int | None]]:
        """Where pieces end, each with its day or week."""
        size = len(block)
        if self._calendar is not None:
            keys = self._calendar.in_order(block, self.keys[-1] if self.keys else None)
            for stop in [*(np.flatnonzero(np.diff(keys)) + 1).tolist(), size]:
                yield stop, int(keys[stop - 1])
            return
        counted = np.arange(size) if weights is None else np.flatnonzero(weights)
        left = self.asked.every - (0 if self.open is None else self.open.end - self.open.begin)
        for place in range(left, len(counted) + 1, self.asked.every):
            yield (int(counted[place]) if place < len(counted) else size), None
        done = left + (len(counted) - left) // self.asked.every * self.asked.every if len(counted) >= left else 0
        if done < len(counted) or not len(counted):
            yield size, None

    def _begin(self, key: int | None) -> None:
        unit = self.parts[-1].units[1] if self.parts else 0
        self.open = Open(unit, self.rounds, self)
        if key is not None:
            self.keys.append(key)

    def _close(self) -> None:
        """The window is over; older ones are joined where that was asked for."""
        assert self.open is not None
        self.parts.append(self.open.part(float(self.core.state["loss"][0])))
        self.open = None
        if self.asked.joins:
            self._join()

    def _join(self) -> None:
        now, kept = self.parts[-1].units[1], list[Part]()
        for part in self.parts:
            if kept and not keeps(part.units[0], now):
                kept[-1] = kept[-1] + part
            else:
                kept.append(part)
        self.parts = kept

    def add(self, rows: Rows, y: Vector, weights: Vector | None, scores: Vector, moves: Any = None) -> None:
        """Rounds as they were played."""
        assert self.open is not None
        tally = self.open.run.tally
        if tally is not None and self.bounded:
            tally.add(rows, y, weights, scores)
        elif tally is not None:
            tally.enter(y, weights, scores)

    def take(self, block: Block, y: Vector, weights: Vector | None, scores: Vector) -> None:
        """A piece that was played, with the scores that `play` gave: what those said of it who no longer learned."""
        assert self.open is not None
        if weights is not None and not weights.all():
            some = np.flatnonzero(weights).astype(np.int64)
            block, y, weights, scores = block.take(some), y[some], weights[some], scores[some]
        if not len(block):
            return
        now, core = self.open, self.core
        now.run.count(None if core.regression else int(np.count_nonzero(core.missed(scores, y))))
        said = now.model.scores(block.rows)
        now.others[0].enter(now.model, said, y, weights)
        if self.traced is not None:
            self.traced.append(said)
        for one, counter in zip(self.challengers, now.others[1:], strict=True):
            counter.enter(one.core, one.scores(block), one.labels(block), weights)
        now.end += len(block)
        self.rounds += len(block)

    # -- what happened -----------------------------------------------------------------------------------------------

    @property
    def all_parts(self) -> list[Part]:
        """Every window, the one that is still open last."""
        open_ = [] if self.open is None or self.open.begin == self.open.end else [self.open]
        return [*self.parts, *(one.part(float(self.core.state["loss"][0]), more=True) for one in open_)]

    @property
    def figures(self) -> dict[str, Any]:
        """Every window as plain numbers, and what may change from one to the next."""
        before = self.core.rounds - self.rounds
        return {**told(self), **({"before": before} if before > 0 else {})}

    def keep(self) -> None:
        """Leave with the learner all that a model file keeps of it."""
        kept = Kept(
            _written(self.asked),
            self._seals or [one.seal for one in self.challengers],
            [part_stored(part) for part in self.parts],
            self.keys,
            self.rounds,
            self.core.rounds,
            None if self.open is None else self._open_stored(self.open),
        )
        self.core.watched = {**(self.core.watched or {}), NAME: msgspec.to_builtins(kept, builtin_types=(bytes,))}

    def _open_stored(self, now: Open) -> dict[str, Any]:
        return {
            "unit": now.unit,
            "rounds": [now.begin, now.end],
            "own": now.own,
            "people": [one.stored() for one in (now.run, *now.others)],
            "model": stored(now.model),
        }

    def _restore(self, stored_: dict[str, Any]) -> None:
        try:
            kept = msgspec.convert(stored_, Kept)
            self._agree(kept)
            self.parts = [part_of(one) for one in kept.parts]
            self.keys, self.rounds = kept.keys, kept.rounds
            if kept.learned != self.core.rounds:
                raise SettingError("the model has learned rounds that its windows did not see: start them again")
            if kept.open is not None:
                self._reopen(kept.open)
            if [part.rounds[1] for part in self.parts[:-1]] != [part.rounds[0] for part in self.parts[1:]]:
                raise ValueError("windows do not follow each other")
        except SettingError:
            raise
        except (msgspec.ValidationError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ModelFileError(f"the model file is damaged: its windows cannot be read ({error})") from error

    def _reopen(self, kept: dict[str, Any]) -> None:
        self.open = now = Open(kept["unit"], kept["rounds"][0], self)
        now.end, now.own = int(kept["rounds"][1]), float(kept["own"])
        for one, said in zip((now.run, *now.others), kept["people"], strict=True):
            one.restore(said)
        now.model = restored(self.core, kept["model"])

    def _agree(self, kept: Kept) -> None:
        """Windows that are gone on with stay as they are."""
        for name, value in _written(self.asked).items():
            has = kept.asked.get(name)
            if value != has:
                given = spelled("windows" if name == "length" else name.rstrip("s"), str(value or "none"))
                raise SettingError(f"{given} conflicts with the model, which has {has or 'none'}")
        self._seals = kept.seals


def _written(asked: Windows) -> dict[str, Any]:
    return {**asdict(asked), "challengers": list(asked.challengers)}


def again(core: Core) -> Windows | None:
    """The windows that a saved learner is watched by."""
    kept = (core.watched or {}).get(NAME)
    if isinstance(kept, dict) and "start" in kept:
        raise SettingError("the windows of the model are of predictions whose labels came late: go on as it began")
    try:
        return None if kept is None else Windows(**msgspec.convert(kept, Kept).asked)  # type: ignore[arg-type]
    except (msgspec.ValidationError, TypeError) as error:
        raise ModelFileError(f"the model file is damaged: its windows cannot be read ({error})") from error


def from_the_first(core: Core) -> bool:
    """Whether the windows of a learner hold all of its rounds."""
    kept = (core.watched or {}).get(NAME)
    return kept is not None and kept["learned"] == kept["rounds"] == core.rounds


def judged(core: Core) -> tuple[Loss | None, bool]:
    """The loss that windows are judged by, and whether regret bounds follow: scores of rows, a convex loss of ours."""
    if core.multiclass or core.loss.custom:
        return None, False
    bounded = core.weighs_features and core.supports is None
    if bounded:
        return core.judged_by, True
    return (core.loss if core.loss.convex else None), False


def compared(core: Core, radius: float | None) -> Domain:
    """Whom windows are compared with: the learner's own domain; where it has none the ball of this radius, or of 10."""
    own = core.domain
    if math.isinf(own.radius):
        return Domain("ball", RADIUS if radius is None else radius)
    if radius is not None and radius != own.radius:
        raise SettingError(f"{spelled('radius')} conflicts with the learner, which has {own.radius:g}: leave it out")
    return own
