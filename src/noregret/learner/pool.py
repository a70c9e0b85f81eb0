"""The members of `auto`, an explicit table: which learners play, on which rows, and what each weighs at first.

A member sleeps while the rows are outside its limits: one that keeps a matrix plays on few features alone, one that is
made for wide rows on many. The weights are judgement, not measurement: what does well on most streams weighs more, and
of near-copies each weighs less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noregret.errors import SettingError, nearest, spelled
from noregret.learner.core import Core
from noregret.learner.settings import Prepared, Sure
from noregret.prepare import Preparation
from noregret.setting import fields
from noregret.stream.block import Rows, Sparse

Settings = dict[str, Any]
WIDE = 300  # features from which a row counts as wide
BROAD = 48  # features from which the costliest members are fewer, and have less time to lead
FEW = 30  # features up to which every two are crossed
ENDLESS = 1 << 40
VIEWS = tuple(
    name for name in fields(Prepared) if name not in ("tie", "bias", *fields(Sure))
)  # what makes rows look different


@dataclass(frozen=True)
class Member:
    """A row of the table: a name, a learner with its settings, what it weighs, and the widths that it plays on."""

    name: str
    learner: str
    settings: Settings = field(default_factory=dict)
    weight: float = 1.0
    least: int = 0  # features
    most: int = ENDLESS
    costly: int = ENDLESS  # from this many features on it retires unless it leads
    early: int = ENDLESS  # the same after an eighth of the rounds: for one that takes Θ(d²), or many steps a feature
    scaled: bool = False  # its log-odds are too small or too large: they are scaled too

    @property
    def view(self) -> tuple[Any, ...]:
        """How its rows are prepared: members with the same view are given the same rows."""
        return tuple(self.settings.get(name) for name in VIEWS)

    def core(self) -> tuple[Core, Preparation]:
        """A new learner that takes prepared rows, and what prepares them."""
        from noregret.learner import LEARNERS

        core = LEARNERS[self.learner](**self.settings)
        preparation = core.preparation
        core.take_prepared()
        return core, preparation


def _member(
    name: str,
    learner: str,
    weight: float = 1.0,
    *,
    least: int = 0,
    most: int = WIDE,
    costly: int = 32,
    early: int = 96,
    scaled: bool = False,
    **settings: Any,
) -> Member:
    return Member(name, learner, {"bias": True, **settings}, weight, least, most, costly, early, scaled)


def _adagrad(
    name: str,
    rate: float,
    weight: float = 1.0,
    *,
    least: int = 0,
    most: int = ENDLESS,
    early: int = ENDLESS,
    **view: Any,
) -> Member:
    settings = {"loss": "logistic", "rate": f"constant:{rate}", "radius": math.inf, **view}
    return _member(name, "adagrad", weight, least=least, most=most, early=early, **settings)


def _steps(name: str, eta: float, weight: float = 1.0, most: int = WIDE, early: int = ENDLESS, **view: Any) -> Member:
    """Steps of a constant length for rows of any length."""
    settings = {"loss": "logistic", "rate": f"normalised:{eta}", "radius": math.inf, "scale": "standard", **view}
    return _member(name, "ogd", weight, most=most, early=early, **settings)


def _newton(name: str, weight: float = 1.0, **settings: Any) -> Member:
    return _member(name, "newton", weight, early=BROAD, scaled=True, **settings)


STANDARD: Settings = {"scale": "standard"}
FOURIER: Settings = {"expand": "fourier:100", **STANDARD}
BINS: Settings = {"expand": "bins:16", "unit_norm": True, "most": WIDE, "early": BROAD}
CROSSES: Settings = {"expand": "crosses:8", "unit_norm": True, "most": FEW}
LOGS: Settings = {"scale": "log", "unit_norm": True, "least": WIDE}
BINARY = (
    Member("labels", "markov", {"order": 0}),
    Member("labels-1", "markov", {"order": 1}),
    Member("labels-2", "markov", {"order": 2}, 0.5),
    Member("labels-4", "markov", {"order": 4}, 0.5),
    _adagrad("adagrad-.03", 0.03, scale="max", unit_norm=True),
    _adagrad("adagrad-.15", 0.15, 2.0, scale="max", unit_norm=True),
    _adagrad("adagrad-.8", 0.8, 2.0, scale="max", unit_norm=True),
    _adagrad("logs-.15", 0.15, 2.0, **LOGS),
    _adagrad("logs-.8", 0.8, 2.0, **LOGS),
    _member("betting", "scale-free", 3.0, most=ENDLESS, early=ENDLESS),
    _member("betting-standard", "scale-free", 2.0, early=ENDLESS, **STANDARD),
    _member("diagonal-.1", "diagonal", most=ENDLESS, early=ENDLESS, ridge=0.1),
    _member("diagonal-1", "diagonal", 2.0, most=ENDLESS, early=ENDLESS, ridge=1.0),
    _member("diagonal-standard", "diagonal", 3.0, early=ENDLESS, scaled=True, ridge=1.0, **STANDARD),
    _member("naive-bayes", "naive-bayes", 2.0, most=ENDLESS, early=ENDLESS, bias=False),
    _adagrad("standard-.15", 0.15, 3.0, most=WIDE, **STANDARD),
    _adagrad("standard-.8", 0.8, most=WIDE, **STANDARD),
    _steps("steps-.2", 0.2),
    _steps("steps-1", 1.0, 2.0),
    _steps("steps-5", 5.0, 2.0),
    _steps("steps-lagged", 5.0, lags=3),
    _steps("steps-fourier", 5.0, 2.0, early=BROAD, expand="fourier:200"),
    _steps("steps-fourier-wide", 5.0, most=BROAD - 1, early=BROAD, expand="fourier:200:0.5"),
    _newton("newton", 4.0, ridge=10.0, play="newton", **STANDARD),
    _newton("newton-1", 3.0, **STANDARD),
    _newton("newton-raw", 2.0, play="newton"),
    _newton("newton-.002", 3.0, walk=0.002, **STANDARD),
    _newton("newton-.02", walk=0.02, **STANDARD),
    _newton("lagged-.002", lags=3, walk=0.002, **STANDARD),
    _newton("lagged-.02", most=BROAD - 1, lags=3, walk=0.02, **STANDARD),
    _member("second-order", "second-order", early=BROAD),
    _member("passive", "pa", early=ENDLESS, scale="max"),
    _newton("fourier", 2.0, costly=16, **FOURIER),
    _newton("fourier-.02", most=BROAD - 1, costly=16, walk=0.02, **FOURIER),
    _newton("quadratic", most=22, costly=10, play="newton", expand="quadratic", **STANDARD),
    _member(
        "nearest", "nearest", 2.0, most=100, costly=16, early=BROAD, scaled=True, bias=False, neighbours=20, **STANDARD
    ),
    _adagrad("bins-.15", 0.15, **BINS),
    _adagrad("bins-.8", 0.8, **BINS),
    _adagrad("crosses-.15", 0.15, **CROSSES),
    _adagrad("crosses-.8", 0.8, **CROSSES),
)


def _relative(name: str, learner: str, weight: float = 1.0, **settings: Any) -> Member:
    """One that is given labels relative to those before: it need not find their mean and their units first."""
    return _member(name, learner, weight, scaled=True, **settings)


ABSOLUTE: Settings = {"loss": "absolute", "radius": math.inf}
NUMBERS = (
    Member("mean", "persistence", {"rule": "mean"}),
    Member("last", "persistence", {"rule": "last"}, 2.0),
    Member("drift", "persistence", {"rule": "drift"}, 0.5),
    _member("ridge-raw", "vaw", scale="max"),
    _relative("ridge-3", "vaw", 3.0, ridge=3.0, **STANDARD),
    _relative("ridge-30", "vaw", 3.0, ridge=30.0, **STANDARD),
    _relative("forgetting-.003", "ridge", 2.0, ridge=3.0, forgetting=0.003, **STANDARD),
    _relative("forgetting-.03", "ridge", ridge=3.0, forgetting=0.03, **STANDARD),
    _relative("lagged", "ridge", forgetting=0.01, lags=3, **STANDARD),
    _relative("fourier", "vaw", 2.0, costly=16, early=BROAD, **FOURIER),
    _relative("quadratic", "vaw", most=22, costly=10, ridge=10.0, expand="quadratic", **STANDARD),
    _relative("nearest", "nearest-numbers", most=100, costly=16, early=BROAD, bias=False, **STANDARD),
    _relative("betting", "scale-free", 2.0, most=ENDLESS, costly=ENDLESS, loss="absolute"),
    _relative("adagrad-.03", "adagrad", most=ENDLESS, costly=ENDLESS, rate="constant:0.03", scale="max", **ABSOLUTE),
    _relative("adagrad-.15", "adagrad", most=ENDLESS, costly=ENDLESS, rate="constant:0.15", scale="max", **ABSOLUTE),
    _relative("standard-.15", "adagrad", costly=ENDLESS, rate="constant:0.15", **STANDARD, **ABSOLUTE),
    _relative("crosses-.15", "adagrad", rate="constant:0.15", **{**CROSSES, **ABSOLUTE}),
    _member("passive", "pa2", most=ENDLESS, costly=ENDLESS, loss="absolute", scale="max", unit_norm=True),
)


def _softmax(name: str, rate: float, weight: float = 1.0, **view: Any) -> Member:
    most = WIDE if view.get("scale") == "standard" else ENDLESS
    return _member(name, "softmax", weight, **{"most": most, "costly": ENDLESS, "rate": rate, **view})


CLASSES = (
    Member("labels", "markov-classes", {"order": 0}),
    Member("labels-1", "markov-classes", {"order": 1}),
    _softmax("softmax-.03", 0.03, scale="max"),
    _softmax("softmax-.15", 0.15, 2.0, scale="max"),
    _softmax("softmax-.8", 0.8, scale="max", unit_norm=True),
    _softmax("logs-.15", 0.15, **LOGS),
    _softmax("standard-.03", 0.03, **STANDARD),
    _softmax("standard-.15", 0.15, 3.0, **STANDARD),
    _softmax("standard-.8", 0.8, **STANDARD),
    _softmax("fourier-.15", 0.15, costly=64, **FOURIER),
    _member("nearest", "nearest-classes", 3.0, most=100, costly=32, bias=False),
    _member("nearest-standard", "nearest-classes", 2.0, most=100, costly=32, bias=False, **STANDARD),
    _member("newton", "softmax-newton", 3.0, **STANDARD),
    _member("newton-1", "softmax-newton", ridge=1.0, **STANDARD),
    _member("fourier", "softmax-newton", 2.0, costly=0, early=0, **{**FOURIER, "expand": "fourier:200"}),
)


def priors(members: tuple[Member, ...]) -> list[float]:
    """What each weighs at first: its share of all weights.

    >>> priors((Member("a", "ogd"), Member("b", "pa", weight=3.0)))
    [0.25, 0.75]
    """
    whole = sum(member.weight for member in members)
    return [member.weight / whole for member in members]


FOR = {"binary": "two classes", "multiclass": "many classes", "regression": "numbers"}
POOLS = {"binary": BINARY, "multiclass": CLASSES, "regression": NUMBERS}


def chosen(task: str, names: str | None) -> tuple[Member, ...]:
    """The members of these names, separated by commas; all of the task where none are given."""
    pool = POOLS[task]
    if names is None:
        return pool
    table = {member.name: member for member in pool}
    wanted = [name.strip() for name in names.replace("+", ",").split(",")]
    for place, name in enumerate(wanted):
        if name in wanted[:place]:
            raise SettingError(f"auto: {spelled('members')} names {name!r} twice")
        if name not in table:
            raise SettingError(
                f"auto: {spelled('members')} must name some of the {len(table)} members for {FOR[task]} that the guide"
                f" lists under Auto, got {name!r}{nearest(name, table, 3)}"
            )
    return tuple(member for member in pool if member.name in wanted)


def marks(members: tuple[Member, ...], rows: Rows, width: int, rounds: int, review: int) -> list[tuple[int, int]]:
    """Where in the rows other members may play than before, and how wide the stream is from there on.

    `width` and `rounds` are those before them. Members are reviewed after `review` rounds and at every doubling.
    """
    found, reached = {0: width}, max(rows.width, width)
    limits = sorted({one for member in members for one in (member.least, member.most + 1)})
    for limit in (one for one in limits if width < one <= reached):
        row = 0
        if isinstance(rows, Sparse) and rows.columns is None:
            row = rows.row_of(int(np.argmax(rows.indices >= limit - 1)))[0]
        found[row] = limit
    while review <= rounds:
        review *= 2
    while (row := review - rounds) < len(rows):
        before = max(place for place in found if place <= row)
        found.setdefault(row, found[before])
        review *= 2
    return sorted(found.items())
