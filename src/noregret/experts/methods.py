"""The ways to weigh experts: the rule of each, and the regret that it promises after every round."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.errors import SettingError
from noregret.experts import rules
from noregret.experts.contest import Contest
from noregret.experts.engine import Rule
from noregret.experts.loss import ExpertLoss, Numbers

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """What a rule is made for: N experts, a loss in a range, T rounds where that is known."""

    loss: ExpertLoss
    experts: int
    ends: tuple[float, float]
    rounds: int | None
    rate: str
    switches: int

    @property
    def width(self) -> float:
        """B, that of the costs."""
        lo, hi = self.loss.cost_range(*self.ends)
        return hi - lo

    @property
    def linear_size(self) -> float:
        """The size of linearised losses, where there are any."""
        assert isinstance(self.loss, Numbers)
        return self.loss.linear_size(*self.ends)

    @property
    def announced(self) -> int:
        """T, of a method that needs to know it."""
        assert self.rounds is not None
        return self.rounds


@dataclass(frozen=True)
class Method:
    """One of them; `promised` takes the contest, the numbers of the rounds and the Δ of each."""

    rule: Callable[[Asked], Rule]
    promised: Callable[[Contest, Vector, Vector], Vector]
    announced: bool = False  # whether it must know the number of rounds
    switches: int | None = None  # how often its comparator may change, unless that is set


def method_for(loss: ExpertLoss, name: str | None, against: str | None) -> str:
    """The method of a loss and of what it competes with.

    Against the best mean that is the gradient method, against the best expert the mixture where there is one, AdaHedge
    elsewhere. Nothing said, a loss of numbers that has no mixture competes with the best mean, the others with the best
    expert.
    """
    if against is not None and against not in AGAINST:
        raise SettingError(f"blend: against must be one of {', '.join(AGAINST)}, got {against!r}")
    if against == "mean" and (name or GRADIENT) != GRADIENT:
        raise SettingError(f"blend: method {name} competes with the best expert; against mean is method gradient")
    if against == "expert" and name == GRADIENT:
        raise SettingError("blend: method gradient competes with the best mean, so against cannot be expert")
    if against == "mean" or (against is None and name is None and loss.numbers and not loss.mixable):
        name = GRADIENT
    found = name or (MIXTURE if loss.mixable else ADAHEDGE)
    if found not in METHODS:
        raise SettingError(f"blend: method must be one of {', '.join(METHODS)}, got {found!r}")
    if found == MIXTURE and not loss.mixable:
        raise SettingError(f"blend: method mixture accepts only the losses log, squared and brier, got {loss.name}")
    if found == GRADIENT and not loss.numbers:
        raise SettingError(f"blend: method gradient accepts only the losses squared and absolute, got {loss.name}")
    if found != MIXTURE and not loss.bounded:
        raise SettingError(f"blend: method must be mixture for the log loss, which is unbounded, got {found}")
    return found


def rule_of(name: str, asked: Asked) -> Rule:
    """The rule of a method, or what it lacks."""
    method = METHODS[name]
    if method.announced and asked.rounds is None:
        raise SettingError(f"blend: {name} needs the number of rounds beforehand: set rounds=")
    return method.rule(asked)


# -- what each promises after every round ----------------------------------------------------------------------------


def _logs(contest: Contest) -> float:
    """ln N."""
    return float(arithmetic.log(float(max(contest.experts, 1))))


def _mixed(contest: Contest, t: Vector, gaps: Vector) -> Vector:
    return np.full(len(t), _logs(contest) / contest.rule.rate)


def _gathered(contest: Contest, t: Vector, gaps: Vector) -> Vector:
    return 2.0 * gaps


def _anytime(contest: Contest, t: Vector, gaps: Vector) -> Vector:
    c = rules.ANYTIME_RATES[contest.rate_name or "two"]
    paid = np.sqrt(t) / c + c * np.cumsum(1.0 / np.sqrt(t)) / 8.0
    return np.asarray(math.sqrt(_logs(contest)) * contest.width * paid)


def _doubled(contest: Contest, t: Vector, gaps: Vector) -> Vector:
    begun = np.cumsum(np.where(np.frexp(t)[0] == 0.5, np.sqrt(2.0 * t * _logs(contest)), 0.0))
    return np.asarray(begun * contest.width)


def _announced(contest: Contest, t: Vector, gaps: Vector) -> Vector:
    rate = contest.rule.rate * contest.width
    return np.asarray((_logs(contest) / rate + rate * t / 8.0) * contest.width if rate else 0.0 * t)


def _shared(contest: Contest, t: Vector, gaps: Vector) -> Vector:
    rate, stays = contest.rule.rate * contest.width, -arithmetic.log1p(-contest.rule.share)
    paid = (_logs(contest) + (t - 1.0) * stays) / rate + rate * t / 8.0 if rate else 0.0 * t
    return np.asarray(paid * contest.width)


AGAINST = ("expert", "mean")
MIXTURE, GRADIENT, ADAHEDGE = "mixture", "gradient", "adahedge"
METHODS = {
    MIXTURE: Method(lambda a: rules.mixture(a.loss.mixing_rate(*a.ends)), _mixed),
    GRADIENT: Method(lambda a: rules.gradient(a.experts, a.linear_size), _gathered),
    ADAHEDGE: Method(lambda a: rules.adahedge(a.experts, *a.loss.cost_range(*a.ends)), _gathered),
    "hedge": Method(lambda a: rules.hedge(a.experts, a.width, a.rate), _anytime),
    "hedge-doubling": Method(lambda a: rules.doubling(a.experts, a.width), _doubled),
    "weighted-majority": Method(
        lambda a: rules.weighted_majority(a.experts, a.width, a.announced), _announced, announced=True
    ),
    "fixed-share": Method(
        lambda a: rules.fixed_share(a.experts, a.width, a.announced, a.switches), _shared, announced=True, switches=1
    ),
}
