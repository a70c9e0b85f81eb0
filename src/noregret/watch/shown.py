"""Windows as rows of words and figures, for tables on a terminal and on a page."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

from noregret.summary import at_most, number, share

Figures = Mapping[str, Any]
AMONG = {"ball": "‖u‖", "box": "|u_i|", "l1": "‖u‖₁", "simplex": "u ≥ 0, Σu"}


def title_of_windows(found: Figures) -> str:
    """What the windows are, and whom they are compared with."""
    length, against = found["length"], found["against"]
    if length in ("day", "week"):
        zone = found["time_zone"]
        what = f"windows of a {length} ({'time zone as written, else UTC' if ',' in zone else zone})"
    else:
        what = f"windows of {number(int(length.removeprefix('every:')))} rounds"
        what += ", older ones joined" if found["joined"] else ""
    loss = "" if found["loss"] is None else f": {found['loss']} loss per row"
    if against is None:
        return f"{what}{loss}"
    chosen = {"learner": "", "default": "; the default radius", "asked": ""}[against["chosen"]]
    rows = "rows as they are" if against["rows"] == "raw" else "prepared rows"
    return f"{what}{loss}, against any {AMONG[against['domain']]} ≤ {against['radius']:g} ({rows}{chosen})"


def window_head(found: Figures) -> tuple[str, ...]:
    """The names of the columns."""
    bounds = ("regret ≤", "best ≥") if found["against"] is not None else ()
    head = [found_by(found), "rounds", *(["error"] if _classes(found) else []), "loss", *bounds]
    still = ["frozen"] if found["frozen_for"] is not None else []
    for name in (*still, *map(os.path.basename, found["challengers"])):
        head += [name] if _classes(found) else []
        head += [f"{name} loss" if _classes(found) else name] if found["loss"] is not None else []
    return tuple(head)


def found_by(found: Figures) -> str:
    """What tells one window from another."""
    return "from" if found["length"] in ("day", "week") else "window"


def window_rows(found: Figures) -> list[tuple[str, ...]]:
    """A line for each window, then for the last 1000, 10,000, … rounds."""
    rows = [_row(found, part, _name(found, part)) for part in found["parts"]]
    return rows + [_row(found, part, f"last {number(part['rounds'])}") for part in found["last"]]


def _name(found: Figures, part: Figures) -> str:
    told = part.get("from") or f"{part['first']:,}–{part['last']:,}"
    return f"{told} so far" if part.get("open") and "asked" not in part else str(told)


def _classes(found: Figures) -> bool:
    return any(part["mistakes"] is not None for part in found["parts"])


def _row(found: Figures, part: Figures, name: str) -> tuple[str, ...]:
    n, row = part["rounds"], [name, number(part["rounds"])]
    row += [share(part["mistakes"], n)] if _classes(found) else []
    row.append(_per_row(part["loss_per_row"]))
    if found["against"] is not None:
        some = n and part["bound"] is not None
        row.append(_outward(float(part["bound"]) / n, 1) if some else "–")
        row.append(_outward(float(part["best_at_least"]) / n, -1) if some else "–")
    for one in (*([part["frozen"]] if part["frozen"] is not None else []), *part["challengers"]):
        row += [share(one["mistakes"], n)] if _classes(found) else []
        row += [_per_row(one["loss_per_row"])] if found["loss"] is not None else []
    return tuple(row)


def _per_row(value: Any) -> str:
    return "–" if value is None else f"{float(value):.4g}" if math.isfinite(float(value)) else "∞"


def _outward(value: float, way: int) -> str:
    """Four figures, not below the value (way 1) or not above it (−1).

    >>> _outward(0.123412, 1), _outward(0.123412, -1), _outward(-2.00001, 1)
    ('0.1235', '0.1234', '-2')
    """
    text = f"{value:.4g}"
    if math.isfinite(value) and (float(text) - value) * way < 0.0:
        text = f"{value + way * 10.0 ** (math.floor(math.log10(abs(value))) - 3):.4g}"
    return text


def explained(found: Figures) -> list[str]:
    """Which of three things each column is."""
    every = found["frozen_for"]
    when = f"{number(every)} rounds" if isinstance(every, int) else every
    lines = []
    if found["against"] is not None:
        lines.append("regret ≤: a theorem: the best model of a window lost at most this much less on it")
        lines.append("best ≥: a theorem: no such model lost less on that window")
    elif found["loss"] is None or not found["parts"]:
        lines.append("this learner has no scores that a convex loss judges: all figures are measured, none is a bound")
    else:
        lines.append("this learner does not weigh features: all figures are measured, none is a bound")
    if every is not None:
        lines.append(f"frozen: measured: the model as it stood when each {when} began, kept as it was")
    if found.get("before"):
        lines.append(
            f"rounds are counted from the first window on: {number(found['before'])} came before and are in none"
        )
    lines += [f"{os.path.basename(one)}: measured: that model as it was saved" for one in found["challengers"]]
    return lines


def missing(found: Figures) -> list[str]:
    """Windows whose labels are not all in, and those of which nothing is claimed."""
    lines = []
    for part in found["parts"]:
        left = [f"{number(part[key])} {words}" for key, words in LEFT.items() if part.get(key)]
        if left:
            lines.append(f"{_name(found, part)}: {', '.join(left)}")
    return lines


LEFT = {
    "waiting": "waiting for their labels",
    "expired": "given up without a label",
    "revised": "labels revised after the window was closed: nothing is claimed of it",
}


def whole_rows(found: Figures) -> list[tuple[str, str, str]]:
    """What all windows together prove, against comparators that may change."""
    whole = found["whole"]
    if whole is None:
        return []
    n, rows = whole["rounds"], [("one model for all windows", whole["bound"])]
    for k, bound in (whole["switches"] or {}).items():
        rows.append((f"at most {k} change{'s' if k != '1' else ''}, at limits of windows", bound))
    rows.append(("a model for each window", whole["bound_for_each_window"]))
    loose = float(whole["loss"])
    told = [
        (
            what + (" (too loose to be useful here)" if n and float(bound) >= loose else ""),
            at_most(float(bound)),
            at_most(float(bound) / n) if n else "–",
        )
        for what, bound in rows
    ]
    return [*told, ("loss of the run", number(float(whole["loss"])), number(float(whole["loss"]) / n) if n else "–")]


WHOLE_HEAD = ("regret bound against", "total", "per row")


def whole_lines(found: Figures) -> list[str]:
    """Why changes at unknown limits are not looked for."""
    whole = found["whole"]
    if whole is None or whole["switches"] is not None:
        return []
    return ["at most 1, 2 or 3 changes: not computed for more than 64 windows, each pair of which costs a norm"]
