"""The rules by name: what each needs to know beforehand, and the rates that its theorem asks for.

Costs lie in a range of width B; a rate is stated for B = 1 and divided by B.
"""

from __future__ import annotations

import math
from typing import Any

from noregret import arithmetic
from noregret.errors import SettingError
from noregret.experts.engine import ADAPTIVE, ANYTIME, CONSTANT, DOUBLING, GRADIENT, SHARING, Rule

ANYTIME_RATES = {"one": 1.0, "two": 2.0, "root-eight": math.sqrt(8.0)}  # c of η_t = c·√(ln N/t)


def horizon_rate(experts: int, rounds: int) -> float:
    """η = √(2 ln N/T), Theorem 21.11."""
    return math.sqrt(2.0 * arithmetic.log(float(experts)) / rounds)


def share_for(rounds: int, switches: int) -> float:
    """α = m/(T − 1), kept between 1/T² and 1/2: the share for which m switches are likeliest."""
    return min(max(switches / max(rounds - 1, 1), 1.0 / rounds**2), 0.5)


def switching_cost(experts: int, rounds: int, switches: int, share: float) -> float:
    """(m + 1) ln N + m ln(1/α) + (T − m − 1) ln(1/(1 − α)): what it costs to follow m switches among T rounds."""
    stays = max(rounds - switches - 1, 0)
    return (
        (switches + 1) * arithmetic.log(float(experts))
        - switches * arithmetic.log(share)
        - stays * arithmetic.log1p(-share)
    )


def weighted_majority(experts: int, width: float, rounds: int) -> Rule:
    return Rule(CONSTANT, horizon_rate(experts, rounds) / width)


def hedge(experts: int, width: float, rate: str) -> Rule:
    return Rule(ANYTIME, ANYTIME_RATES[rate] * math.sqrt(arithmetic.log(float(experts))) / width)


def doubling(experts: int, width: float) -> Rule:
    return Rule(DOUBLING, math.sqrt(2.0 * arithmetic.log(float(experts))) / width)


def adahedge(experts: int, lo: float, hi: float) -> Rule:
    """Costs in [lo, hi]: a first gap of no more than (N + 2)·2⁻⁵⁰ of the largest of them is taken for a rounding."""
    return Rule(ADAPTIVE, arithmetic.log(float(experts)), least=(experts + 2) * 2.0**-50 * max(abs(lo), abs(hi)))


def gradient(experts: int, size: float) -> Rule:
    """AdaHedge on linearised losses; a first gap of no more than (N + 2)·2⁻⁵⁰ of their size is taken for a rounding."""
    return Rule(GRADIENT, arithmetic.log(float(experts)), least=(experts + 2) * 2.0**-50 * size)


def fixed_share(experts: int, width: float, rounds: int, switches: int) -> Rule:
    share = share_for(rounds, switches)
    rate = math.sqrt(8.0 * switching_cost(experts, rounds, switches, share) / rounds)
    return Rule(SHARING, rate / width, share)


def mixture(rate: float) -> Rule:
    return Rule(CONSTANT, rate)


def whole(who: str, name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`, or a sentence."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise SettingError(f"{who}: {name} must be a whole number, got {value!r}")
    if int(value) < least:
        raise SettingError(f"{who}: {name} must be at least {least}, got {value}")
    return int(value)


def ends(who: str, given: Any) -> tuple[float, float]:
    """A range (low, high), or a sentence."""
    try:
        lo, hi = (float(end) for end in given)
    except (TypeError, ValueError):
        raise SettingError(f"{who}: range must be two numbers, low and high, got {given!r}") from None
    if not (math.isfinite(lo) and math.isfinite(hi) and lo < hi):
        raise SettingError(f"{who}: range must be finite with low < high, got {lo:g} and {hi:g}")
    return lo, hi
