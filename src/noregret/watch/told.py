"""Windows as plain numbers: what a table, `--json` and a picture show."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from noregret.domain import Domain
from noregret.interval import Interval
from noregret.watch.calendar import first_day
from noregret.watch.ledger import Ledger, joined
from noregret.watch.part import Measured, Part, reach
from noregret.watch.retention import lengths
from noregret.watch.switching import MOST, SWITCHES, best_switching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from noregret.loss import Loss
    from noregret.watch.late_windows import LateWindows
    from noregret.watch.windows import Watching, Windows


def told(watching: Watching | LateWindows) -> dict[str, Any]:
    """Every window of a run, the last rounds, and what a comparator that changes may have gained."""
    asked, core = watching.asked, watching.core
    own = not math.isinf(core.domain.radius)
    chosen = "learner" if own else "default" if asked.radius is None else "asked"
    parts, keys = watching.all_parts, watching.keys
    return told_parts(asked, parts, watching.loss, watching.domain, chosen=chosen, raw=core.plain, keys=keys)


def told_parts(
    asked: Windows,
    parts: list[Part],
    loss: Loss | None,
    domain: Domain | None,
    *,
    chosen: str,
    raw: bool,
    keys: Sequence[int] = (),
) -> dict[str, Any]:
    """The same of any parts, the comparators' radius chosen by the learner, by default, or as was asked."""
    against = None
    if domain is not None:
        rows = "raw" if raw else "prepared"
        against = {"domain": domain.shape, "radius": domain.radius, "chosen": chosen, "rows": rows}
    shown = [told_part(part, domain) for part in parts]
    for one, key in zip(shown, keys, strict=False):
        one["from"] = first_day(asked.period or "", key)
    claimed = domain is not None and not any(part.left.get("revised") for part in parts)
    return {
        "length": asked.length,
        "joined": asked.joins,
        "time_zone": None if asked.period is None else asked.time_zone or "as written, UTC where none is",
        "frozen_for": (asked.every or asked.period) if not parts or parts[0].others else None,
        "challengers": list(asked.challengers),
        "loss": None if loss is None else loss.spec,
        "against": against,
        "parts": shown,
        "last": [] if asked.period else _last(parts, domain),
        "whole": switching(parts, domain) if domain is not None and claimed and parts else None,
    }


def told_part(part: Part, domain: Domain | None) -> dict[str, Any]:
    """A window: by theorem `bound` and `best_at_least`, the rest measured."""
    begin, end = part.rounds
    n = part.count
    run = _measured(part.run, n) if part.run.ledger is not None else {**_measured(part.run, n), **_lost(part.own, n)}
    found = {"first": begin + 1, "last": end, "rounds": n, **run, "bound": None, "best_at_least": None}
    ledger = part.run.ledger
    if ledger is not None and domain is not None and not part.left.get("revised"):
        most = reach(ledger, domain)
        found["bound"] = _plain(most.hi)
        found["bound_per_row"] = _plain(most.hi / n) if n else None
        found["best_at_least"] = max(best_of(ledger, most).lo, 0.0)
    frozen, challengers = part.others[:1], part.others[1:]
    found["frozen"] = _measured(frozen[0], n) if frozen else None
    found["challengers"] = [_measured(one, n) for one in challengers]
    return {**found, **part.left, **({"open": True} if part.open else {})}


def best_of(ledger: Ledger, most: Interval) -> Interval:
    """L − C: what no comparator fell below."""
    return ledger.loss - most if not ledger.infinite else Interval(ledger.loss.lo - most.lo, math.inf)


def switching(parts: list[Part], domain: Domain) -> dict[str, Any]:
    """The regret against one model, against one for each window, and against at most k changes at their limits."""
    ledgers = [part.run.ledger for part in parts if part.run.ledger is not None]
    whole = joined(ledgers)
    each = _total([reach(one, domain) for one in ledgers])
    found: dict[str, Any] = {
        "rounds": whole.rounds,
        "loss": _plain(0.5 * whole.loss.lo + 0.5 * whole.loss.hi if not whole.infinite else math.inf),
        "bound": _plain(reach(whole, domain).hi),
        "bound_for_each_window": _plain(each.hi),
        "switches": None,
    }
    if len(ledgers) <= MOST:
        best = best_switching(len(ledgers), lambda i, j: reach(joined(ledgers[i:j]), domain).hi)
        found["switches"] = {str(k): _plain(best[k]) for k in SWITCHES if k < len(ledgers)}
    return found


def _total(parts: list[Interval]) -> Interval:
    found = Interval.of(0.0)
    for one in parts:
        found = found + one
    return found


def _last(parts: list[Part], domain: Domain | None) -> list[dict[str, Any]]:
    """The last 1000, 10,000, … rounds: the shortest tail of windows that holds as many."""
    end = parts[-1].rounds[1] if parts else 0
    found: list[dict[str, Any]] = []
    for length in lengths(end):
        first = max((i for i, part in enumerate(parts) if end - part.rounds[0] >= length), default=0)
        tail = parts[first]
        for part in parts[first + 1 :]:
            tail = tail + part
        if not found or found[-1]["first"] != tail.rounds[0] + 1:
            found.append({"asked": length, **told_part(tail, domain)})
    return found


def _measured(one: Measured, rounds: int) -> dict[str, Any]:
    error = None if one.mistakes is None or not rounds else one.mistakes / rounds
    found: dict[str, Any] = {"mistakes": one.mistakes, "error": error, **_lost(None, rounds)}
    if one.ledger is not None:
        loss = one.ledger.loss
        found |= _lost(math.inf if one.ledger.infinite else 0.5 * loss.lo + 0.5 * loss.hi, rounds)
    return found


def _lost(loss: float | None, rounds: int) -> dict[str, Any]:
    if loss is None:
        return {"loss": None, "loss_per_row": None}
    return {"loss": _plain(loss), "loss_per_row": _plain(loss / rounds) if rounds else None}


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
