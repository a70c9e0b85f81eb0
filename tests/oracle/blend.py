"""Every round of a blend again, from the definitions.

Some things are taken as they were recorded, because AdaHedge follows its leaders by differences however small. The loss
of an expert awake is the float that its formula gives. A sleeper suffers the loss that the blend recorded of itself,
and a loss is linearised at the forecast that it recorded; both are checked: round after round they must be what the
forecasts and the rounds before give. From there on sums
are pairs of the longest floats that there are, so that no difference between two experts is lost in rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.experts.forecasts import ExpertTable

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Replay:
    """A run again: own losses, forecasts, all costs (a sleeper's are the blend's own), weights after the last round."""

    own: Vector
    forecasts: NDArray[np.float64]
    costs: NDArray[np.float64]
    weights: Vector
    gap: float
    linear: NDArray[
        np.float64
    ]  # slope·(expert's forecast − own) of every round and expert, where losses are linearised

    @property
    def total(self) -> float:
        return math.fsum(self.own)


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
    cost = (m + 1) * math.log(experts) + m * math.log(1.0 / share)
    cost += max(rounds - m - 1, 0) * -math.log1p(-share)
    return math.sqrt(8.0 * cost / rounds), share


def _losses(loss: str, x: NDArray[np.float64], y: float) -> Vector:
    """What each row of x loses at the outcome y."""
    if loss == "costs":
        return np.asarray(x[:, 0])
    if loss == "zero-one":
        return np.asarray(x[:, 0] != y).astype(np.float64)
    if loss == "squared":
        return np.asarray((x[:, 0] - y) ** 2)
    if loss == "absolute":
        return np.asarray(np.abs(x[:, 0] - y))
    if loss == "log":
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(_chances(x, y)))
    if x.shape[1] == 1:  # two outcomes that miss by the same: 1 − x would lose the figures of a small x
        return np.asarray(2.0 * (x[:, 0] - y) * (x[:, 0] - y))
    found = np.zeros_like(x[:, 0])
    for k in range(x.shape[1]):  # one after another: in another order the last figure could differ
        found = found + (x[:, k] - float(k == y)) ** 2
    return found


def _chances(x: NDArray[Any], y: float) -> NDArray[Any]:
    """The probability that each row of x gives the outcome y; a single number is the probability of 1."""
    if x.shape[1] > 1:
        return np.asarray(x[:, int(y)])
    return np.asarray(x[:, 0] if y == 1.0 else 1.0 - x[:, 0])


def linearised(loss: str, x: NDArray[np.float64], p: float, y: float) -> Vector:
    """slope(p)·(x − p) of each row of x."""
    slope = float(np.sign(p - y)) if loss == "absolute" else 2.0 * (p - y)
    return np.asarray(slope * (x[:, 0] - p))


def _rates(reading: Mapping[str, Any], experts: int, rounds: int) -> tuple[Callable[[int], float], float]:
    """η of each round for costs as they are, and the share of Fixed-Share."""
    logs, across = math.log(experts), cost_width(reading)
    method, loss = reading["method"], reading["loss"]
    if method == "mixture":
        eta = {"log": 1.0, "brier": 0.25}.get(loss) or 0.5 / width(reading) ** 2
        return lambda t: eta, 0.0
    if method == "weighted-majority":
        return lambda t: math.sqrt(2.0 * logs / rounds) / across, 0.0
    if method == "hedge":
        c = {"one": 1.0, "two": 2.0, "root-eight": math.sqrt(8.0)}[reading["rate"]]
        return lambda t: c * math.sqrt(logs / t) / across, 0.0
    if method == "hedge-doubling":
        return lambda t: math.sqrt(2.0 * logs / 2 ** (t.bit_length() - 1)) / across, 0.0
    if method != "fixed-share":
        return lambda t: math.nan, 0.0
    eta, share = sharing(reading, experts, rounds)
    return lambda t: eta / across, share


@dataclass(frozen=True)
class Sums:
    """What each expert has lost: sums, and what they lost in rounding."""

    high: NDArray[Any]
    low: NDArray[Any]

    @classmethod
    def none(cls, experts: int) -> Sums:
        return cls(np.zeros(experts, np.longdouble), np.zeros(experts, np.longdouble))

    def plus(self, costs: Vector) -> Sums:
        high = self.high + costs
        with np.errstate(invalid="ignore"):
            added = high - self.high
            low = self.low + ((self.high - (high - added)) + (costs - added))
        return Sums(high, np.where(np.isfinite(high), low, 0.0))  # of an infinity nothing is kept

    def least(self, among: NDArray[np.bool_]) -> int:
        """The first with the least sum among some."""
        first = int(np.where(among, self.high, np.inf).argmin())
        return int(np.where(among, self.behind(first), np.inf).argmin())

    def behind(self, leader: int) -> NDArray[Any]:
        """By how much more than the leader each has lost."""
        with np.errstate(invalid="ignore"):
            return np.asarray((self.high - self.high[leader]) + (self.low - self.low[leader]))


def _soft(sums: Sums, eta: float, awake: NDArray[np.bool_]) -> NDArray[Any]:
    """Weights ∝ exp(−η·sum) over those awake; for η = ∞ even on the leaders."""
    leader = sums.least(awake)
    behind = sums.behind(leader)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        leaders = behind <= 1e-12 * abs(sums.high[leader])
        raw = leaders * np.longdouble(1.0) if math.isinf(eta) else np.exp(-eta * behind)
    raw = np.where(awake, raw, np.longdouble(0.0))
    return np.asarray(raw / raw.sum())


def replayed(data: ExpertTable, reading: Mapping[str, Any], recorded: Vector, said: Vector) -> Replay:
    """Every round from the definitions; `recorded` are the blend's own losses, which sleepers suffered, `said` its
    forecasts, at which losses are linearised."""
    method, loss = reading["method"], reading["loss"]
    rounds, experts, outcomes = data.values.shape
    rate, share = _rates(reading, experts, rounds)
    sums, shared = Sums.none(experts), np.full(experts, np.longdouble(1.0)) / experts
    own, forecasts, costs = np.zeros(rounds), np.zeros((rounds, outcomes)), np.zeros((rounds, experts))
    gap, everyone = np.longdouble(0.0), np.ones(experts, dtype=np.bool_)
    least, adaptive = (experts + 2) * 2.0**-50 * largest_cost(reading), method in ("adahedge", "gradient")
    linear = np.zeros((rounds if method == "gradient" else 0, experts))
    for t in range(rounds):
        if method == "hedge-doubling" and (t + 1) & t == 0:
            sums = Sums.none(experts)
        x, y = data.values[t], float(data.outcomes[t])
        awake = ~np.isnan(x[:, 0])
        eta = _adaptive(experts, gap) if adaptive else rate(t + 1)
        q = _shares(shared, awake) if method == "fixed-share" else _soft(sums, eta, awake)
        cost = np.where(awake, _losses(loss, np.where(awake[:, None], x, 0.0), y), 0.0)
        own[t], forecasts[t] = _blended(loss, x, y, q, awake, cost)
        costs[t] = cost = np.where(awake, cost, recorded[t])
        if method == "gradient":
            linear[t] = cost = np.where(awake, linearised(loss, x, float(said[t]), y), 0.0)
        after = sums.plus(cost)
        if adaptive:
            gap += _mixability(_soft(sums, eta, everyone), cost, sums, after, eta, least)
        elif method == "fixed-share":
            moved = shared * np.exp(-eta * (cost - cost.min()).astype(np.longdouble))
            shared = (1.0 - share) * moved / moved.sum() + share / experts
        sums = after
    last = _last_weights(method, rounds, rate, sums, shared, gap, everyone)
    return Replay(own, forecasts, costs, np.asarray(last, dtype=np.float64), float(gap), linear)


def _adaptive(experts: int, gap: Any) -> Any:
    """η of AdaHedge: ln N/Δ, without end where nothing has been gathered."""
    return np.longdouble(math.log(experts)) / gap if gap > 0.0 else math.inf


def _last_weights(
    method: str,
    rounds: int,
    rate: Callable[[int], float],
    sums: Sums,
    shared: NDArray[Any],
    gap: Any,
    everyone: NDArray[np.bool_],
) -> NDArray[Any]:
    """The weights of the round that would come next."""
    if method == "fixed-share":
        return shared
    if method == "hedge-doubling" and (rounds + 1) & rounds == 0:
        sums = Sums.none(len(everyone))
    if method in ("adahedge", "gradient"):
        return _soft(sums, _adaptive(len(everyone), gap), everyone)
    return _soft(sums, rate(rounds + 1), everyone)


def _shares(shared: NDArray[Any], awake: NDArray[np.bool_]) -> NDArray[Any]:
    there = np.where(awake, shared, 0.0)
    return np.asarray(there / there.sum())


def _blended(
    loss: str, x: NDArray[np.float64], y: float, q: NDArray[Any], awake: NDArray[np.bool_], cost: Vector
) -> tuple[float, Vector]:
    """(own loss, forecast) of one round."""
    q, x, cost = q[awake], x[awake], cost[awake]
    with np.errstate(invalid="ignore"):
        expected = float((q[q > 0.0] * cost[q > 0.0]).sum())
    if loss == "costs":
        return expected, np.zeros(x.shape[1])
    if loss == "zero-one":
        best, votes = 0, np.bincount(x[:, 0].astype(np.int64), weights=q.astype(np.float64))
        for label, vote in enumerate(votes.tolist()):
            best = label if vote > votes[best] + 1e-12 else best
        return expected, np.array([float(best)])
    mean = np.asarray((q[:, None] * x).sum(axis=0))
    if loss == "log":
        return float(-np.log((q * _chances(x, y)).sum())), mean.astype(np.float64)
    return float(_losses(loss, mean[None, :], y)[0]), mean.astype(np.float64)


def _mixability(p: NDArray[Any], cost: Vector, sums: Sums, after: Sums, eta: Any, least: float) -> Any:
    """Σ p·cost less the exponential mean of the costs at rate η, which is how far ln(Σ exp(−η·sum))/η goes down.

    Costs are taken from that of the leader, and sums from the least, before the round and after it. At η = ∞ no more
    than `least` counts as nothing.
    """
    everyone = np.ones(len(p), dtype=np.bool_)
    leader, next_one = sums.least(everyone), after.least(everyone)
    mean = (p * (cost.astype(np.longdouble) - cost[leader])).sum()
    gap = mean - after.behind(leader)[next_one]
    if math.isinf(eta):
        return gap if gap > least else np.longdouble(0.0)
    with np.errstate(under="ignore"):
        left = np.log(np.exp(-eta * after.behind(next_one)).sum()) - np.log(np.exp(-eta * sums.behind(leader)).sum())
    return max(gap + left / eta, np.longdouble(0.0))


def least_switching(costs: NDArray[np.float64], switches: int) -> float:
    """The least loss of sequences with at most so many changes, by the recursion over rounds."""
    least = np.zeros((min(switches, len(costs) - 1) + 1, costs.shape[1]), np.longdouble)
    for row in costs:
        least[1:] = np.minimum(least[1:], least[:-1].min(axis=1, keepdims=True))
        least += row
    return float(least[-1].min())
