"""The bounds of a blend a second time, and the verdicts on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret import arithmetic
from noregret.experts.forecasts import Laid
from noregret.interval import Interval
from noregret.proof.blend.reading import cost_width, sharing
from noregret.proof.blend.replay import Replay
from noregret.proof.blend.spread import NEARLY, around, margin, spare
from noregret.proof.verification import Verification, real

RANGE = "every cost lies in the declared range of width B"
COIN = "the costs of a round do not depend on the expert drawn in it"
ANNOUNCED = "T, the number of rounds, was announced beforehand"
DEFINED = "forecasts and outcomes lie in the declared range, probabilities in [0, 1]"
CONCAVE = "exp(−η·loss) is concave in the forecast"
CONVEX = "the loss is convex in the forecast"
SEQUENCE = "the best sequence of at most m switches is known"


@dataclass(frozen=True)
class Bound:
    """One formula: of which method it speaks, what it assumes, its value, the values that it names."""

    method: str
    needs: tuple[str, ...]
    source: str
    value: Callable[[_Facts], Interval]
    named: Callable[[_Facts], dict[str, float]] = lambda facts: {}


@dataclass(frozen=True)
class _Facts:
    reading: Mapping[str, Any]
    rounds: int
    experts: int
    gap: float
    linear: NDArray[np.float64]  # linearised losses

    @property
    def logs(self) -> Interval:
        return Interval.of(float(self.experts)).log() if self.experts > 1 else Interval.of(0.0)

    @property
    def width(self) -> float:
        return cost_width(self.reading)

    @property
    def T(self) -> float:
        return float(self.rounds)

    def root(self, factor: float) -> Interval:
        """√(factor·T·ln N)."""
        return (self.logs * (factor * self.T)).sqrt()

    def steady(self) -> Interval:
        """√(2 ln N/T)."""
        return (self.logs * 2.0 / self.T).sqrt()

    def hedged(self) -> Interval:
        """ln N/η_T + Σ η_t/8 with η_t = c√(ln N/t)."""
        c = {"one": 1.0, "two": 2.0, "root-eight": math.sqrt(8.0)}[self.reading["rate"]]
        sums = math.fsum(1.0 / math.sqrt(t) for t in range(1, self.rounds + 1))
        return self.root(1.0) / c + self.logs.sqrt() * (Interval.around(sums, 1e-15 * sums) * c) / 8.0

    def closed(self) -> Interval:
        if self.reading["rate"] == "root-eight":
            return self.root(0.5) * 2.0 + (self.logs / 8.0).sqrt()
        return self.root(1.0) * (1.25 if self.reading["rate"] == "one" else 1.0)

    def periods(self) -> Interval:
        found = Interval.of(0.0)
        for m in range(self.rounds.bit_length()):
            found = found + (self.logs * 2.0 * float(2**m)).sqrt()
        return found

    def shared(self, switches: int) -> Interval:
        """[(m+1) ln N + m ln(1/α) + (T − m − 1) ln(1/(1 − α))]/η + ηT/8."""
        eta, alpha = sharing(self.reading, self.experts, self.rounds)
        stays = float(max(self.rounds - switches - 1, 0))
        share = Interval.of(alpha)
        cost = self.logs * float(switches + 1) - share.log() * float(switches) - (1.0 - share).log() * stays
        return cost / eta + Interval.of(eta) * self.T / 8.0

    def linearised(self) -> Interval:
        """max over the experts of −Σ slope·(expert's forecast − own)."""
        return Interval.of(max(math.fsum(-self.linear[:, i]) for i in range(self.experts)))

    def spread(self) -> Interval:
        """√(ln N·Σ s²) + 2·max s, s the spread of a round."""
        s = self.linear.max(axis=1) - self.linear.min(axis=1)
        squares = math.fsum(s * s)
        return (self.logs * Interval.around(squares, 1e-14 * squares)).sqrt() + 2.0 * float(s.max())

    def mixed(self) -> Interval:
        scale = {"log": 1.0, "brier": 4.0}.get(self.reading["loss"]) or 2.0 * cost_width(self.reading)
        return self.logs * scale


def _switches(facts: _Facts) -> int:
    return int(min(facts.reading["switches"], facts.rounds - 1))


def _mixing(facts: _Facts) -> dict[str, float]:
    return {"rate": {"log": 1.0, "brier": 0.25}.get(facts.reading["loss"]) or 0.5 / cost_width(facts.reading)}


SS = "Shalev-Shwartz & Ben-David ch. 21"
CBL = "Cesa-Bianchi & Lugosi 2006"
HW = "Herbster & Warmuth 1998"
FOLLOW = "de Rooij, van Erven, Grünwald & Koolen 2014"
BOUNDS: dict[str, Bound] = {
    "weighted-majority": Bound(
        "weighted-majority", (RANGE, COIN, ANNOUNCED), f"{SS}, Theorem 21.11", lambda f: f.root(2.0) * f.width
    ),
    "weighted-majority-hoeffding": Bound(
        "weighted-majority",
        (RANGE, COIN),
        f"{CBL}, Theorem 2.2",
        lambda f: (f.logs / f.steady() + f.steady() * f.T / 8.0) * f.width,
        lambda f: {"rate": f.steady().hi},
    ),
    "hedge-anytime": Bound("hedge", (RANGE, COIN), f"{CBL}, Theorem 2.3", lambda f: f.hedged() * f.width),
    "hedge-anytime-closed": Bound("hedge", (RANGE, COIN), f"{CBL}, Theorem 2.3", lambda f: f.closed() * f.width),
    "hedge-doubling": Bound("hedge-doubling", (RANGE, COIN), f"{SS}, exercise 4", lambda f: f.periods() * f.width),
    "hedge-doubling-closed": Bound(
        "hedge-doubling",
        (RANGE, COIN),
        f"{SS}, exercise 4",
        lambda f: f.root(2.0) * (Interval.of(2.0).sqrt() / (Interval.of(2.0).sqrt() - 1.0)) * f.width,
    ),
    "adahedge": Bound(
        "adahedge", (COIN,), FOLLOW, lambda f: Interval.of(f.gap) * 2.0, lambda f: {"mixability_gap": f.gap}
    ),
    "fixed-share": Bound(
        "fixed-share",
        (RANGE, COIN, SEQUENCE),
        HW,
        lambda f: f.shared(_switches(f)) * f.width,
        lambda f: {"switches": float(_switches(f))},
    ),
    "fixed-share-expert": Bound("fixed-share", (RANGE, COIN), HW, lambda f: f.shared(0) * f.width),
    "linearised-mean": Bound(
        "gradient", (CONVEX,), f"Kivinen & Warmuth 1997; {CBL}, section 2.5", lambda f: f.linearised()
    ),
    "adahedge-mean": Bound(
        "gradient", (CONVEX,), FOLLOW, lambda f: Interval.of(f.gap) * 2.0, lambda f: {"mixability_gap": f.gap}
    ),
    "adahedge-mean-spread": Bound("gradient", (CONVEX,), FOLLOW, lambda f: f.spread()),
    "mixture": Bound(
        "mixture", (DEFINED, CONCAVE), f"Vovk 1990; {CBL}, section 3.3", lambda f: f.mixed(), lambda f: _mixing(f)
    ),
}


def check_certificates(
    done: Verification, said: dict[str, Any], laid: Laid, again: Replay, regret: Interval, sequence: Interval | None
) -> None:
    """Every theorem of the method, no other, each with its assumptions, bound, values and verdict.

    `regret` is the one that the method promises something of, `sequence` that against the best sequence.
    """
    reading = said["reading"]
    facts = _Facts(reading, len(laid.given), laid.given.shape[1], again.gap, again.linear)
    mine = [name for name, one in BOUNDS.items() if one.method == reading["method"]]
    done.same("the theorems", sorted(one["theorem"] for one in said["certificates"]), sorted(mine))
    lowest = float((reading["range"] or (0.0, 1.0))[0]) if reading["loss"] == "costs" else 0.0
    ceiling = again.total - lowest * len(laid.given)
    size = arithmetic.total(np.abs(again.own))
    best = math.inf
    for one in said["certificates"]:
        name, own = one["theorem"], one["theorem"] == "fixed-share"
        observed = sequence if own and sequence is not None else regret
        _check_certificate(done, one, BOUNDS[name], facts, observed)
        limit = _Limit(ceiling, margin(reading, facts.rounds, size + abs(real(one["bound"]))))
        done.same(f"{name}: the verdict", one["verdict"], limit.verdict(one, observed, _bound(BOUNDS[name], facts)))
        best = best if own else min(best, real(one["bound"]))
    done.same("the bound", said["bound"], best)


def _bound(known: Bound, facts: _Facts) -> Interval:
    """The formula; AdaHedge's gap is known as losses are."""
    found = known.value(facts) if facts.experts > 1 else Interval.of(0.0)
    return (
        around(found, 2.0 * spare(facts.reading, facts.rounds)) if known.method in ("adahedge", "gradient") else found
    )


def _check_certificate(
    done: Verification, said: dict[str, Any], known: Bound, facts: _Facts, observed: Interval
) -> None:
    name, coin = said["theorem"], facts.reading["loss"] in ("costs", "zero-one")
    holds = [None if need == COIN and coin else True for need in known.needs]
    assumed = [
        {"statement": need, "checked": one is not None, "holds": one}
        for need, one in zip(known.needs, holds, strict=True)
    ]
    keys = {"theorem", "source", "bound", "observed", "verdict", "assumptions", "values", "points"}
    done.true(f"{name}: its parts are those of a certificate", set(said) == keys and said["points"] == [])
    done.same(f"{name}: its source", said["source"], known.source)
    done.same(f"{name}: its assumptions", said["assumptions"], assumed)
    done.at_most(f"{name}: the bound", said["bound"], _bound(known, facts).hi)
    done.at_most(f"{name}: the observed value", said["observed"], observed.hi)
    values = known.named(facts)
    done.true(f"{name}: its values are those of the theorem", set(said["values"]) == set(values))
    for key, value in values.items():
        if key == "switches":
            done.same(f"{name}: switches", said["values"][key], value)
        else:
            done.at_most(f"{name}: {key.replace('_', ' ')}", said["values"][key], value)


@dataclass(frozen=True)
class _Limit:
    """From where on a bound says nothing, and how near to it that may be said already."""

    ceiling: float
    near: float

    def verdict(self, said: dict[str, Any], observed: Interval, found: Interval) -> str:
        """What follows from the numbers claimed; broken where the bound as recomputed is exceeded beyond rounding."""
        bound = real(said["bound"])
        if observed.lo > found.hi + self.near:
            return "broken"
        nearly = self.ceiling - 2.0 * NEARLY * abs(self.ceiling) - 2.0 * self.near
        if bound >= self.ceiling or (said["verdict"] == "vacuous" and bound >= nearly):
            return "vacuous"
        return "holds" if real(said["observed"]) <= bound else "open"
