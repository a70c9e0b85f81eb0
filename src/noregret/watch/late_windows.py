"""Windows of predictions whose labels come late: each label belongs to the window of its prediction.

A window stays open until no prediction in it waits any more; until then its rounds are kept, so that the order of the
labels does not matter, and a revised label simply replaces the one before. Afterwards only its sums are left: a label
that is revised then marks the window, and nothing is claimed of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from noregret.errors import ModelFileError, SettingError, spelled
from noregret.example import foretell
from noregret.learner.core import Core
from noregret.rounds import as_sparse
from noregret.stream.block import Rows, Sparse
from noregret.watch.frozen import frozen, missed, restored, stored
from noregret.watch.part import Counter, Part, part_of, part_stored
from noregret.watch.retention import keeps
from noregret.watch.told import told
from noregret.watch.windows import NAME, Watching, Windows, again, compared, judged

Vector = NDArray[np.float64]


@dataclass
class Labelled:
    """A prediction of an open window: what the frozen model said, and, once there is a label, the round."""

    frozen: Vector
    row: Sparse | None = None  # as it was played
    y: float = 0.0
    weight: float = 1.0
    said: Vector = field(default_factory=lambda: np.zeros(0))
    missed: int = 0
    paid: float = 0.0


@dataclass
class Open:
    """A window some of whose predictions have not been made, or wait for their labels."""

    model: Core | None  # None once all its predictions are made
    rounds: dict[int, Labelled] = field(default_factory=dict)  # by the places of the predictions
    expired: int = 0

    @property
    def waiting(self) -> int:
        return sum(one.row is None for one in self.rounds.values())


class Kept(msgspec.Struct):
    """What a model file keeps of windows whose labels come late."""

    length: str
    radius: float | None
    start: int | None
    predicted: int
    parts: list[dict[str, Any]]
    open: list[tuple[int, int, list[list[Any]], dict[str, Any] | None]]


class LateWindows:
    """The windows of the predictions of one learner; it takes the rows as they are played when their labels come."""

    keys: tuple[int, ...] = ()

    def __init__(self, asked: Windows, core: Core) -> None:
        if asked.period is not None:
            raise SettingError(
                f"{spelled('windows', asked.length)} cannot be used with late labels: give a number of rows"
            )
        if asked.challengers:
            raise SettingError(f"{spelled('challenger')} cannot be used with late labels: leave it out")
        self.asked, self.core = asked, core
        self.loss, self.bounded = judged(core)
        self.domain = compared(core, asked.radius) if self.bounded else None
        self.bias = bool(core.config["bias"][0])
        self.start: int | None = None  # the place of the first prediction that was seen
        self.predicted = 0  # the place of the next one
        self.parts: list[Part] = []  # closed, in the order of their windows
        self.open: dict[int, Open] = {}
        self._row: Rows | None = None
        if late_again(core) is not None:
            self._restore((core.watched or {})[NAME])

    # -- events ------------------------------------------------------------------------------------------------------

    def began(self, place: int, row: Rows, waiting: int) -> None:
        """There is a prediction at this place, of this row."""
        if self.start is None:
            self.start = place
        elif place != self.predicted:
            raise SettingError("the model has predicted rows that its windows did not see: start them again")
        unit = self._unit(place)
        if unit not in self.open:
            self.open[unit] = Open(frozen(self.core))
        now = self.open[unit]
        assert now.model is not None
        said, _ = foretell(now.model, row, waiting)
        now.rounds[place] = Labelled(np.array(said, np.float64, ndmin=1))
        self.predicted = place + 1
        if self._unit(self.predicted) != unit:
            now.model = None

    def add(self, rows: Rows, y: Vector, weights: Vector | None, scores: Vector, moves: Any = None) -> None:
        """A row as it is learned now."""
        self._row = rows

    def outcome(self, place: int, said: Vector, y: float, weight: float, wrong: bool, paid: float) -> None:
        """The label of this prediction has come, and its row was learned."""
        now = self.open.get(self._unit(place))
        if now is None or place not in now.rounds or self._row is None:
            return
        row = as_sparse(self._row)
        one = now.rounds[place]
        one.row, one.y, one.weight, one.said, one.missed, one.paid = row, y, weight, said, int(wrong), weight * paid
        self._tidy()

    def nothing(self, place: int) -> None:
        """No label will come."""
        now = self.open.get(self._unit(place))
        if now is not None and now.rounds.pop(place, None) is not None:
            now.expired += 1
            self._tidy()

    def revised(self, place: int, y: float, wrong: bool, paid: float) -> None:
        """Another label for a prediction that had one."""
        unit = self._unit(place)
        now = self.open.get(unit)
        if now is not None and place in now.rounds and now.rounds[place].row is not None:
            one = now.rounds[place]
            one.y, one.missed, one.paid = y, int(wrong), one.weight * paid
            return
        for at, part in enumerate(self.parts):
            if part.units[0] <= unit < part.units[1]:
                left = {**part.left, "revised": part.left.get("revised", 0) + 1}
                self.parts[at] = replaced(part, left=left)

    def _unit(self, place: int) -> int:
        return (place - (self.start or 0)) // self.asked.every

    def _tidy(self) -> None:
        """Close the windows that are full and in which nothing waits; join closed ones."""
        done = [unit for unit, one in self.open.items() if one.model is None and not one.waiting]
        for unit in done:
            self.parts.append(self._part(unit, self.open.pop(unit)))
        if not done:
            return
        self.parts.sort(key=lambda part: part.units)
        if self.asked.joins:
            now, kept = self._unit(self.predicted), list[Part]()
            for part in self.parts:
                if kept and kept[-1].units[1] == part.units[0] and not keeps(part.units[0], now):
                    kept[-1] = kept[-1] + part
                else:
                    kept.append(part)
            self.parts = kept

    def _part(self, unit: int, now: Open, open_: bool = False) -> Part:
        """A window from its labelled rounds, in the order of their predictions."""
        core, counts = self.core, not self.core.regression
        run, still, own = Counter(self.loss, self.bias, counts), Counter(self.loss, False, counts), 0.0
        for place in sorted(now.rounds):
            one = now.rounds[place]
            if one.row is None:
                continue
            y, weights = np.array([one.y]), None if one.weight == 1.0 else np.array([one.weight])
            run.count(one.missed)
            if run.tally is not None and self.bounded:
                run.tally.add(one.row, y, weights, one.said)
            elif run.tally is not None:
                run.tally.enter(y, weights, one.said)
            if still.tally is not None:
                still.tally.enter(y, weights, one.frozen)
            still.count(missed(core, one.frozen[np.newaxis] if core.multiclass else one.frozen, y))
            own += one.paid
        first = unit * self.asked.every
        end = min(first + self.asked.every, self.predicted - (self.start or 0))
        left = {key: n for key, n in (("waiting", now.waiting), ("expired", now.expired)) if n}
        labelled = len(now.rounds) - now.waiting
        measured = (run.measured, (still.measured,), own, left)
        return Part((unit, unit + 1), (first, end), *measured, open=open_, labelled=labelled)

    # -- what happened -----------------------------------------------------------------------------------------------

    @property
    def all_parts(self) -> list[Part]:
        """Every window, those that are open too."""
        parts = [*self.parts, *(self._part(unit, one, open_=True) for unit, one in self.open.items())]
        return sorted(parts, key=lambda part: part.units)

    @property
    def figures(self) -> dict[str, Any]:
        """Every window as plain numbers."""
        return told(self)

    def keep(self) -> None:
        """Leave with the learner all that a model file keeps of it."""
        opened = [
            (
                unit,
                one.expired,
                [_round_stored(place, each) for place, each in one.rounds.items()],
                None if one.model is None else stored(one.model),
            )
            for unit, one in self.open.items()
        ]
        parts = [part_stored(part) for part in self.parts]
        kept = Kept(self.asked.length, self.asked.radius, self.start, self.predicted, parts, opened)
        self.core.watched = {**(self.core.watched or {}), NAME: msgspec.to_builtins(kept, builtin_types=(bytes,))}

    def _restore(self, stored_: dict[str, Any]) -> None:
        try:
            kept = msgspec.convert(stored_, Kept)
            for name in ("length", "radius"):
                has, given = getattr(kept, name), getattr(self.asked, name)
                if has != given:
                    option = spelled("windows" if name == "length" else name, str(given or "none"))
                    raise SettingError(f"{option} conflicts with the model, which has {has or 'none'}")
            self.start, self.predicted = kept.start, kept.predicted
            self.parts = [part_of(one) for one in kept.parts]
            for unit, expired, rounds, model in kept.open:
                opened = Open(None if model is None else restored(self.core, model), expired=expired)
                opened.rounds = dict(map(_round_of, rounds))
                self.open[unit] = opened
        except SettingError:
            raise
        except (msgspec.ValidationError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ModelFileError(f"the model file is damaged: its windows cannot be read ({error})") from error


def late_again(core: Core) -> Windows | None:
    """The windows of late labels that a saved learner is watched by."""
    kept = (core.watched or {}).get(NAME)
    if kept is None:
        return None
    if isinstance(kept, dict) and "asked" in kept:
        raise SettingError("the windows of the model are of rounds that had their labels: go on as it began")
    try:
        found = msgspec.convert(kept, Kept)
    except msgspec.ValidationError as error:
        raise ModelFileError(f"the model file is damaged: its windows cannot be read ({error})") from error
    return Windows(found.length, radius=found.radius)


def figures_of(core: Core) -> dict[str, Any] | None:
    """The windows of a saved learner, whether labels came late or not, as plain numbers."""
    kept = (core.watched or {}).get(NAME)
    if kept is None:
        return None
    if "start" in kept:
        late = late_again(core)
        return None if late is None else LateWindows(late, core).figures
    asked = again(core)
    return None if asked is None else Watching(asked, core).figures


def _round_stored(place: int, one: Labelled) -> list[Any]:
    said = one.frozen.astype("<f8").tobytes()
    if one.row is None:
        return [place, said]
    row = [one.row.indices.astype("<u4").tobytes(), one.row.values.astype("<f8").tobytes(), one.row.width]
    return [place, said, *row, one.y, one.weight, one.said.astype("<f8").tobytes(), one.missed, one.paid]


def _round_of(kept: list[Any]) -> tuple[int, Labelled]:
    place, said, *rest = kept
    found = Labelled(np.frombuffer(said, "<f8").astype(np.float64))
    if rest:
        places, values, width, y, weight, told_, wrong, paid = rest
        indices = np.frombuffer(places, "<u4").astype(np.uint32)
        held = np.frombuffer(values, "<f8").astype(np.float64)
        if len(indices) != len(held) or not all(map(math.isfinite, (y, weight, paid))):
            raise ValueError("a round of an open window does not fit together")
        found.row = Sparse(np.array([0, len(held)], np.int64), indices, held, int(width))
        found.y, found.weight, found.missed, found.paid = y, weight, wrong, paid
        found.said = np.frombuffer(told_, "<f8").astype(np.float64)
    return int(place), found
