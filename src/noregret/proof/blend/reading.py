"""How a receipt says that its table was read and blended: what follows from that alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from noregret import arithmetic
from noregret.experts.forecasts import Laid

LAST = "last value"
METHODS = ("adahedge", "hedge", "hedge-doubling", "weighted-majority", "fixed-share")


def sound(reading: Mapping[str, Any]) -> bool:
    """Whether such a blend can be made at all: a method for the loss, a range where it has one, experts told apart."""
    loss, method, limits = reading["loss"], reading["method"], reading["range"]
    allowed = {"log": ("mixture",), "brier": ("mixture", *METHODS)}
    allowed |= {"squared": ("mixture", "gradient", *METHODS), "absolute": ("gradient", *METHODS)}
    keys = {"outcome", "experts", "loss", "range", "method", "rate", "switches", "last_value"}
    if set(reading) != keys or method not in allowed.get(loss, METHODS) or (method == "hedge") != bool(reading["rate"]):
        return False
    if (limits is not None) != (loss in ("squared", "absolute", "costs")) or (limits and not limits[0] < limits[1]):
        return False
    last = reading["last_value"]
    if type(last) is not bool or (last and loss not in ("squared", "absolute", "zero-one")):
        return False
    names = [*names_of(reading), *([] if reading["outcome"] is None else [reading["outcome"]])]
    return len(names) == len(set(names)) and (reading["outcome"] is None) == (loss == "costs")


def names_of(reading: Mapping[str, Any]) -> list[str]:
    """The experts: those of the columns, and the last value, if it is one."""
    return [*reading["experts"], *([LAST] if reading["last_value"] else [])]


def in_range(laid: Laid, reading: Mapping[str, Any]) -> bool:
    """Whether forecasts, costs and outcomes lie where the theorems need them."""
    loss, there = reading["loss"], laid.given[~np.isnan(laid.given)]
    if loss == "zero-one":
        return True
    lo, hi = reading["range"] or (0.0, 1.0)
    inside = bool((there >= lo).all() and (there <= hi).all())
    if loss in ("squared", "absolute"):
        return inside and bool((laid.outcomes >= lo).all() and (laid.outcomes <= hi).all())
    if loss in ("log", "brier") and laid.given.shape[2] == 1:
        return inside and bool(np.isin(laid.outcomes, (0.0, 1.0)).all())
    if loss in ("log", "brier"):
        sums = arithmetic.row_totals(laid.given)
        return inside and bool((np.abs(sums[~np.isnan(sums)] - 1.0) <= 1e-9).all())
    return inside


def width(reading: Mapping[str, Any]) -> float:
    lo, hi = reading["range"] or (0.0, 1.0)
    return float(hi) - float(lo)


def cost_width(reading: Mapping[str, Any]) -> float:
    """B of the costs."""
    across = width(reading)
    found = {"squared": across * across, "absolute": across, "costs": across, "brier": 2.0, "zero-one": 1.0}
    return found.get(reading["loss"], math.inf)


def largest_cost(reading: Mapping[str, Any]) -> float:
    """The largest size of a cost; of linearised ones that of the numbers which are rounded in them."""
    if reading["method"] == "gradient":
        reach = max(abs(float(end)) for end in reading["range"])
        across = width(reading)
        return 2.0 * (across + reach) if reading["loss"] == "absolute" else 2.0 * (across * (across + reach))
    if reading["loss"] == "costs":
        return max(abs(float(end)) for end in reading["range"])
    return cost_width(reading)


def sharing(reading: Mapping[str, Any], experts: int, rounds: int) -> tuple[float, float]:
    """(η, α) of Fixed-Share for T rounds and m switches, costs of width 1."""
    m = reading["switches"]
    share = min(max(m / max(rounds - 1, 1), 1.0 / rounds**2), 0.5)
    cost = (m + 1) * arithmetic.log(float(experts)) + m * arithmetic.log(1.0 / share)
    cost += max(rounds - m - 1, 0) * -arithmetic.log1p(-share)
    return math.sqrt(8.0 * cost / rounds), share
