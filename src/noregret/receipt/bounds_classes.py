"""The bounds of the voted perceptron and of many classes once more, each from its formula."""

from __future__ import annotations

import math
from collections.abc import Callable

from noregret.interval import Interval
from noregret.receipt.facts import Facts
from noregret.receipt.found import Certificate, Condition, Formula, Found
from noregret.receipt.many import ManyFacts
from noregret.run import played_once, rows_weigh_one

UNIT = "every round weighs 1"
AHEAD = "every update was made where a wrong class scored at least as high as the right one, in exact arithmetic"
APART = "every update of a class was made at y⟨w,x⟩ ≤ 0, in exact arithmetic"
COMPARED = "comparators V are given"
EACH = "a comparator for each class is given"
SEPARATED = "a separator is known: ⟨v_y − v_r, x⟩ ≥ 1 on every round for every wrong class r"
ONE_PASS = "every row was played once"
UNIT_ROWS = "every row weighs 1"
ALIKE = "the rows are independent and alike, and so is the row to come"
TYPICAL = "this sample's (r‖v‖ + a)² stands for its mean over samples"
GIVEN = (COMPARED, EACH)
PROMISES = ()

NEEDS: dict[str, Condition] = {
    AHEAD: lambda f: f.many.replayed[0],
    APART: lambda f: f.many.replayed[0],
    COMPARED: lambda f: any(name.startswith("V_") and name != "V_apart" for name in f.points),
    EACH: lambda f: "V_each" in f.points,
    SEPARATED: lambda f: f.many.separates,
    ONE_PASS: lambda f: played_once(f.core.segments),
    UNIT_ROWS: lambda f: rows_weigh_one(f.core.segments, f.rounds.weights),
    ALIKE: lambda f: None,
    TYPICAL: lambda f: None,
}


def _mistakes(f: Facts, bound: Interval, values: dict[str, float]) -> Found:
    return Found(bound, Interval.of(float(f.many.mistakes)), f.T, values)


def _at(make: Callable[[ManyFacts, Interval, Interval], Interval]) -> Formula:
    """A bound on the updates at the comparator V that the certificate names, and the mistakes without an update."""

    def found(f: Facts, certificate: Certificate) -> Found:
        (name,) = certificate["points"]
        loss, size, more = f.many.loss(name), f.many.size(name), f.many.unforeseen
        return _mistakes(f, make(f.many, loss, size) + more, {"loss": loss.hi, "norm": size.hi, "unforeseen": more})

    return found


def _root(c: Interval, b: Interval) -> Interval:
    """The largest M with M ≤ c + b√M."""
    return c + b.square() / 2.0 + b * (c + b.square() / 4.0).sqrt()


def _norm(f: Facts, certificate: Certificate) -> Found:
    bound = (f.many.R2(f.many.updated) * 2.0).sqrt()
    return Found(bound, f.many.replayed[1], math.inf, {}, slack=bound.hi * 2.0**-45)


def _novikoff(f: Facts, certificate: Certificate) -> Found:
    size, more = f.many.size("V_apart"), f.many.unforeseen
    bound = f.many.r2 * size.square() * 2.0 + more
    return _mistakes(f, bound, {"separator_norm": size.hi, "unforeseen": more})


def _each(f: Facts) -> tuple[Interval, dict[str, float], int]:
    """The sum of the classes' bounds, each bound and each class's updates, and all updates."""
    ones = [f.many.one(k) for k in range(f.many.classes)]
    values = {f"bound_{k}": bound.hi for k, (bound, _) in enumerate(ones)}
    values |= {f"updates_{k}": float(count) for k, (_, count) in enumerate(ones)}
    return sum((bound for bound, _ in ones), Interval.of(0.0)), values, sum(count for _, count in ones)


def _updates(f: Facts, certificate: Certificate) -> Found:
    bound, values, count = _each(f)
    rounds = float(sum(f.T - first for first in f.many.first))
    return Found(bound, Interval.of(float(count)), rounds, values)


def _voted(f: Facts, certificate: Certificate) -> Found:
    at = f.at(certificate["points"][0])
    bound = (at.norm * f.r + at.hinge2.sqrt()).square() * 2.0 / float(f.T)
    return Found(bound, None, 1.0, {"hinge": at.hinge.hi, "norm": at.norm.hi})


BOUNDS: dict[str, tuple[tuple[str, ...], Formula]] = {
    "multiclass-norm": ((UNIT, AHEAD), _norm),
    "multiclass-sum": ((UNIT, COMPARED), _at(lambda m, c, v: c + v * m.replayed[1])),
    "multiclass-mistakes": ((UNIT, AHEAD, COMPARED), _at(lambda m, c, v: c + v * (m.R2(m.updated) * 2.0).sqrt())),
    "multiclass-root": ((UNIT, AHEAD, COMPARED), _at(lambda m, c, v: _root(c, v * (m.r2 * 2.0).sqrt()))),
    "multiclass-novikoff": ((UNIT, AHEAD, SEPARATED), _novikoff),
    "one-vs-rest-updates": ((UNIT, APART, EACH), _updates),
    "one-vs-rest": ((UNIT, APART, EACH), lambda f, c: _mistakes(f, _each(f)[0], {})),
}


def voted_needs(premise: str, zero: str, compared: str) -> dict[str, tuple[tuple[str, ...], Formula]]:
    """The voted perceptron's theorem, with the perceptron's own needs among its own."""
    return {"voted-test-error": ((UNIT_ROWS, premise, zero, compared, ONE_PASS, ALIKE, TYPICAL), _voted)}


def speaks_of(name: str, f: Facts) -> bool:
    """Whether a theorem of many classes is about this learner."""
    return f.core.name == "multiclass" and f.many.alone == name.startswith("one-vs-rest")


def vectors_of(name: str, f: Facts, named: list[str]) -> bool:
    """Whether a certificate names the vectors that its theorem may be evaluated at."""
    if not all(one in f.points for one in named):
        return False
    if name == "multiclass-norm":
        return not named
    fixed = {"multiclass-novikoff": ["V_apart"], "one-vs-rest": ["V_each"], "one-vs-rest-updates": ["V_each"]}
    return named == fixed[name] if name in fixed else named in (["V_sum"], ["V_mistakes"], ["V_root"])
