"""What a receipt claims of windows, on the rounds as they were played again; every sum in twice the precision."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from noregret.errors import SettingError
from noregret.interval import Interval
from noregret.learner.core import Core
from noregret.proof.claims import check_certificates, claimed
from noregret.proof.enclose import loss_total
from noregret.proof.facts.windows import Sums, WindowFacts
from noregret.proof.receipt import plain
from noregret.proof.regret import ends
from noregret.proof.replay import Replayed
from noregret.proof.theorem import Theorem
from noregret.proof.theorems.windows import switching_at_limits, switching_k, window_linearised
from noregret.proof.verification import Verification
from noregret.watch.calendar import first_day
from noregret.watch.part import Part
from noregret.watch.switching import MOST, SWITCHES
from noregret.watch.windows import Watching, Windows, again, from_the_first

ASKED = ("length", "time", "time_zone", "radius")
SAID = {*ASKED, "loss", "domain", "parts", "certificates"}
Claims = list[tuple[Theorem[WindowFacts], WindowFacts]]


def asked_of(core: Core) -> dict[str, Any] | None:
    """The windows of a learner, where they began with its first round."""
    asked = again(core) if from_the_first(core) else None
    return None if asked is None else {name: getattr(asked, name) for name in ASKED}


def asked_again(said: dict[str, Any], core: Core) -> Watching:
    """The windows that a receipt speaks of, to be kept once more."""
    found = watching(Windows(**{name: said[name] for name in ASKED}), core)
    if found.rounds:
        raise SettingError("the windows of a receipt begin with the first round")
    return found


def watching(asked: Windows, core: Core) -> Watching:
    """Windows of a learner that has played nothing yet, which keep what models said that no longer learned."""
    return kept(replace(asked, challengers=()), core)


def kept(asked: Windows, core: Core) -> Watching:
    """The same with its challengers, of which a receipt says nothing."""
    found = Watching(asked, core)
    found.traced = []
    return found


def windows_claimed(found: Watching, played: Replayed) -> dict[str, Any]:
    """All that a receipt claims of windows: their limits, what was lost in them, and every theorem."""
    parts, claims = _evaluated(found, played)
    return {
        **_described(found),
        "parts": [
            {key: ends(one) if isinstance(one, Interval) else plain(one) for key, one in part.items()} for part in parts
        ],
        "certificates": [claimed(one, facts) for one, facts in claims],
    }


def check_windows(done: Verification, said: dict[str, Any], found: Watching, played: Replayed) -> None:
    """The same once more: limits and counts are what they are, claims contain what is found."""
    done.true("what is said of windows", set(said) == SAID)
    for name, value in _described(found).items():
        done.same(f"windows: {name.replace('_', ' ')}", said[name], value)
    parts, claims = _evaluated(found, played)
    done.same("the number of windows", len(said["parts"]), len(parts))
    for claim, part in zip(said["parts"], parts, strict=True):
        where = f" of window {part['first']}–{part['last']}"
        done.true(f"what is said{where}", set(claim) == set(part))
        for key, value in part.items():
            what = f"{key.replace('_', ' ')}{where}"
            if isinstance(value, Interval):
                done.contains(key.replace("_", " "), claim[key], value, where)
            elif key == "bound":
                done.at_most(what, claim[key], value)
            elif key == "best_at_least":
                done.at_least(what, claim[key], value)
            else:
                done.same(what, claim[key], value)
    done.same("the number of theorems about windows", len(said["certificates"]), len(claims))
    for certificate, (one, facts) in zip(said["certificates"], claims, strict=True):
        check_certificates(done, [certificate], [one], facts)


def _described(found: Watching) -> dict[str, Any]:
    asked, domain = found.asked, found.domain
    return {
        **{name: getattr(asked, name) for name in ASKED},
        "loss": None if found.loss is None else found.loss.spec,
        "domain": None if domain is None else {"shape": domain.shape, "radius": domain.radius},
    }


def _evaluated(found: Watching, played: Replayed) -> tuple[list[dict[str, Any]], Claims]:
    """Every window with its figures, and the theorems that speak of them."""
    parts, sums = [], list[Sums]()
    for part in found.all_parts:
        told = _counted(found, part)
        if found.loss is not None:
            told["frozen_loss"] = _frozen(found, part, played)
        if found.loss is not None and found.domain is not None:
            facts = WindowFacts(found.loss, found.domain, (_sums(found, part, played),))
            sums.append(facts.whole)
            told |= _bounded(facts)
        parts.append(told)
    for told, key in zip(parts, found.keys, strict=False):
        told["from"] = first_day(found.asked.period or "", key)
    return parts, _claims(found, tuple(sums))


def _counted(found: Watching, part: Part) -> dict[str, Any]:
    begin, end = part.rounds
    frozen = part.others[0]
    return {"first": begin + 1, "last": end, "mistakes": part.run.mistakes, "frozen_mistakes": frozen.mistakes}


def _bounded(facts: WindowFacts) -> dict[str, Any]:
    part = facts.whole
    bound = facts.bound(part)
    lost = Interval(part.loss.lo, math.inf) if part.infinite else part.loss
    best = 0.0 if part.infinite else max((part.loss - bound).lo, 0.0)
    return {
        "loss": lost,
        "infinite": part.infinite,
        "paid": part.paid,
        "reach": facts.reach(part),
        "bound": bound.hi,
        "best_at_least": best,
    }


def _sums(found: Watching, part: Part, played: Replayed) -> Sums:
    assert found.loss is not None
    return Sums.of(played.rounds.part(*part.rounds), found.loss)


def _frozen(found: Watching, part: Part, played: Replayed) -> Interval:
    """What the models lost that no longer learned."""
    assert found.loss is not None
    begin, end = part.rounds
    assert found.traced is not None
    scores = np.concatenate([np.zeros(0), *found.traced])[begin:end]
    y, weights = played.rounds.y[begin:end], played.rounds.weights
    some = np.isfinite(scores)
    wrong = bool((~some & (scores * y < 0.0)).any())
    lost = loss_total(found.loss, scores[some], y[some], None if weights is None else weights[begin:end][some])
    return Interval(lost.lo, math.inf) if wrong else lost


def _claims(found: Watching, sums: tuple[Sums, ...]) -> Claims:
    """The theorems, each with the windows that it speaks of."""
    if found.loss is None or found.domain is None or not sums:
        return []
    whole = WindowFacts(found.loss, found.domain, sums)
    each: Claims = [(window_linearised, replace(whole, parts=(part,))) for part in sums]
    each.append((switching_at_limits, whole))
    some = [k for k in SWITCHES if k < len(sums) <= MOST]
    return [*each, *((switching_k, replace(whole, switches=k)) for k in some)]
