"""From what was computed to what is claimed: never narrower than what `verify` finds.

A verifier asks that a claim contain what it recomputes. It plays the run again and finds the same bits, so nothing is
added for that. Where the loss or the kernel is Python code of the user's own, another machine may find other last
digits: then every end is moved outward by a share of the size of what it was summed from, unless nothing was rounded.
A bound is not put below what the formulas of the verifier give here.
"""

from __future__ import annotations

import math
from typing import Any

from noregret.interval import Interval, down_or_none, up_or_none
from noregret.learner.core import Core
from noregret.loss import Loss
from noregret.receipt.bits import own_code
from noregret.receipt.bounds import BOUNDS, NEEDS
from noregret.receipt.facts import Facts
from noregret.receipt.form import plain
from noregret.receipt.found import LOWER, Found, is_exact
from noregret.receipt.measure import measured, sizes, steepness
from noregret.receipt.replay import Replayed

FIGURE = 1e-9  # what a figure of the run may differ by from one machine to another, with Python code of the user's own
ENCLOSED = 2.0**-46  # what an enclosure of a loss of the user's own may differ by
SCORED = 1e-11  # what scores may then differ by, as a share of ‖w‖‖x‖, and with every round a little more
NEARLY = 1e-9  # a bound this close to where it says nothing counts as vacuous


def spread(core: Core, rounds: int) -> float:
    """What the scores of a run, and sums over them, may differ by, relatively: nothing, but for the user's own code."""
    return 0.0 if own_code(core) is None else SCORED + rounds * 2.0**-50


def enclosed(loss: Loss) -> float:
    """The same of sums of losses at scores that are what they are."""
    return ENCLOSED if loss.custom else 0.0


def wider(found: Interval, share: float, size: float = 0.0) -> Interval:
    """Further out at both ends by a share of its size; what is exact is so everywhere."""
    if found.exact or not share:
        return found
    off = share * max(abs(found.lo), abs(found.hi), size)
    return Interval(down_or_none(found.lo - off), up_or_none(found.hi + off))


def ends(found: Interval) -> dict[str, Any]:
    """An interval as a receipt writes it."""
    return {"lower": plain(found.lo), "upper": plain(found.hi)}


def hull(a: Interval, b: Interval) -> Interval:
    return Interval(min(a.lo, b.lo), max(a.hi, b.hi))


def figures(played: Replayed, told: dict[str, Any]) -> dict[str, Any]:
    """The figures of a run as claimed: intervals that hold what the loop told and what is measured from the rounds."""
    share = spread(played.run.learner, len(played.rounds))
    return _claimed(measured(played), told, sizes(played) if share else {}, max(FIGURE, share) if share else 0.0)


def _claimed(found: dict[str, Any], told: dict[str, Any], sizes: dict[str, float], share: float) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, one in found.items():
        if isinstance(one, dict):
            made[name] = _claimed(one, told[name], sizes, share)
        elif isinstance(one, Interval):
            claim = wider(one, share, sizes.get(name, 0.0))
            made[name] = ends(hull(claim, Interval.of(told[name])) if name in told else claim)
        else:
            made[name] = one
    return made


def own(played: Replayed, found: Interval, count: int, loss: Loss) -> Interval:
    """The run's own loss as claimed."""
    share = spread(played.run.learner, count)
    moved = share * steepness(played, count, loss) if share else 0.0
    return wider(Interval(found.lo - moved, found.hi + moved) if moved else found, enclosed(loss))


def comparator(found: Interval, size: float, loss: Loss) -> Interval:
    """The best comparator's loss as claimed; none of ours is below 0. The terms of the dual value are of that size."""
    low = wider(found, enclosed(loss), size).lo
    return Interval(min(max(low, -math.inf if loss.custom else 0.0), found.lo), wider(found, enclosed(loss)).hi)


def bound_of(bound: float, found: Found, facts: Facts) -> float:
    """A bound as claimed: the larger of two derivations of it, and what the user's own code may add elsewhere."""
    if found.bound.exact and bound == found.bound.hi and not found.slack:
        return bound
    high = found.bound.hi + found.slack
    high = max(bound, high if not math.isnan(high) else math.inf)
    return up_or_none(high + spread(facts.core, facts.T) * abs(high)) if math.isfinite(high) else high


def certificate(said: dict[str, Any], facts: Facts) -> dict[str, Any]:
    """A certificate as claimed; where an assumption cannot be shown with certainty it is unmet."""
    name = said["theorem"]
    if said["verdict"] in ("unmet", "broken"):
        return said
    doubtful = [part for part in said["assumptions"] if part["holds"] and NEEDS[part["statement"]](facts) is not True]
    if doubtful:
        return unmet(said, [part["statement"] for part in doubtful])
    found = BOUNDS[name][1](facts, said)
    bound = bound_of(float(said["bound"]), found, facts)
    observed = _observed(said["observed"], found, facts)
    values = {key: _value(key, value, found, facts) for key, value in said["values"].items()}
    verdict = judged(bound, observed, found.ceiling * (1.0 - NEARLY))
    return {
        **said,
        "bound": plain(bound),
        "observed": None if observed is None else plain(observed),
        "verdict": verdict,
        "values": {key: plain(value) for key, value in values.items()},
    }


def unmet(said: dict[str, Any], statements: list[str]) -> dict[str, Any]:
    """A certificate that claims nothing, for these assumptions are not known to hold."""
    assumed = [
        {**part, "checked": True, "holds": False} if part["statement"] in statements else part
        for part in said["assumptions"]
    ]
    nothing: dict[str, Any] = {"bound": None, "observed": None, "verdict": "unmet", "values": {}, "points": []}
    return {**said, "assumptions": assumed, **nothing}


def judged(bound: float, observed: float | None, ceiling: float) -> str:
    """The verdict on what is claimed; a bound from the ceiling on says nothing."""
    if bound >= ceiling:
        return "vacuous"
    return "holds" if observed is None or observed <= bound else "open"


def _observed(said: float | None, found: Found, facts: Facts) -> float | None:
    """What was observed, from above; a regret as the receipt's own interval has it."""
    if found.observed is None or said is None:
        return None
    if found.observed.exact:
        return found.observed.hi
    if facts.entry is not None and found.observed is facts.regret:
        return max(float(said), float(facts.entry["upper"]))
    if facts.entry is not None and "u" in facts.points and found.observed is facts.regret_at:
        claim = Interval(float(facts.entry["own"]["lower"]), float(facts.entry["own"]["upper"]))
        return max(float(said), wider(claim - (facts.own - facts.regret_at), enclosed(facts.core.loss), claim.hi).hi)
    return max(float(said), up_or_none(wider(found.observed, spread(facts.core, facts.T)).hi + found.loose))


def _value(key: str, said: float, found: Found, facts: Facts) -> float:
    """A value as claimed, at its end."""
    other = float(found.values[key])
    if is_exact(key):
        return other
    off = spread(facts.core, facts.T) * max(abs(said), abs(other)) + found.loose
    if key in LOWER:
        return max(down_or_none(min(said, other) - off), 0.0)
    return up_or_none(max(said, other) + off)
