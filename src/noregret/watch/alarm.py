"""An alarm: what must not be true of a run for it to ring, how rarely it may ring for nothing, and what happens then.

Its null is "for every round the mean of the loss ℓ, given all before it, is at most m", with ℓ in [0, 1]. Under it

    A_t(λ) = (A_{t−1}(λ) + 1/(t(t + 1)))·(1 + λ(ℓ_t − m)),    E_t = Σ_j A_t(λ_j)/8 + 1/(t + 1),    λ_j = 2^−j/m

with j = 1 … 8 is a nonnegative supermartingale from 1, so that E_t reaches 1/δ in the whole life of the run with
probability at most δ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from noregret.errors import SettingError, spelled

if TYPE_CHECKING:
    from noregret.learner.core import Core
    from noregret.watch.guard import Guard

CONTINUE, RESTART, RESHARE = ON_ALARM = ("continue", "restart", "reshare")
NAME = "alarm"  # of what a model file keeps
LEAST = 1e-9  # a level, and a probability of a false alarm


@dataclass(frozen=True)
class Alarm:
    """An alarm that rings when the mean loss has surely risen, at a time that nobody knows.

    `null` says above what: `level:0.1` a fixed level; `baseline` the most frequent label so far, of numbers the mean of
    the labels so far; `challenger:MODEL` a saved model, which stays as it is. In the whole life of the run it rings for
    nothing with probability at most `false_alarm`. The first `after` rounds of learning are left out. `loss` is what is
    watched: `zero-one` (default for classes), `brier` (two classes, a learner of probabilities), or `clip:B`, that is
    min(|error|, B)/B, which numbers need. `on_alarm`: the learner goes on (`continue`), a new one begins with the next
    round (`restart`), or a mixture sets the weights of its members back to their prior (`reshare`); the k-th of several
    tests spends 6δ/(π²k²).

    >>> from noregret.learner import Perceptron
    >>> from noregret.protocol import play
    >>> rows = [[1.0]] * 300, [1] * 100 + [1, -1] * 100
    >>> run = play(Perceptron(), rows, alarm=Alarm("level:0.1"))
    >>> run.alarm["rang"], run.alarm["e_value"] > 100.0
    ([110], True)
    """

    null: str
    false_alarm: float = 0.01
    after: int = 0
    loss: str | None = None
    on_alarm: str = CONTINUE

    def __post_init__(self) -> None:
        kind, value = self.kind, self.null.partition(":")[2]
        said = spelled("alarm", python="Alarm: null")
        if kind not in ("level", "baseline", "challenger") or (kind == "baseline") != (":" not in self.null):
            raise SettingError(f"{said} must be level:M, baseline or challenger:MODEL, got {self.null!r}")
        if kind == "challenger" and not value:
            raise SettingError(f"{said} challenger:MODEL must name a model file, got {self.null!r}")
        if kind == "level" and not LEAST <= _number(value) < 1.0:
            raise SettingError(f"{said} level:M must lie between 0 and 1, the range of the loss, got {self.null!r}")
        if not LEAST <= self.false_alarm < 1.0:
            said = spelled("false_alarm", python="Alarm: false_alarm")
            raise SettingError(f"{said} must be a probability above 0 and below 1, got {self.false_alarm!r}")
        if type(self.after) is not int or self.after < 0:
            said = spelled("after", python="Alarm: after")
            raise SettingError(f"{said} must be a whole number of rounds, at least 0, got {self.after!r}")
        if self.on_alarm not in ON_ALARM:
            said = spelled("on_alarm", python="Alarm: on_alarm")
            raise SettingError(f"{said} must be one of {', '.join(ON_ALARM)}, got {self.on_alarm!r}")
        if self.loss is not None and self.loss not in ("zero-one", "brier") and not self.clip > 0.0:
            said = spelled("alarm_loss", python="Alarm: loss")
            raise SettingError(f"{said} must be zero-one, brier or clip:B with B above 0, got {self.loss!r}")

    @property
    def kind(self) -> str:
        """level, baseline or challenger."""
        return self.null.partition(":")[0]

    @property
    def level(self) -> float:
        """m: where two losses are compared ½ is what stands for a tie."""
        return _number(self.null.partition(":")[2]) if self.kind == "level" else 0.5

    @property
    def model(self) -> str:
        """The file of the challenger."""
        return self.null.partition(":")[2]

    @property
    def clip(self) -> float:
        """B of clip:B; NaN for another loss."""
        name, _, value = (self.loss or "").partition(":")
        found = _number(value) if name == "clip" else math.nan
        return found if math.isfinite(found) else math.nan

    @property
    def changes(self) -> bool:
        """Whether another learner goes on where it rings."""
        return self.on_alarm != CONTINUE

    def guard(self, core: Core, *, late: bool = False) -> Guard:
        """What watches this learner from now on, or goes on to: what a model file kept is continued."""
        from noregret.watch.guard import Guard

        return Guard(self, core, late=late)

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain values."""
        return asdict(self)


def of_model(core: Core, asked: Mapping[str, Any]) -> Alarm | None:
    """The alarm that was asked for; a learner that is watched keeps its own, and what was asked must agree with it."""
    kept = (core.watched or {}).get(NAME)
    given = {name: value for name, value in asked.items() if value is not None}
    if kept is None:
        return Alarm(**given) if given else None
    has = dict(kept["settings"])
    for name, value in given.items():
        if value != has[name]:
            option = "alarm" if name == "null" else "alarm_loss" if name == "loss" else name
            was = "none" if has[name] is None else has[name]
            raise SettingError(f"{spelled(option, str(value))} conflicts with the model, which has {was}: leave it out")
    return Alarm(**has)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
