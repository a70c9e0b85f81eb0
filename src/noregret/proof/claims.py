"""What a receipt claims of theorems, and how a verifier judges it: both evaluate the same rows on facts of their own.

The maker claims what its rows find, which is rounded outward; only the user's own code asks for a margin. A claim
stands where it contains what the verifier's rows find: bounds, observations and most values are claimed from above.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from noregret.errors import ReceiptError
from noregret.proof.receipt import plain
from noregret.proof.replay import LOWER, NONE, Margin, is_exact
from noregret.proof.theorem import Claim, Theorem
from noregret.proof.verification import Verification, real

F = TypeVar("F")
CERTIFICATE = {"theorem", "source", "bound", "observed", "verdict", "assumptions", "values", "points"}


def claimed(one: Theorem[F], facts: F, margin: Margin = NONE) -> dict[str, Any]:
    """A theorem evaluated on the facts, as a receipt claims it."""
    assumed = [part.to_dict() for part in one.asked(facts)]
    said: dict[str, Any] = {"theorem": one.name, "source": one.source, "bound": None, "observed": None}
    if any(part["holds"] is False for part in assumed):
        return {**said, "verdict": "unmet", "assumptions": assumed, "values": {}, "points": []}
    claim = one.function(facts)
    bound, observed = margin.upper(claim.bound.hi), margin.observed(claim)
    return {
        **said,
        "bound": plain(bound),
        "observed": None if observed is None else plain(observed),
        "verdict": claim.verdict(bound, observed).name.lower(),
        "assumptions": assumed,
        "values": {key: plain(margin.value(key, value)) for key, value in claim.values.items()},
        "points": list(claim.points),
    }


def check_certificates(
    done: Verification,
    said: Sequence[dict[str, Any]],
    wanted: Sequence[Theorem[F]],
    facts: F,
    among: Collection[str] | None = None,
) -> None:
    """Every theorem that speaks of the facts, each evaluated or named with the need that is unmet, and no other.

    `among` names the points of which any may be the one that a theorem was evaluated at; without it that one is known.
    """
    done.same("the theorems", [part["theorem"] for part in said], [one.name for one in wanted])
    for part, one in zip(said, wanted, strict=True):
        _check_certificate(done, part, one, facts, among)


def from_above(found: float) -> float:
    """A bound from above; one that is not a number promises nothing."""
    return math.inf if math.isnan(found) else found


def _check_certificate(
    done: Verification, said: dict[str, Any], one: Theorem[F], facts: F, among: Collection[str] | None
) -> None:
    """The assumptions of the theorem, its bound, what it is compared with, the values named, and the verdict."""
    name = one.name
    done.true(f"{name}: what is said of it", set(said) == CERTIFICATE)
    if said["source"] != one.source:
        raise ReceiptError(f"{name}: its source: the receipt says {said['source']}, it is {one.source}", failed=True)
    assumed = one.asked(facts)
    _check_assumptions(done, name, said["assumptions"], [part.to_dict() for part in assumed])
    if any(part.holds is False for part in assumed):
        unclaimed = [said[key] for key in ("verdict", "bound", "observed", "values", "points")]
        done.same(f"{name}: the verdict", unclaimed, ["unmet", None, None, {}, []])
        return
    claim = one.function(facts)
    if among is None:
        done.same(f"{name}: its vectors", said["points"], list(claim.points))
    else:  # of two that are as good another machine may find the other one the better
        done.true(f"{name}: its vectors are there", set(said["points"]) <= set(among))
    done.at_most(f"{name}: the bound", said["bound"], from_above(claim.bound.hi))
    observed = _check_observed(done, said, claim)
    _check_values(done, said, claim)
    done.same(f"{name}: the verdict", said["verdict"], claim.verdict(real(said["bound"]), observed).name.lower())


def _check_assumptions(done: Verification, name: str, said: list[dict[str, Any]], found: list[dict[str, Any]]) -> None:
    stated = [part["statement"] for part in said]
    done.same(f"{name}: its assumptions", stated, [part["statement"] for part in found])
    for claimed, again in zip(said, found, strict=True):
        done.same(f"{name}: {again['statement']}", claimed, again)


def _check_observed(done: Verification, said: dict[str, Any], claim: Claim) -> float | None:
    """A count is what it is, any other observation is claimed from above."""
    what = f"{said['theorem']}: the observed value"
    if claim.observed is None:
        done.same(what, said["observed"], None)
        return None
    if claim.observed.exact:
        done.same(what, real(said["observed"]), claim.observed.hi)
    else:
        done.at_most(what, said["observed"], claim.observed.hi)
    return real(said["observed"])


def _check_values(done: Verification, said: dict[str, Any], claim: Claim) -> None:
    """Settings and counts are what they are; other values are claimed from above, a few from below."""
    name = said["theorem"]
    done.same(f"{name}: its values", sorted(said["values"]), sorted(claim.values))
    for key, value in claim.values.items():
        what, claimed = f"{name}: {key.replace('_', ' ')}", said["values"][key]
        if is_exact(key):
            done.same(what, real(claimed), float(value))
        elif key in LOWER:
            done.at_least(what, claimed, value)
        else:
            done.at_most(what, claimed, from_above(value))
