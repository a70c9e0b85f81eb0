"""`noregret audit --pass`: what one pass over a log proves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.cli.arguments import Shown
from noregret.cli.terminal import put_json
from noregret.errors import SettingError

if TYPE_CHECKING:
    from noregret.task.audit.passing import Passed, PassedPart


def passed(log: str, asked: Mapping[str, Any], receipt: Path | None, shown: Shown, solving: Mapping[str, Any]) -> None:
    """Pass over a log, print what follows, and write the ledger."""
    from noregret.cli.audit import note_probabilities
    from noregret.cli.terminal import Bar
    from noregret.task.audit.passing import audit_pass

    for name, value in solving.items():
        if value is not None:
            raise SettingError(f"--{name} cannot be used with --pass: leave it out")
    if receipt is not None and (asked["segments"] is not None or asked["segment_by"] is not None):
        raise SettingError("--receipt is of the whole log: leave out --segments and --segment-by")
    with Bar(shown.silent) as bar:
        found = audit_pass(log, **asked, digest=receipt is not None, watch=bar.show)
    if receipt is not None:
        found.receipt().save(receipt)
    if shown.json:
        put_json(found.to_dict())
    elif not shown.quiet:
        _show(found)
    note_probabilities(found.probabilities)


def _show(found: Passed) -> None:
    from noregret.cli.audit import show_heading
    from noregret.cli.show import show_lines, table

    show_heading(found, f"against all fixed weights ‖u‖ ≤ {found.radius:g}")
    head = ("", "rounds", "mistakes", "loss", "regret at most", "per row", "best model loses at least")
    table([_row(found, part) for part in (found.overall, *found.segments)], head)
    for line in _lines(found):
        print(line)
    show_lines(found.decisions)


def _row(found: Passed, part: PassedPart) -> tuple[str, ...]:
    from noregret.summary import at_least, at_most, number

    bound, lost = found.bound(part), part.ledger.loss
    return (
        part.name,
        number(part.rounds),
        "–" if part.mistakes is None else number(part.mistakes),
        "∞" if part.ledger.infinite else number(0.5 * lost.lo + 0.5 * lost.hi),
        _top(bound),
        "∞" if math.isinf(bound) else at_most(bound / part.rounds),
        at_least(found.best_at_least(part)),
    )


def _top(value: float) -> str:
    from noregret.summary import at_most

    return "∞" if value == math.inf else at_most(value)


def _lines(found: Passed) -> Iterator[str]:
    """What the ledger says besides, a line each."""
    from noregret.cli.audit import blank_line, infinite_line
    from noregret.summary import at_least

    led, U = found.overall.ledger, found.radius
    yield from blank_line(found.blank)
    yield from infinite_line(led.rounds, led.infinite, led.loss)
    if not led.sound:
        yield "a slope of the loss is too small for its digits: nothing is claimed"
        return
    if led.loss.hi <= found.bound(found.overall) < math.inf:
        yield "the bound is not below the loss, too loose to be useful here: a smaller --radius asks for less"
    if found.by_segment is not None:
        yield f"against one model per segment, the regret is at most {_top(found.by_segment.hi)}"
    if led.beaten is not None and led.beaten > 0.0:
        below = "" if led.beaten == math.inf else f" with ‖u‖ < {at_least(led.beaten)}"
        yield f"the predictions lost less than every linear model{below}"
    yield (
        f"no rescaling of the scores by up to 1 ± c with a linear correction ‖u‖ ≤ {U:g} would have gained more than"
        f" c·{_top(led.correction.hi)} + {_top((led.norm * U).hi)}"
    )
    if found.ignored:
        shown = ", ".join(f"{name} ({-value:+.6g})" for name, value in found.ignored)
        yield f"what a correction would use first, with −ΣG per feature: {shown}"
    yield (
        f"against other models, the regret is at most: |u_i| ≤ {U:g} {_top(led.box(U).hi)};"
        f" Σ|u_i| ≤ {U:g} {_top(led.cross(U).hi)}"
    )
    rows = "rows with missing values filled by the means so far" if found.filled else "rows as they stand in the log"
    yield f"the radius is in units of the features: {rows}"
